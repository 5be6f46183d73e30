import CacheEngineTesting
import CacheEngine
import Foundation

/// What making room costs in bytes, at the limit.
struct Amplification {
  let settings: Settings

  func tables() async throws -> [Table] {
    var rows: [Row] = []
    var held: [Row] = []
    // Keys whose values would take so many times the capacity.
    for (name, share) in [
      ("half the capacity", 0.5), ("two thirds", 0.66), ("the capacity", 1.0), ("1.3 times", 1.3), ("three times", 3.0),
    ] {
      try await settings.inFolder { folder in
        let capacity = 64 << 20
        let engine = try Engine(folder + "/store", capacity: capacity)
        let value = Workload.value(4 << 10)
        let keys = Workload.keys(Int(Double(capacity) * share) / (4_096 + 136))
        var generator = SeededGenerator(seed: 3)
        for key in keys { try await engine.set(value, key) }
        var samples: [Double] = []
        for round in 0...min(settings.rounds, 5) {
          let before = engine.level.traffic
          for _ in 0..<capacity / value.count {
            try await engine.set(value, keys[Int.random(in: 0..<keys.count, using: &generator)])
          }
          let after = engine.level.traffic
          let written = Double(after.written - before.written)
          if round > 0 { samples.append((written + Double(after.copied - before.copied)) / written) }
        }
        rows.append(Row(name: "keys for \(name)", samples: samples))
        let share = Double(engine.level.usage.count) * 4_232 / Double(capacity)
        held.append(Row(name: "keys for \(name)", samples: [share]))
        try await engine.close()
      }
    }
    return [
      Table(title: "bytes written for a byte set, uniform overwrites, 4 KiB, 64 MiB", unit: "times", rows: rows),
      Table(title: "share of the capacity that lives at the end of these", unit: "share", rows: held),
    ]
  }
}

/// Sets that each evict another entry, at the limit.
struct Churn {
  let settings: Settings

  func tables() async throws -> [Table] {
    var tables: [Table] = []
    for (name, bytes) in [("1 KiB", 1 << 10), ("64 KiB", 64 << 10)] {
      let times = try await settings.inFolder { try await churn($0 + "/store", bytes) }
      let rows = [("P50", 0.5), ("P99", 0.99), ("P99.9", 0.999), ("most", 1)].map { name, share in
        Row(name: name, samples: [times[min(times.count - 1, Int(Double(times.count) * share))]])
      }
      let title = "set \(name) at the limit, \(times.count) in \(Int(settings.churnSeconds)) s; ratios are to P50"
      tables.append(Table(title: title, unit: "us", rows: rows))
    }
    return tables
  }

  /// Microseconds of each set, in order.
  private func churn(_ directory: String, _ bytes: Int) async throws -> [Double] {
    let engine = try Engine(directory, capacity: 64 << 20)
    let value = Workload.value(bytes)
    for number in 0..<(96 << 20) / bytes { try await engine.set(value, "fill-\(number)") }
    let clock = ContinuousClock()
    let end = clock.now + .seconds(settings.churnSeconds)
    var times: [Double] = []
    var before = clock.now
    while before < end {
      let key = "churn-\(times.count)"
      before = clock.now
      try await engine.set(value, key)
      times.append(before.duration(to: clock.now) / .microseconds(1))
    }
    try await engine.close()
    return times.sorted()
  }
}

/// How long it takes until 100,000 entries can be asked for.
struct Opening {
  let settings: Settings

  func tables() async throws -> [Table] {
    try await settings.inFolder { folder in
      let store = folder + "/store"
      let engine = try Engine(store)
      let value = Workload.value(1 << 10)
      let keys = Workload.keys(100_000)
      _ = try await Workload.time(keys.count, tasks: 64) { try await engine.set(value, keys[$0]) }
      try await engine.close()
      let copy = folder + "/copy"
      var rows = [Row(name: "from a checkpoint", samples: []), Row(name: "from the log alone", samples: [])]
      for _ in 0..<min(settings.rounds, 5) {
        for place in rows.indices {
          try FileManager.default.copyItem(atPath: store, toPath: copy)
          if place == 1 { try FileManager.default.removeItem(atPath: copy + "/index") }
          var opened: Engine?
          let time = try await Workload.time(1) { opened = try Engine(copy) }
          guard opened?.level.usage.count == keys.count else { throw Failure("entries are missing") }
          try await opened?.close()
          try FileManager.default.removeItem(atPath: copy)
          rows[place].samples.append(time / 1_000_000)
        }
      }
      return [Table(title: "opening 100,000 entries of 1 KiB, warm", unit: "ms", rows: rows)]
    }
  }
}

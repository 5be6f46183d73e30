import CacheEngine
import Foundation

/// What a set costs where a program without tasks of its own calls it, beside one from a task.
struct FromMainActor {
  let settings: Settings

  func tables() async throws -> [Table] {
    try await settings.inFolder { folder in
      let engine = try Engine(folder + "/store")
      let keys = Workload.keys(settings.isQuick ? 2_000 : 20_000)
      let value = Workload.value(1 << 10)
      var rows = [Row(name: "from a task", samples: []), Row(name: "from the main actor", samples: [])]
      for round in 0...settings.rounds {
        let work = [
          try await Workload.timeAndWork(keys.count) { for key in keys { try await engine.set(value, key) } }.work,
          try await Self.onMainActor(engine, keys, value),
        ]
        guard round > 0 else { continue }
        for place in rows.indices { rows[place].samples.append(work[place] / 1_000) }
      }
      try await engine.close()
      return [Table(title: "set 1 KiB, buffered, by who calls: processor time", unit: "us/op", rows: rows)]
    }
  }

  @MainActor
  private static func onMainActor(_ engine: Engine, _ keys: [String], _ value: Data) async throws -> Double {
    try await Workload.timeAndWork(keys.count) { for key in keys { try await engine.level.set(value, forKey: key) } }
      .work
  }
}

import CacheEngineTesting
import Foundation

/// One task that sets and gets, warm and cold.
struct Points {
  let bytes: Int
  let count: Int
  let settings: Settings

  func tables() async throws -> [Table] {
    try await settings.inFolder { folder in
      let value = Workload.value(bytes)
      var generator = SeededGenerator(seed: 42)
      let keys = Workload.keys(count).shuffled(using: &generator)
      let asked = keys.shuffled(using: &generator)
      var (sets, gets, cold, setWork, getWork) = (rows(), rows(), rows(), rows(), rows())
      var subjects: [any Subject] = []
      for (place, contender) in buffered.enumerated() {
        subjects.append(try await contender.open("\(folder)/\(place)"))
      }
      for round in 0...settings.rounds {
        for (place, subject) in subjects.enumerated() {
          let set = try await Workload.timeAndWork(count) { for key in keys { try await subject.set(value, key) } }
          let get = try await Workload.timeAndWork(count) { for key in asked { try await check(subject, key) } }
          // The first round fills and warms up.
          guard round > 0 else { continue }
          sets[place].samples.append(set.time / 1_000)
          gets[place].samples.append(get.time / 1_000)
          setWork[place].samples.append(set.work / 1_000)
          getWork[place].samples.append(get.work / 1_000)
        }
      }
      let few = asked.prefix(200)
      for _ in 0..<min(3, settings.rounds) {
        for (place, contender) in buffered.enumerated() {
          try await subjects[place].close()
          Workload.forget("\(folder)/\(place)")
          subjects[place] = try await contender.open("\(folder)/\(place)")
          // Opening may have read what it needs; the values are what is asked for.
          Workload.forget("\(folder)/\(place)")
          let subject = subjects[place]
          let get = try await Workload.time(few.count) { for key in few { try await check(subject, key) } }
          cold[place].samples.append(get / 1_000)
        }
      }
      for subject in subjects { try await subject.close() }
      if let python = PythonDiskCache.measure(
        "\(folder)/python", bytes: bytes, keys: min(count, 1_000), rounds: min(settings.rounds, 3))
      {
        sets.append(Row(name: "python-diskcache", samples: python.sets.map { $0 / 1_000 }))
        gets.append(Row(name: "python-diskcache", samples: python.gets.map { $0 / 1_000 }))
      }
      let size = bytes < 1 << 20 ? "\(bytes >> 10) KiB" : "\(bytes >> 20) MiB"
      return [
        Table(title: "set \(size), one task, buffered", unit: "us/op", rows: sets),
        Table(title: "get \(size), one task, warm", unit: "us/op", rows: gets),
        Table(title: "get \(size), one task, cold", unit: "us/op", rows: cold),
        Table(title: "set \(size), one task, buffered: processor time", unit: "us/op", rows: setWork),
        Table(title: "get \(size), one task, warm: processor time", unit: "us/op", rows: getWork),
      ]
    }
  }

  private func rows() -> [Row] { buffered.map { Row(name: $0.name, samples: []) } }

  private func check(_ subject: any Subject, _ key: String) async throws {
    guard try await subject.get(key)?.count == bytes else { throw Failure("\(key) was not found whole") }
  }
}

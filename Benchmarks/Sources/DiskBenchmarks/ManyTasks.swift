import Foundation

/// Several tasks at once, values of 1 KiB.
struct ManyTasks {
  let settings: Settings

  func tables() async throws -> [Table] {
    let contenders = buffered.filter { !["LevelDB", "append to a log (the floor)"].contains($0.name) }
    let count = settings.isQuick ? 2_000 : 20_000
    let keys = Workload.keys(count)
    let value = Workload.value(1 << 10)
    var tables: [Table] = []
    for tasks in [1, 2, 64] {
      tables += try await settings.inFolder { folder in
        var sets = contenders.map { Row(name: $0.name, samples: []) }
        var gets = sets
        var subjects: [any Subject] = []
        for (place, contender) in contenders.enumerated() {
          subjects.append(try await contender.open("\(folder)/\(place)"))
        }
        for round in 0...settings.rounds {
          for (place, subject) in subjects.enumerated() {
            let set = try await Workload.time(count, tasks: tasks) { try await subject.set(value, keys[$0]) }
            let get = try await Workload.time(count, tasks: tasks) { operation in
              let key = keys[operation &* 7_919 % count]
              guard try await subject.get(key)?.count == value.count else {
                throw Failure("\(key) was not found whole")
              }
            }
            guard round > 0 else { continue }
            sets[place].samples.append(set / 1_000)
            gets[place].samples.append(get / 1_000)
          }
        }
        for subject in subjects { try await subject.close() }
        return [
          Table(title: "set 1 KiB, \(tasks) tasks, buffered", unit: "us/op", rows: sets),
          Table(title: "get 1 KiB, \(tasks) tasks, warm", unit: "us/op", rows: gets),
        ]
      }
    }
    return tables
  }
}

/// Writes that wait for the disk: one task, and 64 that can share a wait.
struct GroupCommit {
  let settings: Settings

  func tables() async throws -> [Table] {
    let keys = Workload.keys(6_400)
    let value = Workload.value(1 << 10)
    return try await settings.inFolder { folder in
      var alone = synced.map { Row(name: $0.name, samples: []) }
      var together = alone
      var subjects: [any Subject] = []
      for (place, contender) in synced.enumerated() { subjects.append(try await contender.open("\(folder)/\(place)")) }
      for round in 0...min(settings.rounds, 5) {
        for (place, subject) in subjects.enumerated() {
          let one = try await Workload.time(100) { for key in keys.prefix(100) { try await subject.set(value, key) } }
          let isEngine = subject is Engine
          // Who cannot share a wait needs as long for each; fewer of these tell as much.
          let operations = isEngine ? 6_400 : 320
          let many = try await Workload.time(operations, tasks: 64) { try await subject.set(value, keys[$0]) }
          guard round > 0 else { continue }
          alone[place].samples.append(one / 1_000)
          together[place].samples.append(many / 1_000)
        }
      }
      for subject in subjects { try await subject.close() }
      return [
        Table(title: "set 1 KiB, one task, synced", unit: "us/op", rows: alone),
        Table(title: "set 1 KiB, 64 tasks, synced", unit: "us/op", rows: together),
        Table(
          title: "what 64 synced tasks do in the time of one", unit: "times",
          rows: zip(alone, together).map { Row(name: $0.name, samples: zip($0.samples, $1.samples).map { $0 / $1 }) }),
      ]
    }
  }
}

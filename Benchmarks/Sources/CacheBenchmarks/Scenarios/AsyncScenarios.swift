import CacheEngine
import Floor
import Synchronization

/// What waiting costs: hits by `await` from where callers are, loads that answer at once, and crowds.
enum AsyncScenarios {
  private static let keys = Workload.textKeys(1_024)

  static func hits(rounds: Int) async throws -> Comparison {
    let floor = LockedDictionary<String, Int>()
    let memory = MemoryCacheLevel<String, Int>(capacity: 4_096)
    for (index, key) in keys.enumerated() {
      floor.set(index, forKey: key)
      try await memory.set(index, forKey: key)
    }
    let pooled = memory.pooled()
    let conditioned = memory.conditioned { _ in true }
    let counted = memory.traced(by: CacheStatistics())
    let order = Workload.order(keys.count)
    var comparison = Comparison(title: "get, hit, by await, 1024 entries", operations: 200_000, rounds: rounds)
    comparison.isInProcessorCaches = true
    comparison.add("Dictionary behind Mutex, sync (the floor)") {
      try await Workload.drive($0, keys, order) { floor.get($0) }
    }
    comparison.add("get, from a task") { try await Workload.drive($0, keys, order) { try await memory.get($0) } }
    comparison.add("get, from the main actor") { try await onMainActor($0, memory, order) }
    comparison.add("pooled().get, from a task") {
      try await Workload.drive($0, keys, order) { try await pooled.get($0) }
    }
    comparison.add("pooled().get, from the main actor") { try await onMainActor($0, pooled, order) }
    comparison.add("conditioned { … }.get, from a task") {
      try await Workload.drive($0, keys, order) { try await conditioned.get($0) }
    }
    comparison.add("conditioned { … }.get, from the main actor") { try await onMainActor($0, conditioned, order) }
    comparison.add("traced(by:).get, from a task") {
      try await Workload.drive($0, keys, order) { try await counted.get($0) }
    }
    comparison.add("traced(by:).get, from the main actor") { try await onMainActor($0, counted, order) }
    return comparison
  }

  @MainActor
  private static func onMainActor<Level: CacheLevel<String, Int>>(
    _ operations: Int, _ level: Level, _ order: [Int]
  ) async throws {
    try await Workload.drive(operations, keys, order) { try await level.get($0) }
  }

  /// Many callers of one key whose load takes 20 milliseconds.
  static func crowd(callers: Int, rounds: Int) async throws -> (Result, loads: Int) {
    let loads = Mutex(0)
    let source = BasicFetcher<Int, Int>(name: "slow") { key in
      loads.withLock { $0 += 1 }
      try await Task.sleep(for: .milliseconds(20))
      return key
    }
    let pooled = source.pooled()
    let clock = ContinuousClock()
    var pool: [Double] = []
    var tasks: [Double] = []
    for round in 0...rounds {
      let began = clock.now
      try await crowd(callers) { try await pooled.get(1) }
      let middle = clock.now
      let load = Task {
        try await Task.sleep(for: .milliseconds(20))
        return 1
      }
      try await crowd(callers) { try await load.value }
      if round > 0 {
        pool.append(began.duration(to: middle) / .milliseconds(1))
        tasks.append(middle.duration(to: clock.now) / .milliseconds(1))
      }
    }
    let rows = [
      Comparison.Row(name: "every caller awaits one Task", samples: tasks),
      Comparison.Row(name: "every caller asks the pool", samples: pool),
    ]
    let result = Result(title: "\(callers) callers of one key, a load of 20 ms", unit: "ms", rows: rows)
    return (result, loads.withLock { $0 } / (rounds + 1))
  }

  private static func crowd(_ callers: Int, _ get: @escaping @Sendable () async throws -> Int?) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<callers { group.addTask { blackHole(try await get()) } }
      try await group.waitForAll()
    }
  }
}

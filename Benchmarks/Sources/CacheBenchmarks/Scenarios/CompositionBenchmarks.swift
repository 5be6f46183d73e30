import CacheEngine
import Floor

/// What the glue between levels costs: depth, erasure, transforms, pools.
enum CompositionBenchmarks {
  static func comparisons(rounds: Int) async throws -> [Comparison] {
    [
      try await depth(rounds: rounds), try await lookups(rounds: rounds), try await transforms(rounds: rounds),
      try await stores(rounds: rounds), pooledMiss(rounds: rounds), pooledHerd(rounds: rounds),
    ]
  }

  private static let keys = (0..<1_024).map { "user:profile:\($0 + 100_000_000_000)" }

  private static func filled(_ name: String) async throws -> MemoryCacheLevel<String, Int> {
    let level = MemoryCacheLevel<String, Int>(name: name, capacity: 4_096)
    for (index, key) in keys.enumerated() { try await level.set(index, forKey: key) }
    return level
  }

  private static func floor() -> LockedDictionary<String, Int> {
    let floor = LockedDictionary<String, Int>()
    for (index, key) in keys.enumerated() { floor.set(index, forKey: key) }
    return floor
  }

  private static func depth(rounds: Int) async throws -> Comparison {
    let order = Workload.order(keys.count)
    let floor = floor()
    let one = try await filled("1")
    let three = one.compose(try await filled("2")).compose(try await filled("3"))
    let five = three.compose(try await filled("4")).compose(try await filled("5"))
    let erased = five.normalize()
    var comparison = Comparison(
      title: "get, hit above, String keys, through so many levels", operations: 500_000, rounds: rounds)
    comparison.add("Dictionary behind Mutex, sync (the floor)") {
      try await Workload.drive($0, keys, order) { floor.get($0) }
    }
    comparison.add("1 level") { try await Workload.drive($0, keys, order) { try await one.get($0) } }
    comparison.add("3 levels") { try await Workload.drive($0, keys, order) { try await three.get($0) } }
    comparison.add("5 levels") { try await Workload.drive($0, keys, order) { try await five.get($0) } }
    comparison.add("5 levels, normalize()") { try await Workload.drive($0, keys, order) { try await erased.get($0) } }
    return comparison
  }

  private static func lookups(rounds: Int) async throws -> Comparison {
    let order = Workload.order(keys.count)
    let floor = floor()
    let one = try await filled("1")
    let three = one.compose(try await filled("2")).compose(try await filled("3"))
    let five = three.compose(try await filled("4")).compose(try await filled("5"))
    var comparison = Comparison(
      title: "lookup (value with its deadline and level), hit above, String keys", operations: 200_000, rounds: rounds)
    comparison.add("Dictionary behind Mutex, sync (the floor)") {
      try await Workload.drive($0, keys, order) { floor.get($0) }
    }
    comparison.add("1 level") { try await Workload.drive($0, keys, order) { try await one.lookup($0).entry?.value } }
    comparison.add("3 levels") { try await Workload.drive($0, keys, order) { try await three.lookup($0).entry?.value } }
    comparison.add("5 levels") { try await Workload.drive($0, keys, order) { try await five.lookup($0).entry?.value } }
    return comparison
  }

  private static func stores(rounds: Int) async throws -> Comparison {
    let floor = floor()
    var comparison = Comparison(title: "set, String keys, through so many levels", operations: 200_000, rounds: rounds)
    comparison.add("Dictionary behind Mutex, sync (the floor)") {
      try await drive($0) { floor.set(1, forKey: $0) }
    }
    let one = try await filled("1")
    comparison.add("1 level") { try await drive($0) { try await one.set(1, forKey: $0) } }
    let two = (try await filled("1")).compose(try await filled("2"))
    comparison.add("2 levels") { try await drive($0) { try await two.set(1, forKey: $0) } }
    let pooled = two.pooled()
    comparison.add("2 levels, pooled()") { try await drive($0) { try await pooled.set(1, forKey: $0) } }
    return comparison
  }

  private static func drive(_ operations: Int, _ set: (String) async throws -> Void) async throws {
    for number in 0..<operations { try await set(keys[number % keys.count]) }
  }

  private static func transforms(rounds: Int) async throws -> Comparison {
    let order = Workload.order(keys.count)
    let floor = floor()
    let memory = try await filled("1")
    let keyed = memory.transformKeys { (key: String) in key }
    let valued = memory.transformValues(
      TwoWayTransformationBox<Int, Int>(transform: { $0 + 1 }, inverseTransform: { $0 - 1 }))
    let conditioned = memory.conditioned { $0.utf8.count > 3 }
    let capped = memory.capRequests(100)
    var comparison = Comparison(title: "get, hit, through an operator", operations: 200_000, rounds: rounds)
    comparison.add("Dictionary behind Mutex, sync (the floor)") {
      try await Workload.drive($0, keys, order) { floor.get($0) }
    }
    comparison.add("transformKeys") { try await Workload.drive($0, keys, order) { try await keyed.get($0) } }
    comparison.add("transformValues") { try await Workload.drive($0, keys, order) { try await valued.get($0) } }
    comparison.add("conditioned") { try await Workload.drive($0, keys, order) { try await conditioned.get($0) } }
    comparison.add("capRequests") { try await Workload.drive($0, keys, order) { try await capped.get($0) } }
    return comparison
  }

  private static func pooledMiss(rounds: Int) -> Comparison {
    let source = Source()
    let pooled = source.pooled()
    var comparison = Comparison(
      title: "get from a source that answers at once, 1 caller", operations: 50_000, rounds: rounds)
    comparison.add("await Task { source.get }.value") {
      for key in 0..<$0 { blackHole(try await Task { try await source.get(key) }.value) }
    }
    comparison.add("source.pooled().get") { for key in 0..<$0 { blackHole(try await pooled.get(key)) } }
    let cached = MemoryCacheLevel<Int, Int>(countLimit: 10_000).compose(source).pooled()
    var key = 0
    comparison.add("a miss in memory: loaded through a pool and stored") { operations in
      for _ in 0..<operations {
        key += 1
        blackHole(try await cached.get(key))
      }
    }
    return comparison
  }

  /// Every caller is a task; what is compared is how they come to wait for one load.
  private static func pooledHerd(rounds: Int) -> Comparison {
    let source = Source()
    let pooled = source.pooled()
    var comparison = Comparison(
      title: "get of one key, 1,000 callers at once, for each caller", operations: 20_000, rounds: rounds)
    comparison.add("1,000 tasks that ask the source themselves") { operations in
      for _ in 0..<operations / 1_000 { try await herd { try await source.get(1) } }
    }
    comparison.add("1,000 tasks that await one Task") { operations in
      for _ in 0..<operations / 1_000 {
        let load = Task { try await source.get(1) }
        try await herd { try await load.value }
      }
    }
    comparison.add("1,000 tasks that ask the pool") { operations in
      for _ in 0..<operations / 1_000 { try await herd { try await pooled.get(1) } }
    }
    return comparison
  }

  private static func herd(_ get: @escaping @Sendable () async throws -> Int?) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<1_000 { group.addTask { blackHole(try await get()) } }
      try await group.waitForAll()
    }
  }
}

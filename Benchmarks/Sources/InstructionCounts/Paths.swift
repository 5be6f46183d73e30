import CCallgrind
import CacheEngine
import Foundation

struct NumberSource: Fetcher {
  func get(_ key: Int) async throws -> Int? { key }
}

/// An observer that events have to be made for.
struct Onlooker: CacheObserver {
  func record(_ event: CacheEvent) {}
}

extension InstructionCounts {
  static func filled(
    _ name: String = "memory", _ eviction: Eviction = .adaptive, expiry: Expiry = .never
  ) async throws -> MemoryCacheLevel<String, Int> {
    let level = MemoryCacheLevel<String, Int>(name: name, countLimit: 16_000, eviction: eviction, expiry: expiry)
    for number in 0..<10_000 { try await level.set(number, forKey: keys[number]) }
    return level
  }

  static func memory() async throws {
    let (keys, held, all, operations) = (keys, held, all, held.count)
    let adaptive = try await filled()
    let lru = try await filled("memory", .lru)
    let mortal = try await filled(expiry: .after(.seconds(3_600)))
    var sum = 0
    // The first use of an entry is told of, and the rest of them are not.
    for number in held {
      for level in [adaptive, lru, mortal] { sum &+= level.peek(keys[number]) ?? 0 }
    }
    try await count("hit, peek", operations: operations) { sum &+= adaptive.peek(keys[held[$0]]) ?? 0 }
    try await count("hit, get", operations: operations) { sum &+= try await adaptive.get(keys[held[$0]]) ?? 0 }
    try await count("hit, lru, peek", operations: operations) { sum &+= lru.peek(keys[held[$0]]) ?? 0 }
    try await count("hit, a lifetime, get", operations: operations) {
      sum &+= try await mortal.get(keys[held[$0]]) ?? 0
    }
    try await count("hit, lookup", operations: operations) {
      sum &+= try await adaptive.lookup(keys[held[$0]]).entry?.value ?? 0
    }
    try await count("miss, get", operations: operations) {
      sum &+= try await adaptive.get(keys[10_000 + held[$0] / 2]) ?? 0
    }
    try await count("set, overwriting", operations: operations) { try await adaptive.set($0, forKey: keys[held[$0]]) }
    for (name, eviction) in [("adaptive", Eviction.adaptive), ("lru", .lru)] {
      let small = MemoryCacheLevel<String, Int>(countLimit: 2_000, eviction: eviction)
      // Round and round, so that every set is of a key that is not held; once round before it counts.
      for number in 0..<keys.count { try await small.set(number, forKey: keys[number]) }
      var next = 0
      try await count("set, evicting, \(name)", operations: operations) {
        try await small.set($0, forKey: keys[next])
        next = next == keys.count - 1 ? 0 : next + 1
      }
    }
    let tenth = MemoryCacheLevel<String, Int>(countLimit: 2_000)
    let through: (Int) async throws -> Void = {
      let key = keys[all[$0]]
      if let value = try await tenth.get(key) { sum &+= value } else { try await tenth.set($0, forKey: key) }
    }
    for number in 0..<operations { try await through(number) }
    try await count("read-through, room for a tenth", operations: operations, through)
    if sum == 42 { print(sum) }
  }

  static func stacks() async throws {
    let (keys, held) = (keys, held)
    let memory = try await filled("1")
    let three = memory.compose(try await filled("2")).compose(try await filled("3"))
    let observed = try await filled("1").observed(as: "memory", by: CacheStatistics())
    let mortal = try await filled("1", expiry: .after(.seconds(3_600))).observed(as: "memory", by: CacheStatistics())
    let traced = try await filled("1").observed(as: "memory", by: CacheStatistics()).traced(by: CacheStatistics())
    let told = try await filled("1").observed(as: "memory", by: Onlooker()).traced(by: Onlooker())
    let capped = try await filled("1").capRequests(4)
    let operations = 2_000
    var sum = 0
    try await count("hit through 3 levels, get", operations: operations) {
      sum &+= try await three.get(keys[held[$0]]) ?? 0
    }
    try await count("hit through 3 levels, lookup", operations: operations) {
      sum &+= try await three.lookup(keys[held[$0]]).entry?.value ?? 0
    }
    try await count("hit, observed", operations: operations) { sum &+= try await observed.get(keys[held[$0]]) ?? 0 }
    try await count("hit, a lifetime, observed", operations: operations) {
      sum &+= try await mortal.get(keys[held[$0]]) ?? 0
    }
    try await count("hit, observed and traced", operations: operations) {
      sum &+= try await traced.get(keys[held[$0]]) ?? 0
    }
    try await count("hit, told as events, and traced", operations: operations) {
      sum &+= try await told.get(keys[held[$0]]) ?? 0
    }
    try await count("hit, capped", operations: operations) { sum &+= try await capped.get(keys[held[$0]]) ?? 0 }
    try await count("set through 3 levels", operations: operations) { try await three.set($0, forKey: keys[held[$0]]) }
    if sum == 42 { print(sum) }
  }

  /// In a function of its own: a task has a kilobyte at hand, and whether a path takes more also depends on what its caller holds.
  @inline(never)
  static func loads() async throws {
    let fetcher = BasicFetcher<Int, Int> { $0 }
    let pooled = fetcher.pooled()
    let loading = MemoryCacheLevel<Int, Int>(countLimit: 500).compose(NumberSource())
    let sharing = MemoryCacheLevel<Int, Int>(countLimit: 500).compose(NumberSource()).pooled()
    let above = MemoryCacheLevel<Int, Int>(countLimit: 500).compose(NumberSource().pooled())
    let operations = 2_000
    var (sum, last) = (0, 0)
    // Not by the number of the operation, which that of one to warm up was, too: a miss has to miss.
    func fresh() -> Int {
      last += 1
      return last
    }
    try await count("a fetcher, erased", operations: operations) { sum &+= try await fetcher.get($0) ?? 0 }
    try await count("a fetcher through a pool", operations: operations) { sum &+= try await pooled.get($0) ?? 0 }
    try await count("miss in memory, loaded", operations: operations) { _ in
      sum &+= try await loading.get(fresh()) ?? 0
    }
    try await count("miss in memory, loaded through a pool", operations: operations) { _ in
      sum &+= try await sharing.get(fresh()) ?? 0
    }
    try await count("miss in memory, loaded by a pool below", operations: operations) { _ in
      sum &+= try await above.get(fresh()) ?? 0
    }
    if sum == 42 { print(sum) }
  }

  static func disk() async throws {
    let keys = keys
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("InstructionCounts-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: folder) }
    let disk = try DiskCacheLevel<String, Data>(directory: folder.path)
    let value = Data(repeating: 7, count: 1_024)
    var sum = 0
    try await count("disk, set of 1 KiB", operations: 1_000) { try await disk.set(value, forKey: keys[$0]) }
    try await count("disk, get of 1 KiB", operations: 1_000) { sum &+= try await disk.get(keys[$0])?.count ?? 0 }
    try await disk.close()
    if sum == 42 { print(sum) }
  }
}

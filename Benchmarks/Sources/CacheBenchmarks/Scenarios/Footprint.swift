import CFloor
import CacheEngine
import Floor

/// What an entry and an operation cost in memory.
enum Footprint {
  /// Bytes beyond the key and the value of an entry, without the text of the keys, which exists already.
  static func bytes(entries: Int) async throws -> Result {
    // Half as many again, for a level that evicts.
    let all = Workload.textKeys(entries * 3 / 2)
    let keys = all.prefix(entries)
    let objects = keys.map { FoundationCache<String>.StoredKey($0) }
    var rows: [Comparison.Row] = []
    func measure(_ name: String, payload: Int, _ fill: () async throws -> any Sendable) async throws {
      let before = cfloor_allocated_bytes()
      let cache = try await fill()
      let bytes = Double(cfloor_allocated_bytes()) - Double(before)
      withExtendedLifetime(cache) {}
      rows.append(.init(name: name, samples: [bytes / Double(entries) - Double(payload)]))
    }
    let payload = MemoryLayout<String>.size + MemoryLayout<Int>.size
    try await measure("Dictionary behind Mutex (the floor)", payload: payload) {
      let floor = LockedDictionary<String, Int>()
      for (index, key) in keys.enumerated() { floor.set(index, forKey: key) }
      return floor
    }
    try await measure("Dictionary LRU behind Mutex", payload: payload) {
      let list = LockedLRU<String, Int>(capacity: entries)
      for (index, key) in keys.enumerated() { list.set(index, forKey: key) }
      return list
    }
    // The key is a pointer there.
    try await measure("NSCache", payload: 2 * MemoryLayout<Int>.size) {
      let foundation = FoundationCache<String>(capacity: entries)
      for (index, key) in objects.enumerated() { foundation.set(index, forKey: key) }
      return foundation
    }
    for (name, expiry) in [("", Expiry.never), (", with a lifetime", .after(.seconds(3_600)))] {
      for eviction in Eviction.all {
        try await measure("MemoryCacheLevel, \(eviction)\(name)", payload: payload) {
          let memory = MemoryCacheLevel<String, Int>(capacity: entries, eviction: eviction, expiry: expiry)
          for (index, key) in keys.enumerated() { try await memory.set(index, forKey: key) }
          return memory
        }
      }
    }
    try await measure("MemoryCacheLevel, adaptive, with a lifetime, evicting", payload: payload) {
      let memory = MemoryCacheLevel<String, Int>(capacity: entries, expiry: .after(.seconds(3_600)))
      for (index, key) in all.enumerated() { try await memory.set(index, forKey: key) }
      return memory
    }
    return Result(title: "bytes an entry beyond key and value, \(entries) entries", unit: "bytes", rows: rows)
  }

  /// How often an operation asks the allocator for a block.
  static func allocations() async throws -> Result {
    let keys = Workload.textKeys(10_000)
    let full = MemoryCacheLevel<String, Int>(capacity: 20_000)
    let tight = MemoryCacheLevel<String, Int>(capacity: 1_000)
    let pooled = full.pooled()
    for (index, key) in keys.enumerated() {
      try await full.set(index, forKey: key)
      try await tight.set(index, forKey: key)
    }
    var rows: [Comparison.Row] = []
    func measure(_ name: String, _ body: (String) async throws -> Int?) async throws {
      for key in keys { blackHole(try await body(key)) }
      cfloor_count_allocations(1)
      let before = cfloor_allocations()
      for key in keys { blackHole(try await body(key)) }
      let count = cfloor_allocations() - before
      cfloor_count_allocations(0)
      rows.append(.init(name: name, samples: [Double(count) / Double(keys.count)]))
    }
    try await measure("peek, hit") { full.peek($0) }
    try await measure("get, hit") { try await full.get($0) }
    try await measure("lookup, hit") { try await full.lookup($0).entry?.value }
    try await measure("get, hit, through a pool") { try await pooled.get($0) }
    try await measure("get, miss") { try await tight.get($0) }
    try await measure("set, overwriting") {
      try await full.set(1, forKey: $0)
      return nil
    }
    try await measure("set, evicting") {
      try await tight.set(1, forKey: $0)
      return nil
    }
    return Result(title: "allocations an operation", unit: "blocks", rows: rows)
  }
}

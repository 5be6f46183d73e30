import CacheEngine

/// How subjects are driven.
enum Workload {
  /// A walk over all keys in an order that caches of the processor cannot foresee.
  static func order(_ count: Int) -> [Int] {
    var generator = SplitMix64(state: 42)
    return (0..<count).shuffled(using: &generator)
  }

  @inline(__always)
  static func drive<Key>(
    _ operations: Int, _ keys: [Key], _ order: [Int], _ get: (Key) async throws -> Int?
  ) async throws {
    var sum = 0
    var position = 0
    for _ in 0..<operations {
      sum &+= try await get(keys[order[position]]) ?? 0
      position = position + 1 == order.count ? 0 : position + 1
    }
    blackHole(sum)
  }
}

struct Source: Fetcher {
  func get(_ key: Int) async throws -> Int? { key }
}

@inline(never)
func blackHole<Value>(_ value: Value) {}

/// Steele, Lea and Flood, Fast Splittable Pseudorandom Number Generators, OOPSLA 2014.
struct SplitMix64: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var z = state
    z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
    z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
    return z ^ (z >> 31)
  }
}

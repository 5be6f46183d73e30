import CacheEngineTesting
import CacheEngine
import Foundation

/// How subjects are driven.
enum Workload {
  /// A walk over all keys in an order that caches of the processor cannot foresee.
  static func order(_ count: Int, seed: UInt64 = 42) -> [Int] {
    var generator = SeededGenerator(seed: seed)
    return (0..<count).shuffled(using: &generator)
  }

  /// Requests for keys of which a few are popular: the n-th with a weight of 1/n^0.99.
  static func zipf(_ count: Int, requests: Int, seed: UInt64) -> [Int] {
    var sum = 0.0
    let cumulated = (1...count).map { rank in
      sum += 1 / pow(Double(rank), 0.99)
      return sum
    }
    // Which keys are popular has nothing to do with where they lie.
    let keys = order(count, seed: 1)
    var generator = SeededGenerator(seed: seed)
    return (0..<requests).map { _ in
      let sought = Double.random(in: 0..<sum, using: &generator)
      var (low, high) = (0, count - 1)
      while low < high {
        let middle = (low + high) / 2
        if cumulated[middle] > sought { high = middle } else { low = middle + 1 }
      }
      return keys[low]
    }
  }

  static func textKeys(_ count: Int, prefix: String = "user:profile:") -> [String] {
    (0..<count).map { prefix + String(repeating: "0", count: 12 - String($0).count) + String($0) }
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

  /// Calls the body with the numbers of requests, from a place of the worker's own on.
  @inline(__always)
  static func walk(
    _ requests: [Int], worker: Int, _ operations: Int, _ body: (Int) async throws -> Int
  ) async throws {
    var sum = 0
    var position = worker * requests.count / 2
    for _ in 0..<operations {
      sum &+= try await body(requests[position])
      position = position + 1 == requests.count ? 0 : position + 1
    }
    blackHole(sum)
  }
}

struct Source: Fetcher {
  func get(_ key: Int) async throws -> Int? { key }
}

@inline(never)
func blackHole<Value>(_ value: Value) {}

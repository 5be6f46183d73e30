import CacheEngineTesting
import Foundation

/// Requests that tests replay.
enum TestTrace: String, CaseIterable {
  case zipf, scan, loop, mixed, web

  /// The keys, one for each request; the same in every run.
  var requests: [Int] {
    get throws {
      var generator = SeededGenerator(seed: 12)
      switch self {
      case .zipf: return Self.zipf(20_000, keys: 2_000, &generator)
      case .scan:
        // A popular set, and every few hundred requests a walk over what nobody asks for again.
        var fresh = 10_000
        return (0..<40).flatMap { _ -> [Int] in
          defer { fresh += 120 }
          return Self.zipf(380, keys: 600, &generator) + Array(fresh..<fresh + 120)
        }
      case .loop: return (0..<20_000).map { $0 % 150 }
      case .mixed:
        let popular = Self.zipf(10_000, keys: 800, &generator)
        let later = Self.zipf(10_000, keys: 800, &generator).map { $0 + 5_000 }
        return (popular + later).enumerated().flatMap { index, key in
          index % 4 == 0 ? [key, 20_000 + index / 4 % 90] : [key]
        }
      case .web:
        let url = Bundle.module.url(forResource: "web12", withExtension: "u16", subdirectory: "Traces")
        guard let url else { throw CocoaError(.fileNoSuchFile) }
        let bytes = [UInt8](try Data(contentsOf: url))
        return stride(from: 0, to: bytes.count - 1, by: 2).map { Int(bytes[$0]) | Int(bytes[$0 + 1]) << 8 }
      }
    }
  }

  /// As many of the first requests as simulators that are written to be read get through in a debug build.
  var beginning: [Int] { get throws { Array(try requests.prefix(6_000)) } }

  var capacities: [Int] { self == .web ? [138] : [1, 7, 50, 160] }

  static func popular(_ count: Int, keys: Int) -> [Int] {
    var generator = SeededGenerator(seed: UInt64(count))
    return zipf(count, keys: keys, &generator)
  }

  private static func zipf(_ count: Int, keys: Int, _ generator: inout SeededGenerator) -> [Int] {
    var summed: [Double] = []
    for rank in 1...keys { summed.append((summed.last ?? 0) + 1 / Double(rank)) }
    return (0..<count).map { _ in
      let wanted = Double.random(in: 0..<(summed.last ?? 1), using: &generator)
      var (lower, upper) = (0, keys - 1)
      while lower < upper {
        let middle = (lower + upper) / 2
        if summed[middle] > wanted { upper = middle } else { lower = middle + 1 }
      }
      return lower
    }
  }
}

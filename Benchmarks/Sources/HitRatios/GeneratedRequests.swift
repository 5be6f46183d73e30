import CacheEngineTesting
import Foundation

/// Families of requests that pull policies in different directions; the same in every run.
struct GeneratedRequests: Sendable {
  let name: String
  let make: @Sendable () -> [Int]

  private static let count = 500_000

  static let all: [GeneratedRequests] = [
    GeneratedRequests(name: "zipf 0.7") { popular(keys: 50_000, skew: 0.7) },
    GeneratedRequests(name: "zipf 0.99") { popular(keys: 50_000, skew: 0.99) },
    GeneratedRequests(name: "zipf 0.99, scan 1/4") {
      popular(keys: 50_000, skew: 0.99).enumerated().map { $0 % 4 == 0 ? 1_000_000 + $0 : $1 }
    },
    GeneratedRequests(name: "zipf 0.99, loop 2/5") {
      popular(keys: 50_000, skew: 0.99).enumerated().map { $0 % 5 < 2 ? 1_000_000 + ($0 / 5 * 2 + $0 % 5) % 4_000 : $1 }
    },
    GeneratedRequests(name: "loop") { (0..<count).map { $0 % 10_000 } },
    GeneratedRequests(name: "shift, 10 times") { shifting(times: 10) },
    GeneratedRequests(name: "shift, 40 times") { shifting(times: 40) },
    GeneratedRequests(name: "drift") {
      popular(keys: 30_000, skew: 0.9).enumerated().map { $1 + $0 / 10 }
    },
    GeneratedRequests(name: "bursts of 2") { bursts(of: 2, apart: 900) },
    GeneratedRequests(name: "bursts of 3") { bursts(of: 3, apart: 600) },
    GeneratedRequests(name: "bursts of 4") { bursts(of: 4, apart: 400) },
    GeneratedRequests(name: "blocks, thrice") { (0..<count).map { $0 / 3_000 * 1_000 + $0 % 1_000 } },
    GeneratedRequests(name: "recency") { recency() },
    GeneratedRequests(name: "weekly") {
      popular(keys: 5_000, skew: 0.7).enumerated().map { $0 / 10_000 % 7 * 3_500 + $1 }
    },
    GeneratedRequests(name: "sequences and hot") { sequences() },
    GeneratedRequests(name: "files") { files() },
    GeneratedRequests(name: "recency, then frequency") { swinging() },
  ]

  private static func popular(_ requests: Int = count, keys: Int, skew: Double, seed: UInt64 = 1) -> [Int] {
    let zipf = Zipf(keys: keys, skew: skew)
    var generator = SeededGenerator(seed: seed)
    return (0..<requests).map { _ in zipf.draw(&generator) }
  }

  private static func shifting(times: Int) -> [Int] {
    var generator = SeededGenerator(seed: 2)
    var names = Array(0..<50_000)
    return popular(keys: 50_000, skew: 0.99).enumerated().map { index, key in
      if index % (count / times) == 0 { names.shuffle(using: &generator) }
      return names[key]
    }
  }

  private static func bursts(of size: Int, apart: Int) -> [Int] {
    var generator = SeededGenerator(seed: 3)
    var moments: [(time: Int, key: Int)] = []
    for key in 0..<count / size {
      var time = key * size
      for _ in 0..<size {
        moments.append((time, key))
        time += Int.random(in: 1..<2 * apart, using: &generator)
      }
    }
    return moments.sorted { ($0.time, $0.key) < ($1.time, $1.key) }.map(\.key)
  }

  /// What came d requests ago comes again, for a d that is small mostly; one in twenty is new.
  private static func recency() -> [Int] {
    var generator = SeededGenerator(seed: 4)
    var history: [Int] = []
    var fresh = 0
    for _ in 0..<count {
      let drawn = max(1e-9, Double.random(in: 0..<1, using: &generator))
      let distance = 20 * (1 / (drawn * drawn) - 1)
      if distance < Double(history.count), Int.random(in: 0..<20, using: &generator) > 0 {
        history.append(history[history.count - 1 - Int(distance)])
      } else {
        history.append(fresh)
        fresh += 1
      }
    }
    return history
  }

  private static func sequences() -> [Int] {
    var generator = SeededGenerator(seed: 5)
    var keys: [Int] = []
    var hot = popular(keys: 4_000, skew: 0.9)[...]
    while keys.count < count {
      keys += hot.prefix(4_000)
      hot = hot.dropFirst(4_000)
      let start = Int.random(in: 100_000..<160_000, using: &generator)
      keys += start..<start + Int.random(in: 200..<2_000, using: &generator)
    }
    return Array(keys.prefix(count))
  }

  /// Whole files of blocks, some more popular than others.
  private static func files() -> [Int] {
    let blocks = popular(2_000, keys: 80, skew: 0, seed: 6)
    return Array(
      popular(keys: 2_000, skew: 0.8).lazy.flatMap { file in file * 100..<file * 100 + blocks[file] + 1 }.prefix(count))
  }

  private static func swinging() -> [Int] {
    let often = popular(keys: 20_000, skew: 0.9)
    var generator = SeededGenerator(seed: 7)
    return (0..<count).map { index in
      index / 25_000 % 2 == 0 ? often[index] : 1_000_000 + index / 3 + Int.random(in: 0..<400, using: &generator)
    }
  }
}

/// Ranks with probabilities that fall with a power of the rank.
private struct Zipf {
  private let summed: [Double]

  init(keys: Int, skew: Double) {
    var sum = 0.0
    summed = (1...keys).map { rank in
      sum += pow(Double(rank), -skew)
      return sum
    }
  }

  func draw(_ generator: inout SeededGenerator) -> Int {
    let wanted = Double.random(in: 0..<(summed.last ?? 1), using: &generator)
    var (lower, upper) = (0, summed.count - 1)
    while lower < upper {
      let middle = (lower + upper) / 2
      if summed[middle] > wanted { upper = middle } else { lower = middle + 1 }
    }
    return lower
  }
}

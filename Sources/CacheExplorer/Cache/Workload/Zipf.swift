/// Ranks from 0 on, of which rank k is drawn in proportion to 1 / (k + 1) ^ skew.
///
/// A table of the summed probabilities and a binary search: exact, 8 bytes for each rank, O(log n) a draw.
struct Zipf: Sendable {
  private let summed: [Double]

  init(count: Int, skew: Double) {
    var sum = 0.0
    summed = (0..<max(1, count)).map { rank in
      sum += 1 / pow(Double(rank + 1), skew)
      return sum
    }
  }

  /// The probability of a rank.
  func probability(of rank: Int) -> Double {
    guard let total = summed.last else { return 0 }
    return (summed[rank] - (rank == 0 ? 0 : summed[rank - 1])) / total
  }

  func rank(using generator: inout some RandomNumberGenerator) -> Int {
    let wanted = Double.random(in: 0..<(summed.last ?? 1), using: &generator)
    var (lower, upper) = (0, summed.count - 1)
    while lower < upper {
      let middle = (lower + upper) / 2
      if summed[middle] > wanted { upper = middle } else { lower = middle + 1 }
    }
    return lower
  }
}

#if canImport(Glibc)
import func Glibc.pow
#elseif canImport(Musl)
import func Musl.pow
#elseif canImport(Darwin)
import func Darwin.pow
#endif

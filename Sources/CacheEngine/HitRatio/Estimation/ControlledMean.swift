import CacheCore

/// The mean of a quantity over all groups, estimated from some groups with the help of two others whose means are known.
///
/// Linear regression with control variates (B. Nelson, Control variate remedies, Operations Research 38(6), 1990): a sample
/// that has too few of the misses that are known has too few of the others as well.
struct ControlledMean {
  let value: Double
  /// The standard error of the value.
  let error: Double

  /// - Parameters:
  ///   - values: The quantity, one for each sampled group.
  ///   - first: The first control, likewise, and its mean over all groups.
  ///   - second: The second control, likewise.
  init(_ values: [Double], first: (values: [Double], mean: Double), second: (values: [Double], mean: Double)) {
    let count = Double(values.count)
    func mean(_ values: [Double]) -> Double { values.reduce(0, +) / count }
    let (y, a, b) = (mean(values), mean(first.values), mean(second.values))
    func covariance(_ left: [Double], _ leftMean: Double, _ right: [Double], _ rightMean: Double) -> Double {
      zip(left, right).reduce(0) { $0 + ($1.0 - leftMean) * ($1.1 - rightMean) } / count
    }
    let aa = covariance(first.values, a, first.values, a)
    let bb = covariance(second.values, b, second.values, b)
    let ab = covariance(first.values, a, second.values, b)
    let ay = covariance(first.values, a, values, y)
    let by = covariance(second.values, b, values, y)
    let determinant = aa * bb - ab * ab
    let (slopeA, slopeB): (Double, Double)
    if determinant > 1e-9 * aa * bb {
      (slopeA, slopeB) = ((ay * bb - by * ab) / determinant, (by * aa - ay * ab) / determinant)
    } else {
      // The controls say the same, or nothing.
      (slopeA, slopeB) = (0, bb > 0 ? by / bb : 0)
    }
    value = y + slopeA * (first.mean - a) + slopeB * (second.mean - b)
    let residuals = zip(values, zip(first.values, second.values)).reduce(0) { sum, group in
      let residual = group.0 - y - slopeA * (group.1.0 - a) - slopeB * (group.1.1 - b)
      return sum + residual * residual
    }
    error = (residuals / max(1, count - 3) / count).squareRoot()
  }
}

import CacheCore

/// Finds, by trying, the share of the entries that should be kept by recency.
///
/// G. Einziger, O. Eytan, R. Friedman, B. Manes, Adaptive software cache management, Middleware 2018: hill climbing
/// on the hit ratio, in steps that shrink while little changes and are large again after a jump. Changed: it starts
/// at a tenth and not at a hundredth, which costs least where it starts wrongly.
struct WindowClimber: Sendable {
  private static let firstStep = 0.0625
  private static let decay = 0.98
  /// A change of the hit ratio that says that the requests have changed.
  private static let jump = 0.05

  private(set) var share = 0.1
  private var step = -WindowClimber.firstStep
  private var hits = 0
  private var requests = 0
  private var lastRatio: Double?

  mutating func hit() {
    hits += 1
    requests += 1
  }

  mutating func missed() { requests += 1 }

  /// Takes a step if enough was seen, and says whether it did.
  mutating func climb(entries: Int) -> Bool {
    guard requests >= max(64, 10 * entries) else { return false }
    let ratio = Double(hits) / Double(requests)
    (hits, requests) = (0, 0)
    defer { lastRatio = ratio }
    guard let lastRatio else { return false }
    let change = ratio - lastRatio
    if change < 0 { step = -step }
    let taken = step
    step = abs(change) >= Self.jump ? (step < 0 ? -Self.firstStep : Self.firstStep) : step * Self.decay
    share = min(0.8, max(0.01, share + taken))
    return true
  }
}

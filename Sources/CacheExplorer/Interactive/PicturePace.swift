/// Decides when a picture of what happens by itself is due: no more bytes than a person can read, whatever happens, and of what
/// is too fast to be followed no more than two a second.
///
/// What a key or an answer asks for is drawn at once and costs nothing here.
struct PicturePace {
  typealias Instant = ContinuousClock.Instant

  /// So many events a second can be read one by one.
  static let readable = 30.0
  /// Between two pictures when more happens.
  static let interval = Duration.milliseconds(500)
  /// Between two pictures at most, however many bytes they take.
  static let longest = Duration.seconds(2)
  /// So many bytes a second are enough for what can be read, and so many may come at once after a rest.
  static let budget = (perSecond: 2_500.0, most: 2_500.0)

  private var isBusy = false
  private var drawnAt: Instant?
  /// What was written lately, less what the budget has allowed since; no more than may come at once is ever left over.
  private var debt = 0.0

  /// Takes note of how many events came in so much time.
  mutating func note(_ events: Int, in time: Duration) {
    isBusy = Double(events) > Self.readable * (time / .seconds(1))
  }

  /// Takes note of a picture, and of the bytes that it took.
  mutating func drew(_ bytes: Int, isAsked: Bool = false, at now: Instant) {
    debt = debt(at: now) + (isAsked ? 0 : Double(bytes))
    drawnAt = now
  }

  /// How long a picture waits; `nil` if it is due.
  ///
  /// `isAsked`: A key or an answer asks for it.
  func wait(isAsked: Bool, at now: Instant) -> Duration? {
    guard !isAsked, let drawnAt else { return nil }
    let over = debt(at: now) - Self.budget.most
    let passed = drawnAt.duration(to: now)
    let left = min(
      max(isBusy ? Self.interval - passed : .zero, .seconds(over / Self.budget.perSecond)), Self.longest - passed)
    return left > .zero ? left : nil
  }

  private func debt(at now: Instant) -> Double {
    guard let drawnAt else { return 0 }
    return max(0, debt - drawnAt.duration(to: now) / .seconds(1) * Self.budget.perSecond)
  }
}

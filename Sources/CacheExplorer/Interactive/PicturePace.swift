/// Decides when a picture of what happens by itself is due: at once as long as a person can follow, and else no more often than
/// they can read.
struct PicturePace {
  typealias Instant = ContinuousClock.Instant

  /// So many events a second can be read one by one.
  static let readable = 30.0
  /// Between two pictures when more happens, as long as they are small, and at most.
  static let interval = Duration.milliseconds(500)
  static let longest = Duration.seconds(2)
  /// So many bytes a second of pictures that nobody asked for are enough for what can be read.
  static let budget = 2_200.0

  private var isBusy = false
  private var drawnAt: Instant?
  private var rest = Self.interval

  /// Takes note of how many events came in so much time.
  mutating func note(_ events: Int, in time: Duration) {
    isBusy = Double(events) > Self.readable * (time / .seconds(1))
  }

  /// Takes note of a picture, and of the bytes that it took.
  mutating func drew(_ bytes: Int, at now: Instant) {
    drawnAt = now
    rest = min(max(Self.interval, .seconds(Double(bytes) / Self.budget)), Self.longest)
  }

  /// How long a picture waits; `nil` if it is due.
  ///
  /// `isAsked`: A key or an answer asks for it.
  func wait(isAsked: Bool, at now: Instant) -> Duration? {
    guard isBusy, !isAsked, let drawnAt else { return nil }
    let left = rest - drawnAt.duration(to: now)
    return left > .zero ? left : nil
  }
}

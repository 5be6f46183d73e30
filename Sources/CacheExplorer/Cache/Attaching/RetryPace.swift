/// How long to wait before the next try to reach an app that is gone: from a quarter of a second up to five.
struct RetryPace: Sendable {
  static let shortest = Duration.milliseconds(250)
  static let longest = Duration.seconds(5)

  private var wait = Self.shortest

  /// The next wait; the one after it is twice as long.
  mutating func next() -> Duration {
    defer { wait = min(wait * 2, Self.longest) }
    return wait
  }
}

package import CacheEngine

/// What happened in each of the last sixty seconds.
package struct SecondRing: Sendable {
  package struct Second: Sendable {
    package var number: Int64
    /// Look-ups of a level, requests of the whole cache.
    package var asked: UInt32 = 0
    package var hits: UInt32 = 0
    package var misses: UInt32 = 0
    package var fills: UInt32 = 0
    package var evicted: UInt32 = 0
    package var expired: UInt32 = 0
    package var joined: UInt32 = 0
    package var hasWarning = false

    package init(number: Int64 = .min) { self.number = number }
  }

  package static let length: Int64 = 60
  /// Rates are the mean of so many whole seconds: steady enough to read, quick enough to follow.
  package static let rateWindow: Int64 = 5

  private var seconds = Array(repeating: Second(), count: 64)
  private var first: Int64?

  package static func number(of instant: CacheInstant) -> Int64 {
    let (whole, rest) = instant.nanoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
    return rest < 0 ? whole - 1 : whole
  }

  /// Notes something in the second of its instant; what is older than the ring is left out.
  package mutating func note(at instant: CacheInstant, _ change: (inout Second) -> Void) {
    let number = Self.number(of: instant)
    let slot = Int(number & 63)
    if seconds[slot].number < number { seconds[slot] = Second(number: number) }
    guard seconds[slot].number == number else { return }
    if first == nil { first = number }
    change(&seconds[slot])
  }

  private func second(_ number: Int64) -> Second {
    let second = seconds[Int(number & 63)]
    return second.number == number ? second : Second()
  }

  /// The last so many seconds, oldest first; the last one is under way.
  package func last(_ count: Int, at now: CacheInstant) -> [Second] {
    let end = Self.number(of: now)
    let count = Int64(min(max(0, count), Int(Self.length)))
    return (0..<count).map { second(end &- count &+ 1 &+ $0) }
  }

  /// The sum of whole seconds from `start` seconds ago (excluded the one under way).
  package func sum(of seconds: Int64, at now: CacheInstant, _ field: (Second) -> UInt32) -> Int {
    let end = Self.number(of: now)
    return (1...max(1, seconds)).reduce(0) { $0 + Int(field(second(end &- $1))) }
  }

  /// How many in a second; `nil` if nothing was ever noted.
  package func rate(at now: CacheInstant, _ field: (Second) -> UInt32) -> Double? {
    guard let first else { return nil }
    let end = Self.number(of: now)
    let elapsed = end.subtractingReportingOverflow(first)
    if elapsed.overflow || elapsed.partialValue <= 0 { return Double(field(second(end))) }
    let window = min(Self.rateWindow, elapsed.partialValue)
    return Double(sum(of: window, at: now, field)) / Double(window)
  }
}

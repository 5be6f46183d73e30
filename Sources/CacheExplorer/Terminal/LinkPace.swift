/// Decides how much a terminal is sent, and when, so that what is typed never waits behind pictures.
///
/// A pseudo-terminal does not tell how much of what was written is still on its way (`TIOCOUTQ` is 0 there). So the terminal
/// is asked behind what is written whether it is well (DSR 5), and answers when it has come that far. What has no answer yet
/// is never more than the line carries in ``window``. A terminal that never answers is sent whole pictures within
/// ``budget``, and at once only what follows a key.
///
/// A value without clock or file.
struct LinkPace {
  typealias Instant = ContinuousClock.Instant

  enum Room: Equatable {
    case whole
    /// As many bytes, roughly.
    case bytes(Int)
    /// Nothing before an answer has come, or so much time has passed.
    case wait(Duration)
  }

  /// DSR 5, and its answer `ESC [ 0 n`.
  static let question = Array("\u{1b}[5n".utf8)
  /// What may be on its way, in seconds of the line.
  static let window = 0.15
  /// What is drawn so long after a key is likely its effect.
  static let echo = Duration.milliseconds(300)
  /// Between two pictures on a slow line that no key asked for.
  static let interval = Duration.milliseconds(250)
  /// What a terminal that does not answer is sent in a second, and at once after a rest.
  static let budget = (perSecond: 3_000.0, most: 16_000.0)
  /// Below so many bytes a second a line is slow.
  private static let slow = 32_000.0
  /// Above so many nobody waits for anything.
  private static let fast = 1_000_000.0
  /// The best of the last measurements counts: a program that was busy when the answer came makes a line look slow.
  private static let measurements = 3

  /// Questions without an answer; of one that is not timed the bytes were written long before it.
  private var asked: [(bytes: Int, at: Instant, isTimed: Bool)] = []
  private var unasked = 0
  private var rates: [Double] = []
  private var shortest: Duration?
  private var lastAnswer: Instant?
  private var lastKey: Instant?
  private var lastPicture: Instant?
  private var left = Self.budget.most
  private var leftAt: Instant?

  /// How often the terminal has answered.
  private(set) var answers = 0
  /// Bytes a second, as far as that is known.
  var rate: Double? { rates.max() }

  private var outstanding: Int { asked.reduce(unasked) { $0 + $1.bytes } }

  mutating func noteKey(at now: Instant) { lastKey = now }

  /// Takes note of what is written; whether ``question`` is to be written behind it.
  ///
  /// `isPart`: More of the same picture is to follow, so an answer is needed.
  mutating func write(_ bytes: Int, isPart: Bool = false, at now: Instant) -> Bool {
    unasked += bytes
    refill(at: now)
    // However much keys asked for, what follows waits a second at most.
    left = max(left - Double(bytes), -Self.budget.perSecond)
    lastPicture = isPart ? nil : now
    guard isPart || unasked >= enough, answers > 0 || asked.count < 2 else { return false }
    ask(at: now)
    return true
  }

  /// So many bytes are worth a question; they leave room for more on their way.
  private var enough: Int { rate.map { min(max(128, Int($0 * Self.window / 3)), 4_096) } ?? 512 }

  /// The terminal is asked now, whatever was written.
  mutating func ask(at now: Instant) { ask(at: now, isTimed: true) }

  private mutating func ask(at now: Instant, isTimed: Bool) {
    asked.append((unasked, now, isTimed))
    unasked = 0
  }

  /// An answer has come, to the oldest question; whether ``question`` is to be written now.
  ///
  /// What was written before the first answer, or when the line seemed faster, would otherwise be waited for with nothing asked.
  @discardableResult
  mutating func answered(at now: Instant) -> Bool {
    guard !asked.isEmpty else { return false }
    let (bytes, sent, isTimed) = asked.removeFirst()
    answers += 1
    let elapsed = sent.duration(to: now)
    if isTimed, let shortest, bytes >= 128 {
      // What was sent while more was on its way begins to travel when that has arrived.
      let begin = max(sent.advanced(by: shortest), lastAnswer ?? sent)
      let seconds = max(begin.duration(to: now) / .seconds(1), 0.000_1)
      rates = rates.suffix(Self.measurements - 1) + [Double(bytes) / seconds]
    }
    shortest = min(shortest ?? elapsed, elapsed)
    lastAnswer = now
    guard asked.isEmpty, unasked >= enough else { return false }
    ask(at: now, isTimed: false)
    return true
  }

  /// How many answers are still to be expected.
  func unanswered(at now: Instant) -> Int {
    asked.count { answers > 0 || $0.at.duration(to: now) < .seconds(1) }
  }

  /// What is on its way is forgotten: the terminal is another one, or was somebody else's.
  mutating func forget() { (asked, unasked) = ([], 0) }

  /// How much may be written now.
  mutating func room(at now: Instant) -> Room {
    let isEcho = lastKey.map { $0.duration(to: now) < Self.echo } ?? false
    guard answers > 0 else { return isEcho ? .whole : budgeted(at: now) }
    if let oldest = asked.first, oldest.at.duration(to: now) > patience(oldest.bytes) { forget() }
    guard let rate else { return asked.contains { $0.bytes >= 128 } ? .wait(.seconds(1)) : .whole }
    guard rate < Self.fast else { return .whole }
    let room = max(384, Int(rate * Self.window)) - outstanding
    guard room > 0 else { return .wait(.seconds(1)) }
    if rate < Self.slow, !isEcho, let rest = rest(of: Self.interval, at: now) { return .wait(rest) }
    return .bytes(room)
  }

  private mutating func budgeted(at now: Instant) -> Room {
    refill(at: now)
    if left <= 0 { return .wait(max(Self.interval, .seconds(-left / Self.budget.perSecond))) }
    guard left < Self.budget.most / 2, let rest = rest(of: Self.interval, at: now) else { return .whole }
    return .wait(rest)
  }

  private mutating func refill(at now: Instant) {
    let seconds = (leftAt ?? now).duration(to: now) / .seconds(1)
    left = min(Self.budget.most, left + seconds * Self.budget.perSecond)
    leftAt = now
  }

  private func rest(of interval: Duration, at now: Instant) -> Duration? {
    guard let lastPicture else { return nil }
    let rest = interval - lastPicture.duration(to: now)
    return rest > .zero ? rest : nil
  }

  /// After which an answer will not come any more; a terminal may have been left by somebody who was attached to it.
  ///
  /// A picture that stands still for longer than ten seconds is worse than one too many on a line that is as slow as that.
  private func patience(_ bytes: Int) -> Duration {
    .seconds(min(max(3, 4 * Double(bytes) / (rate ?? 2_000)), 10))
  }
}

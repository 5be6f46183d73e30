import CacheEngineTesting
import CacheEngine

@testable import CacheExplorer
@testable import ExplorerCache
@testable import ExplorerCommands
@testable import ExplorerModel
@testable import ExplorerState
@testable import ExplorerText

/// Messages as nobody would send them: hostile texts, impossible numbers, beginnings without ends.
struct RandomMessages {
  private var generator: SeededGenerator
  private var now = Scene.start
  private let names: [String]

  init(seed: UInt64, levels: [LevelRow], operators: [OperatorRow] = []) {
    generator = SeededGenerator(seed: seed)
    names = levels.map(\.name) + operators.map(\.name)
  }

  private static let texts = [
    "", "a", "user:42", "日本語キー", "\u{1b}[2J\u{1b}]0;x\u{7}", "\u{202e}abc\u{2066}", "👨‍👩‍👧👍🏽🇩🇪❤️", "\u{9b}31m",
    "e\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}", "\r\n\t\0", "\u{200b}\u{feff}\u{ad}", "\u{301}\u{20dd}",
    "a\u{a0}\u{3000}b",
    "\u{1100}\u{1161}\u{11a8}", "\u{e0041}\u{e007f}", "\u{fffd}\u{10ffff}", "नमस्ते", String(repeating: "x日", count: 300),
  ]

  private mutating func text() -> String {
    Self.texts.randomElement(using: &generator).map { Bool.random(using: &generator) ? $0 : $0 + "\($0.count)" } ?? ""
  }

  private mutating func number() -> Int {
    [0, 1, 2, 900, 70_000, -1, .max, .min, Int.random(in: 0...5_000, using: &generator)]
      .randomElement(using: &generator) ?? 0
  }

  private mutating func duration() -> Duration {
    [.zero, .nanoseconds(40), .microseconds(300), .seconds(3), .seconds(-1), .seconds(Int64.max)]
      .randomElement(using: &generator) ?? .zero
  }

  private mutating func instant() -> CacheInstant {
    switch Int.random(in: 0...20, using: &generator) {
    case 0: CacheInstant(nanoseconds: .min)
    case 1: CacheInstant(nanoseconds: .max)
    default: now
    }
  }

  private mutating func level() -> String { names.randomElement(using: &generator) ?? "nowhere" }

  private mutating func operatorEvent() -> OperatorEvent {
    let operations: [OperatorEvent] = [
      .refused, .servedStale(deadline: instant()), .servedStale(deadline: nil), .refreshBegan,
      .refreshEnded(duration(), error: text()), .refreshEnded(duration(), error: nil),
      .queued(running: number(), waiting: number()), .admitted(running: number(), waiting: number()),
      .released(running: number(), waiting: number()), .retried(attempt: number(), after: duration(), error: text()),
      .circuit(.open), .circuit(.halfOpen), .circuit(.closed), .timedOut(duration()), .fellBack(error: text()),
      .fellBack(error: nil), .rememberedMiss, .shared(.forgot(nil)), .shared(.forgot(.flushed)),
      .shared(.deaf(since: instant())), .shared(.heard), .shared(.leads(lease: text())),
      .shared(.led(lease: text(), duration())), .shared(.follows(lease: text())),
      .shared(.followed(lease: text(), duration())),
    ]
    return operations.randomElement(using: &generator) ?? .refused
  }

  mutating func event() -> CacheEvent {
    let request =
      Int.random(in: 0...9, using: &generator) == 0 ? nil : RequestID(.random(in: 0...40, using: &generator))
    let deadline = Bool.random(using: &generator) ? instant() : nil
    let operation = CacheEvent.Operation.allCases.randomElement(using: &generator) ?? .get
    let outcomes: [CacheEvent.Outcome] = [
      .hit(level: level()), .hit(level: nil), .miss(.absent), .done, .failed(text()), .cancelled,
    ]
    let kinds: [CacheEvent.Kind] = [
      .requestBegan(operation),
      .requestEnded(operation, outcomes.randomElement(using: &generator) ?? .done, duration()),
      .lookupBegan, .lookupBegan, .hit(cost: number(), deadline: deadline, duration()),
      .hit(cost: nil, deadline: deadline, duration()), .miss(.absent, duration()), .miss(.expired, duration()),
      .miss(.refused, duration()), .stored(.set, cost: number(), deadline: deadline, duration()),
      .stored(.backFill, cost: nil, deadline: deadline, duration()),
      .removed(RemovalCause.allCases.randomElement(using: &generator) ?? .evicted, cost: number()),
      .done(operation, duration()), .failed(operation, text(), duration()), .cancelled(operation, duration()),
      .memoryWarning(dropped: number(), cost: number(), duration()), .flightBegan, .flightJoined(callers: number()),
      .flightLeft(callers: number()), .flightEnded(callers: number(), duration()),
      .operated(operatorEvent()), .operated(operatorEvent()),
    ]
    return CacheEvent(
      time: instant(), request: request, level: Int.random(in: 0...9, using: &generator) == 0 ? text() : level(),
      key: Int.random(in: 0...9, using: &generator) == 0 ? nil : text(),
      kind: kinds.randomElement(using: &generator) ?? .lookupBegan)
  }

  mutating func key() -> InputEvent.Key {
    if Bool.random(using: &generator) {
      let keys = KeyTable.bindings.flatMap(\.keys)
      return keys.randomElement(using: &generator) ?? .enter
    }
    return .character(text().randomElement(using: &generator) ?? "x")
  }

  mutating func message() -> Message {
    switch Int.random(in: 0...20, using: &generator) {
    case 0...6: return .input(.key(key()))
    case 7: return .input(.paste(text()))
    case 8:
      return .input(
        .resized(Size(width: .random(in: 0...140, using: &generator), height: .random(in: 0...50, using: &generator))))
    case 9...10:
      now = now.advanced(by: .milliseconds(Int.random(in: 0...1_500, using: &generator)))
      return .tick(now, wall: duration())
    case 11: return .tick(instant(), wall: .zero)
    case 12:
      let line = LogLine(
        time: duration(), level: LogLevel.allCases.randomElement(using: &generator) ?? .info, source: text(),
        text: text(), request: RequestID(7))
      return .log([line], lost: number())
    case 13:
      return .usage([level(): LevelUsage(count: number(), cost: number(), capacity: number(), countLimit: number())])
    case 14:
      let entries = (0..<5).map { _ in
        ListedEntry(key: text(), cost: number(), created: instant(), deadline: instant())
      }
      return .snapshot(level: level(), entries)
    case 15:
      return .finished(
        CommandResult(command: text(), outcome: .hit, level: text(), microseconds: Double(number()), note: text()))
    case 17:
      let kinds: [InputEvent.Mouse.Kind] = [.press, .press, .wheelUp, .wheelDown]
      let place = Point(x: .random(in: 0...140, using: &generator), y: .random(in: 0...50, using: &generator))
      return .input(
        .mouse(
          InputEvent.Mouse(
            kind: kinds.randomElement(using: &generator) ?? .press, at: place,
            clicks: .random(in: 1...2, using: &generator))))
    case 16: return .rejected(line: text(), reason: text(), column: number())
    default:
      let lost = Int.random(in: 0...30, using: &generator) == 0 ? number() : 0
      return .events((0..<8).map { _ in event() }, lost: lost)
    }
  }
}

import CacheEngine
import CacheEngineTesting
import Foundation
import Testing

@testable import CacheExplorer
@testable import ExplorerCache
@testable import ExplorerCommands
@testable import ExplorerConfiguration
@testable import ExplorerModel
@testable import ExplorerState

/// What the log says of events.
struct LogTests {
  private static let yaml = """
    levels:
      - memory: { count: 4, policy: lru, expiry: 3s }
      - conditioned: { when: { not: { suffix: "9" } }, level: { memory: { name: second, count: 9, expiry: 5s } } }
      - pooled: { retry: { attempts: 2, delay: 0s, level: { origin: { latency: 0s, failures: 20%, size: 10 B, seed: 3 } } } }
    """

  /// The levels of the log, by what happened; `nil` for what has no line.
  private static func level(of kind: CacheEvent.Kind) -> LogLevel? {
    switch kind {
    case .lookupBegan, .requestBegan, .flightEnded: nil
    case .requestEnded(_, .failed, _): .error
    case .failed, .memoryWarning, .removed(.damaged, _): .warning
    case .operated(.refreshEnded(_, .some)), .operated(.retried), .operated(.circuit(.open)): .warning
    case .operated(.circuit(.halfOpen)), .operated(.timedOut), .operated(.fellBack(.some)): .warning
    case .operated(.shared(.deaf)): .warning
    case .hit, .removed(.evicted, _), .removed(.expired, _), .operated(.servedStale): .info
    case .operated(.refreshEnded), .operated(.circuit), .operated(.fellBack): .info
    case .operated(.shared(.heard)), .operated(.shared(.forgot(.some))): .info
    case .requestEnded: .trace
    default: .debug
    }
  }

  /// What is wrong with the lines of events; each has one, or none.
  private static func fault(_ lines: [LogLine], of events: [CacheEvent], now: CacheInstant, wall: Duration) -> String? {
    guard lines.map(\.event) == events.indices.filter({ level(of: events[$0].kind) != nil }).map({ $0 + 1 }) else {
      return "there is not one line for each event that has one"
    }
    for line in lines {
      let event = events[(line.event ?? 0) - 1]
      var words: [String] = []
      if let key = event.key { words.append(key.isEmpty ? "\"\"" : key) }
      switch event.kind {
      case .miss(let reason, _): words.append("(\(reason.rawValue))")
      case .removed(let cause, _): words.append(cause.rawValue)
      case .failed(_, let error, _), .requestEnded(_, .failed(let error), _): words.append(error)
      default: break
      }
      if let other = event.madeRoomFor { words.append("for \(other)") }
      let isRight =
        line.level == level(of: event.kind) && line.source == event.level ?? "cache" && line.request == event.request
        && line.time == wall - event.time.duration(to: now)
        && words.allSatisfy { $0.isEmpty || Array(line.text.utf8).firstRange(of: Array($0.utf8)) != nil }
        && [event.key, event.madeRoomFor].compactMap(\.self).allSatisfy { line.keys.contains($0) }
      guard isRight else { return "\(line) does not tell of \(event)" }
      // The engine's logger says the same, but for the room that a short word has here.
      let word = event.kind.description
      let rest = line.text.utf8.dropFirst(max(6, word.utf8.count))
      let told = Array("\(line.source) \(word)".utf8) + rest + (line.request.map { Array(" \($0)".utf8) } ?? [])
      guard event.description == String(decoding: told, as: UTF8.self).onOneLine else {
        return "the logger says “\(event)”, and the screen “\(line.text)”"
      }
    }
    return nil
  }

  @Test("every event of a cache has one line in the log or none, with its level, key, time and reason")
  func live() async throws {
    let clock = ManualClock()
    let configuration = try ConfigurationReader.read(Self.yaml, file: "c.yaml", folder: "/")
    let buffer = EventBuffer(capacity: 100_000)
    let live = try await CacheBuilder.build(configuration, file: "c.yaml", clock: clock, observers: [buffer])
    var generator = SeededGenerator(seed: 7)
    for step in 0..<400 {
      let key = "key:\(Int.random(in: 0..<20, using: &generator))"
      switch step % 20 {
      case 5: try? await live.cache.set(Data(key.utf8), forKey: key)
      case 11: try? await live.cache.remove(key)
      default: _ = try? await live.cache.get(key)
      }
      if step % 10 == 0 { clock.advance(by: .milliseconds(700)) }
    }
    try await live.cache.clear()
    let events = buffer.drain().events
    let wall = clock.timeSinceEpoch
    let lines = LogLine.lines(for: events, now: clock.now, wall: wall, first: 1, levels: live.levels)
    #expect(Self.fault(lines, of: events, now: clock.now, wall: wall) == nil)
    for word in ["evicted", "expired", "removed", "cleared", "miss", "load", "retry", "refuse", "get failed"] {
      #expect(lines.contains { $0.text.hasPrefix(word) }, "\(word)")
    }
    try await live.close()
  }

  @Test("whatever an event is, its line says the same as the engine's logger", arguments: 1...4)
  func random(seed: UInt64) {
    var messages = RandomMessages(seed: seed, levels: [LevelRow(name: "memory", kind: "memory")])
    let now = CacheInstant(nanoseconds: 5_000_000_000)
    let events = (0..<3_000).map { _ in
      var event = messages.event()
      event.time = now.advanced(by: .seconds(-3))
      return event
    }
    let lines = LogLine.lines(for: events, now: now, wall: .seconds(100), first: 1)
    #expect(Self.fault(lines, of: events, now: now, wall: .seconds(100)) == nil)
  }
}

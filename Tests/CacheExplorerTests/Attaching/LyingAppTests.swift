import CacheEngine
import CacheEngineTesting
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import CacheEngineInspector
@testable import CacheExplorer
@testable import ExplorerCache
@testable import ExplorerCommands
@testable import ExplorerModel
@testable import ExplorerState
@testable import ExplorerText

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// An app that says something else than it should.
///
/// A failure names its seed: `CACHEENGINE_SEED=n` runs that one alone, and `CACHEENGINE_TRIALS=n` runs so many.
@Suite(.timeLimit(.minutes(10))) struct LyingAppTests {
  /// What an app says by itself, and to the first question, the second and so on.
  private typealias Script = [[UInt8]]

  @Test("whatever an app says, cut and changed at any place, it is read or refused, shown, and waited for no longer")
  func changed() async throws {
    let script = try await script()
    for seed in seeds {
      var lot = SeededGenerator(seed: seed)
      var script = script
      // The first of them says most.
      let place = Bool.random(using: &lot) ? 0 : Int.random(in: script.indices, using: &lot)
      for _ in 0..<Int.random(in: 1...2, using: &lot) { script[place] = change(script[place], by: &lot) }
      try await visit(script, "seed \(seed)")
    }
  }

  @Test("whatever numbers an app says of itself and its levels, what is shown is drawn to the end")
  func numbers() async throws {
    let script = try await script()
    var rest = script[0][...]
    // Its welcome, how full its levels are, and what it hears.
    var lines: [ArraySlice<UInt8>] = []
    for _ in 0..<3 {
      lines.append(rest.prefix { $0 != 0x0a })
      rest = rest.drop { $0 != 0x0a }.dropFirst()
    }
    for line in lines {
      for first in line.indices where Self.isDigit(line[first]) && !Self.isDigit(line[first - 1]) {
        let end = line[first...].firstIndex { !Self.isDigit($0) } ?? line.endIndex
        for number in Self.numbers {
          var changed = script
          changed[0].replaceSubrange(first..<end, with: Array(number.utf8))
          try await visit(changed, "\(number) at \(first)")
        }
      }
    }
  }

  @Test("what an app says a byte at a time is what it says at once")
  func slowly() async throws {
    let script = try await script()
    let seen = [try await visit(script, "at once"), try await visit(script, "slowly", pieces: 1)]
    #expect(seen[0] == seen[1])
    #expect(seen[0].keys == ["key:1", "key:2"] && seen[0].value == Data("value".utf8))
    #expect(seen[0].counts.levels["memory"]?.sets == 8 && seen[0].usage["memory"]?.cost == 28)
  }

  @Test("a list of which each page says that there is another one ends")
  func endless() async throws {
    let page = (0..<1_000).map { ServerLine.Entry(key: "\($0)", cost: 1, created: 0) }
    let session = try session(greeting: try await script()[0], pieces: .max) { number in
      var answer = ServerLine.Answer(id: number, outcome: "hit")
      (answer.entries, answer.next) = (page, number)
      return Wire.bytes(ServerLine(answer: answer))
    }
    await #expect(throws: CommandFailure.self) {
      try await RemoteStorage(client: session.client, level: "memory").contents()
    }
    session.client.close()
  }

  @Test("of an app that names levels without end only some are told apart, nothing is left out, and the log says so")
  func levelsWithoutEnd() async throws {
    let greeting = try await script()[0]
    var lines = greeting.prefix { $0 != 0x0a } + [0x0a]
    let count = 3 * ToldNames.most
    for number in 0..<count {
      var (counts, level) = (CacheStatistics.Snapshot(), CacheStatistics.Level())
      (level.lookups, level.misses) = (1, [MissReason(rawValue: "reason \(number)"): 1])
      (counts.levels, counts.served, counts.requests) = (["level \(number)": level], ["level \(number)": 1], 1)
      lines += Wire.bytes(ServerLine(counts: counts))
    }
    let session = try session(greeting: Array(lines), pieces: .max) { _ in nil }
    let log = Synchronization.Mutex<[String]>([])
    let follower = Follower(
      post: { message in if case .log(let lines, _) = message { log.withLock { $0 += lines.map(\.text) } } },
      use: { _ in }, pause: { _ in try await ContinuousClock().sleep(for: .seconds(3_600)) })
    session.begin(EventBuffer())
    let following = Task {
      await AppFollower(place: AppPlace(path: "/nowhere")) { _ in true }.follow(session, follower)
    }
    try await turns { session.cache.live.statistics.snapshot.requests == count }
    try await turns { log.withLock { !$0.isEmpty } }
    following.cancel()
    session.client.close()
    await following.value
    let counts = session.cache.live.statistics.snapshot
    #expect(counts.levels.count + counts.levels.values.reduce(0) { $0 + $1.misses.count } <= 2 * ToldNames.most + 2)
    #expect(counts.served.values.reduce(0, +) == count)
    #expect(counts.levels.values.reduce(0) { $0 + $1.lookups } == count)
    #expect(log.withLock { $0.count { $0.hasPrefix("the app names more than ") } } == 1)
  }

  // MARK: What is said

  private var seeds: Range<UInt64> {
    let environment = ProcessInfo.processInfo.environment
    if let seed = environment["CACHEENGINE_SEED"].flatMap(UInt64.init) { return seed..<seed + 1 }
    return 0..<(environment["CACHEENGINE_TRIALS"].flatMap(UInt64.init) ?? 300)
  }

  private func script() async throws -> Script {
    let (clock, observer, statistics) = (ManualClock(), RecordingObserver(), CacheStatistics())
    let told = CacheObservers([observer, statistics])
    let level = MemoryCacheLevel<String, Data>(countLimit: 4, expiry: .after(.seconds(9)), clock: clock)
      .observed(as: "memory", by: told, clock: clock).pooled().traced(by: told, clock: clock)
    for number in 0..<8 {
      try await level.set(Data("value \(number)".utf8), forKey: "key:\(number)")
      _ = try await level.get("key:\(number / 2)")
      clock.advance(by: .seconds(2))
    }
    try await level.remove("key:7")
    let events = observer.events.map { WireEvent($0) }
    var welcome = ServerLine.Welcome(
      version: 1, app: "app", pid: 7, allowsWrites: true, tellsEvents: true, tellsCounts: true, now: 5, wall: 6,
      levels: [], operators: [.init(name: "pool", kind: "pooled", setting: "4", limit: 4)],
      chain: [.init(around: 0, parts: [.init(level: 0)]), .init(level: 1)])
    welcome.levels = [
      .init(
        name: "memory", kind: "memory", isSource: false, holdsEntries: true, capacity: 4, unit: "entries",
        policy: "lru",
        policies: ["lru", "sieve"]),
      .init(name: "origin", kind: "origin", isSource: true, holdsEntries: false),
    ]
    var lines = [
      ServerLine(welcome: welcome),
      ServerLine(usage: ["memory": .init(count: 4, cost: 28, capacity: 1 << 20, countLimit: 4)]),
      ServerLine(hearing: .init(deafSince: 3)),
    ]
    lines.append(ServerLine(events: .init(lost: 2, list: events)))
    lines.append(ServerLine(counts: statistics.snapshot))
    var answers = (1...6).map { ServerLine.Answer(id: $0, outcome: "hit") }
    (answers[0].level, answers[0].value, answers[0].deadline) = ("memory", Data("value".utf8), 9_000_000_000)
    (answers[1].value, answers[1].size, answers[1].next) = (Data("beginning".utf8), 14, 9)
    answers[2].value = Data(" of it".utf8)
    (answers[3].entries, answers[3].next) = ([.init(key: "key:1", cost: 7, created: 1, deadline: 99)], 1)
    answers[4].entries = [.init(key: "key:2", cost: 7, created: 2)]
    (answers[5].outcome, answers[5].events) = ("done", Array(events.suffix(3)))
    return [lines.flatMap { Wire.bytes($0) }] + answers.map { Wire.bytes(ServerLine(answer: $0)) }
  }

  private static let numbers = [
    "9223372036854775807", "-9223372036854775808", "-1", "0", "281474976710656", "1e300", "99999999999999999999",
  ]

  private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }

  /// Other bytes than were to be said.
  private func change(_ bytes: [UInt8], by lot: inout SeededGenerator) -> [UInt8] {
    guard !bytes.isEmpty else { return bytes }
    var bytes = bytes
    let place = Int.random(in: bytes.indices, using: &lot)
    switch Int.random(in: 0..<7, using: &lot) {
    case 0: bytes.removeSubrange(place...)
    case 1: bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &lot)
    case 2, 3:
      let digits = bytes.indices.filter { Self.isDigit(bytes[$0]) }
      guard let first = digits.randomElement(using: &lot) else { return bytes }
      let end = bytes[first...].firstIndex { !Self.isDigit($0) } ?? bytes.endIndex
      bytes.replaceSubrange(first..<end, with: Array((Self.numbers.randomElement(using: &lot) ?? "").utf8))
    default:
      // Whole lines: one twice, one less, or one at another place.
      var lines = bytes.split(separator: 0x0a, omittingEmptySubsequences: false)
      let line = Int.random(in: lines.indices, using: &lot)
      let taken = lines[line]
      if Bool.random(using: &lot) { lines.remove(at: line) }
      if Bool.random(using: &lot) { lines.insert(taken, at: Int.random(in: 0...lines.count, using: &lot)) }
      bytes = Array(lines.joined(separator: [0x0a]))
    }
    return bytes
  }

  // MARK: Who listens

  private struct Seen: Equatable {
    var keys: [String] = []
    var value: Data?
    var counts = CacheStatistics.Snapshot()
    var usage: [String: LevelUsage] = [:]
  }

  /// Attaches to an app that says this, asks it, and looks at every screen.
  @discardableResult
  private func visit(_ script: Script, _ name: String, pieces: Int = .max) async throws -> Seen {
    var seen = Seen()
    let session: AppSession
    do {
      session = try self.session(greeting: script[0], pieces: pieces) { number in
        guard number < script.count else { return nil }
        // Whoever is told the number of another question has no answer: this is one.
        return script[number] + Wire.bytes(ServerLine(answer: ServerLine.Answer(id: number, outcome: "done")))
      }
    } catch {
      #expect(error is CacheError, "\(name): \(error)")
      return seen
    }
    let buffer = EventBuffer()
    session.begin(buffer)
    let storage = RemoteStorage(client: session.client, level: "memory")
    var entries: [EntrySummary<String>] = []
    do {
      let (answer, size) = try await RemoteCache(client: session.client, level: nil).lookup("key:1", atMost: 100)
      #expect(answer.entry?.value.count ?? 0 <= 100 && size ?? 1 > 0, "\(name)")
      seen.value = answer.entry?.value
      _ = try await storage.beginning(of: "key:1", atMost: 100)
      entries = try await storage.contents()
      try await storage.remove("key:1")
    } catch {
      #expect(error is CommandFailure || error is CacheError, "\(name): \(error)")
    }
    session.client.close()
    try await turns { session.client.ending != nil }
    show(session, buffer, entries, name)
    (seen.keys, seen.counts, seen.usage) = (
      entries.map(\.key), session.cache.live.statistics.snapshot, session.client.usage
    )
    return seen
  }

  private func session(
    greeting: [UInt8], pieces: Int, answer: @escaping @Sendable (_ number: Int) -> [UInt8]?
  ) throws -> AppSession {
    let (inside, outside) = try UnixSocket.pair()
    for end in [inside, outside] { _ = fcntl(end.number, F_SETFL, fcntl(end.number, F_GETFL) & ~O_NONBLOCK) }
    Thread.detachNewThread {
      defer { inside.shutDown() }
      func say(_ bytes: [UInt8]) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
          guard inside.writeAll(Array(rest.prefix(pieces))) else { return false }
          rest = rest.dropFirst(pieces)
        }
        return true
      }
      guard say(greeting) else { return }
      // An app that cut its greeting has ended.
      guard greeting.last == 0x0a else { return }
      var (reader, buffer, number) = (LineReader(), [UInt8](repeating: 0, count: 1 << 16), -1)
      while case .moved(let count) = inside.read(into: &buffer) {
        for _ in (try? reader.take(buffer[..<count], limit: WireLimits.line)) ?? [] {
          number += 1
          // The first line is the hello.
          guard number > 0 else { continue }
          guard let bytes = answer(number), say(bytes) else { return }
        }
      }
    }
    let inlet = AppInlet()
    let client = try InspectorClient.greet(
      over: outside, path: "here", as: "test", versions: .current, patience: .seconds(600), tell: inlet.take)
    return AppSession(client, inlet, "here", asked: SystemClock().now, isAgain: false)
  }

  private func show(
    _ session: AppSession, _ buffer: EventBuffer, _ entries: [EntrySummary<String>], _ name: String
  ) {
    let live = session.cache.live
    var model = session.cache.model
    model.size = Size(width: 120, height: 40)
    let batch = buffer.drain()
    let messages: [Message] = [
      .tick(live.clock.now, wall: .seconds(1_767_225_600)),
      .events(batch.events, lost: batch.lost, counted: live.statistics.snapshot), .usage(session.client.usage),
      .snapshot(
        level: "memory",
        entries.map { ListedEntry(key: $0.key, cost: $0.cost, created: $0.created, deadline: $0.deadline) }),
      .tick(live.clock.now.advanced(by: .seconds(1)), wall: .seconds(1_767_225_601)),
    ]
    for message in messages { _ = update(&model, message) }
    for page in Page.allCases {
      _ = update(&model, .input(.key(.character(page.key))))
      _ = update(&model, .input(.key(.enter)))
      var canvas = Canvas(model.size)
      view(model, on: &canvas)
      _ = update(&model, .input(.key(.escape)))
    }
    #expect(!live.statisticsJSON.isEmpty, "\(name)")
  }
}

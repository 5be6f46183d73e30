import CacheEngine
import CacheEngineHitRatio
import CacheEngineTesting
import Foundation
import Testing

@testable import CacheEngineInspector

@Suite(.timeLimit(.minutes(10))) struct ServingTests {
  @Test("who attaches is told of levels, operators and how they stand")
  func welcome() async throws {
    let folder = try SocketFolder()
    let stack = Stack()
    let server = try serveCache(stack.cache, at: folder.socket, name: "app")
    let visitor = try await Visitor(folder.socket)
    let welcome = visitor.client.welcome
    #expect(welcome.app == "app")
    #expect(welcome.pid == ProcessInfo.processInfo.processIdentifier)
    #expect(!welcome.allowsWrites)
    #expect(welcome.tellsEvents)
    #expect(welcome.levels.map(\.name) == ["memory", "source"])
    #expect(welcome.levels.map(\.kind) == ["memory", "source"])
    #expect(welcome.levels.map(\.isSource) == [false, true])
    #expect(welcome.levels[0].watched == HitRatioObserver.Level(name: "memory", capacity: 1 << 20))
    #expect(welcome.levels[1].watched == nil)
    #expect(welcome.operators.map(\.kind) == ["pooled"])
    #expect(
      welcome.chain == [
        ServerLine.Chain(level: 0), ServerLine.Chain(around: 0, parts: [ServerLine.Chain(level: 1)]),
      ])
    await visitor.wait { $0.usage["memory"]?.capacity == 1 << 20 }
    #expect(server.attachedCount == 1)
  }

  @Test("the inspector listens while somebody is attached, and not before or after")
  func attention() async throws {
    let folder = try SocketFolder()
    let stack = Stack()
    let attention = try #require(stack.inspector.attention)
    let server = try serveCache(stack.cache, at: folder.socket)
    _ = try await stack.cache.get("a")
    #expect(!attention.isOn)
    #expect(stack.cache.peek("a") != nil)
    let visitor = try await Visitor(folder.socket)
    #expect(attention.isOn)
    #expect(stack.cache.peek("a") == nil)
    _ = try await stack.cache.get("a")
    await visitor.wait { told in
      told.events.contains { if case .requestEnded(.get, .hit("memory"), _) = $0.kind { true } else { false } }
    }
    #expect(visitor.told.events.count == 4)
    visitor.client.close()
    try await turns { server.attachedCount == 0 }
    #expect(!attention.isOn)
    #expect(stack.cache.peek("a") != nil)
  }

  @Test("the figures of who is attached are those of an observer in the app")
  func figures() async throws {
    let folder = try SocketFolder()
    let inspector = CacheInspector()
    let local = CacheStatistics()
    let both = CacheObservers([local, inspector])
    let memory = MemoryCacheLevel<String, Data>(
      name: "memory", capacity: 20, removalListener: both.removals(from: "memory"))
    let cache = memory.observed(as: "memory", by: both).traced(by: both)
    let server = try serveCache(cache, at: folder.socket)
    let visitor = try await Visitor(folder.socket)
    for number in 0..<200 {
      try await cache.set(Data("12345".utf8), forKey: "\(number % 7)")
      _ = try await cache.get("\(number % 11)")
    }
    await visitor.wait { told in
      let counted = Self.counted(told.events)
      return counted.requests == 200 && counted.pending == 0 && counted.served.values.reduce(counted.missed, +) == 200
    }
    #expect(Self.counted(visitor.told.events) == local.snapshot)
    #expect(visitor.told.lost == 0)
    withExtendedLifetime(server) {}
  }

  @Test("counts are exact however many events are dropped, and those of a second one begin when it comes")
  func exactCounts() async throws {
    let folder = try SocketFolder()
    let inspector = CacheInspector(capacity: 16)
    let (local, later) = (CacheStatistics(), CacheStatistics())
    let observers = CacheObservers([local, inspector])
    let memory = MemoryCacheLevel<String, Data>(
      name: "memory", countLimit: 20, removalListener: observers.removals(from: "memory"))
    let source = BasicFetcher<String, Data>(name: "source") { key in Data(key.utf8) }
    func use(_ count: Int, _ observers: CacheObservers) async throws {
      let cache = memory.observed(as: "memory", by: observers)
        .compose(source.pooled(observer: observers).observed(as: "source", by: observers)).traced(by: observers)
      for number in 0..<count { _ = try await cache.get("\(number % 31)") }
    }
    let cache = memory.observed(as: "memory", by: observers).traced(by: observers)
    let server = try serveCache(cache, at: folder.socket)
    let first = try await Visitor(folder.socket)
    #expect(first.client.welcome.tellsCounts == true)
    try await use(2_000, observers)
    await first.wait { $0.counts.latency.count >= 2_000 }
    #expect(first.told.counts == local.snapshot)
    #expect(first.told.lost > 0)
    let second = try await Visitor(folder.socket)
    let removalsBefore = local.snapshot
    try await use(300, CacheObservers([local, later, inspector]))
    await second.wait { $0.counts.latency.count >= 300 }
    await first.wait { $0.counts.latency.count >= 2_300 }
    #expect(first.told.counts == local.snapshot)
    #expect(second.told.counts.latency.sum == later.snapshot.latency.sum)
    #expect(second.told.counts.served == later.snapshot.served)
    #expect(
      second.told.counts.levels["memory"]?.removals[.evicted]
        == local.snapshot.since(removalsBefore).levels["memory"]?.removals[.evicted])
    withExtendedLifetime(server) {}
  }

  private static func counted(_ events: [CacheEvent]) -> CacheStatistics.Snapshot {
    let statistics = CacheStatistics()
    for event in events { statistics.record(event) }
    return statistics.snapshot
  }

  @Test("entries come page by page, all of them")
  func entries() async throws {
    let folder = try SocketFolder()
    let stack = Stack()
    for number in 0..<2_500 { try await stack.cache.set(Data([1]), forKey: "key \(number)") }
    let server = try serveCache(stack.cache, at: folder.socket)
    let visitor = try await Visitor(folder.socket)
    var keys: Set<String> = []
    var ask = ClientLine.Ask(.entries, level: "memory")
    var pages = 0
    while true {
      let answer = try await visitor.client.ask(ask)
      keys.formUnion((answer.entries ?? []).map(\.key))
      pages += 1
      guard let next = answer.next else { break }
      ask.from = next
    }
    #expect(keys.count == 2_500)
    #expect(pages == 3)
    ask.from = 1_000
    #expect(try await visitor.client.ask(ask).outcome == "failed")
    withExtendedLifetime(server) {}
  }

  @Test("a look at a level is counted by nobody, and finds nothing that has expired")
  func looks() async throws {
    let folder = try SocketFolder()
    let clock = ManualClock()
    let statistics = CacheStatistics()
    let memory = MemoryCacheLevel<String, Data>(name: "memory", keepsExpired: .seconds(60), clock: clock)
    try await memory.set(Data([1]), forKey: "a", expiry: .after(.seconds(1)))
    let server = try serveCache(memory.observed(as: "memory", by: statistics).traced(by: statistics), at: folder.socket)
    let visitor = try await Visitor(folder.socket)
    #expect(try await visitor.ask(.look, level: "memory", key: "a").value == Data([1]))
    #expect(try await visitor.ask(.look, level: "memory", key: "b").outcome == "miss")
    clock.advance(by: .seconds(1))
    #expect(try await visitor.ask(.look, level: "memory", key: "a").outcome == "miss")
    #expect(memory.counts == MemoryCounts(stored: 1))
    #expect(statistics.snapshot.requests == 0)
    withExtendedLifetime(server) {}
  }

  @Test("reading is answered, and changing is refused unless the app allows it")
  func readOnly() async throws {
    let folder = try SocketFolder()
    let stack = Stack()
    let server = try serveCache(stack.cache, at: folder.socket, name: "app")
    let visitor = try await Visitor(folder.socket)
    let first = try await visitor.ask(.get, key: "a")
    #expect(first.outcome == "hit")
    #expect(first.level == "source")
    #expect(first.value == Data("value of a".utf8))
    #expect(first.events?.contains { $0.what == "filled" && $0.level == "memory" } == true)
    #expect(try await visitor.ask(.get, level: "memory", key: "a").level == "memory")
    #expect(try await visitor.ask(.get, key: "no").outcome == "miss")
    #expect(try await visitor.ask(.look, level: "memory", key: "a").value == Data("value of a".utf8))
    for word in AskWord.allCases where word.changes {
      let answer = try await visitor.ask(word, key: "a", value: "b")
      #expect(answer.outcome == "failed")
      #expect(answer.error?.contains("allowsWrites: true") == true)
    }
    #expect(try await stack.memory.get("a") != nil)
    withExtendedLifetime(server) {}
  }

  @Test("where the app allows it, changes are carried out and what happened on behalf of them is told")
  func writes() async throws {
    let folder = try SocketFolder()
    let stack = Stack()
    let server = try serveCache(stack.cache, at: folder.socket, allowsWrites: true)
    let visitor = try await Visitor(folder.socket)
    let set = try await visitor.ask(.set, key: "a", value: "mine")
    #expect(set.outcome == "done")
    #expect(set.events?.contains { $0.what == "stored" && $0.level == "memory" } == true)
    #expect(try await stack.memory.get("a") == Data("mine".utf8))
    #expect(try await visitor.ask(.expire, level: "memory", key: "a").size == 1)
    #expect(try await stack.memory.get("a") == nil)
    _ = try await visitor.ask(.set, key: "b", value: "mine")
    let removed = try await visitor.ask(.remove, key: "b")
    #expect(removed.events?.contains { $0.what == "removed" && $0.cause == "removed" } == true)
    _ = try await visitor.ask(.set, key: "c", value: "mine")
    await visitor.wait { $0.usage["memory"]?.count ?? 0 > 0 }
    _ = try await visitor.ask(.clear)
    #expect(stack.memory.usage.count == 0)
    // The figures after a change come before its answer.
    #expect(visitor.told.usage["memory"]?.count == 0)
    _ = try await visitor.ask(.set, key: "d", value: "mine")
    let warned = try await visitor.ask(.warn)
    #expect(warned.events?.contains { $0.what == "warning" && $0.dropped == 1 } == true)
    withExtendedLifetime(server) {}
  }

  private struct Photo: Codable, Sendable, Equatable {
    var name: String
  }

  private struct Opaque: Hashable, Sendable, CustomStringConvertible {
    var number: Int
    var description: String { "opaque \(number)" }
  }

  @Test("keys and values of any type are shown, and set where they can be made from text")
  func types() async throws {
    let folder = try SocketFolder()
    let inspector = CacheInspector()
    let photos = MemoryCacheLevel<Int, Photo>(name: "photos", capacity: 100)
    let server = try serveCache(
      photos.observed(as: "photos", by: inspector), at: folder.socket, allowsWrites: true)
    let visitor = try await Visitor(folder.socket)
    #expect(try await visitor.ask(.set, key: "7", value: #"{"name":"sea"}"#).outcome == "done")
    #expect(try await photos.get(7) == Photo(name: "sea"))
    #expect(try await visitor.ask(.get, key: "7").value == Data(#"{"name":"sea"}"#.utf8))
    let refused = try await visitor.ask(.set, key: "8", value: "sea")
    #expect(refused.error?.contains("JSON of a Photo") == true)
    #expect(try await visitor.ask(.get, key: "seven").error?.contains("cannot be made from text") == true)
    withExtendedLifetime(server) {}

    let other = try SocketFolder()
    let opaque = MemoryCacheLevel<Opaque, Opaque>(name: "opaque", capacity: 100)
    try await opaque.set(Opaque(number: 2), forKey: Opaque(number: 1))
    let second = try serveCache(opaque, at: other.socket, allowsWrites: true)
    let reader = try await Visitor(other.socket)
    #expect(!reader.client.welcome.tellsEvents)
    #expect(try await reader.ask(.get, key: "opaque 1").value == Data("opaque 2".utf8))
    #expect(try await reader.ask(.set, key: "opaque 1", value: "x").error?.contains("set them in the app") == true)
    #expect(try await reader.ask(.remove, key: "opaque 1").outcome == "done")
    #expect(opaque.usage.count == 0)
    withExtendedLifetime(second) {}
  }

  @Test("closing, or letting go, ends the serving and harms nobody")
  func closing() async throws {
    let folder = try SocketFolder()
    let stack = Stack()
    var server: InspectorServer? = try serveCache(stack.cache, at: folder.socket, name: "app")
    let visitor = try await Visitor(folder.socket)
    server?.close()
    await visitor.wait { $0.ending != nil }
    #expect(visitor.told.ending == "app has stopped serving this cache")
    #expect(!FileManager.default.fileExists(atPath: folder.socket))
    await #expect(throws: CacheError.self) { try await visitor.ask(.get, key: "a") }
    #expect(try await stack.cache.get("a") != nil)

    server = try serveCache(stack.cache, at: folder.socket)
    let second = try await Visitor(folder.socket)
    server = nil
    await second.wait { $0.ending != nil }
    #expect(!FileManager.default.fileExists(atPath: folder.socket))
    try await turns { stack.inspector.attention?.isOn == false }
  }

  @Test("several are attached at once, each is told all, and one too many is told to wait")
  func several() async throws {
    let folder = try SocketFolder()
    let stack = Stack()
    let server = try serveCache(stack.cache, at: folder.socket, name: "app")
    var visitors: [Visitor] = []
    for _ in 0..<8 { visitors.append(try await Visitor(folder.socket)) }
    _ = try await stack.cache.get("a")
    for visitor in visitors {
      await visitor.wait { $0.events.contains { if case .requestEnded = $0.kind { true } else { false } } }
    }
    let counts = visitors.map(\.told.events.count)
    #expect(Set(counts).count == 1)
    do {
      _ = try await Visitor(folder.socket)
      Issue.record("a ninth was let in")
    } catch let error as CacheError {
      #expect(error.code == .inUse)
      #expect(error.message == "8 are attached to app already; end one of them")
    }
    visitors.removeAll()
    try await turns { server.attachedCount == 0 }
  }
  @Test("who is refused before it could say hello is told why all the same")
  func refusedAtOnce() async throws {
    var (near, far): (Descriptor, Descriptor?) = try UnixSocket.pair()
    let refusal = ServerLine.Refusal(code: "busy", message: "8 are attached already")
    #expect(far?.writeAll(Wire.bytes(ServerLine(refused: refusal))) == true)
    far = nil
    let error = #expect(throws: CacheError.self) {
      try InspectorClient.greet(over: near, path: "/app", as: "test", versions: .current) { _ in }
    }
    #expect(error?.code == .inUse)
    #expect(error?.message == "8 are attached already")

    (near, far) = try UnixSocket.pair()
    far = nil
    let silent = #expect(throws: CacheError.self) {
      try InspectorClient.greet(over: near, path: "/app", as: "test", versions: .current) { _ in }
    }
    #expect(silent?.message == "the app at /app hung up; try again")
  }
}

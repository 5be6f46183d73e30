#if HTTP
import CacheEngine
import CacheEngineHTTP
import CacheEngineTesting
import HTTPTypes
import LoopbackServer
import Testing

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

@Suite("What has expired above the cache is asked about, not fetched again")
struct HTTPRenewalTests {
  let clock = ManualClock()
  let url = URL(string: "http://example.org/a")!

  /// A stack whose cache keeps nothing of its own, so that only the levels above can be asked about.
  private func stack(_ origin: any HTTPOrigin) -> some CacheLevel<URL, Data> {
    let cache = HTTPCache(
      storing: EmptyLevel<String, StoredVariants>(), policy: HTTPCachePolicy(.private), origin: origin, clock: clock)
    return MemoryCacheLevel<URL, Data>(keepsExpired: .seconds(100), clock: clock).compose(cache.fetcher(), clock: clock)
  }

  private func origin(_ control: [String], tag: String = "\"x\"") -> ScriptedOrigin {
    ScriptedOrigin { request, count in
      if count == 0 { return HTTPAnswer(200, ["Cache-Control: max-age=10", "ETag: \(tag)"], "old") }
      return request.headerFields[.ifNoneMatch] == tag ? HTTPAnswer(304, control) : HTTPAnswer(200, [], "new")
    }
  }

  @Test("A 304 is the value, for as long as it says")
  func notModified() async throws {
    let origin = origin(["Cache-Control: max-age=30"])
    let stack = stack(origin)
    #expect(try await stack.get(url) == Data("old".utf8))
    clock.advance(by: .seconds(10))
    #expect(try await stack.get(url) == Data("old".utf8))
    clock.advance(by: .seconds(29))
    #expect(try await stack.get(url) == Data("old".utf8))
    #expect(origin.requests.count == 2)
    clock.advance(by: .seconds(1))
    #expect(try await stack.get(url) == Data("old".utf8))
    #expect(origin.requests.map { $0.headerFields[.ifNoneMatch] } == [nil, "\"x\"", "\"x\""])
  }

  @Test("A tag is shown as it came, however it is written", arguments: ["W/\"x\"", "\"\u{301} x\"", "x"])
  func tags(_ tag: String) async throws {
    let origin = origin([], tag: tag)
    let stack = stack(origin)
    for _ in 0..<2 {
      #expect(try await stack.get(url) == Data("old".utf8))
      clock.advance(by: .seconds(10))
    }
    #expect(origin.requests.last?.headerFields[.ifModifiedSince] == nil)
  }

  @Test(
    "A 304 that says nothing of lifetimes leaves them as they were; one that forbids to use it unasked is asked each time",
    arguments: [([], 10), (["Cache-Control: no-cache, max-age=10"], 0), (["Cache-Control: no-store"], 0)])
  func lifetimes(_ control: [String], _ life: Int) async throws {
    let stack = stack(origin(control))
    #expect(try await stack.get(url) == Data("old".utf8))
    clock.advance(by: .seconds(10))
    let entry = try #require(try await stack.lookup(url).entry)
    #expect(entry.value == Data("old".utf8) && entry.deadline == clock.now.advanced(by: .seconds(life)))
  }

  @Test("A response without an entity tag is asked about by its date")
  func date() async throws {
    let date = "Wed, 31 Dec 2025 00:00:00 GMT"
    let origin = ScriptedOrigin { request, _ in
      request.headerFields[.ifModifiedSince] == date
        ? HTTPAnswer(304) : HTTPAnswer(200, ["Cache-Control: max-age=10", "Last-Modified: \(date)"], "old")
    }
    let stack = stack(origin)
    for _ in 0..<3 {
      #expect(try await stack.get(url) == Data("old".utf8))
      clock.advance(by: .seconds(10))
    }
    #expect(origin.requests.map { $0.headerFields[.ifModifiedSince] } == [nil, date, date])
  }

  @Test("What the server changed is taken, and what it fails to give loses nothing")
  func changed() async throws {
    let origin = ScriptedOrigin { _, count in
      count == 1 ? HTTPAnswer(503) : HTTPAnswer(200, ["Cache-Control: max-age=10", "ETag: \"\(count)\""], "\(count)")
    }
    let cache = HTTPCache(
      storing: EmptyLevel<String, StoredVariants>(), policy: HTTPCachePolicy(.private), origin: origin, clock: clock)
    let memory = MemoryCacheLevel<URL, Data>(keepsExpired: .seconds(100), clock: clock)
    let stack = memory.compose(cache.fetcher(), clock: clock)
    #expect(try await stack.get(url) == Data("0".utf8))
    clock.advance(by: .seconds(10))
    let error = await #expect(throws: CacheError.self) { try await stack.get(url) }
    #expect(error?.status == 503)
    #expect(try await memory.lookupIncludingExpired(url).entry?.value == Data("0".utf8))
    #expect(try await stack.get(url) == Data("2".utf8))
    #expect(origin.requests.map { $0.headerFields[.ifNoneMatch] } == [nil, "\"0\"", "\"0\""])
  }

  @Test("Those who read the same expired content make one request")
  func once() async throws {
    let gate = Gate()
    let origin = ScriptedOrigin { _, count in
      if count == 0 { return HTTPAnswer(200, ["Cache-Control: max-age=10", "ETag: \"x\""], "old") }
      try await gate.pass()
      return HTTPAnswer(304, ["Cache-Control: max-age=10"])
    }
    let observer = RecordingObserver()
    let cache = HTTPCache(
      storing: EmptyLevel<String, StoredVariants>(), policy: HTTPCachePolicy(.private), origin: origin, clock: clock)
    let stack = MemoryCacheLevel<URL, Data>(keepsExpired: .seconds(100), clock: clock)
      .compose(cache.fetcher().pooled(observer: observer), clock: clock)
    #expect(try await stack.get(url) == Data("old".utf8))
    clock.advance(by: .seconds(10))
    let readers = (0..<20).map { _ in Task { [url] in try await stack.get(url) } }
    await observer.event { if case .flightJoined(callers: 20) = $0.kind { true } else { false } }
    gate.open()
    for reader in readers { #expect(try await reader.value == Data("old".utf8)) }
    #expect(origin.requests.count == 2)
  }

  @Test("What may not be kept is not copied upwards, and what may not be used unasked is not used above either")
  func forbidden() async throws {
    let secret = ScriptedOrigin { _, _ in HTTPAnswer(200, ["Cache-Control: no-store", "ETag: \"x\""], "secret") }
    let stack = stack(secret)
    #expect(try await stack.get(url) == Data("secret".utf8))
    #expect(try await stack.get(url) == Data("secret".utf8))
    #expect(secret.requests.allSatisfy { $0.headerFields[.ifNoneMatch] == nil })
    let unused = ScriptedOrigin { _, count in HTTPAnswer(200, ["Cache-Control: no-cache, max-age=60"], "\(count)") }
    let other = self.stack(unused)
    #expect(try await other.get(url) == Data("0".utf8))
    #expect(try await other.get(url) == Data("1".utf8))
  }

  @Test("Memory over disk over the cache asks a real server with its entity tag and takes 304 as the value")
  func server() async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    let folder = FileManager.default.temporaryDirectory.appending(path: "renewal-\(UUID().uuidString)").path()
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let disk = try DiskCacheLevel<URL, Data>(
      directory: folder, keepsExpired: .seconds(100), keyCoding: .json, valueCoding: .data, clock: clock)
    let cache = HTTPCache(
      storing: EmptyLevel<String, StoredVariants>(), policy: HTTPCachePolicy(.private), origin: TransportOrigin(),
      clock: clock)
    let memory = MemoryCacheLevel<URL, Data>(keepsExpired: .seconds(100), clock: clock)
    let stack = memory.compose(disk).compose(cache.fetcher(), backFill: .awaited, clock: clock)
    let url = server.url("/-/with?Cache-Control:max-age=5&ETag:%22a%22")
    let first = try await stack.get(url)
    #expect(first != nil)
    for _ in 0..<2 {
      clock.advance(by: .seconds(5))
      // Only the disk has it still, as after a restart.
      try await memory.clear()
      #expect(try await stack.get(url) == first)
    }
    #expect(try await memory.lookup(url).entry?.validator == "\"a\"")
  }

  @Test("What a 304 renews keeps its tags, and what it forbids to keep is not copied again", arguments: [false, true])
  func tags(isForbidden: Bool) async throws {
    let cache = HTTPCache(
      storing: EmptyLevel<String, StoredVariants>(), policy: HTTPCachePolicy(.private),
      origin: origin([isForbidden ? "Cache-Control: no-store, max-age=10" : "Cache-Control: max-age=10"]), clock: clock)
    let memory = MemoryCacheLevel<URL, Data>(keepsExpired: .seconds(100), clock: clock)
    let stack = memory.compose(cache.fetcher(), clock: clock)
    let first = try #require(try await stack.lookup(url).entry)
    try await memory.set(first.value, forKey: url, tags: ["red"], expiry: .after(.seconds(10)))
    clock.advance(by: .seconds(10))
    let old = try #require(try await memory.lookupIncludingExpired(url).entry)
    var tagged = old
    tagged.validator = "\"x\""
    let renewed = try #require(try await cache.fetcher().lookup(url, renewing: tagged).entry)
    #expect(renewed.tags.contains("red") && renewed.isPlaceholder == isForbidden)
  }
}
#endif

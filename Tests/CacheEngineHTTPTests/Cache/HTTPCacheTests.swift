#if HTTP
import CacheEngine
import CacheEngineTesting
import HTTPTypes
import Synchronization
import Testing

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

// Testable: whether tables are empty again when all is done is nobody else's to see.
@testable import CacheEngineHTTP

@Suite("The cache over a level", .timeLimit(.minutes(2)))
struct HTTPCacheTests {
  typealias Memory = MemoryCacheLevel<String, StoredVariants>

  let clock = ManualClock()
  let failures = Failures()

  final class Failures: Sendable {
    private let noted = Mutex<[String]>([])
    var all: [String] { noted.withLock { $0 } }
    func note(_ failure: HTTPCacheFailure) { noted.withLock { $0.append(failure.step.rawValue) } }
  }

  func cache(_ origin: ScriptedOrigin) -> HTTPCache<Memory> {
    HTTPCache(
      storing: Memory(clock: clock), policy: HTTPCachePolicy(.shared), origin: origin, bodyLimit: 1000, clock: clock,
      report: failures.note)
  }

  @Test("N17, N32: a fresh response answers with its age, and a stale one is asked for anew")
  func hit() async throws {
    let origin = ScriptedOrigin { _, count in
      HTTPAnswer(200, ["Cache-Control: max-age=10", "Content-Length: 1"], "\(count)")
    }
    let cache = cache(origin)
    let first = try await cache.response(for: get())
    #expect(try await first.text() == "0")
    #expect(first.head.headerFields[.init("Cache-Status")!] == "cache-explorer; fwd=uri-miss; stored; ttl=10")
    #expect(first.head.headerFields[.date] == HTTPDate(newYear).description)
    clock.advance(by: .seconds(9))
    let second = try await cache.response(for: get())
    #expect(try await second.text() == "0")
    #expect(second.head.headerFields[.age] == "9")
    #expect(second.head.headerFields[.init("Cache-Status")!] == "cache-explorer; hit; ttl=1")
    clock.advance(by: .seconds(1))
    #expect(try await cache.response(for: get()).text() == "1")
    #expect(cache.turns.isIdle && cache.flights.isIdle)
  }

  @Test("What a level has at hand is answered at once, also by one that could be told to fail, and not when it was")
  func atOnce() async throws {
    let faults = FaultInjector(clock: clock)
    let origin = ScriptedOrigin { _, count in HTTPAnswer(200, ["Cache-Control: max-age=10"], "\(count)") }
    let cache = HTTPCache(
      storing: Memory(clock: clock).injectingFaults(faults), policy: HTTPCachePolicy(.shared), origin: origin,
      clock: clock)
    let target = try #require(TargetURI(get()))
    #expect(cache.immediateAnswer(for: get(), at: target) == nil)
    _ = try await cache.response(for: get()).text()
    guard case .new(let answer, _?)? = cache.immediateAnswer(for: get(), at: target) else {
      Issue.record("it is not answered at once")
      return
    }
    #expect(answer.status.isHit)
    faults.fault = Fault(isDown: true)
    #expect(cache.immediateAnswer(for: get(), at: target) == nil)
    faults.fault = .none
    clock.advance(by: .seconds(10))
    #expect(cache.immediateAnswer(for: get(), at: target) == nil)
  }

  @Test("N32: what is answered at once is known to be the same as before for a second, while nothing else is stored")
  func again() async throws {
    let contents = ["one", "two", "two"]
    let origin = ScriptedOrigin { _, count in HTTPAnswer(200, ["Cache-Control: max-age=10"], contents[count]) }
    let cache = cache(origin)
    let target = try #require(TargetURI(get()))
    let part = get("Range: bytes=0-1")
    func newMark(_ request: HTTPTypes.HTTPRequest) -> AnswerMark? {
      guard case .new(_, let mark)? = cache.immediateAnswer(for: request, at: target) else { return nil }
      return mark
    }
    func isSame(after mark: AnswerMark) -> Bool {
      if case .again? = cache.immediateAnswer(for: get(), at: target, after: mark) { true } else { false }
    }
    var marks: [AnswerMark] = []
    for content in contents {
      _ = try await cache.response(for: get()).text()
      // What is left of its life is told in whole seconds, too.
      clock.advance(by: .milliseconds(1))
      for mark in marks { #expect(!isSame(after: mark)) }
      let mark = try #require(newMark(get()))
      clock.advance(by: .milliseconds(998))
      guard case .again(let bytes)? = cache.immediateAnswer(for: get(), at: target, after: mark) else {
        Issue.record("it is not known to be the same")
        return
      }
      #expect(String(decoding: bytes, as: UTF8.self) == content)
      // A part is not all that is stored.
      #expect(newMark(part) == nil)
      clock.advance(by: .milliseconds(1))
      #expect(!isSame(after: mark))
      marks.append(mark)
      try await cache.remove(target.text)
      #expect(!isSame(after: mark))
    }
  }

  @Test("N22: one key for all spellings of a target, and what is keyed is forwarded")
  func spellings() async throws {
    let origin = ScriptedOrigin { request, _ in HTTPAnswer(200, ["Cache-Control: max-age=10"], request.path ?? "") }
    let cache = cache(origin)
    #expect(try await cache.response(for: get(path: "/x/%2e%2e/%61")).text() == "/a")
    #expect(try await cache.response(for: get()).status.isHit)
    await #expect(throws: CacheError.self) { try await cache.response(for: get(path: "a b")) }
  }

  @Test("N6, N25, N26: what may not be used unasked is asked about, and a 304 answers for it")
  func validates() async throws {
    let origin = ScriptedOrigin { request, count in
      request.headerFields[.ifNoneMatch] == "\"1\""
        ? HTTPAnswer(304, ["ETag: \"1\"", "X: \(count)"])
        : HTTPAnswer(200, ["Cache-Control: no-cache", "ETag: \"1\"", "X: \(count)"], "body")
    }
    let cache = cache(origin)
    #expect(try await cache.response(for: get()).text() == "body")
    let second = try await cache.response(for: get())
    #expect(try await second.text() == "body")
    #expect(second.head.status == .ok)
    #expect(second.head.headerFields[.init("X")!] == "1")
    #expect(second.status.forwardStatus == 304)
    let third = try await cache.response(for: get("If-None-Match: W/\"1\""))
    #expect(third.head.status == .notModified)
    #expect(origin.requests.count == 3)
  }

  @Test("N26: a 304 that speaks of nothing stored is asked again without conditions, or is the client's own")
  func strangeNotModified() async throws {
    let origin = ScriptedOrigin { request, count in
      request.headerFields.contains(.ifNoneMatch) && count > 0
        ? HTTPAnswer(304, ["ETag: \"2\""]) : HTTPAnswer(200, ["Cache-Control: no-cache", "ETag: \"1\""], "\(count)")
    }
    let cache = cache(origin)
    _ = try await cache.response(for: get()).text()
    #expect(try await cache.response(for: get()).text() == "2")
    #expect(!origin.requests[2].headerFields.contains(.ifNoneMatch))
    #expect(try await cache.response(for: get("If-None-Match: \"2\"")).head.status == .notModified)
  }

  @Test(
    "N26: a 304 without a tag says nothing of what is stored if the client asked about another one itself",
    arguments: [["ETag: \"1\""], ["Last-Modified: Thu, 01 Jan 2026 00:00:00 GMT"]])
  func notModifiedForClient(validators: [String]) async throws {
    let origin = ScriptedOrigin { request, count in
      request.headerFields[.ifNoneMatch]?.contains("\"2\"") == true
        ? HTTPAnswer(304, ["Cache-Control: max-age=99"])
        : HTTPAnswer(200, ["Cache-Control: max-age=10"] + validators, "\(count)")
    }
    let cache = cache(origin)
    #expect(try await cache.response(for: get()).text() == "0")
    clock.advance(by: .seconds(10))
    #expect(try await cache.response(for: get("If-None-Match: \"2\"")).head.status == .notModified)
    #expect(try await cache.response(for: get()).text() != "0")
  }

  @Test("N26: a 304 without a tag but with another date says nothing of what is stored")
  func notModifiedOfAnotherDate() async throws {
    let origin = ScriptedOrigin { request, count in
      request.headerFields.contains(.ifNoneMatch)
        ? HTTPAnswer(304, ["Last-Modified: Fri, 02 Jan 2026 00:00:00 GMT"])
        : HTTPAnswer(
          200, ["Cache-Control: no-cache", "ETag: \"1\"", "Last-Modified: Thu, 01 Jan 2026 00:00:00 GMT"], "\(count)")
    }
    let cache = cache(origin)
    #expect(try await cache.response(for: get()).text() == "0")
    #expect(try await cache.response(for: get()).text() == "2")
  }

  @Test("N3: who wants nothing stored has nothing forgotten that others asked for")
  func noStoreOfOne() async throws {
    let origin = ScriptedOrigin { request, _ in
      request.headerFields.contains(.ifNoneMatch)
        ? HTTPAnswer(304, ["ETag: \"1\""]) : HTTPAnswer(200, ["Cache-Control: max-age=10", "ETag: \"1\""], "body")
    }
    let cache = cache(origin)
    _ = try await cache.response(for: get()).text()
    let own = try await cache.response(for: get("Cache-Control: no-store, no-cache"))
    #expect(try await own.text() == "body")
    #expect(own.status.forwardStatus == 304 && !own.status.isStored)
    #expect(try await cache.response(for: get()).status.isHit)
  }

  @Test("N23, N26: where a 304 names other fields to choose by, only who asked is given what it speaks of")
  func newVary() async throws {
    let origin = ScriptedOrigin { request, _ in
      let fields = ["Cache-Control: max-age=10", "ETag: \"1\""]
      return request.headerFields.contains(.cacheControl)
        ? HTTPAnswer(304, fields + ["Vary: x-a, x-b"]) : HTTPAnswer(200, fields + ["Vary: x-a"], "body")
    }
    let cache = cache(origin)
    for name in ["1", "2"] { _ = try await cache.response(for: get("X-A: \(name)")).text() }
    _ = try await cache.response(for: get("X-A: 1", "X-B: 1", "Cache-Control: no-cache")).text()
    #expect(try await cache.response(for: get("X-A: 1", "X-B: 1")).status.isHit)
    for other in [get("X-A: 1", "X-B: 2"), get("X-A: 2", "X-B: 2")] {
      #expect(try await cache.response(for: other).status.forward == .varyMiss)
    }
  }

  @Test(
    "N23, N26: a 304 with a weak tag, or one that a server made of that, gives nobody another one's coding",
    arguments: ["\"1\"", "W/\"1\""], [false, true])
  func weakVariants(tag: String, isStored: Bool) async throws {
    let origin = ScriptedOrigin { request, _ in
      let coding = request.headerFields[.acceptEncoding] ?? "identity"
      return request.headerFields.contains(.ifNoneMatch)
        ? HTTPAnswer(304, ["ETag: \(tag)"])
        : HTTPAnswer(200, ["Cache-Control: max-age=10", "ETag: W/\"1\"", "Vary: accept-encoding"], coding)
    }
    let cache = cache(origin)
    if isStored { #expect(try await cache.response(for: get()).text() == "identity") }
    clock.advance(by: .seconds(5))
    #expect(try await cache.response(for: get("Accept-Encoding: gzip")).text() == "gzip")
    clock.advance(by: .seconds(5))
    for _ in 0..<2 {
      #expect(try await cache.response(for: get()).text() == "identity")
      #expect(try await cache.response(for: get("Accept-Encoding: gzip")).text() == "gzip")
    }
  }

  @Test("N4: fields that are kept from others do not come with a 304, and go when it says so")
  func hiddenByNotModified() async throws {
    let origin = ScriptedOrigin { request, _ in
      let first = ["Cache-Control: private=\"x-a\", max-age=5", "ETag: \"1\"", "X-B: 1"]
      return request.headerFields.contains(.ifNoneMatch)
        ? HTTPAnswer(
          304,
          ["ETag: \"1\"", "X-A: alice"] + (request.path == "/b" ? ["Cache-Control: private=\"x-b\", max-age=5"] : []))
        : HTTPAnswer(200, first, "body")
    }
    let cache = cache(origin)
    for (path, name) in [("/a", "X-A"), ("/b", "X-B")] {
      _ = try await cache.response(for: get(path: path)).text()
      clock.advance(by: .seconds(5))
      _ = try await cache.response(for: get(path: path)).text()
      let answer = try await cache.response(for: get(path: path))
      #expect(answer.status.isHit && !answer.head.headerFields.contains(.init(name)!))
    }
  }

  @Test("N24: nobody joins a content whose last reader has left, since it breaks off")
  func joinsNothingThatEnds() async throws {
    let body = SharedBody(length: nil, bound: 1_000)
    var reader = body.join()
    let gate = Gate()
    body.start(
      HTTPBody {
        try await gate.pass(); return nil
      }
    ) { _, _ in
    } ended: {
    }
    await gate.arrivals(1)
    #expect(reader != nil)
    reader = nil
    #expect(body.join() == nil)
  }

  @Test("N24: whoever has read a content to its end joins nothing that is over", arguments: [4, nil])
  func joinsNothingThatIsOver(length: Int?) async throws {
    for _ in 0..<100 {
      let hasEnded = Atomic(false)
      let body = SharedBody(length: length, bound: 1_000)
      let reader = try #require(body.join())
      body.start(HTTPBody(Data("body".utf8))) { _, _ in
      } ended: {
        hasEnded.store(true, ordering: .releasing)
      }
      // The last byte of a known length is an end as well.
      for try await _ in reader where length != nil { break }
      let wasTold = hasEnded.load(ordering: .acquiring)
      #expect(wasTold)
    }
  }

  @Test("N7: an interim answer is passed on without the fields of its connection")
  func interimFields() async throws {
    let noted = Mutex<[HTTPTypes.HTTPResponse]>([])
    struct Hinting: HTTPOrigin {
      func send(
        _ request: HTTPTypes.HTTPRequest, body: HTTPBody,
        interim: @escaping @Sendable (HTTPTypes.HTTPResponse) async -> Void
      ) async throws -> HTTPAnswer {
        await interim(answer(103, "Link: </a>", "Connection: X-Hop", "X-Hop: 1", "Content-Length: 4"))
        return HTTPAnswer(200, [], "")
      }
    }
    let cache = HTTPCache(
      storing: Memory(clock: clock), policy: HTTPCachePolicy(.shared), origin: Hinting(), clock: clock)
    for method in [HTTPTypes.HTTPRequest.Method.get, .post] {
      _ = try await cache.response(for: get(method: method)) { head in noted.withLock { $0.append(head) } }
    }
    #expect(noted.withLock { $0 } == [answer(103, "Link: </a>"), answer(103, "Link: </a>")])
  }

  @Test("N3, N26: a 304 that forbids keeping has what it speaks of forgotten", arguments: ["no-store", "private"])
  func forbiddingNotModified(_ control: String) async throws {
    let origin = ScriptedOrigin { request, count in
      count == 0
        ? HTTPAnswer(200, ["Cache-Control: no-cache", "ETag: \"1\""], "body")
        : HTTPAnswer(
          request.headerFields.contains(.ifNoneMatch) ? 304 : 200, ["Cache-Control: \(control)", "ETag: \"1\""], "new"
        )
    }
    let cache = cache(origin)
    _ = try await cache.response(for: get()).text()
    #expect(try await cache.response(for: get()).text() == "body")
    #expect(try await cache.response(for: get()).text() == "new")
  }

  @Test("N26: a 304 counts also where another variant was forbidden while it was on its way")
  func forbiddenMeanwhile() async throws {
    let gate = Gate()
    let origin = ScriptedOrigin { request, count in
      let name = request.headerFields[.init("A")!] ?? ""
      let fields = ["ETag: \"\(name)\"", "Vary: A"]
      if count < 2 { return HTTPAnswer(200, fields + ["Cache-Control: max-age=10"], name) }
      if count == 2 { try await gate.pass() }
      return HTTPAnswer(304, fields + ["Cache-Control: \(name == "1" ? "no-cache" : "private")"])
    }
    let cache = cache(origin)
    for name in ["1", "2"] { _ = try await cache.response(for: get("A: \(name)")).text() }
    let first = Task { try await cache.response(for: get("A: 1", "Cache-Control: no-cache")).text() }
    await gate.arrivals(1)
    #expect(try await cache.response(for: get("A: 2", "Cache-Control: no-cache")).text() == "2")
    gate.open()
    #expect(try await first.value == "1")
    #expect(try await !cache.response(for: get("A: 1")).status.isHit)
  }

  @Test("N23: variants are kept side by side, and a new one asks with the tags of all")
  func variants() async throws {
    let origin = ScriptedOrigin { request, count in
      let language = request.headerFields[.acceptLanguage] ?? "none"
      return language == "fr"
        ? HTTPAnswer(304, ["ETag: \"de\""])
        : HTTPAnswer(200, ["Cache-Control: max-age=10", "Vary: accept-language", "ETag: \"\(language)\""], language)
    }
    let cache = cache(origin)
    for language in ["de", "en"] {
      #expect(try await cache.response(for: get("Accept-Language: \(language)")).text() == language)
    }
    for language in ["de", "en"] {
      let answer = try await cache.response(for: get("Accept-Language: \(language)"))
      #expect(answer.status.isHit)
      #expect(try await answer.text() == language)
    }
    let chosen = try await cache.response(for: get("Accept-Language: fr"))
    #expect(try await chosen.text() == "de")
    #expect(chosen.status.forward == .varyMiss)
    #expect(origin.requests.last?.headerFields[.ifNoneMatch] == "\"de\", \"en\"")
    #expect(try await cache.response(for: get("Accept-Language: fr")).status.isHit)
  }

  @Test(
    "N9, N23: variants come to no more bytes than one content may have, and the oldest leave", arguments: [400, 1000])
  func variantsInBytes(length: Int) async throws {
    let origin = ScriptedOrigin { _, _ in
      HTTPAnswer(200, ["Cache-Control: max-age=10", "Vary: A"], String(repeating: "x", count: length))
    }
    let cache = cache(origin)
    for value in 1...3 { _ = try await cache.response(for: get("A: \(value)")).text() }
    var hits: [Bool] = []
    for value in 1...3 {
      hits.append(try await cache.response(for: get("A: \(value)", "Cache-Control: only-if-cached")).status.isHit)
    }
    #expect(hits == [false, length == 400, true])
  }

  @Test("N19: only-if-cached asks nobody")
  func onlyIfCached() async throws {
    let origin = ScriptedOrigin { _, _ in HTTPAnswer(200, ["Cache-Control: max-age=10"]) }
    let answer = try await cache(origin).response(for: get("Cache-Control: only-if-cached"))
    #expect(answer.head.status == .gatewayTimeout)
    #expect(origin.requests.isEmpty)
  }

  @Test("N21, N27: a stale response stands in for an origin that cannot be reached, or fails, within its allowance")
  func standsIn() async throws {
    let origin = ScriptedOrigin { request, count in
      if count == 0 { return HTTPAnswer(200, ["Cache-Control: max-age=10, stale-if-error=20"], "old") }
      if request.path == "/a", count == 1 { throw CacheError(.unreachable, "down") }
      return HTTPAnswer(503, [], "broken")
    }
    let cache = cache(origin)
    _ = try await cache.response(for: get()).text()
    clock.advance(by: .seconds(11))
    let first = try await cache.response(for: get())
    #expect(try await first.text() == "old")
    #expect(first.status.detail == "origin-unreachable" && first.status.timeToLive == -1)
    let second = try await cache.response(for: get())
    #expect(try await second.text() == "old")
    #expect(second.status.forwardStatus == 503)
    // Of a part of a second nobody takes it for fresh.
    clock.advance(by: .milliseconds(500))
    #expect(try await cache.response(for: get()).status.timeToLive == -2)
    clock.advance(by: .seconds(20))
    #expect(try await cache.response(for: get()).head.status.code == 503)
  }

  @Test("N21: while a stale response answers, the origin is asked once for all in the background")
  func revalidates() async throws {
    let gate = Gate()
    let origin = ScriptedOrigin { _, count in
      if count > 0 { try await gate.pass() }
      return HTTPAnswer(200, ["Cache-Control: max-age=10, stale-while-revalidate=20"], "\(count)")
    }
    let cache = cache(origin)
    _ = try await cache.response(for: get()).text()
    clock.advance(by: .seconds(15))
    for _ in 0..<3 {
      let answer = try await cache.response(for: get("If-None-Match: \"x\""))
      #expect(try await answer.text() == "0")
      #expect(answer.status.timeToLive == -5)
    }
    await gate.arrivals(1)
    gate.open()
    while try await cache.response(for: get()).text() != "1" { await Task.yield() }
    #expect(origin.requests.count == 2)
    #expect(!origin.requests[1].headerFields.contains(.ifNoneMatch))
    await cache.close()
  }

  @Test("N21: closing ends what runs in the background")
  func closes() async throws {
    let gate = Gate()
    let origin = ScriptedOrigin { _, count in
      if count > 0 { try await gate.pass() }
      return HTTPAnswer(200, ["Cache-Control: max-age=10, stale-while-revalidate=20"], "\(count)")
    }
    let cache = cache(origin)
    _ = try await cache.response(for: get()).text()
    clock.advance(by: .seconds(15))
    _ = try await cache.response(for: get())
    await gate.arrivals(1)
    await cache.close()
    #expect(cache.flights.isIdle && cache.turns.isIdle)
    // Nothing new begins, and the stale response still answers.
    #expect(try await cache.response(for: get()).text() == "0")
    #expect(origin.requests.count == 2)
  }

  @Test("N31: an unsafe request forgets its target, and what was under way before is not kept")
  func invalidates() async throws {
    let gate = Gate()
    let origin = ScriptedOrigin { request, count in
      if request.method == .post { return HTTPAnswer(204) }
      if count == 1 { try await gate.pass() }
      return HTTPAnswer(200, ["Cache-Control: max-age=10"], "\(count)")
    }
    let cache = cache(origin)
    _ = try await cache.response(for: get()).text()
    async let early = cache.response(for: get(path: "/b")).text()
    await gate.arrivals(1)
    _ = try await cache.response(for: get(method: .post))
    _ = try await cache.response(for: get(method: .post, path: "/b"))
    gate.open()
    #expect(try await early == "1")
    #expect(!(try await cache.response(for: get(path: "/b")).status.isHit))
    #expect(!(try await cache.response(for: get()).status.isHit))
  }

  @Test("N1: the answer to a POST that is what a GET would give answers the next GET")
  func posts() async throws {
    let origin = ScriptedOrigin { _, count in
      HTTPAnswer(200, ["Cache-Control: max-age=10", "Content-Location: ?"], "\(count)")
    }
    let cache = cache(origin)
    #expect(try await cache.response(for: get(path: "/a?")).text() == "0")
    let posted = try await cache.response(for: get(method: .post, path: "/a?"), body: HTTPBody(.init("x".utf8)))
    #expect(posted.head.headerFields[.init("Cache-Status")!] == "cache-explorer; fwd=method; stored; ttl=10")
    #expect(try await posted.text() == "1")
    #expect(try await cache.response(for: get(path: "/a?")).text() == "1")
    #expect(try await cache.response(for: get(method: .put, path: "/a?")).text() == "2")
    #expect(try await cache.response(for: get(path: "/a?")).text() == "3")
    #expect(cache.turns.isIdle && cache.flights.isIdle)
  }

  @Test("N1, N31: what a POST gave is not kept if its target was invalidated while it was under way")
  func postsMeanwhile() async throws {
    let gate = Gate()
    let origin = ScriptedOrigin { request, count in
      if count == 0 { try await gate.pass() }
      return HTTPAnswer(200, ["Cache-Control: max-age=10", "Content-Location: /a"], "\(count)")
    }
    let cache = cache(origin)
    async let early = cache.response(for: get(method: .post)).text()
    await gate.arrivals(1)
    #expect(try await cache.response(for: get(method: .put)).text() == "1")
    gate.open()
    #expect(try await early == "0")
    #expect(try await cache.response(for: get()).text() == "2")
    #expect(cache.turns.isIdle)
  }

  @Test("N29: a HEAD is answered from a stored GET, and forgets it where they disagree")
  func head() async throws {
    let origin = ScriptedOrigin { request, count in
      HTTPAnswer(
        200, ["Cache-Control: max-age=10", "ETag: \"\(count)\"", "Content-Length: 4"],
        request.method == .head ? "" : "body")
    }
    let cache = cache(origin)
    _ = try await cache.response(for: get()).text()
    let answer = try await cache.response(for: get(method: .head))
    #expect(answer.status.isHit && answer.head.headerFields[.contentLength] == "4")
    #expect(try await answer.text() == "")
    _ = try await cache.response(for: get("Cache-Control: no-cache", method: .head))
    #expect(try await cache.response(for: get()).status.forward == .uriMiss)
  }

  @Test("N1: the answer to a HEAD is for other HEADs, until there is content")
  func headOnly() async throws {
    let origin = ScriptedOrigin { request, count in
      let fields = ["Cache-Control: max-age=10, stale-while-revalidate=10", "ETag: \"\(count)\"", "Content-Length: 4"]
      return HTTPAnswer(200, fields, request.method == .head ? "" : "body")
    }
    let cache = cache(origin)
    let first = try await cache.response(for: get(method: .head))
    #expect(first.status.description == "cache-explorer; fwd=uri-miss; stored; ttl=10")
    clock.advance(by: .seconds(9))
    let second = try await cache.response(for: get(method: .head))
    #expect(second.status.isHit && second.head.headerFields[.age] == "9")
    #expect(second.head.headerFields[.contentLength] == "4" && second.head.headerFields[.eTag] == "\"0\"")
    #expect(try await cache.response(for: get("If-None-Match: \"0\"", method: .head)).head.status == .notModified)
    clock.advance(by: .seconds(5))
    #expect(try await cache.response(for: get(method: .head)).status.forward == .stale)
    for condition in [[], ["If-None-Match: \"1\""], ["Range: bytes=0-1"]] {
      var request = get()
      request.headerFields = HTTPFields(lines: condition)
      let answer = try await cache.response(for: request)
      if condition.isEmpty { #expect(answer.status.forward == .partial && origin.requests.last?.method == .get) }
      #expect(try await answer.text() == (condition == ["Range: bytes=0-1"] ? "bo" : "body"))
    }
    #expect(origin.requests.map(\.method) == [.head, .head, .get])
    #expect(origin.requests.allSatisfy { !$0.headerFields.contains(.ifNoneMatch) })
    #expect(try await cache.response(for: get(method: .head)).head.headerFields[.eTag] == "\"2\"")
  }

  @Test(
    "N1: the answer to a HEAD that could not be used again is not kept, and takes the place of no content",
    arguments: [
      (200, "Cache-Control: no-store, max-age=9"), (200, "Cache-Control: private, max-age=9"),
      (200, "Cache-Control: no-cache, max-age=9"), (200, "Cache-Control: max-age=0"), (200, "Vary: *"),
      (206, "Cache-Control: max-age=9"), (304, "Cache-Control: max-age=9"), (503, "X: 1"), (204, "POST"), (200, "part"),
    ])
  func headNotKept(_ status: Int, _ field: String) async throws {
    let isPart = field == "part"
    let origin = ScriptedOrigin { request, _ in
      if request.headerFields.contains(.range) {
        return HTTPAnswer(206, ["Cache-Control: max-age=9", "ETag: \"1\"", "Content-Range: bytes 0-1/4"], "bo")
      }
      let isKept = isPart || field == "POST" && request.method == .head
      return HTTPAnswer(status, ["ETag: \"1\"", isKept ? "Cache-Control: max-age=9" : field])
    }
    let cache = cache(origin)
    if isPart { _ = try await cache.response(for: get("Range: bytes=0-1")).text() }
    #expect(try await cache.response(for: get(method: .head)).status.isStored == (field == "POST"))
    if field == "POST" { _ = try await cache.response(for: get(method: .post)).text() }
    #expect(try await !cache.response(for: get(method: .head)).status.isHit)
    if isPart { #expect(try await cache.response(for: get("Range: bytes=0-1")).status.isHit) }
  }

  @Test(
    "N3, N4, N24, N29, N34: what a HEAD's answer says to one person is told to nobody else",
    arguments: [["Set-Cookie: sid=alice"], ["Cache-Control: private, max-age=99"], ["Cache-Control: no-store"]])
  func headForOne(fields: [String]) async throws {
    let origin = ScriptedOrigin { request, _ in
      request.method == .head
        ? HTTPAnswer(200, ["ETag: \"1\"", "X: alice"] + fields)
        : HTTPAnswer(200, ["Cache-Control: max-age=10", "ETag: \"1\""], "body")
    }
    var policy = HTTPCachePolicy(.shared)
    policy.storesCookies = false
    let cache = HTTPCache(storing: Memory(clock: clock), policy: policy, origin: origin, clock: clock)
    _ = try await cache.response(for: get()).text()
    _ = try await cache.response(for: get("Cache-Control: no-cache", "Cookie: sid=alice", method: .head))
    let answer = try await cache.response(for: get())
    #expect(!answer.head.headerFields.contains { $0.value.contains("alice") || $0.value.contains("private") })
    #expect(answer.status.forward == .uriMiss)
  }

  @Test(
    "N5, N29: what a HEAD with credentials is told changes nothing of what all are given",
    arguments: [(200, "1"), (200, "2"), (404, "1")])
  func headWithCredentials(status: Int, tag: String) async throws {
    let origin = ScriptedOrigin { request, _ in
      request.method == .head
        ? HTTPAnswer(status, ["Cache-Control: max-age=99", "ETag: \"\(tag)\"", "X: alice"])
        : HTTPAnswer(200, ["Cache-Control: max-age=10", "ETag: \"1\""], "body")
    }
    let cache = cache(origin)
    _ = try await cache.response(for: get()).text()
    _ = try await cache.response(for: get("Cache-Control: no-cache", "Authorization: alice", method: .head))
    let answer = try await cache.response(for: get())
    #expect(answer.status.timeToLive == 10 && !answer.head.headerFields.contains { $0.value == "alice" })
  }

  @Test("N30: a part of a stored response is answered from it")
  func part() async throws {
    let origin = ScriptedOrigin { _, _ in HTTPAnswer(200, ["Cache-Control: max-age=10"], "0123456789") }
    let cache = cache(origin)
    _ = try await cache.response(for: get()).text()
    let answer = try await cache.response(for: get("Range: bytes=3-5"))
    #expect(answer.head.status == .partialContent && answer.head.headerFields[.contentRange] == "bytes 3-5/10")
    #expect(try await answer.text() == "345")
  }

  @Test("N8: a body that breaks off is delivered as broken and not stored", arguments: [true, false])
  func broken(isAnnounced: Bool) async throws {
    let origin = ScriptedOrigin { _, _ in
      let parts = Mutex([HTTPBody.Part.bytes(.init("half".utf8))])
      return HTTPAnswer(
        head: HTTPResponse(
          status: .ok,
          headerFields: HTTPFields(lines: ["Cache-Control: max-age=10"] + (isAnnounced ? ["Content-Length: 8"] : []))),
        body: HTTPBody {
          if let part = parts.withLock({ $0.popLast() }) { return part }
          if isAnnounced { return nil }
          throw CacheError(.invalidResponse, "cut")
        })
    }
    let cache = cache(origin)
    let answer = try await cache.response(for: get())
    await #expect(throws: (any Error).self) { try await answer.text() }
    #expect(try await cache.response(for: get()).status.forward == .uriMiss)
  }

  @Test("N9: a body beyond the bound passes through, announced or not", arguments: [true, false])
  func large(isAnnounced: Bool) async throws {
    let origin = ScriptedOrigin { _, _ in
      let left = Mutex(50)
      return HTTPAnswer(
        head: HTTPResponse(
          status: .ok,
          headerFields: HTTPFields(
            lines: ["Cache-Control: max-age=10"] + (isAnnounced ? ["Content-Length: 5000"] : []))),
        body: HTTPBody {
          let isOver = left.withLock { left in
            left -= 1
            return left < 0
          }
          return isOver ? nil : .bytes(.init(repeating: 7, count: 100))
        })
    }
    let cache = cache(origin)
    #expect(try await cache.response(for: get()).text().utf8.count == 5000)
    #expect(try await cache.response(for: get()).status.forward == .uriMiss)
  }

  @Test("N24: many requests for one response are one, also while its body is on the way")
  func collapses() async throws {
    let gate = Gate()
    let bodyGate = Gate()
    let origin = ScriptedOrigin { _, _ in
      try await gate.pass()
      let isGiven = Mutex(false)
      return HTTPAnswer(
        head: HTTPResponse(
          status: .ok, headerFields: HTTPFields(lines: ["Cache-Control: max-age=10", "Content-Length: 4"])),
        body: HTTPBody(length: 4) {
          try await bodyGate.pass()
          let wasGiven = isGiven.withLock { isGiven in
            defer { isGiven = true }
            return isGiven
          }
          return wasGiven ? nil : .bytes(.init("body".utf8))
        })
    }
    let cache = cache(origin)
    try await withThrowingTaskGroup(of: (String, Bool).self) { group in
      for _ in 0..<20 {
        group.addTask {
          let answer = try await cache.response(for: get())
          return (try await answer.text(), answer.status.isCollapsed)
        }
      }
      await gate.arrivals(1)
      gate.open()
      await bodyGate.arrivals(1)
      for _ in 0..<5 {
        group.addTask {
          let answer = try await cache.response(for: get())
          return (try await answer.text(), answer.status.isCollapsed || answer.status.isHit)
        }
      }
      bodyGate.open()
      var leaders = 0
      for try await (text, shared) in group {
        #expect(text == "body")
        if !shared { leaders += 1 }
      }
      #expect(leaders <= 1 || origin.requests.count == 1)
    }
    #expect(origin.requests.count == 1)
    #expect(cache.flights.isIdle)
  }

  @Test("N24, N28: a HEAD, and conditions, are answered by what somebody else asks for")
  func joinsOtherwise() async throws {
    let gate = Gate()
    let origin = ScriptedOrigin { _, _ in
      try await gate.pass()
      return HTTPAnswer(200, ["Cache-Control: max-age=10", "ETag: \"a\"", "Content-Length: 4"], "body")
    }
    let cache = cache(origin)
    let answers = try await cache.follow(
      get(), [get(method: .head), get("If-None-Match: \"a\""), get("If-None-Match: \"b\"")], origin, gate)
    #expect(answers.map(\.head.status.code) == [200, 200, 304, 200])
    for (answer, text) in zip(answers, ["body", "", "", "body"]) { #expect(try await answer.text() == text) }
    #expect(answers.dropFirst().allSatisfy { $0.status.isCollapsed && $0.head.headerFields[.age] == "0" })
    #expect(answers[1].head.headerFields[.contentLength] == "4")
    #expect(origin.requests.count == 1 && cache.flights.isIdle)
  }

  @Test("N24, N26: conditions about what is stale are one request, and a HEAD or a condition alone is nobody else's")
  func leadsWithCondition() async throws {
    let gate = Gate()
    let origin = ScriptedOrigin { request, count in
      if count > 0 { try await gate.pass() }
      let fields = ["Cache-Control: max-age=10", "ETag: \"a\""]
      if count == 0 { return HTTPAnswer(200, fields, "body") }
      return HTTPAnswer(304, fields)
    }
    let cache = cache(origin)
    _ = try await cache.response(for: get()).text()
    clock.advance(by: .seconds(10))
    let condition = get("If-None-Match: \"a\"")
    let answers = try await cache.follow(condition, [condition, get(), get(method: .head)], origin, gate)
    #expect(answers.map(\.head.status.code) == [304, 304, 200, 200])
    #expect(try await answers[2].text() == "body")
    #expect(origin.requests.count == 2 && cache.flights.isIdle)
  }

  @Test(
    "N24: nobody waits for a HEAD, or for a range",
    arguments: [(HTTPRequest.Method.head, []), (.head, ["If-None-Match: \"a\""]), (.get, ["Range: bytes=0-1"])])
  func leadsNobody(_ method: HTTPRequest.Method, _ fields: [String]) async throws {
    let gate = Gate()
    let origin = ScriptedOrigin { request, _ in
      try await gate.pass()
      return HTTPAnswer(request.headerFields.contains(.ifNoneMatch) ? 304 : 200, ["ETag: \"a\""])
    }
    let cache = cache(origin)
    var request = get(method: method)
    request.headerFields = HTTPFields(lines: fields)
    let first = Task { [request] in try await cache.response(for: request) }
    await gate.arrivals(1)
    #expect(cache.flights.isIdle)
    gate.open()
    #expect(try await first.value.head.status == (request.headerFields.contains(.ifNoneMatch) ? .notModified : .ok))
  }

  @Test("N23, N24: those who wait for another variant ask once for each of theirs")
  func joinsVariants() async throws {
    let (gate, second) = (Gate(), Gate())
    let origin = ScriptedOrigin { request, count in
      try await (count == 0 ? gate : second).pass()
      return HTTPAnswer(200, ["Cache-Control: max-age=10", "Vary: A"], request.headerFields[.init("A")!] ?? "")
    }
    let cache = cache(origin)
    let (key, name) = (try #require(TargetURI(get())).text, HTTPField.Name("A")!)
    let leader = Task { try await cache.response(for: get("A: 0")).text() }
    await gate.arrivals(1)
    let first = try #require(cache.flights.current(key, for: SelectingFields(values: [:])))
    let followers = (0..<9).map { place in
      Task { try await cache.response(for: get("A: \(1 + place % 3)")).text() }
    }
    while first.state.withLock({ $0.waiting.count }) < 9 { await Task.yield() }
    gate.open()
    await second.arrivals(3)
    for variant in 1...3 {
      while cache.flights.current(key, for: SelectingFields(values: [name: "\(variant)"]))?
        .state.withLock({ $0.waiting.count }) ?? 0 < 2, origin.requests.count == 4
      {
        await Task.yield()
      }
    }
    second.open()
    #expect(try await leader.value == "0")
    for (place, follower) in followers.enumerated() { #expect(try await follower.value == "\(1 + place % 3)") }
    #expect(origin.requests.count == 4 && cache.flights.isIdle && cache.turns.isIdle)
  }

  @Test("N24: who looked before a response was stored, and asks after, finds it")
  func looksAgain() async throws {
    let gate = Gate()
    let kept = Mutex<[String: StoredVariants]>([:])
    let reads = Mutex(0)
    // The first look at the level comes to an end only when the second request is all over.
    let level = BasicCache<String, StoredVariants>(
      get: { key in
        let found = kept.withLock { $0[key] }
        let count = reads.withLock { reads in
          reads += 1
          return reads
        }
        if count == 1 { try await gate.pass() }
        return found
      },
      set: { value, key in kept.withLock { $0[key] = value } }, remove: { key in kept.withLock { $0[key] = nil } },
      clear: {})
    let origin = ScriptedOrigin { _, count in HTTPAnswer(200, ["Cache-Control: max-age=10"], "\(count)") }
    let cache = HTTPCache(storing: level, policy: HTTPCachePolicy(.shared), origin: origin, clock: clock)
    let slow = Task { try await cache.response(for: get()) }
    await gate.arrivals(1)
    #expect(try await cache.response(for: get()).text() == "0")
    while !cache.flights.isIdle { await Task.yield() }
    gate.open()
    let answer = try await slow.value
    #expect(try await answer.text() == "0")
    #expect(answer.status.isHit)
    #expect(origin.requests.count == 1 && cache.flights.isIdle)
  }

  @Test(
    "N24: what is not for the one who waits is asked for again, by everyone who waited",
    arguments: [
      "Cache-Control: private, max-age=10", "Cache-Control: no-store", "Cache-Control: no-cache", "Vary: Cookie",
    ])
  func doesNotMix(_ field: String) async throws {
    let gate = Gate()
    let origin = ScriptedOrigin { request, count in
      try await gate.pass()
      let control = field.hasPrefix("Vary") ? ["Cache-Control: max-age=10"] : []
      return HTTPAnswer(200, control + [field, "ETag: \"\(count)\""], request.headerFields[.cookie] ?? "")
    }
    let cache = cache(origin)
    try await withThrowingTaskGroup(of: (Int, String).self) { group in
      for person in 0..<10 {
        group.addTask { (person, try await cache.response(for: get("Cookie: \(person)")).text()) }
      }
      await gate.arrivals(1)
      gate.open()
      for try await (person, text) in group { #expect(text == "\(person)") }
    }
    #expect(origin.requests.count == 10)
    #expect(cache.flights.isIdle && cache.turns.isIdle)
  }

  /// What ten get that ask at once, nine of them waiting for one; `nil` where that is a failure.
  private func askTogether(_ cache: HTTPCache<Memory>, _ gate: Gate) async throws -> [HTTPCacheAnswer?] {
    let target = try #require(TargetURI(get()))
    return await withTaskGroup(of: HTTPCacheAnswer?.self) { group in
      for _ in 0..<10 { group.addTask { try? await cache.response(for: get()) } }
      await gate.arrivals(1)
      let flight = cache.flights.join(target.text).flight
      while flight.state.withLock({ $0.waiting.count }) < 9 { await Task.yield() }
      gate.open()
      return await group.reduce(into: []) { $0.append($1) }
    }
  }

  @Test(
    "N24: who waited for an origin that cannot be reached, or hangs, does not ask it again",
    arguments: [(CacheError.Code.unreachable, 1), (.timedOut, 1), (.invalidResponse, 10)])
  func sharesFailure(_ code: CacheError.Code, _ asked: Int) async throws {
    let gate = Gate()
    let origin = ScriptedOrigin { _, _ in
      try await gate.pass()
      throw CacheError(code, "no answer")
    }
    let cache = cache(origin)
    #expect(try await askTogether(cache, gate).allSatisfy { $0 == nil })
    #expect(origin.requests.count == asked && cache.flights.isIdle && cache.turns.isIdle)
    await #expect(throws: CacheError.self) { try await cache.response(for: get()) }
    #expect(origin.requests.count == asked + 1)
  }

  @Test(
    "N21, N24: who waited for an origin that fails is given what is stale, and does not ask it again",
    arguments: [nil, 503])
  func sharesStale(_ status: Int?) async throws {
    let gate = Gate()
    let origin = ScriptedOrigin { _, count in
      if count == 0 { return HTTPAnswer(200, ["Cache-Control: max-age=10, stale-if-error=20"], "old") }
      try await gate.pass()
      guard let status else { throw CacheError(.unreachable, "down") }
      return HTTPAnswer(status)
    }
    let cache = cache(origin)
    _ = try await cache.response(for: get()).text()
    clock.advance(by: .seconds(11))
    let answers = try await askTogether(cache, gate)
    #expect(answers.allSatisfy { $0?.status.timeToLive == -1 && $0?.status.forwardStatus == status })
    #expect(answers.count { $0?.status.isCollapsed == true } == 9)
    for answer in answers { #expect(try await answer?.text() == "old") }
    #expect(origin.requests.count == 2 && cache.flights.isIdle)
  }

  @Test("N24: when the one who asks for all is cancelled, another one asks")
  func leaderLeaves() async throws {
    let gate = Gate()
    let origin = ScriptedOrigin { _, count in
      try await gate.pass()
      return HTTPAnswer(200, ["Cache-Control: max-age=10"], "\(count)")
    }
    let cache = cache(origin)
    let leader = Task { try await cache.response(for: get()).text() }
    await gate.arrivals(1)
    let follower = Task { try await cache.response(for: get()).text() }
    leader.cancel()
    await gate.arrivals(2)
    gate.open()
    #expect(try await follower.value == "1")
    await #expect(throws: CancellationError.self) { try await leader.value }
  }

  @Test("N24: when nobody reads a body any more its source is let go of, and nothing is stored")
  func readersLeave() async throws {
    final class Source: Sendable {
      let ended: Gate
      init(_ ended: Gate) { self.ended = ended }
      deinit { Task { [ended] in try await ended.pass() } }
    }
    let ended = Gate()
    let never = Gate()
    let origin = ScriptedOrigin { _, _ in
      let source = Source(ended)
      return HTTPAnswer(
        head: HTTPResponse(status: .ok, headerFields: HTTPFields(lines: ["Cache-Control: max-age=10"])),
        body: HTTPBody {
          try await never.pass()
          _ = source
          return nil
        })
    }
    let cache = cache(origin)
    var answer: HTTPCacheAnswer? = try await cache.response(for: get())
    #expect(answer?.head.status == .ok)
    answer = nil
    await ended.arrivals(1)
    while !cache.flights.isIdle { await Task.yield() }
    #expect(cache.store.peek(TargetURI(get())?.text ?? "") == nil)
  }

  @Test("A level that fails counts as empty, and is told of")
  func brokenLevel() async throws {
    let level = ScriptedLevel<String, StoredVariants>(
      onSet: { _, _ in throw CacheError(.diskWriteFailed, "full") },
      onGet: { _ in throw CacheError(.diskReadFailed, "gone") })
    let origin = ScriptedOrigin { _, _ in HTTPAnswer(200, ["Cache-Control: max-age=10"], "body") }
    let cache = HTTPCache(
      storing: level, policy: HTTPCachePolicy(.shared), origin: origin, clock: clock, report: failures.note)
    let answer = try await cache.response(for: get())
    #expect(try await answer.text() == "body")
    #expect(answer.status.forward == .miss)
    #expect(failures.all == ["read", "write"])
  }

  @Test("N33: nothing is taken from behind a content that has to be known before it", arguments: ["", ", no-store"])
  func unfitTrailers(more: String) async throws {
    let trailers = ["Set-Cookie: a=1", "Transfer-Encoding: chunked", "Content-Length: 9", "Own: 1", "ETag: \"1\""]
    let origin = ScriptedOrigin { _, _ in
      let fields = HTTPFields(lines: ["Cache-Control: max-age=10\(more)", "Connection: own"])
      return HTTPAnswer(
        head: HTTPResponse(status: .ok, headerFields: fields),
        body: HTTPBody(.init("body".utf8), trailers: HTTPFields(lines: trailers)))
    }
    let cache = cache(origin)
    for _ in 0..<2 {
      let read = try await cache.response(for: get()).body.collect(upTo: 4)
      #expect(read?.trailers == HTTPFields(lines: ["ETag: \"1\""]))
    }
  }

  @Test("N33: trailers are kept with the content")
  func trailers() async throws {
    let origin = ScriptedOrigin { _, _ in
      HTTPAnswer(
        head: HTTPResponse(
          status: .ok, headerFields: HTTPFields(lines: ["Cache-Control: max-age=10", "Trailer: x"])),
        body: HTTPBody(.init("body".utf8), trailers: HTTPFields(lines: ["X: 1"])))
    }
    let cache = cache(origin)
    for _ in 0..<2 {
      let read = try await cache.response(for: get()).body.collect(upTo: 4)
      #expect(read?.trailers == HTTPFields(lines: ["X: 1"]))
    }
    #expect(origin.requests.count == 1)
  }

  @Test("A content that everybody has left before it is read is not read")
  func leftBeforeItsBeginning() async throws {
    let body = SharedBody(length: nil, bound: 1_000)
    var reader = body.join()
    #expect(reader != nil)
    reader = nil
    let gate = Gate()
    let hasEnded = Atomic(false)
    body.start(
      HTTPBody {
        try await gate.pass(); return nil
      }
    ) { _, _ in
    } ended: {
      hasEnded.store(true, ordering: .relaxed)
    }
    try await turns { hasEnded.load(ordering: .relaxed) }
  }

  @Test("N24: the last of an announced content is given when all is stored")
  func storedBeforeTheEnd() async throws {
    for _ in 0..<20 {
      let hasRead = Atomic(false)
      let wasEarly = Mutex(false)
      let body = SharedBody(length: 4, bound: 1_000)
      let reader = try #require(body.join())
      let reading = Task {
        for try await _ in reader { hasRead.store(true, ordering: .relaxed) }
      }
      body.start(HTTPBody(Data("body".utf8))) { _, _ in
        // Long enough for a reader that has been given it.
        for _ in 0..<100 { await Task.yield() }
        wasEarly.withLock { $0 = hasRead.load(ordering: .relaxed) }
      } ended: {
      }
      try await reading.value
      #expect(!wasEarly.withLock { $0 })
    }
  }
}
#endif

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

// Testable: who waits for whom is nobody else's to see.
@testable import CacheEngineHTTP

extension HTTPCache {
  /// Has one ask, the others wait for it or ask as well, and then lets the origin answer.
  func follow(_ first: HTTPRequest, _ others: [HTTPRequest], _ origin: ScriptedOrigin, _ gate: Gate) async throws
    -> [HTTPCacheAnswer]
  {
    let leader = Task { try await response(for: first) }
    await gate.arrivals(1)
    let asked = origin.requests.count
    let target = try #require(TargetURI(first))
    let group = SelectingFields(values: [:])
    let flight =
      flights.current(target.text, for: group)
      ?? flights.current(target.text, for: group.adding(Journey.conditions, of: first))
    let followers = others.map { request in Task { try await response(for: request) } }
    func areThere() -> Bool {
      let waiting = flight?.state.withLock { $0.waiting.count } ?? 0
      return waiting + origin.requests.count - asked >= others.count
    }
    while !areThere() { await Task.yield() }
    gate.open()
    var answers = [try await leader.value]
    for follower in followers { answers.append(try await follower.value) }
    return answers
  }
}

@Suite("Requests that wait for each other", .timeLimit(.minutes(2)))
struct SharingTests {
  typealias Memory = MemoryCacheLevel<String, StoredVariants>

  let clock = ManualClock()

  private func cache(_ origin: ScriptedOrigin) -> HTTPCache<Memory> {
    HTTPCache(
      storing: Memory(clock: clock), policy: HTTPCachePolicy(.shared), origin: origin, bodyLimit: 1000, clock: clock)
  }

  /// Ten digits in three parts.
  private static func digits(length: Int? = 10, _ status: Int = 200, beforePart gate: Gate? = nil) -> HTTPAnswer {
    let parts = Mutex(["0123", "456", "789"][...])
    let fields = ["Cache-Control: max-age=10", "ETag: \"a\""] + (length.map { ["Content-Length: \($0)"] } ?? [])
    return HTTPAnswer(
      head: HTTPResponse(status: .init(code: status), headerFields: HTTPFields(lines: fields)),
      body: HTTPBody(length: length) {
        guard let part = parts.withLock({ $0.popFirst() }) else { return nil }
        if part != "0123" { try await gate?.pass() }
        return .bytes(.init(part.utf8))
      })
  }

  @Test(
    "N24, N30: a range is given out of the content that somebody else asks for",
    arguments: [
      (["Range: bytes=0-3"], 206, "0123", "bytes 0-3/10"), (["Range: bytes=2-7"], 206, "234567", "bytes 2-7/10"),
      (["Range: bytes=9-"], 206, "9", "bytes 9-9/10"), (["Range: bytes=-2"], 206, "89", "bytes 8-9/10"),
      (["Range: bytes=0-"], 206, "0123456789", "bytes 0-9/10"), (["Range: bytes=4-6"], 206, "456", "bytes 4-6/10"),
      (["Range: bytes=3-4, 4-5"], 206, "345", "bytes 3-5/10"), (["Range: bytes=10-"], 416, "", "bytes */10"),
      (["Range: bytes=0-1, 5-6"], 200, "0123456789", nil), (["Range: lines=1-2"], 200, "0123456789", nil),
      (["Range: bytes=1-2", "If-Range: \"a\""], 206, "12", "bytes 1-2/10"),
      (["Range: bytes=1-2", "If-Range: \"b\""], 200, "0123456789", nil),
      (["Range: bytes=1-2", "If-None-Match: \"a\""], 304, "", nil),
    ] as [([String], Int, String, String?)])
  func range(_ fields: [String], _ status: Int, _ text: String, _ range: String?) async throws {
    let gate = Gate()
    let origin = ScriptedOrigin { _, _ in
      try await gate.pass()
      return Self.digits()
    }
    let cache = cache(origin)
    var request = get()
    request.headerFields = HTTPFields(lines: fields)
    let answers = try await cache.follow(get(), [request], origin, gate)
    #expect(answers[1].head.status.code == status && answers[1].status.isCollapsed)
    #expect(answers[1].head.headerFields[.contentRange] == range)
    if status == 206 { #expect(answers[1].head.headerFields[.contentLength] == "\(text.utf8.count)") }
    #expect(try await answers[1].text() == text)
    #expect(try await answers[0].text() == "0123456789")
    #expect(origin.requests.count == 1 && cache.flights.isIdle)
  }

  @Test("N24, N30: a range does not wait for what comes behind it")
  func rangeAtOnce() async throws {
    let (gate, rest) = (Gate(), Gate())
    let origin = ScriptedOrigin { _, _ in
      try await gate.pass()
      return Self.digits(beforePart: rest)
    }
    let cache = cache(origin)
    let answers = try await cache.follow(get(), [get("Range: bytes=1-3")], origin, gate)
    #expect(try await answers[1].text() == "123")
    rest.open()
    #expect(try await answers[0].text() == "0123456789")
  }

  @Test("N24, N30: a range breaks off where the content does")
  func brokenRange() async throws {
    let gate = Gate()
    let origin = ScriptedOrigin { _, _ in
      try await gate.pass()
      return Self.digits(length: 12)
    }
    let answers = try await cache(origin).follow(get(), [get("Range: bytes=8-11")], origin, gate)
    await #expect(throws: (any Error).self) { try await answers[1].text() }
    await #expect(throws: (any Error).self) { try await answers[0].text() }
  }

  @Test("N8, N24: a content that is longer than announced breaks off for all, whoever reads slowly")
  func tooLong() async throws {
    let body = SharedBody(length: 5, bound: 5)
    let slow = try #require(body.join())
    let reader = try #require(body.join())
    body.start(Self.digits(length: nil).body) { _, _ in
    } ended: {
    }
    await #expect(throws: CacheFailure.self) { try await reader.collect(upTo: .max) }
    await #expect(throws: CacheFailure.self) { try await slow.collect(upTo: .max) }
  }

  @Test(
    "N9, N24: what turns out too long to be held is asked for by everyone, whom no slow reader then holds up",
    arguments: [5, 10], [get(), get("Range: bytes=1-2")])
  func unknownLength(bound: Int, request: HTTPRequest) async throws {
    let gate = Gate()
    let origin = ScriptedOrigin { _, _ in
      try await gate.pass()
      return Self.digits(length: nil)
    }
    let cache = HTTPCache(
      storing: Memory(clock: clock), policy: HTTPCachePolicy(.shared), origin: origin, bodyLimit: bound, clock: clock)
    // Nothing is read of the first answer meanwhile.
    let answers = try await cache.follow(get(), [request, request], origin, gate)
    for answer in answers.dropFirst() {
      let isPart = answer.head.status == .partialContent
      #expect(try await answer.text() == (isPart ? "12" : "0123456789"))
      #expect(answer.status.isCollapsed == (bound == 10))
      #expect(isPart == (bound == 10 && request.headerFields.contains(.range)))
    }
    #expect(origin.requests.count == (bound == 10 ? 1 : 3))
    #expect(try await answers[0].text() == "0123456789")
    #expect(cache.flights.isIdle && cache.turns.isIdle)
  }

  @Test(
    "N24: those who ask on the same conditions, with nothing stored, are told the same by one answer",
    arguments: [
      (304, ["ETag: \"a\"", "Cache-Control: max-age=10"], true),
      (200, ["ETag: \"b\"", "Cache-Control: max-age=10"], true), (304, ["ETag: \"a\""], false),
      (304, ["Cache-Control: max-age=10"], false), (304, ["ETag: \"b\"", "Cache-Control: max-age=10"], false),
      (304, ["ETag: \"a\"", "Cache-Control: no-store, max-age=10"], false),
      (304, ["ETag: \"a\"", "Cache-Control: private, max-age=10"], false),
      (304, ["ETag: \"a\"", "Cache-Control: no-cache, max-age=10"], false),
      (304, ["ETag: \"a\"", "Cache-Control: max-age=10", "Vary: *"], false),
      (304, ["ETag: \"a\"", "Cache-Control: max-age=10", "Vary: A"], true),
      (304, ["ETag: \"a\"", "Cache-Control: max-age=10", "Vary: B"], false),
      (200, ["ETag: \"b\"", "Cache-Control: no-store"], false),
    ])
  func conditions(_ status: Int, _ fields: [String], _ isShared: Bool) async throws {
    let gate = Gate()
    let origin = ScriptedOrigin { _, _ in
      try await gate.pass()
      return HTTPAnswer(status, fields, status == 200 ? "body" : "")
    }
    let cache = cache(origin)
    let first = get("If-None-Match: \"a\"", "B: 1")
    let others = (2...4).map { get("If-None-Match: \"a\"", "B: \($0)") }
    let answers = try await cache.follow(first, others, origin, gate)
    for answer in answers {
      #expect(answer.head.status.code == status && answer.head.headerFields[.contentRange] == nil)
      #expect(try await answer.text() == (status == 200 ? "body" : ""))
    }
    #expect(answers.dropFirst().allSatisfy { $0.status.isCollapsed == isShared })
    #expect(origin.requests.count == (isShared ? 1 : 4) && cache.flights.isIdle)
  }

  @Test(
    "N24: nobody waits for a condition who asks on none, or on another one",
    arguments: [
      get(), get("If-None-Match: \"b\""), get("If-None-Match: \"a\", \"b\""), get("Range: bytes=0-1"),
      get("If-None-Match: \"a\"", "If-Modified-Since: Thu, 01 Jan 2026 00:00:00 GMT"),
      get("If-None-Match: \"a\"", "Authorization: x"), get("If-None-Match: \"a\"", "Range: bytes=0-1"),
      get("If-None-Match: \"a\"", method: .head), get("If-None-Match: \"a\"", "If-Match: \"b\""),
    ])
  func otherConditions(_ request: HTTPRequest) async throws {
    let gate = Gate()
    let origin = ScriptedOrigin { _, count in
      if count == 0 { try await gate.pass() }
      return HTTPAnswer(count == 0 ? 304 : 200, ["ETag: \"a\"", "Cache-Control: max-age=10"], count == 0 ? "" : "body")
    }
    let answers = try await cache(origin).follow(get("If-None-Match: \"a\""), [request], origin, gate)
    #expect(answers.map(\.status.isCollapsed) == [false, false] && origin.requests.count == 2)
  }
}
#endif

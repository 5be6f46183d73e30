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

// Testable: whether nothing is on its way any more is nobody else's to see.
@testable import CacheEngineHTTP

@Suite("What is stored, when clients leave and levels fail", .timeLimit(.minutes(1)))
struct ForgettingTests {
  let clock = ManualClock()
  let kept = Kept()

  /// A level that neither reads nor removes for a task that is cancelled.
  final class Kept: Sendable {
    private let variants = Mutex<[String: StoredVariants]>([:])
    let isUnreadable = Mutex(false)
    let isUnchangeable = Mutex(false)
    let failsInPart = Mutex(false)

    var level: BasicCache<String, StoredVariants> {
      BasicCache(
        get: { [self] key in
          try Task.checkCancellation()
          if isUnreadable.withLock({ $0 }) { throw CacheError(.diskReadFailed, "not now") }
          return variants.withLock { $0[key] }
        },
        set: { [self] value, key in
          if isUnchangeable.withLock({ $0 }) { throw CacheError(.diskWriteFailed, "not now") }
          variants.withLock { $0[key] = value }
          if failsInPart.withLock({ $0 }) { throw CacheError(.partialFailure, "the other part did not") }
        },
        remove: { [self] key in
          try Task.checkCancellation()
          if isUnchangeable.withLock({ $0 }) { throw CacheError(.diskWriteFailed, "not now") }
          variants.withLock { $0[key] = nil }
        },
        clear: { [self] in
          if isUnchangeable.withLock({ $0 }) { throw CacheError(.diskWriteFailed, "not now") }
          variants.withLock { $0 = [:] }
        })
    }
  }

  private func cache(_ origin: ScriptedOrigin) -> HTTPCache<BasicCache<String, StoredVariants>> {
    HTTPCache(storing: kept.level, policy: HTTPCachePolicy(.shared), origin: origin, clock: clock)
  }

  @Test(
    "N3, N5: one with credentials, or who wants nothing stored, takes from others nothing that is stale",
    arguments: ["Authorization: alice", "Cache-Control: no-store"])
  func staleForOne(field: String) async throws {
    let origin = ScriptedOrigin { _, count in
      HTTPAnswer(200, ["Cache-Control: max-age=10, stale-while-revalidate=90"], "\(count)")
    }
    let cache = cache(origin)
    #expect(try await cache.response(for: get()).text() == "0")
    clock.advance(by: .seconds(15))
    #expect(try await cache.response(for: get(field)).text() == "0")
    await cache.settle()
    #expect(try await cache.response(for: get()).text() == "0")
    await cache.settle()
    #expect(try await cache.response(for: get()).text() == "2")
  }

  @Test("N5: what a 304 tells one with credentials is kept for nobody else")
  func confirmedForOne() async throws {
    let user = try #require(HTTPField.Name("X-User"))
    let origin = ScriptedOrigin { request, _ in
      request.headerFields.contains(.ifNoneMatch)
        ? HTTPAnswer(304, ["ETag: \"1\"", "X-User: \(request.headerFields[.authorization] ?? "anybody")"])
        : HTTPAnswer(200, ["Cache-Control: max-age=10", "ETag: \"1\""], "body")
    }
    let cache = cache(origin)
    _ = try await cache.response(for: get()).text()
    clock.advance(by: .seconds(10))
    for (field, name) in [("Authorization: alice", "alice"), ("X: 1", "anybody")] {
      let answer = try await cache.response(for: get(field))
      #expect(answer.head.headerFields[user] == name && answer.status.forwardStatus == 304)
    }
  }

  @Test(
    "N27: only an answer that takes the place of what is stale has that forgotten where it is not kept itself",
    arguments: [(404, false), (501, true), (206, true), (412, true), (416, true)])
  func notKept(status: Int, stays: Bool) async throws {
    let cache = cache(
      ScriptedOrigin { _, count in
        count == 0
          ? HTTPAnswer(200, ["Cache-Control: max-age=10"], "old") : HTTPAnswer(status, ["Cache-Control: no-store"])
      })
    _ = try await cache.response(for: get()).text()
    clock.advance(by: .seconds(10))
    #expect(try await cache.response(for: get()).head.status.code == status)
    #expect(try await cache.response(for: get("Cache-Control: max-stale")).status.isHit == stays)
  }

  @Test(
    "N5, N29: what a HEAD is answered counts unless that is for one user, or says nothing of the content",
    arguments: [
      ("X: 1", 200, "ETag: \"2\"", false), ("X: 1", 404, "X: 1", false), ("X: 1", 503, "ETag: \"2\"", true),
      ("Authorization: alice", 200, "ETag: \"2\"", true),
    ])
  func heads(_ own: String, _ status: Int, _ field: String, _ stays: Bool) async throws {
    let cache = cache(
      ScriptedOrigin { request, _ in
        request.method == .head
          ? HTTPAnswer(status, ["Cache-Control: max-age=10", field])
          : HTTPAnswer(200, ["Cache-Control: max-age=10", "ETag: \"1\""], "old")
      })
    _ = try await cache.response(for: get()).text()
    _ = try await cache.response(for: get(own, "Cache-Control: no-cache", method: .head))
    #expect(try await cache.response(for: get()).status.isHit == stays)
  }

  @Test("What a GET is answered that has content is kept for none without it")
  func contentOfGET() async throws {
    let cache = cache(ScriptedOrigin { _, count in HTTPAnswer(200, ["Cache-Control: max-age=10"], "\(count)") })
    #expect(try await cache.response(for: get(), body: HTTPBody(.init("x".utf8))).text() == "0")
    #expect(try await cache.response(for: get()).text() == "1")
  }

  @Test("N31: what an unsafe request has changed is forgotten, also if its client has left by then")
  func leavesAfterChange() async throws {
    let client = Mutex<Task<Void, any Error>?>(nil)
    let origin = ScriptedOrigin { request, count in
      guard request.method == .delete else { return HTTPAnswer(200, ["Cache-Control: max-age=10"], "\(count)") }
      while client.withLock({ $0 == nil }) { await Task.yield() }
      client.withLock { $0 }?.cancel()
      return HTTPAnswer(204)
    }
    let cache = cache(origin)
    #expect(try await cache.response(for: get()).text() == "0")
    let leaving = Task { _ = try await cache.response(for: get(method: .delete)) }
    client.withLock { $0 = leaving }
    _ = await leaving.result
    #expect(try await cache.response(for: get()).text() == "2")
  }

  @Test("N24, N31: nobody joins a request that was made before its target was changed")
  func joinsNothingOld() async throws {
    let gate = Gate()
    let origin = ScriptedOrigin { request, count in
      if request.method == .delete { return HTTPAnswer(204) }
      if count == 0 { try await gate.pass() }
      return HTTPAnswer(200, ["Cache-Control: max-age=10"], "\(count)")
    }
    let cache = cache(origin)
    async let early = cache.response(for: get()).text()
    await gate.arrivals(1)
    _ = try await cache.response(for: get(method: .delete))
    #expect(try await cache.response(for: get()).text() == "2")
    gate.open()
    #expect(try await early == "0")
    #expect(try await cache.response(for: get()).text() == "2")
  }

  @Test("What was asked for before everything was removed is not kept, and nobody else is given it")
  func removesAll() async throws {
    let gate = Gate()
    let origin = ScriptedOrigin { _, count in
      if count == 0 { try await gate.pass() }
      return HTTPAnswer(200, ["Cache-Control: max-age=10"], "\(count)")
    }
    let cache = cache(origin)
    async let early = cache.response(for: get()).text()
    await gate.arrivals(1)
    try await cache.removeAll()
    #expect(try await cache.response(for: get()).text() == "1")
    gate.open()
    #expect(try await early == "0")
    #expect(try await cache.response(for: get()).text() == "1")
    #expect(cache.turns.isIdle && cache.flights.isIdle)
  }

  @Test("What is just being written when everything is removed goes with it")
  func removesAllInAWrite() async throws {
    let gate = Gate()
    let level = BasicCache<String, StoredVariants>(
      get: { [kept] key in try await kept.level.get(key) },
      set: { [kept] value, key in
        try await gate.pass()
        try await kept.level.set(value, forKey: key)
      },
      remove: { _ in }, clear: { [kept] in try await kept.level.clear() })
    let origin = ScriptedOrigin { _, count in HTTPAnswer(200, ["Cache-Control: max-age=10"], "\(count)") }
    let cache = HTTPCache(storing: level, policy: HTTPCachePolicy(.shared), origin: origin, clock: clock)
    async let early = cache.response(for: get()).text()
    await gate.arrivals(1)
    async let removal: Void = cache.removeAll()
    // Nobody joins any more: the removal has begun.
    while !cache.flights.isIdle { await Task.yield() }
    gate.open()
    try await removal
    #expect(try await early == "0")
    #expect(try await cache.response(for: get()).text() == "1")
  }

  @Test("What is stored while everything is removed brings back nothing that was there")
  func storesInARemoval() async throws {
    let (clearing, setting) = (Gate(), Gate())
    let level = BasicCache<String, StoredVariants>(
      get: { [kept] key in try await kept.level.get(key) },
      set: { [kept] value, key in
        try await setting.pass()
        try await kept.level.set(value, forKey: key)
      },
      remove: { _ in },
      clear: { [kept] in
        try await clearing.pass()
        try await kept.level.clear()
      })
    let origin = ScriptedOrigin { _, count in
      HTTPAnswer(200, ["Cache-Control: max-age=10", "Vary: A"], "\(count)")
    }
    #expect(try await cache(origin).response(for: get("A: 1")).text() == "0")
    let cache = HTTPCache(storing: level, policy: HTTPCachePolicy(.shared), origin: origin, clock: clock)
    async let removal: Void = cache.removeAll()
    await clearing.arrivals(1)
    async let other = cache.response(for: get("A: 2")).text()
    await setting.arrivals(1)
    clearing.open()
    try await removal
    setting.open()
    #expect(try await other == "1")
    #expect(try await cache.response(for: get("A: 2")).text() == "1")
    #expect(try await cache.response(for: get("A: 1")).text() == "2")
  }

  @Test("N23: a content that is whole when its last reader leaves is stored, beside the other variants")
  func leavesAtTheEnd() async throws {
    let isWhole = Mutex(false)
    let hasLeft = Mutex(false)
    let origin = ScriptedOrigin { request, _ in
      let language = request.headerFields[.acceptLanguage] ?? ""
      let parts = Mutex([HTTPBody.Part.bytes(.init(language.utf8))])
      return HTTPAnswer(
        head: HTTPResponse(
          status: .ok, headerFields: HTTPFields(lines: ["Cache-Control: max-age=10", "Vary: accept-language"])),
        body: HTTPBody {
          if let part = parts.withLock({ $0.popLast() }) { return part }
          if language == "fr" {
            isWhole.withLock { $0 = true }
            while !hasLeft.withLock({ $0 }) { await Task.yield() }
          }
          return nil
        })
    }
    let cache = cache(origin)
    for language in ["de", "en"] { _ = try await cache.response(for: get("Accept-Language: \(language)")).text() }
    var answer: HTTPCacheAnswer? = try await cache.response(for: get("Accept-Language: fr"))
    #expect(answer?.head.status == .ok)
    while !isWhole.withLock({ $0 }) { await Task.yield() }
    answer = nil
    hasLeft.withLock { $0 = true }
    while !cache.flights.isIdle { await Task.yield() }
    for language in ["de", "en", "fr"] {
      #expect(try await cache.response(for: get("Accept-Language: \(language)")).status.isHit, "\(language)")
    }
  }

  @Test(
    "N3, N4: what the origin forbids to keep is forgotten, also where it cannot be read just then",
    arguments: ["no-store", "private"])
  func forgetsUnread(_ control: String) async throws {
    let origin = ScriptedOrigin { [kept] _, count in
      guard count == 1 else { return HTTPAnswer(200, ["Cache-Control: max-age=10", "ETag: \"1\""], "\(count)") }
      kept.isUnreadable.withLock { $0 = true }
      return HTTPAnswer(304, ["Cache-Control: \(control)", "ETag: \"1\""])
    }
    let cache = cache(origin)
    #expect(try await cache.response(for: get()).text() == "0")
    #expect(try await cache.response(for: get("Cache-Control: no-cache")).text() == "0")
    kept.isUnreadable.withLock { $0 = false }
    #expect(try await cache.response(for: get()).text() == "2")
  }

  @Test(
    "N5: what a client with credentials is told has nothing forgotten that all are given", arguments: [200, 401, 404])
  func credentials(status: Int) async throws {
    let origin = ScriptedOrigin { request, count in
      if count == 0 { return HTTPAnswer(200, ["Cache-Control: max-age=10, stale-if-error=20"], "old") }
      let isKnown = request.headerFields.contains(.authorization)
      return isKnown ? HTTPAnswer(status, ["Cache-Control: max-age=10"], "alice") : HTTPAnswer(503)
    }
    let cache = cache(origin)
    #expect(try await cache.response(for: get()).text() == "old")
    clock.advance(by: .seconds(11))
    #expect(try await cache.response(for: get("Authorization: alice")).text() == "alice")
    #expect(try await cache.response(for: get()).text() == "old")
  }

  @Test(
    "N3, N29: what an answer forbids to keep is not stored by those who are on their way either",
    arguments: [HTTPRequest.Method.get, .head])
  func forbidsOthers(method: HTTPRequest.Method) async throws {
    let gate = Gate()
    let origin = ScriptedOrigin { request, count in
      if count == 0 { return HTTPAnswer(200, ["Cache-Control: max-age=10", "ETag: \"1\""], "0") }
      if request.headerFields.contains(.authorization) {
        try await gate.pass()
        return HTTPAnswer(200, ["Cache-Control: public, max-age=10", "ETag: \"1\""], "1")
      }
      return HTTPAnswer(
        request.headerFields.contains(.ifNoneMatch) ? 304 : 200, ["Cache-Control: no-store", "ETag: \"1\""], "")
    }
    let cache = cache(origin)
    _ = try await cache.response(for: get()).text()
    async let early = cache.response(for: get("Authorization: alice", "Cache-Control: no-cache")).text()
    await gate.arrivals(1)
    _ = try await cache.response(for: get("Cache-Control: no-cache", method: method)).text()
    gate.open()
    #expect(try await early == "1")
    #expect(try await !cache.response(for: get()).status.isHit)
  }

  @Test(
    "N3, N27, N29: what is to be forgotten answers nothing although the level fails to remove or replace it, alone or among others",
    arguments: ["GET", "HEAD", "HEAD forbids", "newer", "304", "stale"], [false, true])
  func failsToForget(way: String, hasOthers: Bool) async throws {
    let origin = ScriptedOrigin { request, count in
      let isOther = request.headerFields[.acceptLanguage] != nil
      let fields = ["Vary: Accept-Language", "ETag: \"\(isOther ? 0 : 1)\""]
      if isOther || count == 0 {
        return HTTPAnswer(200, ["Cache-Control: max-age=10, stale-if-error=90"] + fields, "\(count)")
      }
      switch way {
      case "GET":
        let isAsked = request.headerFields.contains(.ifNoneMatch)
        return HTTPAnswer(isAsked ? 304 : 200, ["Cache-Control: no-store"] + fields)
      case "HEAD": return HTTPAnswer(200, ["Cache-Control: max-age=10", "ETag: \"2\""])
      case "HEAD forbids": return HTTPAnswer(200, ["Cache-Control: no-store"] + fields)
      case "newer": return HTTPAnswer(200, ["Cache-Control: max-age=10", "ETag: \"2\""], "\(count)")
      case "304": return HTTPAnswer(304, ["Cache-Control: max-age=1"] + fields)
      default:
        if count > (hasOthers ? 2 : 1) { throw CacheError(.unreachable, "gone") }
        return HTTPAnswer(410, ["Cache-Control: no-store"])
      }
    }
    let cache = cache(origin)
    #expect(try await cache.response(for: get()).text() == "0")
    if hasOthers { #expect(try await cache.response(for: get("Accept-Language: de")).text() == "1") }
    kept.isUnchangeable.withLock { $0 = true }
    if way == "stale" { clock.advance(by: .seconds(20)) }
    let method: HTTPRequest.Method = way.hasPrefix("HEAD") ? .head : .get
    let again = way == "stale" ? get() : get("Cache-Control: no-cache", method: method)
    _ = try await cache.response(for: again).text()
    if way == "stale" {
      await #expect(throws: CacheError.self) { try await cache.response(for: get()) }
    } else {
      let next = try await cache.response(for: get())
      #expect(!next.status.isHit)
      // Read to its end, so that it is not stored once that is possible: it would be right for all.
      _ = try await next.text()
    }
    kept.isUnchangeable.withLock { $0 = false }
    if hasOthers {
      // With it went what it was stored with.
      let other = try await cache.response(for: get("Accept-Language: de"))
      #expect(!other.status.isHit)
      _ = try await other.text()
      #expect(try await cache.response(for: get("Accept-Language: de")).status.isHit)
    }
  }

  @Test("N27: a variant that the level fails to add costs no other one")
  func failsToAdd() async throws {
    let cache = cache(
      ScriptedOrigin { _, count in
        HTTPAnswer(200, ["Cache-Control: max-age=10", "Vary: Accept-Language"], "\(count)")
      })
    #expect(try await cache.response(for: get()).text() == "0")
    kept.isUnchangeable.withLock { $0 = true }
    #expect(try await cache.response(for: get("Accept-Language: de")).text() == "1")
    #expect(try await cache.response(for: get()).status.isHit)
    #expect(try await !cache.response(for: get("Accept-Language: de")).status.isHit)
  }

  @Test("what a part of the level took in the place of what was stale answers; of what was fresh, nothing does")
  func failsInPart() async throws {
    let cache = cache(ScriptedOrigin { _, count in HTTPAnswer(200, ["Cache-Control: max-age=10"], "\(count)") })
    _ = try await cache.response(for: get()).text()
    kept.failsInPart.withLock { $0 = true }
    clock.advance(by: .seconds(20))
    #expect(try await cache.response(for: get()).text() == "1")
    let answer = try await cache.response(for: get())
    #expect(answer.status.isHit)
    #expect(try await answer.text() == "1")
    _ = try await cache.response(for: get("Cache-Control: no-cache")).text()
    #expect(try await !cache.response(for: get()).status.isHit)
  }

  @Test("while the level is away, requests cost nothing of what it comes back with")
  func awayLevel() async throws {
    let cache = cache(ScriptedOrigin { _, count in HTTPAnswer(200, ["Cache-Control: max-age=10"], "\(count)") })
    #expect(try await cache.response(for: get()).text() == "0")
    for isAway in [true, false] {
      kept.isUnreadable.withLock { $0 = isAway }
      kept.isUnchangeable.withLock { $0 = isAway }
      let answer = try await cache.response(for: get())
      #expect(answer.status.isHit == !isAway)
      #expect(try await answer.text() == (isAway ? "1" : "0"))
    }
  }

  @Test("nothing answers after a removal of everything that failed, until everything has been removed")
  func failsToRemoveAll() async throws {
    let cache = cache(ScriptedOrigin { _, count in HTTPAnswer(200, ["Cache-Control: max-age=10"], "\(count)") })
    #expect(try await cache.response(for: get()).text() == "0")
    kept.isUnchangeable.withLock { $0 = true }
    await #expect(throws: CacheError.self) { try await cache.removeAll() }
    for count in 1...2 { #expect(try await cache.response(for: get()).text() == "\(count)") }
    kept.isUnchangeable.withLock { $0 = false }
    #expect(try await cache.response(for: get()).text() == "3")
    #expect(try await cache.response(for: get()).status.isHit)
  }

  @Test("N29: what is stale and confirmed is asked about once more where the level fails to freshen it")
  func failsToFreshen() async throws {
    let cache = cache(
      ScriptedOrigin { request, _ in
        let isAsked = request.headerFields.contains(.ifNoneMatch)
        return HTTPAnswer(isAsked ? 304 : 200, ["Cache-Control: max-age=10", "ETag: \"1\""], isAsked ? "" : "body")
      })
    _ = try await cache.response(for: get()).text()
    clock.advance(by: .seconds(20))
    kept.isUnchangeable.withLock { $0 = true }
    for _ in 0..<2 {
      let answer = try await cache.response(for: get())
      #expect(answer.status.forwardStatus == 304)
      #expect(try await answer.text() == "body")
    }
  }

  @Test("N23, N29: what a HEAD freshens is selected by what its answer names")
  func headSelection() async throws {
    let origin = ScriptedOrigin { request, _ in
      HTTPAnswer(
        200, ["Cache-Control: max-age=10", "ETag: \"1\"", request.method == .head ? "Vary: A, B" : "Vary: A"],
        request.method == .head ? "" : "body")
    }
    let cache = cache(origin)
    _ = try await cache.response(for: get("A: 1", "B: 1")).text()
    _ = try await cache.response(for: get("A: 1", "B: 1", "Cache-Control: no-cache", method: .head))
    #expect(try await cache.response(for: get("A: 1", "B: 1")).status.isHit)
    #expect(try await cache.response(for: get("A: 1", "B: 2")).status.forward == .varyMiss)
  }

  @Test("N23: a response that can be asked about stays beside others that have their time")
  func staysBesideOthers() async throws {
    let origin = ScriptedOrigin { request, _ in
      let isTagged = request.headerFields[.init("A")!] == "2"
      return HTTPAnswer(200, ["Cache-Control: max-age=10", "Vary: A"] + (isTagged ? ["ETag: \"2\""] : []), "body")
    }
    let cache = HTTPCache(
      storing: MemoryCacheLevel<String, StoredVariants>(clock: clock), policy: HTTPCachePolicy(.shared), origin: origin,
      clock: clock)
    for name in ["2", "1"] { _ = try await cache.response(for: get("A: \(name)")).text() }
    clock.advance(by: .seconds(1_000_000))
    _ = try await cache.response(for: get("A: 2")).text()
    #expect(origin.requests.last?.headerFields[.ifNoneMatch] == "\"2\"")
  }

  @Test(
    "N24: who asks with credentials waits for nobody, who asks for a part for nobody but the whole, and neither lets others wait",
    arguments: [("Authorization: alice", true), ("Authorization: alice", false), ("Range: bytes=0-1", true)])
  func waitsForNobody(field: String, isFirst: Bool) async throws {
    let gate = Gate()
    let cache = cache(
      ScriptedOrigin { _, _ in
        try await gate.pass()
        return HTTPAnswer(200, ["Cache-Control: public, max-age=10"], "body")
      })
    async let one = cache.response(for: isFirst ? get(field) : get()).text()
    await gate.arrivals(1)
    async let other = cache.response(for: isFirst ? get() : get(field)).text()
    await gate.arrivals(2)
    gate.open()
    #expect(try await (one, other) == ("body", "body"))
  }

  @Test("N24: if the one who asks leaves, one of those who wait asks for all of them")
  func leavesOthers() async throws {
    let gate = Gate()
    let origin = ScriptedOrigin { _, count in
      try await gate.pass()
      return HTTPAnswer(200, ["Cache-Control: max-age=10"], "\(count)")
    }
    let cache = cache(origin)
    let target = try #require(TargetURI(get()))
    let first = Task { try await cache.response(for: get()).text() }
    await gate.arrivals(1)
    let others = (0..<5).map { _ in Task { try await cache.response(for: get()).text() } }
    let flight = cache.flights.join(target.text).flight
    try await turns { flight.state.withLock { $0.waiting.count } == 5 }
    first.cancel()
    _ = await first.result
    try await turns { origin.requests.count > 1 }
    gate.open()
    for other in others { #expect(try await other.value == "1") }
    #expect(origin.requests.count == 2)
  }

  @Test("N23: a turn that is asked for after everything was broken off ends at once")
  func brokenOff() async throws {
    let (turns, gate) = (VariantTurns(), Gate())
    turns.breakOff()
    await #expect(throws: CancellationError.self) { try await turns.take("a") { try await gate.pass() } }
  }
}
#endif

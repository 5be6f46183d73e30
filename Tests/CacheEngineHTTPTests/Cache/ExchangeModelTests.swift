#if HTTP
import CacheEngine
import CacheEngineHTTP
import CacheEngineTesting
import HTTPTypes
import Synchronization
import Testing

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// What an origin said of its responses, and what of it may still be used, without a look at any cache.
private final class JudgedOrigin: HTTPOrigin {
  /// What an origin says of one kind of response.
  struct Manner: Sendable {
    var control: String
    var lifetime: Int
    var isForOne = false
    var isKept = true
    var mayBeStale = true
    var whileRevalidate = 0
    var ifError = 0
  }

  static let manners = [
    Manner(control: "max-age=10", lifetime: 10),
    Manner(control: "max-age=30, must-revalidate", lifetime: 30, mayBeStale: false),
    Manner(control: "max-age=5, stale-while-revalidate=10", lifetime: 5, whileRevalidate: 10),
    Manner(control: "max-age=5, stale-if-error=20", lifetime: 5, ifError: 20),
    Manner(control: "s-maxage=8, max-age=100, stale-while-revalidate=50", lifetime: 8, mayBeStale: false),
    Manner(control: "no-cache", lifetime: 0, mayBeStale: false),
    Manner(control: "no-store", lifetime: 0, isKept: false, mayBeStale: false),
    Manner(control: "private, max-age=50", lifetime: 50, isForOne: true),
    Manner(control: "public, max-age=20", lifetime: 20),
  ]

  /// One response as it was given out, with when the origin last stood by it.
  struct Given: Sendable {
    var path: String
    var language: String
    var person: String
    var version: Int
    /// What was said of it at that moment: of answers that are on the way at once, any may be stored last.
    var manners: [Manner]
    var stoodByAt: Duration

    mutating func standBy(_ manner: Manner, at now: Duration) {
      manners = (stoodByAt == now ? manners : []) + [manner]
      stoodByAt = now
    }
  }

  struct State {
    var version: [String: Int] = [:]
    var lastChange: [String: Int] = [:]
    var given: [Given] = []
    var chance: Chance
    /// Since the exchange under judgement began.
    var wasAsked = false
    var confirmed: Set<Int> = []
    var hasFailed = false
    var isDown = false
  }

  let state: Mutex<State>
  private let clock: ManualClock

  init(seed: UInt64, clock: ManualClock) {
    state = Mutex(State(chance: Chance(seed: seed)))
    self.clock = clock
  }

  func send(
    _ request: HTTPTypes.HTTPRequest, body: HTTPBody,
    interim: @escaping @Sendable (HTTPTypes.HTTPResponse) async -> Void
  ) async throws -> HTTPAnswer {
    let now = clock.timeSinceEpoch
    return try state.withLock { state in
      state.wasAsked = true
      if state.isDown {
        state.hasFailed = true
        if state.chance.happens(oneIn: 2) { throw CacheError(.unreachable, "down") }
        return HTTPAnswer(503)
      }
      let path = request.path ?? ""
      if request.method == .post {
        state.version[path, default: 0] += 1
        state.lastChange[path] = state.version[path]
        return HTTPAnswer(204)
      }
      // Things change by themselves as well.
      if state.chance.happens(oneIn: 6) { state.version[path, default: 0] += 1 }
      let version = state.version[path, default: 0]
      let language = request.headerFields[.acceptLanguage] ?? ""
      let person = request.headerFields[.cookie] ?? ""
      let manner = state.chance.one(of: Self.manners)
      let tag = "\"\(version)-\(language)-\(manner.isForOne ? person : "")\""
      let fields = ["Cache-Control: \(manner.control)", "Vary: Accept-Language", "ETag: \(tag)"]
      if let asked = request.headerFields[.ifNoneMatch], EntityTag.list(asked).contains(EntityTag(tag)) {
        for place in state.given.indices.suffix(300)
        where state.given[place].path == path && state.given[place].version == version
          && state.given[place].language == language && state.given[place].manners[0].isForOne == manner.isForOne
          && (!manner.isForOne || state.given[place].person == person)
        {
          state.given[place].standBy(manner, at: now)
          state.confirmed.insert(place)
        }
        return HTTPAnswer(304, fields)
      }
      state.given.append(
        Given(path: path, language: language, person: person, version: version, manners: [manner], stoodByAt: now))
      return HTTPAnswer(200, fields, "\(state.given.count - 1)")
    }
  }

  /// What is wrong with an answer; `nil` if nothing is.
  func complaint(of text: String, to request: HTTPTypes.HTTPRequest, begunAt first: Int, now: Duration) -> String? {
    state.withLock { state in
      guard let number = Int(text), state.given.indices.contains(number) else { return "an answer that nobody gave" }
      let given = state.given[number]
      let wanted = request.headerFields[.cacheControl] ?? ""
      let isNew = number >= first
      guard given.path == request.path else { return "an answer for another path" }
      guard given.language == request.headerFields[.acceptLanguage] ?? "" else { return "another variant" }
      if isNew { return nil }
      if given.manners[0].isForOne, given.person != request.headerFields[.cookie] ?? "" {
        return "what was for another person"
      }
      // What the origin stood by just now it may have stood by for this time only.
      if state.confirmed.contains(number) { return nil }
      guard given.version >= state.lastChange[given.path] ?? 0 else { return "what was changed since" }
      let complaints = given.manners.map { complaint(of: $0, given.stoodByAt, wanted, now, state) }
      return complaints.contains(nil) ? nil : complaints.last ?? nil
    }
  }

  private func complaint(
    of manner: Manner, _ stoodByAt: Duration, _ wanted: String, _ now: Duration, _ state: State
  ) -> String? {
    guard manner.isKept, !manner.isForOne else { return "what may not be kept" }
    let staleness = now - stoodByAt - .seconds(manner.lifetime)
    if wanted == "no-cache" || manner.control == "no-cache" {
      return stoodByAt == now && state.wasAsked ? nil : "something unasked"
    }
    if staleness < .zero || stoodByAt == now { return nil }
    guard manner.mayBeStale else { return "something stale that must not be used" }
    if wanted == "max-stale=15", staleness <= .seconds(15) { return nil }
    if manner.whileRevalidate > 0, staleness <= .seconds(manner.whileRevalidate) { return nil }
    if state.hasFailed { return nil }
    return "something stale beyond its allowance"
  }
}

@Suite("The cache against a model with a clock", .timeLimit(.minutes(30)))
struct ExchangeModelTests {
  /// Each of one to three exchanges at once; `make soak` makes more.
  private static let rounds = ProcessInfo.processInfo.environment["HTTP_ROUNDS"].flatMap { Int($0) } ?? 3_000

  @Test("Nothing stale beyond its allowance, nothing private and no other variant is ever answered", arguments: 0..<4)
  func judged(_ seed: Int) async throws {
    let clock = ManualClock()
    let origin = JudgedOrigin(seed: UInt64(seed) + 100, clock: clock)
    var chance = Chance(seed: UInt64(seed) + 1)
    // Small, so that things leave it.
    let cache = HTTPCache(
      storing: MemoryCacheLevel<String, StoredVariants>(capacity: 12_000, clock: clock) { $1.cost },
      policy: HTTPCachePolicy(.shared), origin: origin, clock: clock)
    var counts: [String: Int] = [:]
    for _ in 0..<Self.rounds {
      if chance.happens(oneIn: 3) { clock.advance(by: .seconds(Int.random(in: 0...12, using: &chance))) }
      let first = origin.state.withLock { state in
        state.isDown = chance.happens(oneIn: 8)
        state.wasAsked = false
        state.confirmed = []
        state.hasFailed = false
        return state.given.count
      }
      let method: HTTPTypes.HTTPRequest.Method = chance.happens(oneIn: 15) ? .post : .get
      // As many at once as it comes: some share what others asked for.
      let requests = (0..<Int.random(in: 1...3, using: &chance)).map { _ in
        var request = get(method: method, path: chance.one(of: ["/a", "/b", "/c/../b", "/%61"]))
        request.headerFields[.acceptLanguage] = chance.one(of: ["de", "en", "fr"])
        request.headerFields[.cookie] = chance.one(of: ["ann", "bob", "cid"])
        request.headerFields[.cacheControl] = chance.one(of: [
          nil, nil, nil, nil, "no-cache", "max-stale=15", "max-age=3",
        ])
        return request
      }
      typealias Exchange = (request: HTTPTypes.HTTPRequest, answer: HTTPCacheAnswer, text: String)
      let answers = await withTaskGroup(of: Exchange?.self) { group -> [Exchange] in
        for request in requests {
          group.addTask {
            guard let answer = try? await cache.response(for: request), let text = try? await answer.text() else {
              return nil
            }
            return (request, answer, text)
          }
        }
        var exchanges: [Exchange] = []
        for await exchange in group { if let exchange { exchanges.append(exchange) } }
        return exchanges
      }
      for (request, answer, text) in answers where answer.head.status == .ok {
        var asked = request
        asked.path = TargetURI(request)?.path
        let complaint = origin.complaint(of: text, to: asked, begunAt: first, now: clock.timeSinceEpoch)
        #expect(complaint == nil, "\(request.headerFields) \(request.path ?? "") got \(answer.head.headerFields)")
        counts[answer.status.forward?.rawValue ?? "hit", default: 0] += 1
        if answer.status.forwardStatus == 304 { counts["confirmed", default: 0] += 1 }
        if answer.status.isCollapsed { counts["collapsed", default: 0] += 1 }
      }
      await cache.settle()
    }
    // What never happens is not judged.
    for kind in ["hit", "uri-miss", "vary-miss", "stale", "request", "confirmed", "collapsed"] {
      #expect(counts[kind, default: 0] > 5, "\(kind) happened \(counts[kind, default: 0]) times")
    }
  }
}
#endif

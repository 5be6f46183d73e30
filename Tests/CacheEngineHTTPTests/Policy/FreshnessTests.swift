#if HTTP
import CacheEngineHTTP
import HTTPTypes
import Testing

@Suite("How long a response is fresh, and what answers")
struct FreshnessTests {
  static let later = "Expires: Thu, 01 Jan 2026 00:01:00 GMT"

  @Test(
    "Remaining life at the moment of receipt, in seconds",
    arguments: [
      ("N17", .shared, ["Cache-Control: max-age=10, s-maxage=20", later], 20),
      ("N17", .private, ["Cache-Control: max-age=10, s-maxage=20", later], 10),
      ("N17", .shared, ["Cache-Control: public", later], 60),
      ("N17", .shared, [later, "Date: Thu, 01 Jan 2026 00:00:30 GMT"], 30),
      ("N17", .shared, ["Cache-Control: max-age=10", "CDN-Cache-Control: max-age=30", later], 30),
      ("N17", .shared, ["CDN-Cache-Control: foo", later], 0),
      ("N17", .shared, ["Cache-Control: max-age=10", "CDN-Cache-Control: )"], 10),
      ("N12", .shared, ["Cache-Control: max-age=x", later], 0),
      ("N12", .shared, ["Cache-Control: s-maxage=, max-age=9"], 0),
      ("N13", .shared, ["Expires: 0"], 0), ("N13", .shared, [later, later], 0),
      ("N13", .shared, ["Expires: Thu, 01 Jan 2026"], 0),
      ("N15", .shared, ["Cache-Control: max-age=10", "Age: 4"], 6),
      ("N15", .shared, ["Cache-Control: max-age=10", "Age: 4, 9"], 6),
      ("N15", .shared, ["Cache-Control: max-age=10", "Age: -4"], 10),
      ("N15", .shared, ["Cache-Control: max-age=10", "Age: x"], 10),
      ("N15", .shared, ["Cache-Control: max-age=10", "Age: 4", "Age: 9"], 6),
      ("N15", .shared, ["Cache-Control: max-age=10", "Date: Wed, 31 Dec 2025 23:59:57 GMT"], 7),
      ("N15", .shared, ["Cache-Control: max-age=10", "Date: Wed, 31 Dec 2025 23:59:57 GMT", "Age: 1"], 7),
      ("N15", .shared, ["Cache-Control: max-age=10", "Date: Thu, 01 Jan 2026 00:00:30 GMT"], 10),
      ("N14", .shared, ["Cache-Control: max-age=10", "Date: yesterday"], 10),
      (
        "N14", .shared,
        ["Cache-Control: max-age=10", "Date: Thu, 01 Jan 2026 00:00:00 GMT", "Date: Wed, 31 Dec 2025 23:59:57 GMT"], 7
      ),
      ("N18", .shared, ["Last-Modified: Wed, 31 Dec 2025 23:50:00 GMT"], 60),
      ("N18", .shared, ["Last-Modified: Tue, 01 Jan 2019 00:00:00 GMT"], 86_400),
      ("N18", .shared, ["Last-Modified: Wed, 31 Dec 2025 23:50:00 GMT", "Cache-Control: no-cache"], 0),
      ("N18", .shared, ["Last-Modified: Wed, 31 Dec 2025 23:50:00 GMT", "Cache-Control: max-age=5"], 5),
      ("N18", .shared, ["Last-Modified: Thu, 01 Jan 2026 00:10:00 GMT"], 0),
      ("N18", .shared, ["Last-Modified: 1"], 0),
    ] as [(String, HTTPCachePolicy.Kind, [String], Int)])
  func life(_ rule: String, _ kind: HTTPCachePolicy.Kind, _ fields: [String], _ seconds: Int) {
    var response = stored()
    let hasDate = fields.contains { $0.hasPrefix("Date") }
    response.head.headerFields = HTTPFields(lines: fields + (hasDate ? [] : ["Date: \(HTTPDate(newYear))"]))
    #expect(HTTPCachePolicy(kind).remainingLife(of: response, at: newYear) == .seconds(seconds))
  }

  @Test("N17: what a response says is read anew when it changes, and for another policy")
  func readAnew() {
    var response = stored("Cache-Control: max-age=10, s-maxage=20", "Last-Modified: Wed, 31 Dec 2025 00:00:00 GMT")
    var policy = HTTPCachePolicy(.shared)
    func life() -> Duration? { policy.remainingLife(of: response, at: response.responseTime) }
    #expect(life() == .seconds(20))
    policy.kind = .private
    #expect(life() == .seconds(10))
    response.head.headerFields[.age] = "4"
    #expect(life() == .seconds(6))
    response.responseTime += .seconds(1)
    #expect(life() == .seconds(5))
    response.requestTime -= .seconds(2)
    #expect(life() == .seconds(3))
    let before = response
    response.head.headerFields[.cacheControl] = nil
    #expect(life() == .seconds(8_640) - .seconds(7))
    policy.heuristicLimit = .seconds(60)
    #expect(life() == .seconds(53))
    #expect(policy.remainingLife(of: before, at: before.responseTime) == .seconds(3))
    policy.kind = .shared
    response.head.headerFields[.init("CDN-Cache-Control")!] = "max-age=100"
    #expect(life() == .seconds(93))
    policy.targetedFields = []
    #expect(life() == .seconds(53))
  }

  @Test("N15: the time that a response took counts, and a clock that went back tells nothing")
  func age() {
    var response = stored("Cache-Control: max-age=100", "Age: 5")
    response.responseTime = newYear + .seconds(4)
    #expect(response.age(at: newYear + .seconds(6)) == .seconds(11))
    #expect(response.age(at: newYear + .seconds(3)) == nil)
    #expect(
      HTTPCachePolicy(.shared).decision(on: get(), isSecure: false, stored: StoredVariants([response]), at: newYear)
        == .forward(.stale, selected: 0))
  }

  struct Case: Sendable, CustomTestStringConvertible {
    var rule: String
    var fields: [String]
    var request: [String] = []
    var after: Int
    var kind: HTTPCachePolicy.Kind = .shared
    var isSecure = false
    var decision: HTTPCachePolicy.Decision

    var testDescription: String { "\(rule) \(fields) asked \(request) after \(after) s -> \(decision)" }
  }

  static let tenSeconds = ["Cache-Control: max-age=10"]
  static let answered = HTTPCachePolicy.Decision.answer(0)
  static let asked = HTTPCachePolicy.Decision.forward(.request, selected: 0)
  static let stale = HTTPCachePolicy.Decision.forward(.stale, selected: 0)

  static let cases: [Case] = [
    Case(rule: "N17", fields: tenSeconds, after: 9, decision: answered),
    Case(rule: "N17", fields: tenSeconds, after: 10, decision: stale),
    Case(rule: "N6", fields: ["Cache-Control: max-age=10, no-cache"], after: 0, decision: stale),
    Case(rule: "N6", fields: ["Cache-Control: max-age=10, no-cache=\"x\""], after: 0, decision: answered),
    Case(rule: "N16", fields: tenSeconds, request: ["Pragma: no-cache"], after: 0, decision: asked),
    Case(
      rule: "N16", fields: tenSeconds, request: ["Pragma: no-cache", "Cache-Control: x"], after: 0, decision: answered
    ),
    Case(rule: "N16", fields: tenSeconds + ["Pragma: no-cache"], after: 0, decision: answered),
    Case(rule: "N19", fields: tenSeconds, request: ["Cache-Control: no-cache"], after: 0, decision: asked),
    Case(rule: "N19", fields: tenSeconds, request: ["Cache-Control: max-age=5"], after: 5, decision: answered),
    Case(rule: "N19", fields: tenSeconds, request: ["Cache-Control: max-age=5"], after: 6, decision: asked),
    Case(rule: "N19", fields: tenSeconds, request: ["Cache-Control: max-age=0"], after: 1, decision: asked),
    Case(rule: "N19", fields: tenSeconds, request: ["Cache-Control: min-fresh=5"], after: 5, decision: answered),
    Case(rule: "N19", fields: tenSeconds, request: ["Cache-Control: min-fresh=5"], after: 6, decision: asked),
    Case(rule: "N19", fields: tenSeconds, request: ["Cache-Control: max-stale=5"], after: 15, decision: answered),
    Case(rule: "N19", fields: tenSeconds, request: ["Cache-Control: max-stale=5"], after: 16, decision: stale),
    Case(rule: "N19", fields: tenSeconds, request: ["Cache-Control: max-stale"], after: 9999, decision: answered),
    Case(rule: "N19", fields: tenSeconds, request: ["Cache-Control: max-stale=x"], after: 11, decision: stale),
    Case(rule: "N19", fields: tenSeconds, request: ["Cache-Control: only-if-cached"], after: 9, decision: answered),
    Case(
      rule: "N19", fields: tenSeconds, request: ["Cache-Control: only-if-cached"], after: 10, decision: .unanswerable),
    Case(
      rule: "N21", fields: ["Cache-Control: max-age=10, must-revalidate"], request: ["Cache-Control: max-stale"],
      after: 11, decision: stale),
    Case(
      rule: "N21", fields: ["Cache-Control: max-age=10, proxy-revalidate"], request: ["Cache-Control: max-stale"],
      after: 11, decision: stale),
    Case(
      rule: "N21", fields: ["Cache-Control: max-age=10, proxy-revalidate"], request: ["Cache-Control: max-stale"],
      after: 11, kind: .private, decision: answered),
    Case(
      rule: "N21", fields: ["Cache-Control: s-maxage=10"], request: ["Cache-Control: max-stale"], after: 11,
      decision: stale),
    Case(
      rule: "N21", fields: ["Cache-Control: max-age=10, stale-while-revalidate=5"], after: 15,
      decision: .answerAndRevalidate(0)),
    Case(rule: "N21", fields: ["Cache-Control: max-age=10, stale-while-revalidate=5"], after: 16, decision: stale),
    Case(rule: "N21", fields: ["Cache-Control: s-maxage=10, stale-while-revalidate=5"], after: 11, decision: stale),
    Case(
      rule: "N21", fields: ["Cache-Control: max-age=10, stale-while-revalidate=5"],
      request: ["Cache-Control: no-cache"], after: 11, decision: asked),
    Case(
      rule: "N20", fields: ["Cache-Control: max-age=10, immutable"], request: ["Cache-Control: max-age=0"], after: 5,
      isSecure: true, decision: answered),
    Case(
      rule: "N20", fields: ["Cache-Control: max-age=10, immutable"], request: ["Cache-Control: max-age=0"], after: 5,
      decision: asked),
    Case(
      rule: "N20", fields: ["Cache-Control: max-age=10, immutable"], request: ["Cache-Control: no-cache"], after: 5,
      isSecure: true, decision: asked),
    Case(
      rule: "N20", fields: ["Cache-Control: max-age=10, immutable"], request: ["Cache-Control: max-age=0"], after: 11,
      isSecure: true, decision: asked),
    Case(
      rule: "N28", fields: tenSeconds, request: ["If-Match: *"], after: 0, decision: .forward(.request, selected: nil)
    ),
    Case(
      rule: "N28", fields: tenSeconds, request: ["If-Unmodified-Since: x"], after: 0,
      decision: .forward(.request, selected: nil)),
  ]

  @Test("A stored response answers only within what it, and the request, allow", arguments: cases)
  func decides(_ test: Case) {
    var response = stored()
    response.head.headerFields = HTTPFields(lines: test.fields + ["Date: \(HTTPDate(newYear))"])
    var request = get()
    request.headerFields = HTTPFields(lines: test.request)
    let decision = HTTPCachePolicy(test.kind).decision(
      on: request, isSecure: test.isSecure, stored: StoredVariants([response]), at: newYear + .seconds(test.after))
    #expect(decision == test.decision)
  }

  @Test(
    "N21: a stale response stands in for an origin that failed within its allowance",
    arguments: [
      ("max-age=10", "x", 11, .unreachable, true), ("max-age=10", "x", 86_411, .unreachable, false),
      ("max-age=10", "x", 11, .serverError, false), ("max-age=10, stale-if-error=5", "x", 15, .serverError, true),
      ("max-age=10, stale-if-error=5", "x", 16, .serverError, false),
      ("max-age=10", "stale-if-error=5", 15, .serverError, true),
      ("max-age=10, stale-if-error=5, must-revalidate", "x", 11, .serverError, false),
      ("max-age=10, must-revalidate", "x", 11, .unreachable, false), ("s-maxage=10", "x", 11, .unreachable, false),
      ("max-age=10, no-cache", "x", 1, .unreachable, false), ("max-age=10", "no-cache", 11, .unreachable, false),
      ("max-age=10", "max-age=5", 11, .unreachable, false), ("max-age=10", "min-fresh=1", 11, .unreachable, false),
    ] as [(String, String, Int, HTTPCachePolicy.Failure, Bool)])
  func standsIn(_ control: String, _ wanted: String, _ after: Int, _ failure: HTTPCachePolicy.Failure, _ may: Bool) {
    let request = get("Cache-Control: \(wanted)")
    #expect(
      HTTPCachePolicy(.shared).mayAnswer(
        stored("Cache-Control: \(control)"), to: request, after: failure, at: newYear + .seconds(after)) == may)
  }
}
#endif

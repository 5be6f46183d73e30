#if HTTP
import CacheEngineHTTP
import HTTPTypes
import Testing

@Suite("What may be stored")
struct StoringTests {
  struct Case: Sendable, CustomTestStringConvertible {
    var rule: String
    var kind: HTTPCachePolicy.Kind = .shared
    var status = 200
    var response: [String] = ["Cache-Control: max-age=60"]
    var request: [String] = []
    var method: HTTPRequest.Method = .get
    var refusal: HTTPCachePolicy.Refusal?

    var testDescription: String { "\(rule) \(status) \(response) to \(request) -> \(refusal?.rawValue ?? "stored")" }
  }

  static let same = ["Cache-Control: max-age=60", "Content-Location: /"]
  static let modified = "Last-Modified: Wed, 31 Dec 2025 00:00:00 GMT"

  static let cases: [Case] =
    [
      Case(rule: "N1", refusal: nil), Case(rule: "N1", method: .post, refusal: .method),
      Case(rule: "N1", method: .head, refusal: .method),
      Case(rule: "N1", response: same, method: .post),
      Case(rule: "N1", response: ["Cache-Control: max-age=60", "Content-Location: http://a:80/./"], method: .post),
      Case(rule: "N1", response: ["Expires: Fri, 02 Jan 2026 00:00:00 GMT", "Content-Location: /"], method: .post),
      Case(rule: "N1", status: 201, response: same, method: .post, refusal: .method),
      Case(rule: "N1", response: same + ["Content-Location: /"], method: .post, refusal: .method),
      Case(rule: "N1", response: [same[0], "Content-Location: /b"], method: .post, refusal: .method),
      Case(rule: "N1", response: [same[0], "Content-Location: //b/"], method: .post, refusal: .method),
      Case(rule: "N1", response: [modified, same[1]], method: .post, refusal: .method),
      Case(rule: "N1", response: ["Cache-Control: max-age=0", modified, same[1]], method: .post, refusal: .method),
      Case(rule: "N1", response: ["Cache-Control: max-age=60, no-store", same[1]], method: .post, refusal: .noStore),
      Case(rule: "N1", response: same, method: .put, refusal: .method),
      Case(rule: "N5", response: same, request: ["Authorization: x"], method: .post, refusal: .authorization),
      Case(rule: "N2", status: 206, refusal: .status),
      Case(rule: "N2", status: 412, response: ["Cache-Control: public, max-age=60"], refusal: .status),
      Case(rule: "N2", status: 416, response: ["Cache-Control: public, max-age=60"], refusal: .status),
      Case(rule: "N2", status: 304, refusal: .status), Case(rule: "N2", status: 103, refusal: .status),
      Case(rule: "N2", status: 599), Case(rule: "N2", status: 302, response: ["ETag: \"a\""], refusal: .status),
      Case(rule: "N2", status: 302, response: ["ETag: \"a\"", "Cache-Control: public"]),
      Case(rule: "N2", status: 302, response: ["ETag: \"a\"", "Cache-Control: private"], refusal: .forAnother),
      Case(rule: "N2", kind: .private, status: 302, response: ["ETag: \"a\"", "Cache-Control: private"]),
      Case(rule: "N2", status: 500, response: ["Expires: Fri, 02 Jan 2026 00:00:00 GMT"]),
      Case(rule: "N3", response: ["Cache-Control: max-age=60, no-store"], refusal: .noStore),
      Case(rule: "N3", request: ["Cache-Control: no-store"], refusal: .noStore),
      Case(rule: "N3", response: ["Cache-Control: max-age=60, no-store, must-understand"]),
      Case(rule: "N3", status: 599, response: ["Cache-Control: max-age=60, must-understand"], refusal: .noStore),
      Case(rule: "N4", response: ["Cache-Control: private, max-age=60"], refusal: .forAnother),
      Case(rule: "N4", kind: .private, response: ["Cache-Control: private, max-age=60"]),
      Case(rule: "N4", response: ["Cache-Control: private=\"x-a\", max-age=60"]),
      Case(rule: "N4", response: ["Cache-Control: private=\"x a\", max-age=60"], refusal: .forAnother),
      Case(
        rule: "N4, N12", response: ["Cache-Control: private=\"x-a\", max-age=60", "Cache-Control: private"],
        refusal: .forAnother),
      Case(
        rule: "N4, N12", response: ["Cache-Control: private, max-age=60", "Cache-Control: private=\"x-a\""],
        refusal: .forAnother),
      Case(rule: "N5", request: ["Authorization: x"], refusal: .authorization),
      Case(rule: "N5", kind: .private, request: ["Authorization: x"]),
      Case(rule: "N6", response: ["Cache-Control: no-cache", "ETag: \"a\""]),
      Case(rule: "N10", response: [], refusal: .useless), Case(rule: "N10", response: ["ETag: \"a\""]),
      Case(rule: "N10", response: [modified]),
      Case(rule: "N10", response: ["Cache-Control: max-age=0"], refusal: .useless),
      Case(rule: "N13", response: ["Expires: 0"], refusal: .useless),
      Case(rule: "N17", response: ["Cache-Control: max-age=0, s-maxage=9"]),
      Case(rule: "N17", kind: .private, response: ["Cache-Control: max-age=0, s-maxage=9"], refusal: .useless),
      Case(rule: "N17", response: ["Cache-Control: no-store", "CDN-Cache-Control: max-age=9"]),
      Case(
        rule: "N17", kind: .private, response: ["Cache-Control: no-store", "CDN-Cache-Control: max-age=9"],
        refusal: .noStore),
      Case(
        rule: "N17", response: ["Cache-Control: no-store", "CDN-Cache-Control: max-age=\"9\""], refusal: .noStore),
      Case(rule: "N17", response: ["Cache-Control: no-store", "CDN-Cache-Control: Max-Age=9"], refusal: .noStore),
      Case(rule: "N17", response: ["Cache-Control: no-store", "CDN-Cache-Control:"], refusal: .noStore),
      Case(rule: "N17", response: ["Cache-Control: max-age=9", "CDN-Cache-Control: private"], refusal: .forAnother),
      Case(rule: "N23", response: ["Cache-Control: max-age=9", "Vary: *"], refusal: .vary),
      Case(rule: "N23", response: ["Cache-Control: max-age=9", "Vary: a, *"], refusal: .vary),
      Case(rule: "N23", response: ["Cache-Control: max-age=9", "Vary: a b"], refusal: .vary),
      Case(rule: "N34", response: ["Cache-Control: max-age=9", "Set-Cookie: a=b"]),
    ]
    + [200, 203, 204, 300, 301, 308, 404, 405, 410, 414, 501].map {
      Case(rule: "N2", status: $0, response: [modified])
    }
    + [201, 202, 205, 302, 303, 307, 400, 401, 403, 500, 502, 503, 504, 599].map {
      Case(rule: "N2", status: $0, response: [modified], refusal: .status)
    }
    + ["public", "s-maxage=9", "must-revalidate"].map {
      Case(rule: "N5", response: ["Cache-Control: max-age=9, \($0)"], request: ["Authorization: x"])
    }

  @Test("A response is stored if nothing forbids it", arguments: cases)
  func stores(_ test: Case) {
    let request = HTTPRequest(
      method: test.method, scheme: "http", authority: "a", path: "/", headerFields: HTTPFields(lines: test.request))
    let response = HTTPResponse(status: .init(code: test.status), headerFields: HTTPFields(lines: test.response))
    #expect(HTTPCachePolicy(test.kind).refusal(toStore: response, for: request, receivedAt: newYear) == test.refusal)
  }

  @Test("N34: a switch refuses what sets cookies")
  func refusesCookies() {
    var policy = HTTPCachePolicy(.shared)
    policy.storesCookies = false
    let response = answer(200, "Cache-Control: max-age=9", "Set-Cookie: a=b")
    #expect(policy.refusal(toStore: response, for: get(), receivedAt: newYear) == .cookie)
    for name in ["no-cache", "private"] {
      let hiding = answer(200, "Cache-Control: max-age=9, \(name)=\"Set-Cookie\"", "Set-Cookie: a=b")
      #expect(policy.refusal(toStore: hiding, for: get(), receivedAt: newYear) == nil)
      let kept = policy.keep(hiding, for: get(), requestTime: newYear, responseTime: newYear)
      #expect(kept?.head.headerFields.contains(.setCookie) == false)
    }
  }

  @Test("N4: fields that private or no-cache name are not kept, each for whom it is said")
  func hidesFields() throws {
    let response = answer(
      200, "Cache-Control: max-age=9, private=\"x-a\", no-cache=\"x-b\"", "X-A: 1", "X-B: 1", "X-C: 1",
      "Cache-Status: another; hit")
    func kept(_ kind: HTTPCachePolicy.Kind) throws -> [String] {
      let stored = HTTPCachePolicy(kind).keep(response, for: get(), requestTime: newYear, responseTime: newYear)
      return try #require(stored).head.headerFields.map(\.name.canonicalName).filter { $0 != "cache-control" }
    }
    #expect(try kept(.shared) == ["x-c"])
    #expect(try kept(.private) == ["x-a", "x-c"])
  }
}
#endif

#if HTTP
import CacheEngine
import CacheEngineHTTP
import CacheEngineTesting
import HTTPTypes
import Testing

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// What caches are compared by: one response, one request some time later, and whether that is answered without asking.
@Suite("Rows that caches are compared by")
struct ConformanceRowTests {
  struct Row: Sendable, CustomTestStringConvertible {
    var isHit: Bool
    var fields: [String]
    var first: [String]
    var second: [String]
    var seconds: Int
    var status: Int
    var kind: HTTPCachePolicy.Kind

    var testDescription: String {
      let asked = (first.isEmpty ? "" : " to \(first)") + (second.isEmpty ? "" : ", then \(second)")
      return "\(kind) \(status) \(fields)\(asked), after \(seconds) s: \(isHit ? "hit" : "asked")"
    }

    static func hit(
      _ fields: String..., first: [String] = [], second: [String] = [], after seconds: Int = 0, status: Int = 200,
      in kind: HTTPCachePolicy.Kind = .shared
    ) -> Row {
      Row(isHit: true, fields: fields, first: first, second: second, seconds: seconds, status: status, kind: kind)
    }

    static func asked(
      _ fields: String..., first: [String] = [], second: [String] = [], after seconds: Int = 0, status: Int = 200,
      in kind: HTTPCachePolicy.Kind = .shared
    ) -> Row {
      Row(isHit: false, fields: fields, first: first, second: second, seconds: seconds, status: status, kind: kind)
    }
  }

  static let ten = "Cache-Control: max-age=10"

  static let ages: [Row] = [
    .hit(ten, "Age: 5", after: 4), .asked(ten, "Age: 5", after: 5), .asked(ten, "Age: 11"),
    .hit(ten, "Age: 3, 100", after: 6), .asked(ten, "Age: 3, 100", after: 7),
    .hit(ten, "Age: abc", after: 9), .hit(ten, "Age: -5", after: 9), .hit(ten, "Age: 7.5", after: 9),
    .hit(ten, "Date: Wed, 31 Dec 2025 23:59:55 GMT", after: 4),
    .asked(ten, "Date: Wed, 31 Dec 2025 23:59:55 GMT", after: 5),
    .hit(ten, "Date: Fri, 02 Jan 2026 00:00:00 GMT", after: 9),
    .hit(ten, "Age: 11;a=b", after: 9), .hit(ten, "Age: a11", after: 9), .hit(ten, "Age: 11a", after: 9),
    .hit(ten, "Age: 0", "Age: 11", after: 9), .asked(ten, "Age: 11", "Age: 0"), .asked(ten, "Age: 2147483648"),
    .asked(ten, "Age: 99999999999999999999"), .asked(ten, "Age: 00011"),
  ]

  static let controls: [Row] = [
    .hit("Cache-Control: MaX-aGe=10", after: 9), .hit("Cache-Control: max-age=\"10\"", after: 9),
    .hit("Cache-Control: , ,max-age=10,", after: 9), .hit("Cache-Control: foo, max-age=10, bar=\"a,b\"", after: 9),
    .hit("Cache-Control: foo", "Cache-Control: max-age=10", after: 9),
    .hit("Cache-Control: max-age=99999999999999", after: 1_000_000),
    .asked("Cache-Control: max-age=0"), .asked("Cache-Control: max-age=-1"), .asked("Cache-Control: max-age=1.5"),
    .asked("Cache-Control: max-age=a"), .asked("Cache-Control: max-age='10'"), .asked("Cache-Control: max-age"),
    .asked(ten, after: 10), .hit(ten, "Cache-Control: foo=\"max-age=0\""),
    .hit("Cache-Control: s-maxage=10, max-age=0"), .asked("Cache-Control: s-maxage=0, max-age=10"),
    .asked("Cache-Control: s-maxage=10, max-age=0", in: .private),
    .hit("Cache-Control: s-maxage=0, max-age=10", in: .private),
    .asked("Cache-Control: no-store, max-age=10"), .asked("Cache-Control: no-cache, max-age=10"),
    .asked("Cache-Control: No-Store, max-age=10"), .asked("Cache-Control: private, max-age=10"),
    .hit("Cache-Control: private, max-age=10", in: .private), .hit("Cache-Control: private=\"x\", max-age=10"),
    .hit("Cache-Control: must-understand, no-store, max-age=10"),
    .asked("Cache-Control: must-understand, no-store, max-age=10", status: 299),
    .hit(ten, "Pragma: no-cache"), .hit(ten, "Set-Cookie: a=b"),
    .asked("Cache-Control: max-age =10"), .asked("Cache-Control: max-age= 10"), .asked("Cache-Control: max-age=a10"),
    .asked("Cache-Control: max-age=10a"), .asked("Cache-Control: max-age=0, max-age=10"),
    .hit("Cache-Control: max-age=010", after: 9), .hit("Cache-Control: a=\"b, max-age=0\", max-age=10", after: 9),
    .asked("Cache-Control: max-age=10,,no-store"), .asked("Cache-Control: max-age=10,\tno-store=\"a\""),
  ]

  static let dates: [Row] = [
    .hit("Expires: Thu, 01 Jan 2026 00:00:10 GMT", after: 9),
    .asked("Expires: Thu, 01 Jan 2026 00:00:10 GMT", after: 10),
    .hit("Expires: Thursday, 01-Jan-26 00:00:10 GMT", after: 9), .hit("Expires: Thu Jan  1 00:00:10 2026", after: 9),
    .asked("Expires: 0"), .asked("Expires: Thu, 01 Jan 2026 00:00:10 PST"), .asked("Expires: soon"),
    .hit("Expires: thu, 01 jan 2026 00:00:10 gmt", after: 9), .asked("Expires: Thu, 01 Jan 2026 00:00:10"),
    .asked("Expires: -1"), .asked("Expires: Thu, 01 Jan 2026 00:00:10 GMT", "Age: 10"),
    .hit(ten, "Expires: 0", after: 9), .asked("Cache-Control: max-age=0", "Expires: Thu, 01 Jan 2026 00:00:10 GMT"),
    .hit("Last-Modified: Wed, 31 Dec 2025 23:58:20 GMT", after: 9),
    .asked("Last-Modified: Wed, 31 Dec 2025 23:58:20 GMT", after: 10),
    .asked("Last-Modified: Wed, 31 Dec 2025 23:58:20 GMT", status: 201),
    .hit("Cache-Control: public", "Last-Modified: Wed, 31 Dec 2025 23:58:20 GMT", after: 9, status: 201),
    .asked("ETag: \"a\""),
  ]

  static let targeted: [Row] = [
    .hit("CDN-Cache-Control: max-age=10", "Cache-Control: no-store", after: 9),
    .asked("CDN-Cache-Control: max-age=10", "Cache-Control: no-store", in: .private),
    .asked("CDN-Cache-Control: max-age=0", ten), .asked("CDN-Cache-Control: no-store", ten),
    .hit("CDN-Cache-Control: ", ten), .hit("CDN-Cache-Control: max-age=\"0\"", ten), .hit("CDN-Cache-Control: &&", ten),
    .hit("CDN-Cache-Control: max-age=10, no-cache=?0", "Cache-Control: private", after: 9),
    .asked("CDN-Cache-Control: a, max-age=0;b=1", ten), .hit("CDN-Cache-Control: MaX-aGe=0", ten),
    .asked("CDN-Cache-Control: max-age=10", "Age: 10"), .asked("CDN-Cache-Control: private", ten),
  ]

  static let statuses: [Row] =
    [200, 203, 204, 300, 301, 302, 307, 308, 400, 404, 405, 410, 414, 499, 500, 501, 503, 599].map {
      .hit(ten, after: 9, status: $0)
    } + [
      .asked(ten, status: 206),
      .asked("Last-Modified: Wed, 31 Dec 2025 23:58:20 GMT", status: 302),
      .hit("Last-Modified: Wed, 31 Dec 2025 23:58:20 GMT", status: 404),
    ]

  static let variants: [Row] = [
    .hit(ten, "Vary: A", first: ["A: 1"], second: ["A: 1"]), .asked(ten, "Vary: A", first: ["A: 1"], second: ["A: 2"]),
    .asked(ten, "Vary: A", first: ["A: 1"]), .asked(ten, "Vary: A", second: ["A: 1"]), .hit(ten, "Vary: A"),
    .asked(ten, "Vary: A", first: ["A: x"], second: ["A: X"]), .asked(ten, "Vary: *"), .asked(ten, "Vary: A, *"),
    .hit(ten, "Vary: a", first: ["A: 1"], second: ["a: 1"]),
    .hit(ten, "Vary: A", first: ["A: 1, 2"], second: ["A: 1,2"]),
    .hit(ten, "Vary: A", first: ["A: 1, 2"], second: ["A: 1", "A: 2"]),
    .asked(ten, "Vary: A", first: ["A: 1, 2"], second: ["A: 2, 1"]),
    .asked(ten, "Vary: A", "Vary: B", first: ["B: 1"], second: ["B: 2"]),
    .hit(ten, "Vary: A", first: ["C: 1"], second: ["C: 2"]), .hit(ten, "Vary: ", second: ["A: 1"]),
    .asked(ten, "Vary: A", "Vary: *"), .asked(ten, "Vary: , *"), .asked(ten, "Vary: *, A"), .asked(ten, "Vary: A B"),
  ]

  static let requests: [Row] = [
    .asked(ten, second: ["Cache-Control: no-cache"]), .asked(ten, first: ["Cache-Control: no-store"]),
    .hit(ten, second: ["Cache-Control: max-age=5"], after: 4),
    .asked(ten, second: ["Cache-Control: max-age=5"], after: 6),
    .asked(ten, second: ["Cache-Control: max-age=0"], after: 1),
    .hit(ten, second: ["Cache-Control: min-fresh=5"], after: 4),
    .asked(ten, second: ["Cache-Control: min-fresh=5"], after: 6),
    .asked(ten, "Age: 6", second: ["Cache-Control: min-fresh=5"]),
    .hit(ten, second: ["Cache-Control: max-age=\"5\""], after: 4),
    .hit(ten, second: ["Cache-Control: max-stale"], after: 15),
    .hit(ten, second: ["Cache-Control: max-stale=10"], after: 15),
    .asked(ten, second: ["Cache-Control: max-stale=3"], after: 15),
    .asked("Cache-Control: max-age=10, must-revalidate", second: ["Cache-Control: max-stale"], after: 15),
    .asked("Cache-Control: max-age=10, proxy-revalidate", second: ["Cache-Control: max-stale"], after: 15),
    .hit("Cache-Control: max-age=10, proxy-revalidate", second: ["Cache-Control: max-stale"], after: 15, in: .private),
    .asked("Cache-Control: s-maxage=10", second: ["Cache-Control: max-stale"], after: 15),
    .asked(ten, second: ["Pragma: no-cache"]), .hit(ten, second: ["Pragma: no-cache", "Cache-Control: max-age=10"]),
    .hit(ten, second: ["Pragma: foo"]), .hit("Cache-Control: max-age=10, stale-while-revalidate=10", after: 15),
    .asked("Cache-Control: s-maxage=10, stale-while-revalidate=10", after: 15),
    .asked(ten, first: ["Authorization: x"]), .hit(ten, first: ["Authorization: x"], in: .private),
    .hit("Cache-Control: max-age=10, public", first: ["Authorization: x"]),
    .hit("Cache-Control: s-maxage=10", first: ["Authorization: x"]),
    .hit("Cache-Control: max-age=10, must-revalidate", first: ["Authorization: x"]),
    .asked("Cache-Control: max-age=10, immutable", first: ["Authorization: x"]),
  ]

  static let rows = ages + controls + dates + targeted + statuses + variants + requests

  private let clock = ManualClock()

  private func cache(
    _ kind: HTTPCachePolicy.Kind, _ origin: ScriptedOrigin
  ) -> HTTPCache<MemoryCacheLevel<String, StoredVariants>> {
    HTTPCache(
      storing: MemoryCacheLevel<String, StoredVariants>(clock: clock), policy: HTTPCachePolicy(kind), origin: origin,
      clock: clock)
  }

  private func request(_ fields: [String], _ method: HTTPRequest.Method = .get) -> HTTPRequest {
    HTTPRequest(
      method: method, scheme: "http", authority: "example.org", path: "/a", headerFields: HTTPFields(lines: fields))
  }

  @Test("A request is answered from what is stored, or asked, as the RFCs say", arguments: rows)
  func row(_ row: Row) async throws {
    let origin = ScriptedOrigin { _, count in HTTPAnswer(row.status, row.fields, "\(count)") }
    let cache = cache(row.kind, origin)
    let first = try await cache.response(for: request(row.first)).text()
    clock.advance(by: .seconds(row.seconds))
    let second = try await cache.response(for: request(row.second)).text()
    #expect(first == "0" && second == (row.isHit ? "0" : "1"))
    await cache.close()
  }

  @Test(
    "N31: what is not safe forgets its target if it succeeds, and only then",
    arguments: ["POST", "PUT", "DELETE", "PATCH", "FROB", "OPTIONS"], [200, 204, 302, 404, 500])
  func invalidation(_ method: String, _ status: Int) async throws {
    let origin = ScriptedOrigin { request, count in
      request.method == .get ? HTTPAnswer(200, [Self.ten], "\(count)") : HTTPAnswer(status)
    }
    let cache = cache(.shared, origin)
    _ = try await cache.response(for: request([])).text()
    _ = try await cache.response(for: request([], HTTPRequest.Method(rawValue: method)!)).text()
    let isForgotten = method != "OPTIONS" && status < 400
    #expect(try await cache.response(for: request([])).text() == (isForgotten ? "2" : "0"))
  }

  @Test("N7: an answer that has no content has no length either, forwarded or stored", arguments: [204, 205])
  func noContent(_ status: Int) async throws {
    let origin = ScriptedOrigin { _, _ in HTTPAnswer(status, [Self.ten, "Content-Length: 0"]) }
    let cache = cache(.shared, origin)
    for _ in 0..<2 {
      let answer = try await cache.response(for: request([]))
      #expect(try await answer.text() == "")
      // That a 205 has none has to be said.
      #expect(answer.head.headerFields[.contentLength] == (status == 204 ? nil : "0"))
    }
    #expect(origin.requests.count == 1)
  }

  @Test(
    "N28: a client's condition is answered from what is stored",
    arguments: [
      ("\"a\"", ["If-None-Match: \"a\""], 304), ("\"a\"", ["If-None-Match: W/\"a\""], 304),
      ("W/\"a\"", ["If-None-Match: \"a\""], 304), ("\"a\"", ["If-None-Match: *"], 304),
      ("\"a\"", ["If-None-Match: \"b\", \"a\""], 304), ("\"a\"", ["If-None-Match: \"b\""], 200),
      ("\"a\"", ["If-None-Match: \"A\""], 200),
      ("\"a\"", ["If-None-Match: \"b\"", "If-Modified-Since: Thu, 01 Jan 2026 00:00:00 GMT"], 200),
      ("\"a\"", ["If-Modified-Since: Thu, 01 Jan 2026 00:00:00 GMT"], 304),
      ("\"a\"", ["If-Modified-Since: Tue, 30 Dec 2025 00:00:00 GMT"], 200), ("\"a\"", ["If-Modified-Since: soon"], 200),
    ])
  func conditional(_ tag: String, _ fields: [String], _ status: Int) async throws {
    let origin = ScriptedOrigin { _, _ in
      HTTPAnswer(200, [Self.ten, "ETag: \(tag)", "Last-Modified: Wed, 31 Dec 2025 00:00:00 GMT"], "whole")
    }
    let cache = cache(.shared, origin)
    _ = try await cache.response(for: request([])).text()
    let answer = try await cache.response(for: request(fields))
    #expect(answer.head.status.code == status && origin.requests.count == 1)
    #expect(try await answer.text() == (status == 200 ? "whole" : ""))
  }

  @Test(
    "N30: a part is answered from what is stored, and what is no part with all of it",
    arguments: [
      (["Range: bytes=0-1"], 206, "01"), (["Range: bytes=-3"], 206, "789"), (["Range: bytes=5-"], 206, "56789"),
      (["Range: bytes=8-100"], 206, "89"), (["Range: bytes=20-"], 416, ""), (["Range: bytes=3-2"], 200, "0123456789"),
      (["Range: chars=0-1"], 200, "0123456789"), (["Range: bytes=0-1, 3-4"], 200, "0123456789"),
      (["Range: bytes=0-1", "If-Range: \"a\""], 206, "01"),
      (["Range: bytes=0-1", "If-Range: \"b\""], 200, "0123456789"),
      (["Range: bytes=0-1", "If-Range: W/\"a\""], 200, "0123456789"),
    ])
  func partial(_ fields: [String], _ status: Int, _ text: String) async throws {
    let origin = ScriptedOrigin { _, _ in HTTPAnswer(200, [Self.ten, "ETag: \"a\""], "0123456789") }
    let cache = cache(.shared, origin)
    _ = try await cache.response(for: request([])).text()
    let answer = try await cache.response(for: request(fields))
    #expect(answer.head.status.code == status && origin.requests.count == 1)
    #expect(try await answer.text() == text)
  }
}
#endif

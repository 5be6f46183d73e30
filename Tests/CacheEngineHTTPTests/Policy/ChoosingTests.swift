#if HTTP
import CacheEngineHTTP
import HTTPTypes
import Testing

@Suite("Which stored response answers, and how")
struct ChoosingTests {
  @Test(
    "N23: every field that Vary names must be as it was",
    arguments: [
      ("A", ["A: 1"], ["A: 1"], true), ("A", ["A: 1"], ["A: 2"], false), ("A", ["A: 1"], [], false),
      ("A", [], [], true),
      ("A", ["A:"], [], false), ("A", ["A: 1, 2"], ["A: 1 ,2"], true), ("A", ["A: 1, 2"], ["A: 1", "a: 2"], true),
      ("A", ["A: 1, 2"], ["A: 2, 1"], false), ("A", ["A: x"], ["A: X"], false),
      ("A", ["A: \"x, y\""], ["A: \"x,y\""], false),
      ("a, b", ["A: 1", "B: 2"], ["B: 2", "A: 1"], true), ("a, b", ["A: 1", "B: 2"], ["A: 1", "B: 3"], false),
      ("a, a", ["A: 1"], ["A: 1"], true),
      ("accept-language", ["Accept-Language: en-GB, de;q=0.5"], ["Accept-Language: EN-gb,De;Q=0.5"], true),
      ("accept-language", ["Accept-Language: en, de"], ["Accept-Language: de, en"], false),
      ("accept-language", ["Accept-Language: en"], ["Accept-Language: fr;q=0.5, en;q=1"], false),
      ("Accept-Encoding", ["Accept-Encoding: gzip, BR"], ["Accept-Encoding: GZip,br"], true),
      ("Accept-Encoding", ["Accept-Encoding: gzip, br"], ["Accept-Encoding: br, gzip"], true),
      ("Accept-Encoding", ["Accept-Encoding: gzip;q=0.50, br"], ["Accept-Encoding: br;q=1.0, gzip ; q=0.5"], true),
      ("Accept-Encoding", ["Accept-Encoding: gzip;q=0.5, br"], ["Accept-Encoding: gzip, br;q=0.5"], false),
      ("Accept-Encoding", ["Accept-Encoding: gzip;q=0"], ["Accept-Encoding: gzip"], false),
      ("Accept-Encoding", ["Accept-Encoding: gzip;q=0"], ["Accept-Encoding: gzip;q=0.000"], true),
      ("Accept-Encoding", ["Accept-Encoding: gzip;q=1"], ["Accept-Encoding: gzip;q=10"], false),
      ("Accept-Encoding", ["Accept-Encoding: br, ;q=1"], ["Accept-Encoding: br"], false),
      ("Accept-Encoding", ["Accept-Encoding: a\"b, c\\\"d"], ["Accept-Encoding: c\\\"d, a\"b"], false),
      ("Accept-Encoding", ["Accept-Encoding: gzip;q="], ["Accept-Encoding: gzip"], false),
      ("accept-language", ["Accept-Language: en; q=1.0, de;q=0.50"], ["Accept-Language: en,de ;q=0.5"], true),
      ("Accept", ["Accept: text/html;a=X"], ["Accept: text/html;a=x"], false),
      // What looks the same and has other bytes is another value.
      ("A", ["A: K"], ["A: \u{212A}"], false), ("A", ["A: \u{E9}"], ["A: e\u{301}"], false),
      ("A", ["A: \u{E9}"], ["A: \u{E9}"], true),
      ("accept-language", ["Accept-Language: ko"], ["Accept-Language: \u{212A}o"], false),
    ] as [(String, [String], [String], Bool)])
  func matches(_ vary: String, _ first: [String], _ second: [String], _ match: Bool) throws {
    let selecting = try #require(
      SelectingFields(of: HTTPFields(lines: first), named: HTTPFields(lines: ["Vary: \(vary)"])))
    #expect(selecting.match(HTTPFields(lines: second)) == match)
  }

  @Test("N23: what cannot be compared matches nothing, itself included")
  func illegible() {
    // A parser makes the same of all bytes that are no UTF-8.
    let request = get("A: caf\u{FFFD}\u{301}")
    let response = answer(200, "Cache-Control: max-age=9", "Vary: A")
    let policy = HTTPCachePolicy(.shared)
    #expect(policy.refusal(toStore: response, for: request, receivedAt: newYear) == .vary)
    #expect(policy.refusal(toStore: response, for: get("B: \u{FFFD}"), receivedAt: newYear) == nil)
  }

  @Test("N23: of those that match the one with the latest Date answers, and there are no more than the bound")
  func latest() {
    let older = stored("Cache-Control: max-age=9", "Date: Wed, 31 Dec 2025 00:00:00 GMT", body: "older")
    let newer = stored("Vary: A", body: "newer")
    #expect(StoredVariants([newer, older]).selected(by: [:]) == 0)
    #expect(StoredVariants([older, newer]).selected(by: [:]) == 1)
    #expect(StoredVariants([older, newer]).selected(by: HTTPFields(lines: ["A: 1"])) == 0)
    #expect(StoredVariants([older, older]).selected(by: [:]) == 1)
    var variants = StoredVariants()
    for place in 0...StoredVariants.limit {
      let request = get("A: \(place)")
      variants.add(stored("Vary: A", to: request), for: request.headerFields)
    }
    #expect(variants.responses.count == StoredVariants.limit)
    #expect(variants.selected(by: HTTPFields(lines: ["A: 0"])) == nil)
    #expect(variants.selected(by: HTTPFields(lines: ["A: 1"])) == 0)
  }

  @Test("N25: the origin is asked by what is stored, and nothing is invented")
  func asks() {
    let policy = HTTPCachePolicy(.shared)
    let first = stored("ETag: \"1\"", "Last-Modified: Wed, 31 Dec 2025 00:00:00 GMT", "Vary: A", to: get("A: 1"))
    let second = stored("ETag: W/\"2\"", "Vary: A", to: get("A: 2"))
    let both = StoredVariants([first, second])
    var request = get("A: 1", "If-None-Match: \"9\", \"1\"")
    policy.add(policy.validation(of: both, selected: 0, for: request), to: &request)
    #expect(request.headerFields[.ifNoneMatch] == "\"1\", \"9\"")
    #expect(request.headerFields[.ifModifiedSince] == nil)
    request = get("A: 1", "If-Modified-Since: Mon, 01 Dec 2025 00:00:00 GMT")
    policy.add(policy.validation(of: both, selected: 0, for: request), to: &request)
    #expect(request.headerFields[.ifModifiedSince] == "Wed, 31 Dec 2025 00:00:00 GMT")
    request = get("A: 3")
    policy.add(policy.validation(of: both, selected: nil, for: request), to: &request)
    #expect(request.headerFields[.ifNoneMatch] == "\"1\"")
    request = get("A: 2")
    policy.add(policy.validation(of: both, selected: 1, for: request), to: &request)
    #expect(request.headerFields[.ifNoneMatch] == "W/\"2\", \"1\"")
    #expect(!request.headerFields.contains(.ifModifiedSince))
    let neither = StoredVariants([stored("Cache-Control: max-age=1")])
    #expect(policy.validation(of: neither, selected: 0, for: get()).isEmpty)
    // A part of what the client has is its own affair.
    for condition in ["If-Match: \"1\"", "If-Unmodified-Since: \(HTTPDate(newYear))", "If-Range: \"1\""] {
      #expect(policy.validation(of: both, selected: 0, for: get("A: 1", condition)).isEmpty)
    }
    // What selects a response without a tag is asked about by its date alone.
    let dated = stored("Last-Modified: Wed, 31 Dec 2025 00:00:00 GMT", "Vary: A", to: get("A: 4"))
    let asked = policy.validation(of: StoredVariants([first, dated]), selected: 1, for: get("A: 4"))
    #expect(asked == .init(modifiedSince: "Wed, 31 Dec 2025 00:00:00 GMT"))
  }

  @Test("N25, N26: a server that compresses is asked about one coding, and may name another tag of it")
  func codings() {
    let policy = HTTPCachePolicy(.shared)
    let request = get("Accept-Encoding: gzip")
    let packed = stored("ETag: W/\"1\"", "Vary: Accept-Encoding", to: request)
    let plain = stored("ETag: \"1\"", "Vary: Accept-Encoding")
    #expect(policy.validation(of: StoredVariants([plain]), selected: nil, for: request).isEmpty)
    let both = StoredVariants([packed, plain])
    let asked = policy.validation(of: both, selected: 0, for: request)
    #expect(asked.tags == [EntityTag("W/\"1\"")])
    // As nginx answers.
    let unchanged = answer(304, "ETag: \"1\"")
    #expect(policy.confirmed(by: unchanged, of: both, asked: asked, for: request.headerFields) == [1, 0])
    // Where both are asked about, it is the one whose tag that is.
    let all = HTTPCachePolicy.Validation(tags: [EntityTag("W/\"1\""), EntityTag("\"1\"")])
    #expect(policy.confirmed(by: unchanged, of: both, asked: all, for: request.headerFields) == [1])
  }

  @Test("N26: a 304 speaks of what has its validator")
  func confirms() {
    let policy = HTTPCachePolicy(.shared)
    let one = stored("ETag: \"1\"", at: newYear)
    let same = stored("ETag: \"1\"", at: newYear + .seconds(1))
    let weak = stored("ETag: W/\"1\"", at: newYear + .seconds(2))
    let dated = stored("Last-Modified: Wed, 31 Dec 2025 00:00:00 GMT")
    let all = StoredVariants([one, same, weak, dated])
    let asked = HTTPCachePolicy.Validation(tags: [EntityTag("\"1\""), EntityTag("W/\"1\"")])
    let byDate = HTTPCachePolicy.Validation(modifiedSince: "Wed, 31 Dec 2025 00:00:00 GMT")
    #expect(policy.confirmed(by: answer(304, "ETag: \"1\""), of: all, asked: asked, for: [:]) == [0, 1])
    #expect(policy.confirmed(by: answer(304, "ETag: W/\"1\""), of: all, asked: asked, for: [:]) == [2])
    #expect(policy.confirmed(by: answer(304, "ETag: \"7\""), of: all, asked: asked, for: [:]) == [])
    #expect(policy.confirmed(by: answer(304), of: all, asked: asked, for: [:]) == [])
    let illegible = answer(304, "ETag: \"\u{FFFD}\"")
    #expect(policy.confirmed(by: illegible, of: all, asked: .init(tags: [EntityTag("\"1\"")]), for: [:]) == [])
    #expect(policy.confirmed(by: answer(304), of: all, asked: .init(tags: [EntityTag("\"1\"")]), for: [:]) == [1])
    #expect(policy.confirmed(by: answer(304), of: all, asked: byDate, for: [:]) == [3])
    // The date of a response that has a tag, and the weak tag of one that is not selected, say nothing.
    let both = StoredVariants([stored("ETag: \"1\"", "Last-Modified: Wed, 31 Dec 2025 00:00:00 GMT")])
    #expect(policy.confirmed(by: answer(304), of: both, asked: byDate, for: [:]) == [])
    let elsewhere = StoredVariants([stored("ETag: W/\"1\"", "Vary: A", to: get("A: 1"))])
    let weakly = HTTPCachePolicy.Validation(tags: [EntityTag("W/\"1\"")])
    #expect(policy.confirmed(by: answer(304), of: elsewhere, asked: weakly, for: [:]) == [])
    #expect(
      policy.confirmed(
        by: answer(304, "Last-Modified: Wed, 31 Dec 2025 00:00:00 GMT"), of: all, asked: byDate, for: [:]) == [3]
    )
  }

  @Test("N26: a 304 replaces fields, but not those of the content")
  func freshens() {
    let old = stored("ETag: \"1\"", "Content-Type: a", "Content-Length: 10", "X: old", "Y: old", "Age: 7")
    let head = answer(304, "X: new", "X: newer", "Content-Type: b", "Content-Length: 0", "Connection: z", "Z: 1")
    let time = newYear + .seconds(9)
    let fresh = HTTPCachePolicy(.shared).freshen(old, with: head, requestTime: time, responseTime: time)
    let fields = fresh.head.headerFields
    #expect(fields[values: .init("X")!] == ["new", "newer"])
    #expect(fields[.init("Y")!] == "old")
    #expect(fields[.contentType] == "a" && fields[.contentLength] == "10")
    #expect(!fields.contains(.init("Z")!) && !fields.contains(.age))
    #expect(fresh.age(at: time) == .zero)
    #expect(fresh.head.status == .ok)
  }

  @Test("N26: a 304 gives no strong tag for a weak one, which may belong to other bytes")
  func freshensWeakly() {
    let old = stored("ETag: W/\"1\"")
    let fresh = HTTPCachePolicy(.shared).freshen(
      old, with: answer(304, "ETag: \"1\""), requestTime: newYear, responseTime: newYear)
    #expect(fresh.head.headerFields[.eTag] == "W/\"1\"")
  }

  @Test(
    "N28, N30: conditions and ranges of the client are answered from a stored 200",
    arguments: [
      ("N28", "If-None-Match: \"1\"", 304, ""), ("N28", "If-None-Match: W/\"1\"", 304, ""),
      ("N28", "If-None-Match: *", 304, ""),
      ("N28", "If-None-Match: \"2\", \"1\"", 304, ""), ("N28", "If-None-Match: \"2\"", 200, "0123456789"),
      ("N28", "If-Modified-Since: Wed, 31 Dec 2025 00:00:00 GMT", 304, ""),
      ("N28", "If-Modified-Since: Thu, 01 Jan 2026 00:00:00 GMT", 304, ""),
      ("N28", "If-Modified-Since: Tue, 30 Dec 2025 00:00:00 GMT", 200, "0123456789"),
      ("N28", "If-Modified-Since: x", 200, "0123456789"), ("N30", "Range: bytes=2-4", 206, "234"),
      ("N30", "Range: bytes=8-99", 206, "89"), ("N30", "Range: bytes=-3", 206, "789"),
      ("N30", "Range: bytes=-99", 206, "0123456789"),
      ("N30", "Range: bytes=7-", 206, "789"), ("N30", "Range: bytes=10-", 416, ""),
      ("N30", "Range: bytes=-0", 416, ""),
      ("N30", "Range: bytes=4-2", 200, "0123456789"), ("N30", "Range: bytes=1-2,4-5", 200, "0123456789"),
      ("N30", "Range: lines=1-2", 200, "0123456789"), ("N30", "Range: bytes=--1", 200, "0123456789"),
      ("N30", "Range: bytes=+1-2", 200, "0123456789"),
      ("N30", "Range: bytes=99999999999999999999-", 416, ""),
      ("N30", "Range: bytes=4-99999999999999999999", 206, "456789"),
      ("N30", "Range: bytes=-99999999999999999999", 206, "0123456789"),
      ("N30", "Range: bytes=,2-4,", 206, "234"), ("N30", "Range: bytes=,", 200, "0123456789"),
      ("N30", "Range: bytes=2-4, 10-", 206, "234"), ("N30", "Range: bytes=10-, 20-30", 416, ""),
      ("N30", "Range: bytes=4-6,2-4", 206, "23456"), ("N30", "Range: bytes=2-4,5-6", 206, "23456"),
      ("N30", "Range: bytes=2-8,3-4", 206, "2345678"), ("N30", "Range: bytes=2-4,x", 200, "0123456789"),
      ("N30", "Range: bytes=2-4,6-7", 200, "0123456789"),
    ])
  func conditions(_ rule: String, _ field: String, _ status: Int, _ content: String) {
    let response = stored(
      "ETag: \"1\"", "Last-Modified: Wed, 31 Dec 2025 00:00:00 GMT", "Content-Length: 10", "Content-Type: x")
    let answer = StoredAnswer(response, to: get(field), at: newYear)
    #expect(answer.head.status.code == status)
    #expect(String(decoding: response.body[answer.range], as: UTF8.self) == content)
    #expect(answer.head.headerFields.contains(.contentType) == (status < 300))
    if status != 304 { #expect(answer.head.headerFields[.contentLength] == String(content.utf8.count)) }
  }

  @Test(
    "N30: of an empty content the last bytes are the whole, and no other part is there",
    arguments: [("bytes=-3", 200), ("bytes=-0", 416), ("bytes=0-", 416)])
  func partOfNothing(_ range: String, _ status: Int) {
    let answer = StoredAnswer(stored("ETag: \"1\"", body: ""), to: get("Range: \(range)"), at: newYear)
    #expect(answer.head.status.code == status)
  }

  @Test(
    "N28: where a response has no Last-Modified, its Date stands for it",
    arguments: [
      ("Wed, 31 Dec 2025 23:59:59 GMT", 200), ("Thu, 01 Jan 2026 00:00:00 GMT", 304),
      ("Thu, 01 Jan 2026 00:00:01 GMT", 304), ("x", 200),
    ])
  func unmodifiedSinceDate(_ condition: String, _ status: Int) {
    let answer = StoredAnswer(stored("ETag: \"1\""), to: get("If-Modified-Since: \(condition)"), at: newYear)
    #expect(answer.head.status.code == status)
  }

  @Test("N28: a tag in which bytes were lost is nobody's, since others may have lost theirs")
  func illegibleTag() {
    let response = stored("ETag: \"\u{FFFD}\"", "Last-Modified: Wed, 31 Dec 2025 00:00:00 GMT")
    #expect(StoredAnswer(response, to: get("If-None-Match: \"\u{FFFD}\""), at: newYear).head.status == .ok)
    let validation = HTTPCachePolicy(.shared).validation(of: StoredVariants([response]), selected: 0, for: get())
    #expect(validation.tags.isEmpty && validation.modifiedSince == "Wed, 31 Dec 2025 00:00:00 GMT")
  }

  @Test("N28: If-None-Match goes before If-Modified-Since, and conditions are for a 200 only")
  func precedence() {
    let response = stored("ETag: \"1\"", "Last-Modified: Wed, 31 Dec 2025 00:00:00 GMT")
    let request = get("If-None-Match: \"2\"", "If-Modified-Since: Thu, 01 Jan 2026 00:00:00 GMT")
    #expect(StoredAnswer(response, to: request, at: newYear).head.status == .ok)
    #expect(
      StoredAnswer(stored("ETag: \"1\"", status: 404), to: get("If-None-Match: *"), at: newYear).head.status
        == .notFound)
  }

  @Test(
    "N30: If-Range holds by a strong validator only",
    arguments: [
      ("\"1\"", "\"1\"", 206), ("\"2\"", "\"1\"", 200), ("W/\"1\"", "W/\"1\"", 200),
      ("Wed, 31 Dec 2025 00:00:00 GMT", "\"1\"", 206), ("Tue, 30 Dec 2025 00:00:00 GMT", "\"1\"", 200),
      ("x", "\"1\"", 200),
    ])
  func ifRange(_ condition: String, _ tag: String, _ status: Int) {
    let response = stored("ETag: \(tag)", "Last-Modified: Wed, 31 Dec 2025 00:00:00 GMT")
    #expect(
      StoredAnswer(response, to: get("Range: bytes=0-1", "If-Range: \(condition)"), at: newYear).head.status.code
        == status)
  }

  @Test("N30: a date is a strong validator of what was a minute old when it was sent", arguments: [(0, 206), (1, 200)])
  func ifRangeSoon(_ second: Int, _ status: Int) {
    let modified = "Wed, 31 Dec 2025 23:59:0\(second) GMT"
    let request = get("Range: bytes=0-1", "If-Range: \(modified)")
    let answer = StoredAnswer(stored("Last-Modified: \(modified)"), to: request, at: newYear)
    #expect(answer.head.status.code == status)
  }

  @Test("N28: a tag with bytes that are not UTF-8 is compared by them, and nothing is asked about beside it")
  func illegibleTags() {
    func field(_ name: HTTPField.Name, _ byte: UInt8) -> HTTPFields {
      var fields = HTTPFields()
      fields.append(HTTPField(name: name, value: [0x22, byte, 0x22]))
      return fields
    }
    let policy = HTTPCachePolicy(.shared)
    var response = stored("X: 1")
    response.head.headerFields.append(contentsOf: field(.eTag, 0xE9))
    for (byte, agrees) in [(0xE9, true), (0xE8, false)] as [(UInt8, Bool)] {
      let head = HTTPResponse(status: .ok, headerFields: field(.eTag, byte))
      let fresh = policy.freshened(response, byHead: head, requestTime: newYear, responseTime: newYear)
      #expect((fresh != nil) == agrees)
    }
    let known = StoredVariants([stored("ETag: \"1\"")])
    var request = get()
    #expect(!policy.validation(of: known, selected: 0, for: request).isEmpty)
    request.headerFields.append(contentsOf: field(.ifNoneMatch, 0xE9))
    #expect(policy.validation(of: known, selected: 0, for: request).isEmpty)
  }

  @Test("N29: the answer to a HEAD freshens what it agrees with")
  func head() {
    let policy = HTTPCachePolicy(.shared)
    let response = stored("ETag: \"1\"", "X: old")
    func fresh(_ fields: String...) -> StoredResponse? {
      policy.freshened(
        response, byHead: HTTPResponse(status: .ok, headerFields: HTTPFields(lines: fields)), requestTime: newYear,
        responseTime: newYear)
    }
    #expect(fresh("ETag: \"1\"", "Content-Length: 10", "X: new")?.head.headerFields[.init("X")!] == "new")
    #expect(fresh("X: new") != nil)
    #expect(fresh("ETag: \"2\"") == nil)
    #expect(fresh("Content-Length: 11") == nil)
    #expect(fresh("Last-Modified: Wed, 31 Dec 2025 00:00:00 GMT") == nil)
  }

  @Test("N31: what an unsafe method changes is forgotten, of its origin and if it was no error")
  func invalidates() throws {
    let policy = HTTPCachePolicy(.shared)
    let target = try #require(TargetURI(get()))
    func forgotten(_ method: HTTPRequest.Method, _ response: HTTPResponse) -> [String] {
      policy.invalidated(by: response, to: method, at: target).map(\.path)
    }
    #expect(forgotten(.post, answer(201, "Location: /b", "Content-Location: c?d")) == ["/a", "/b", "/c?d"])
    #expect(forgotten(.put, answer(302, "Location: http://other.example/b")) == ["/a"])
    #expect(forgotten(.init("BREW")!, answer()) == ["/a"])
    #expect(forgotten(.delete, answer(404)) == [])
    #expect(forgotten(.post, answer(500)) == [])
    func forgotten(knownAs alias: String, _ location: String) -> [String] {
      policy.invalidated(by: answer(201, "Location: \(location)"), to: .post, at: target, knownAs: alias).map(\.text)
    }
    for location in ["http://WWW.example:80/b", "https://www.example/b", "//www.example/b", "http://example.org/b"] {
      #expect(forgotten(knownAs: "www.example", location) == ["http://example.org/a", "http://example.org/b"])
    }
    #expect(forgotten(knownAs: "www.example", "http://www.example:81/b") == ["http://example.org/a"])
    #expect(forgotten(knownAs: "no host", "http://www.example/b") == ["http://example.org/a"])
    for safe in ["OPTIONS", "PROPFIND", "QUERY", "REPORT", "SEARCH"] {
      #expect(forgotten(.init(safe)!, answer(207, "Location: /b")) == [])
    }
  }

  @Test("N32: how a request was dealt with is a member of a structured list")
  func cacheStatus() {
    var status = CacheStatus(forward: .varyMiss)
    status.forwardStatus = 304
    status.isStored = true
    status.isCollapsed = true
    status.timeToLive = -3
    status.detail = "origin-error"
    #expect(
      status.description
        == "cache-explorer; fwd=vary-miss; fwd-status=304; stored; collapsed; ttl=-3; detail=origin-error")
    #expect(CacheStatus().description == "cache-explorer; hit")
  }
}
#endif

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

@Suite("Parts of a content")
struct PartTests {
  typealias Memory = MemoryCacheLevel<String, StoredVariants>

  private let clock = ManualClock()

  private func cache(_ origin: ScriptedOrigin, bodyLimit: Int = 1000) -> HTTPCache<Memory> {
    HTTPCache(
      storing: Memory(clock: clock), policy: HTTPCachePolicy(.shared), origin: origin, bodyLimit: bodyLimit,
      clock: clock)
  }

  /// What a server answers that has ten digits, or other bytes of that length.
  private static func serve(
    _ request: HTTPRequest, _ content: String = "0123456789", tag: String = "\"a\"", control: String = "max-age=10"
  ) -> HTTPAnswer {
    let fields = ["Cache-Control: \(control)", "ETag: \(tag)", "Accept-Ranges: bytes"]
    let isSame = request.headerFields[.ifRange].map { $0 == tag } ?? true
    guard isSame, let range = ByteRange(request.headerFields[values: .range], of: content.utf8.count) else {
      return HTTPAnswer(200, fields + ["Content-Length: \(content.utf8.count)"], content)
    }
    guard case .part(let part) = range else { return HTTPAnswer(416, fields) }
    let text = String(decoding: Array(content.utf8)[part], as: UTF8.self)
    return HTTPAnswer(
      206,
      fields + [
        "Content-Range: bytes \(part.lowerBound)-\(part.upperBound - 1)/\(content.utf8.count)",
        "Content-Length: \(part.count)",
      ], text)
  }

  @Test(
    "N30: what a Content-Range says is read, and what contradicts itself is not",
    arguments: [
      ("bytes 0-4/10", 0..<5, 10), ("BYTES 9-9/10", 9..<10, 10), ("bytes 0-4/*", nil, 0), ("bytes */10", nil, 0),
      ("bytes 5-4/10", nil, 0), ("bytes 5-10/10", nil, 0), ("bytes 0-4", nil, 0), ("bytes=0-4/10", nil, 0),
      ("bytes 0/4-10", nil, 0), ("bytes +0-4/10", nil, 0), ("lines 0-4/10", nil, 0),
      ("bytes 0-4/99999999999999999999", nil, 0), ("bytes 0-4/9223372036854775807", 0..<5, Int.max),
    ] as [(String, Range<Int>?, Int)])
  func reads(_ text: String, _ range: Range<Int>?, _ size: Int) {
    let part = ContentPart(HTTPFields(lines: ["Content-Range: \(text)"]))
    #expect(part == range.map { ContentPart(range: $0, size: size) })
    #expect(ContentPart(HTTPFields(lines: ["Content-Range: \(text)", "Content-Range: \(text)"])) == nil)
  }

  @Test("N26, N30: a 304 for another variant is answered with the whole of it, never with a part")
  func confirmedAmongParts() async throws {
    let origin = ScriptedOrigin { request, count in
      if count == 3 { return HTTPAnswer(304, ["Cache-Control: max-age=10", "Vary: A", "ETag: \"b\""]) }
      var answer = Self.serve(request, tag: count == 0 ? "\"a\"" : "\"b\"")
      answer.head.headerFields[.vary] = "A"
      return answer
    }
    let cache = cache(origin)
    for fields in [["A: 1"], ["A: 2"], ["A: 3", "Range: bytes=2-6"]] {
      var request = get()
      request.headerFields = HTTPFields(lines: fields)
      let answer = try await cache.response(for: request)
      _ = try await answer.text()
      #expect(answer.status.isStored)
    }
    clock.advance(by: .seconds(10))
    let answer = try await cache.response(for: get("A: 1"))
    #expect(origin.requests.last?.headerFields[.ifNoneMatch]?.contains("\"b\"") == true)
    #expect(answer.head.status == .ok && answer.head.headerFields[.eTag] == "\"b\"")
    #expect(try await answer.text() == "0123456789")
  }

  @Test("N2, N30: a part that was not asked for is not stored")
  func unasked() async throws {
    let origin = ScriptedOrigin { _, _ in
      HTTPAnswer(206, ["Cache-Control: max-age=10", "ETag: \"a\"", "Content-Range: bytes 0-3/10"], "0123")
    }
    let cache = cache(origin)
    let answer = try await cache.response(for: get())
    #expect(answer.head.status == .partialContent && !answer.status.isStored)
    #expect(try await answer.text() == "0123")
    _ = try await cache.response(for: get("Range: bytes=1-2")).text()
    #expect(origin.requests.count == 2)
  }

  @Test(
    "N30: a part answers what lies within it, and nothing else",
    arguments: [
      (["Range: bytes=2-6"], 206, "23456", 1), (["Range: bytes=3-4"], 206, "34", 1),
      (["Range: bytes=6-6"], 206, "6", 1),
      (["Range: bytes=3-4", "If-Range: \"a\""], 206, "34", 1), (["Range: bytes=3-4, 4-5"], 206, "345", 1),
      (["Range: bytes=2-6", "If-None-Match: \"a\""], 304, "", 1),
      (["Range: bytes=2-7"], 206, "234567", 2), (["Range: bytes=1-3"], 206, "123", 2),
      (["Range: bytes=8-9"], 206, "89", 2), (["Range: bytes=-2"], 206, "89", 2),
      (["Range: bytes=3-"], 206, "3456789", 2),
      (["Range: bytes=3-4", "If-Range: \"b\""], 200, "0123456789", 2), ([], 200, "0123456789", 2),
      (["Range: lines=3-4"], 200, "0123456789", 2), (["Range: bytes=3-4", "Cache-Control: no-cache"], 206, "34", 2),
    ])
  func within(_ fields: [String], _ status: Int, _ text: String, _ asked: Int) async throws {
    let origin = ScriptedOrigin { request, _ in Self.serve(request) }
    let cache = cache(origin)
    let first = try await cache.response(for: get("Range: bytes=2-6"))
    #expect(try await first.text() == "23456" && first.status.isStored)
    var request = get()
    request.headerFields = HTTPFields(lines: fields)
    let answer = try await cache.response(for: request)
    #expect(answer.head.status.code == status && origin.requests.count == asked)
    #expect(try await answer.text() == text)
    if asked == 1, status == 206 {
      let start = (Int(text.prefix(1)) ?? 0, Int(text.suffix(1)) ?? 0)
      #expect(answer.head.headerFields[.contentRange] == "bytes \(start.0)-\(start.1)/10")
      #expect(answer.head.headerFields[.contentLength] == "\(text.utf8.count)")
    }
    if asked == 2, !fields.contains("Cache-Control: no-cache") { #expect(answer.status.forward == .partial) }
  }

  @Test("N30: only-if-cached asks nobody for what lies beyond a part")
  func unanswerable() async throws {
    let origin = ScriptedOrigin { request, _ in Self.serve(request) }
    let cache = cache(origin)
    _ = try await cache.response(for: get("Range: bytes=2-6")).text()
    let answer = try await cache.response(for: get("Cache-Control: only-if-cached"))
    #expect(answer.head.status == .gatewayTimeout)
    for fields in [[], ["Range: bytes=3-4"]] {
      var head = get(method: .head)
      head.headerFields = HTTPFields(lines: fields)
      #expect(try await cache.response(for: head).status.forward == .partial)
    }
  }

  @Test(
    "N30: parts of the same content that touch each other are one, and may come to the whole",
    arguments: [
      (["0-"], [], 1), (["0-4", "5-9"], [], 2), (["5-9", "0-4"], [], 2), (["0-6", "3-9"], [], 2),
      (["3-6", "0-9"], [], 2),
      (["2-3", "4-5"], ["2-5"], 2), (["2-3", "4-5", "0-9"], [], 3), (["2-5", "3-4"], ["2-5"], 1),
      (["0-1", "3-9"], ["0-1", "3-9"], 2), (["6-9", "0-2"], ["0-2", "1-1", "6-9"], 2),
      (["0-1", "3-9", "2-2"], [], 3), (["0-1", "3-9", "1-3"], [], 3), (["5-9", "0-1", "3-3", "1-6"], [], 4),
      (["8-9", "0-1", "4-5"], ["0-1", "4-5", "8-9"], 3), (["8-9", "0-1", "4-5", "1-4"], ["0-5", "8-9"], 4),
      (["8-9", "0-1", "4-5", "6-7", "2-3"], [], 5), (["0-1", "4-5", "8-9", "1-8"], [], 4),
    ])
  func touches(_ ranges: [String], _ known: [String], _ asked: Int) async throws {
    let origin = ScriptedOrigin { request, _ in Self.serve(request) }
    let cache = cache(origin)
    for range in ranges { _ = try await cache.response(for: get("Range: bytes=\(range)")).text() }
    #expect(origin.requests.count == asked)
    for range in known.isEmpty ? ["0-9", "2-7"] : known {
      let answer = try await cache.response(for: get("Range: bytes=\(range)"))
      #expect(answer.head.status == .partialContent && answer.status.isHit)
      let ends = range.split(separator: "-")
      #expect(answer.head.headerFields[.contentRange] == "bytes \(range)/10")
      #expect(try await answer.text().hasPrefix(ends[0]) && answer.body.length == Int(ends[1])! - Int(ends[0])! + 1)
    }
    let whole = try await cache.response(for: get())
    #expect(try await whole.text() == "0123456789" && whole.head.status == .ok)
    #expect(whole.head.headerFields[.contentRange] == nil && whole.head.headerFields[.contentLength] == "10")
    #expect(origin.requests.count == asked + (known.isEmpty ? 0 : 1))
    // Of one of which the beginning is there only the rest is asked for.
    if let beginning = known.first(where: { $0.hasPrefix("0-") }) {
      #expect(origin.requests.last?.headerFields[.range] == "bytes=\(Int(beginning.dropFirst(2))! + 1)-")
    }
  }

  @Test(
    "N30: parts of what may be different contents stay apart",
    arguments: [("\"b\"", "ABCDEFGHIJ"), ("W/\"a\"", "0123456789"), ("\"a\"", "0123456789AB"), ("", "0123456789")])
  func apart(_ tag: String, _ content: String) async throws {
    let origin = ScriptedOrigin { request, count in
      // A weak tag on both sides is none to go by either.
      count == 0 && !tag.hasPrefix("W/") && !tag.isEmpty ? Self.serve(request) : Self.serve(request, content, tag: tag)
    }
    let cache = cache(origin)
    _ = try await cache.response(for: get("Range: bytes=0-4")).text()
    _ = try await cache.response(for: get("Range: bytes=5-9")).text()
    #expect(try await cache.response(for: get()).text() == content)
    #expect(origin.requests.count == 3 && origin.requests.last?.headerFields.contains(.range) == false)
  }

  @Test(
    "N2, N30: a part that nobody asked for, or that does not say which it is, is not stored",
    arguments: [
      ("Range: bytes=0-4", "bytes 0-4/*", "01234"), ("Range: bytes=0-4", "bytes 0-5/10", "01234"),
      ("Range: bytes=0-1, 4-5", "", "01234"), ("X: 1", "bytes 0-4/10", "01234"),
    ])
  func unfit(_ field: String, _ range: String, _ text: String) async throws {
    let origin = ScriptedOrigin { _, count in
      HTTPAnswer(
        206, ["Cache-Control: max-age=10"] + (range.isEmpty ? [] : ["Content-Range: \(range)"]),
        "\(text.dropLast())\(count)")
    }
    let cache = cache(origin)
    for count in 0..<2 {
      let answer = try await cache.response(for: get(field))
      #expect(try await answer.text() == "\(text.dropLast())\(count)" && answer.head.status == .partialContent)
    }
  }

  @Test("N30: where the beginning is stored only the rest is asked for")
  func completes() async throws {
    let origin = ScriptedOrigin { request, _ in Self.serve(request) }
    let cache = cache(origin)
    _ = try await cache.response(for: get("Range: bytes=0-3")).text()
    // However old it is: the origin is asked whether it is still right.
    clock.advance(by: .seconds(60))
    let whole = try await cache.response(for: get())
    #expect(try await whole.text() == "0123456789" && whole.head.status == .ok)
    #expect(whole.head.headerFields[.contentRange] == nil && whole.head.headerFields[.contentLength] == "10")
    #expect(whole.status.description == "cache-explorer; fwd=partial; fwd-status=206; stored; ttl=10")
    #expect(origin.requests.last?.headerFields[.range] == "bytes=4-")
    #expect(origin.requests.last?.headerFields[.ifRange] == "\"a\"")
    // A 304 would be no answer for who wants the whole.
    #expect(origin.requests.last?.headerFields.contains(.ifNoneMatch) == false)
    #expect(try await cache.response(for: get()).status.isHit && origin.requests.count == 2)
  }

  @Test("N30: what is not the rest that was asked for is not put behind a beginning")
  func completesNothing() async throws {
    let changed = ScriptedOrigin { request, count in
      count == 0 ? Self.serve(request) : Self.serve(request, "ABCDEFGHIJ", tag: "\"b\"")
    }
    var endless = HTTPAnswer(206, ["ETag: \"a\"", "Content-Range: bytes 4-9/10"])
    endless.body = HTTPBody(isDelimited: false) { nil }
    let odd: [HTTPAnswer] = [
      HTTPAnswer(416, ["Content-Range: bytes */4"]),
      HTTPAnswer(206, ["ETag: \"b\"", "Content-Range: bytes 4-9/10"], "EFGHIJ"),
      HTTPAnswer(206, ["Content-Range: bytes 4-9/10"], "EFGHIJ"),
      HTTPAnswer(206, ["ETag: \"a\"", "Content-Range: bytes 4-9/11"], "EFGHIJ"),
      HTTPAnswer(206, ["ETag: \"a\"", "Content-Range: bytes 5-9/10"], "FGHIJ"),
      HTTPAnswer(206, ["ETag: \"a\"", "Content-Range: bytes 4-9/10", "Content-Length: 7"], "EFGHIJ"),
      HTTPAnswer(206, ["ETag: \"a\"", "Content-Range: bytes 4-9/10"], "EFGHIJK"), endless,
    ]
    for answer in odd + [nil] as [HTTPAnswer?] {
      let origin =
        answer == nil
        ? changed
        : ScriptedOrigin { request, count in
          let another = Self.serve(request, "ABCDEFGHIJ", tag: "\"b\"")
          return count == 0 ? Self.serve(request) : count == 1 ? answer ?? another : another
        }
      let cache = cache(origin)
      _ = try await cache.response(for: get("Range: bytes=0-3")).text()
      let whole = try await cache.response(for: get())
      #expect(try await whole.text() == "ABCDEFGHIJ" && whole.head.status == .ok)
      #expect(origin.requests.count == (answer == nil ? 2 : 3))
      if answer != nil { #expect(origin.requests.last?.headerFields.contains(.range) == false) }
    }
  }

  @Test("N8, N30: a rest that breaks off leaves the beginning as it is")
  func breaksOff() async throws {
    let origin = ScriptedOrigin { request, count in
      var answer = Self.serve(request)
      guard count == 1 else { return answer }
      answer.body = HTTPBody(length: 6) { throw CacheError(.invalidResponse, "broken") }
      return answer
    }
    let cache = cache(origin)
    _ = try await cache.response(for: get("Range: bytes=0-3")).text()
    let broken = try await cache.response(for: get())
    await #expect(throws: CacheError.self) { try await broken.text() }
    #expect(try await cache.response(for: get("Range: bytes=0-3")).status.isHit)
    #expect(try await cache.response(for: get()).text() == "0123456789")
  }

  @Test("N25, N26, N30: a stale part is asked about, and a 304 answers for it")
  func validates() async throws {
    let origin = ScriptedOrigin { request, _ in
      request.headerFields.contains(.ifNoneMatch)
        ? HTTPAnswer(304, ["ETag: \"a\"", "Cache-Control: max-age=10"])
        : Self.serve(request, control: "max-age=10, stale-while-revalidate=60")
    }
    let cache = cache(origin)
    _ = try await cache.response(for: get("Range: bytes=0-4")).text()
    clock.advance(by: .seconds(11))
    let answer = try await cache.response(for: get("Range: bytes=1-2"))
    #expect(try await answer.text() == "12" && answer.head.status == .partialContent)
    #expect(answer.status.forward == .stale && answer.status.forwardStatus == 304)
    #expect(try await cache.response(for: get("Range: bytes=3-4")).status.isHit)
    #expect(origin.requests.count == 2)
  }

  @Test("N26, N30: a 304 about the whole is no answer from a part with the same tag")
  func confirmsNoPart() async throws {
    let origin = ScriptedOrigin { request, _ in
      var answer = Self.serve(request, control: "max-age=10")
      answer.head.headerFields[.vary] = "A"
      guard request.headerFields.contains(.ifNoneMatch) else { return answer }
      return HTTPAnswer(304, ["ETag: \"a\"", "Vary: A"])
    }
    let cache = cache(origin)
    _ = try await cache.response(for: get("A: 1")).text()
    _ = try await cache.response(for: get("A: 2", "Range: bytes=0-4")).text()
    let answer = try await cache.response(for: get("A: 3"))
    #expect(try await answer.text() == "0123456789" && answer.head.status == .ok)
  }

  @Test("N26, N30: a 304 for one part is for the others of the same content, which stay beside it")
  func validatesAll() async throws {
    let origin = ScriptedOrigin { request, _ in
      request.headerFields.contains(.ifNoneMatch)
        ? HTTPAnswer(304, ["ETag: \"a\"", "Cache-Control: max-age=10"]) : Self.serve(request)
    }
    let cache = cache(origin)
    for range in ["0-1", "4-5", "8-9"] { _ = try await cache.response(for: get("Range: bytes=\(range)")).text() }
    clock.advance(by: .seconds(11))
    #expect(try await cache.response(for: get("Range: bytes=4-5")).status.forwardStatus == 304)
    for (range, text) in [("0-1", "01"), ("4-5", "45"), ("8-9", "89")] {
      let answer = try await cache.response(for: get("Range: bytes=\(range)"))
      #expect(try await answer.text() == text && answer.status.isHit)
    }
    #expect(origin.requests.count == 4)
  }

  @Test(
    "N30: parts of an outdated content go together, whatever shows that it is",
    arguments: [(true, "max-age=10"), (false, "max-age=10"), (false, "no-store")])
  func outdated(_ isPart: Bool, _ control: String) async throws {
    let origin = ScriptedOrigin { request, count in
      var request = request
      if count == 2, !isPart { request.headerFields[.range] = nil }
      return count < 2 ? Self.serve(request) : Self.serve(request, "ABCDEFGHIJ", tag: "\"b\"", control: control)
    }
    let cache = cache(origin)
    _ = try await cache.response(for: get("Range: bytes=0-1")).text()
    clock.advance(by: .seconds(5))
    _ = try await cache.response(for: get("Range: bytes=8-9")).text()
    clock.advance(by: .seconds(6))
    #expect(try await cache.response(for: get("Range: bytes=0-1")).text().hasPrefix("AB"))
    #expect(try await cache.response(for: get("Range: bytes=8-9")).text() == "IJ")
  }

  @Test("N30: of more parts of a content than are kept, and of more bytes, the oldest leave", arguments: [1000, 15])
  func oldestLeaves(limit: Int) async throws {
    let content = String(repeating: "0123456789", count: 10)
    let origin = ScriptedOrigin { request, _ in Self.serve(request, content) }
    let cache = cache(origin, bodyLimit: limit)
    for part in 0..<10 { _ = try await cache.response(for: get("Range: bytes=\(10 * part)-\(10 * part + 1)")).text() }
    let kept = limit == 15 ? 7 : StoredVariants.partLimit
    for part in (10 - kept..<10).reversed() {
      #expect(try await cache.response(for: get("Range: bytes=\(10 * part)-\(10 * part + 1)")).status.isHit)
    }
    let gone = 9 - kept
    #expect(try await !cache.response(for: get("Range: bytes=\(10 * gone)-\(10 * gone + 1)")).status.isHit)
    #expect(kept < 10 && origin.requests.count == 11)
  }

  @Test("N23, N30: parts for one variant are not those for another, whatever their tag says")
  func variantsOfParts() async throws {
    let origin = ScriptedOrigin { request, _ in
      var answer = Self.serve(request)
      answer.head.headerFields[.vary] = "A"
      return answer
    }
    let cache = cache(origin)
    _ = try await cache.response(for: get("A: 1", "Range: bytes=0-1")).text()
    _ = try await cache.response(for: get("A: 2", "Range: bytes=4-5")).text()
    #expect(try await cache.response(for: get("A: 1", "Range: bytes=4-5")).status.forward == .partial)
    #expect(try await cache.response(for: get("A: 2", "Range: bytes=4-5")).status.isHit)
    #expect(try await cache.response(for: get("A: 1", "Range: bytes=0-1")).status.isHit)
  }

  @Test("N30: a part freshens the whole that it is of, and replaces another one")
  func freshensWhole() async throws {
    for tag in ["\"a\"", "\"b\""] {
      let origin = ScriptedOrigin { request, count in
        var answer = Self.serve(request, tag: count == 0 ? "\"a\"" : tag)
        answer.head.headerFields[.init("X-Count")!] = "\(count)"
        return answer
      }
      let cache = cache(origin)
      _ = try await cache.response(for: get()).text()
      _ = try await cache.response(for: get("Range: bytes=0-1", "Cache-Control: no-cache")).text()
      let whole = try await cache.response(for: get())
      #expect(try await whole.text() == "0123456789" && whole.head.headerFields[.contentLength] == "10")
      #expect(whole.status.isHit == (tag == "\"a\""))
      if whole.status.isHit { #expect(whole.head.headerFields[.init("X-Count")!] == "1") }
    }
  }

  @Test("N30: what would add little to a large part is passed on, unless it is the last that was missing")
  func addsLittle() async throws {
    let content = String(repeating: "0123456789", count: 10)
    let origin = ScriptedOrigin { request, _ in Self.serve(request, content) }
    let cache = cache(origin)
    func ask(_ range: String) async throws -> Bool {
      let answer = try await cache.response(for: get("Range: bytes=\(range)"))
      #expect(answer.head.status == .partialContent)
      _ = try await answer.text()
      return answer.status.isHit
    }
    #expect(try await [ask("0-63"), ask("64-66"), ask("64-66"), ask("0-63")] == [false, false, false, true])
    #expect(try await [ask("64-67"), ask("64-67"), ask("0-98"), ask("99-99")] == [false, true, false, false])
    #expect(try await cache.response(for: get()).status.isHit)
  }

  @Test("N30: what adds little is stored where it closes a gap")
  func closesGap() async throws {
    let content = String(repeating: "0123456789", count: 10)
    let origin = ScriptedOrigin { request, _ in Self.serve(request, content) }
    let cache = cache(origin)
    for range in ["0-47", "50-89", "48-49"] {
      let answer = try await cache.response(for: get("Range: bytes=\(range)"))
      #expect(try await answer.text().utf8.count == answer.body.length && !answer.status.isHit)
    }
    #expect(try await cache.response(for: get("Range: bytes=0-89")).status.isHit)
  }

  @Test("N9, N30: parts do not come to more than is stored of a content", arguments: [6, 9, 10])
  func bounded(limit: Int) async throws {
    let origin = ScriptedOrigin { request, _ in Self.serve(request) }
    let cache = cache(origin, bodyLimit: limit)
    _ = try await cache.response(for: get("Range: bytes=0-4")).text()
    _ = try await cache.response(for: get("Range: bytes=5-9")).text()
    #expect(try await cache.response(for: get("Range: bytes=5-9")).status.isHit)
    #expect(try await cache.response(for: get("Range: bytes=0-4")).status.isHit == (limit == 10))
  }

  @Test("N30: a beginning with a weak tag is no beginning of anything")
  func weakBeginning() async throws {
    let origin = ScriptedOrigin { request, _ in Self.serve(request, tag: "W/\"a\"") }
    let cache = cache(origin)
    _ = try await cache.response(for: get("Range: bytes=0-3")).text()
    #expect(try await cache.response(for: get()).text() == "0123456789")
    #expect(origin.requests.count == 2 && origin.requests.last?.headerFields.contains(.range) == false)
  }

  @Test("N30: who wants a whole asks about no part, not even one of another variant")
  func asksAboutNoPart() async throws {
    let origin = ScriptedOrigin { request, _ in
      var answer = Self.serve(request)
      answer.head.headerFields[.vary] = "A"
      return answer
    }
    let cache = cache(origin)
    _ = try await cache.response(for: get("A: 1", "Range: bytes=2-6")).text()
    #expect(try await cache.response(for: get("A: 2")).text() == "0123456789")
    #expect(origin.requests.last?.headerFields.contains(.ifNoneMatch) == false)
  }

  @Test("N30: what came behind one part comes behind no combined one")
  func trailers() async throws {
    let origin = ScriptedOrigin { request, _ in
      var answer = Self.serve(request)
      let content = try await answer.body.collect(upTo: 10)?.content ?? Data()
      answer.body = HTTPBody(content, trailers: HTTPFields(lines: ["X-Sum: \(content.count)"]))
      return answer
    }
    let cache = cache(origin)
    for range in ["0-1", "2-4"] {
      let part = try await cache.response(for: get("Range: bytes=\(range)"))
      #expect(try await part.body.collect(upTo: 10)?.trailers.isEmpty == false)
    }
    let both = try await cache.response(for: get("Range: bytes=0-4"))
    let content = try await both.body.collect(upTo: 10)
    #expect(both.status.isHit && content?.content == Data("01234".utf8) && content?.trailers.isEmpty == true)
  }

  @Test("N30: a part of a content of another length takes the place of the whole, whatever its tag")
  func otherLength() async throws {
    let origin = ScriptedOrigin { request, count in
      Self.serve(request, count == 0 ? "0123456789" : "0123456789AB")
    }
    let cache = cache(origin)
    _ = try await cache.response(for: get()).text()
    _ = try await cache.response(for: get("Range: bytes=0-1", "Cache-Control: no-cache")).text()
    #expect(try await cache.response(for: get()).text() == "0123456789AB")
  }

  @Test("N23, N30: a whole that a part freshens is selected by what the part's answer names")
  func freshensSelection() async throws {
    let origin = ScriptedOrigin { request, count in
      var answer = Self.serve(request)
      answer.head.headerFields[.vary] = count == 0 ? "A" : "A, B"
      return answer
    }
    let cache = cache(origin)
    _ = try await cache.response(for: get("A: 1", "B: 1")).text()
    _ = try await cache.response(for: get("A: 1", "B: 1", "Range: bytes=0-1", "Cache-Control: no-cache")).text()
    #expect(try await cache.response(for: get("A: 1", "B: 1")).status.isHit)
    #expect(try await cache.response(for: get("A: 1", "B: 2")).status.forward == .varyMiss)
  }

  @Test("N30: a part that is not what it says takes the place of nothing")
  func replacesNothing() async throws {
    let origin = ScriptedOrigin { request, count in
      count == 0
        ? Self.serve(request)
        : HTTPAnswer(206, ["Cache-Control: max-age=10", "ETag: \"b\"", "Content-Range: bytes 0-5/10"], "01234")
    }
    let cache = cache(origin)
    _ = try await cache.response(for: get()).text()
    _ = try await cache.response(for: get("Range: bytes=0-5", "Cache-Control: no-cache")).text()
    #expect(try await cache.response(for: get()).status.isHit)
  }
}
#endif

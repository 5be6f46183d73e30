#if Proxy
import CacheEngine
import CacheEngineHTTP
import CacheEngineProxy
import CacheEngineTesting
import Foundation
import Synchronization
import Testing

/// An origin that says something else than it should.
///
/// A failure names its seed: `CACHEENGINE_SEED=n` runs that one alone, and `CACHEENGINE_TRIALS=n` runs so many.
@Suite(.timeLimit(.minutes(10))) struct LyingOriginTests: ProxySuite {
  let log = ServedLog()

  @Test("Content that breaks off ends no connection in order where that would be the end of the content")
  func brokenForHTTP10() async throws {
    let broken = RawAnswer(
      "HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n", closes: true)
    let whole = RawAnswer(
      "HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nbody\r\n0\r\n\r\n")
    try await withProxy(origin: { $0.contains("/whole") ? whole : broken }) { port, _, _ in
      for (path, end) in [("/", "half(reset)"), ("/whole", "body"), ("/whole", "body")] {
        let answer = try await RawClient.ask(port, "GET \(path) HTTP/1.0\r\n\r\n", noting: "(reset)")
        #expect(answer.hasPrefix("HTTP/1.1 200 OK\r\n") && answer.hasSuffix("\r\n\r\n\(end)"), "\(answer)")
      }
    }
  }

  /// What a client gets.
  private struct Got: Equatable {
    var status = 0
    var fields: [String] = []
    var content = ""
    /// Its content ended as it was announced to.
    var isWhole = false

    var isHit: Bool { fields.contains { $0.hasPrefix("cache-status:") && $0.contains("; hit") } }

    init(_ text: String, toHead: Bool = false) {
      var rest = Array(text.utf8)
      // Interim answers come before the one that counts.
      while !(200...999).contains(status) {
        guard let end = rest.firstRange(of: Array("\r\n\r\n".utf8)) else { return }
        let lines = String(decoding: rest[..<end.lowerBound], as: UTF8.self).components(separatedBy: "\r\n")
        status = lines[0].split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
        fields = lines.dropFirst().map { $0.lowercased() }
        rest.removeSubrange(..<end.upperBound)
      }
      func value(_ name: String) -> String? {
        fields.first { $0.hasPrefix("\(name): ") }.map { String($0.dropFirst(name.count + 2)) }
      }
      if value("transfer-encoding") == "chunked" {
        (content, isWhole) = Self.unchunked(rest)
      } else {
        content = String(decoding: rest, as: UTF8.self)
        let hasNone = toHead || [204, 304].contains(status)
        isWhole = hasNone ? rest.isEmpty : value("content-length").map { Int($0) == rest.count } ?? true
      }
    }

    private static func unchunked(_ bytes: [UInt8]) -> (String, Bool) {
      var (rest, content) = (bytes[...], [UInt8]())
      while let line = rest.firstRange(of: Array("\r\n".utf8)) {
        guard let size = Int(String(decoding: rest[..<line.lowerBound], as: UTF8.self), radix: 16) else { break }
        rest = rest[line.upperBound...]
        if size == 0 { return (String(decoding: content, as: UTF8.self), rest.suffix(2) == Array("\r\n".utf8)[...]) }
        guard rest.count >= size + 2 else { break }
        content += rest.prefix(size)
        rest = rest.dropFirst(size + 2)
      }
      return (String(decoding: content, as: UTF8.self), false)
    }
  }

  private static let keeps = "Cache-Control: max-age=60\r\n"
  private static let truths = [
    "HTTP/1.1 200 OK\r\n\(keeps)ETag: \"a\"\r\nAge: 5\r\nVary: Accept\r\nContent-Length: 10\r\n\r\n0123456789",
    "HTTP/1.1 200 OK\r\n\(keeps)Transfer-Encoding: chunked\r\nTrailer: X-T\r\n\r\n4;a=\"b;c\"\r\n0123\r\n6\r\n456789\r\n0\r\nX-T: 1\r\n\r\n",
    "HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\nHTTP/1.1 200 OK\r\n\(keeps)Content-Length: 4\r\nConnection: X-A\r\nX-A: 1\r\n\r\n0123",
    "HTTP/1.1 206 Partial Content\r\n\(keeps)ETag: \"a\"\r\nContent-Range: bytes 0-3/10\r\nContent-Length: 4\r\n\r\n0123",
    "HTTP/1.1 204 No Content\r\n\(keeps)ETag: \"a\"\r\n\r\n",
    "HTTP/1.1 304 Not Modified\r\n\(keeps)ETag: \"a\"\r\n\r\n",
  ]
  /// What is wrong in a way that takes several changes.
  private static let lies =
    ["10, 10", "+4", "4, 5", "-1", "", "4 4", "0x4", "99999999999999999999", "18446744073709551620", "5"].map {
      "HTTP/1.1 200 OK\r\n\(keeps)Content-Length: \($0)\r\n\r\n0123"
    } + [
      "HTTP/1.1 200 OK\r\n\(keeps)Content-Length: 2\r\n\r\n0123HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil",
      "HTTP/1.1 200 OK\r\n\(keeps)Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n4\r\n0123\r\n0\r\n\r\n",
      "HTTP/1.1 200 OK\r\n\(keeps)Transfer-Encoding: chunked, chunked\r\n\r\n4\r\n0123\r\n0\r\n\r\n",
      "HTTP/1.1 200 OK\r\n\(keeps)Transfer-Encoding: chunked\r\n\r\nFFFFFFFFFFFFFFFF\r\n0123\r\n0\r\n\r\n",
      "HTTP/1.1 200 OK\r\n\(keeps)Transfer-Encoding: chunked\r\n\r\n-4\r\n0123\r\n0\r\n\r\n",
      "HTTP/1.1 200 OK\r\n\(keeps)Transfer-Encoding: chunked\r\n\r\n4\r\n01234\r\n0\r\n\r\n",
      "HTTP/1.1 204 No Content\r\n\(keeps)\r\nHTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil",
      "HTTP/1.1 204 No Content\r\n\(keeps)Content-Length: 4\r\n\r\nevil",
      "HTTP/1.1 304 Not Modified\r\n\(keeps)Content-Length: 4\r\n\r\nevil",
      "HTTP/1.1 103 Early Hints\r\nContent-Length: 4\r\n\r\nevilHTTP/1.1 200 OK\r\n\(keeps)Content-Length: 4\r\n\r\n0123",
      "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 101 Switching Protocols\r\n\r\n",
      "HTTP/1.1 200 OK\r\n\(keeps)X: a\r\n b\r\nContent-Length: 4\r\n\r\n0123",
      "HTTP/1.1 200 OK\r\n\(keeps)X : a\r\nContent-Length: 4\r\n\r\n0123",
      "HTTP/1.1 200 OK\r\n\(keeps)X: \u{0}\r\nContent-Length: 4\r\n\r\n0123",
      "HTTP/1.1 200 OK\r\n\(keeps)X: \(String(repeating: "y", count: 1 << 18))\r\nContent-Length: 4\r\n\r\n0123",
      "HTTP/1.1 099 Odd\r\n\(keeps)Content-Length: 4\r\n\r\n0123",
      "HTTP/1.1 1000 Odd\r\n\(keeps)Content-Length: 4\r\n\r\n0123",
      "HTTP/0.9 200 OK\r\n\(keeps)Content-Length: 4\r\n\r\n0123",
      "HTTP/2.0 200 OK\r\n\(keeps)Content-Length: 4\r\n\r\n0123",
    ]

  private var seeds: Range<UInt64> {
    let environment = ProcessInfo.processInfo.environment
    if let seed = environment["CACHEENGINE_SEED"].flatMap(UInt64.init) { return seed..<seed + 1 }
    return 0..<(environment["CACHEENGINE_TRIALS"].flatMap(UInt64.init) ?? 200)
  }

  private static func said(_ seed: UInt64) -> (text: String, closes: Bool) {
    if seed < lies.count {
      // One that has said too much would be asked over the same connection, if that were still believed in.
      return (lies[Int(seed)], !lies[Int(seed)].contains("evil"))
    }
    var lot = SeededGenerator(seed: seed)
    var bytes = Array((truths.randomElement(using: &lot) ?? "").utf8)
    for _ in 0..<Int.random(in: 1...2, using: &lot) {
      let place = Int.random(in: bytes.indices, using: &lot)
      switch Int.random(in: 0..<5, using: &lot) {
      case 0: bytes.removeSubrange(place...)
      case 1: bytes[place] ^= 1 << UInt8.random(in: 0..<7, using: &lot)
      case 2: bytes.insert(contentsOf: Array("\r\n 0:;,\"W".utf8).shuffled(using: &lot).prefix(2), at: place)
      case 3: bytes.remove(at: place)
      default:
        let digits = bytes.indices.filter { (0x30...0x39).contains(bytes[$0]) }
        guard let digit = digits.randomElement(using: &lot) else { continue }
        bytes.insert(bytes[digit], at: digit)
      }
      if bytes.isEmpty { break }
    }
    // Nobody would know for how long to wait for the rest.
    return (String(decoding: bytes, as: UTF8.self), true)
  }

  @Test(
    "a head of up to 256 fields and 128 KiB passes, and one that is longer is 502",
    arguments: [(256, 1, true), (257, 1, false), (2, 100 << 10, true), (2, 129 << 10, false), (4, 50 << 10, false)])
  func longHead(fields: Int, length: Int, passes: Bool) async throws {
    let others = (1..<fields).map { "X-\($0): \(String(repeating: "y", count: length))\r\n" }.joined()
    try await withProxy(origin: { _ in RawAnswer("HTTP/1.1 200 OK\r\n\(others)Content-Length: 0\r\n\r\n") }) {
      (port, _, _) async throws in
      let got = Got(try await ask(port, get()))
      #expect(got.status == (passes ? 200 : 502))
      #expect(got.fields.contains { $0.contains("error=http_response_header_section_size") } == !passes)
    }
  }

  @Test(
    "N8, N35: whatever an origin says, nobody is given what is another's, and nothing is kept that did not come whole")
  func lies() async throws {
    let asked = Mutex<[String: Int]>([:])
    try await withProxy(
      origin: { request in
        let path = String(request.split(separator: " ")[1])
        if path.hasPrefix("/good") { return Self.fresh("good\(path)") }
        let isFirst = asked.withLock { asked in
          asked[path, default: 0] += 1
          return asked[path] == 1
        }
        guard isFirst, let seed = UInt64(path.dropFirst(5)) else { return Self.fresh("second\(path)") }
        let (text, closes) = Self.said(seed)
        return RawAnswer(text, closes: closes)
      }
    ) { (port, _, _) async throws in
      for seed in seeds {
        let range = seed % 3 == 0 ? "Range: bytes=0-3\r\n" : ""
        let first = Got(try await ask(port, get("/bad/\(seed)", range)))
        let good = Got(try await ask(port, get("/good/\(seed)")))
        #expect(good.status == 200 && good.content == "good/good/\(seed)" && good.isWhole, "seed \(seed): \(good)")
        let again = Got(try await ask(port, get("/bad/\(seed)", range)))
        #expect(again.isWhole && again.status != 0, "seed \(seed): \(again)")
        if again.isHit {
          // An origin may give the whole where a part of it was asked for, and no part of nothing can be given.
          let status = first.content.isEmpty ? 416 : 206
          let isPart = again.status == status && first.status == 200 && again.content == first.content.prefix(4)
          let isSame = (again.status, again.content) == (first.status, first.content)
          #expect(first.isWhole && (isSame || isPart), "seed \(seed): \(first), \(again)")
        } else if ![304, 502].contains(again.status) {
          #expect(again.content == "second/bad/\(seed)", "seed \(seed): \(first), \(again)")
        }
        #expect(![first, good, again].contains { $0.content.contains("evil") }, "seed \(seed): \(first)")
        // For a HEAD nothing comes behind the head.
        let head = Got(
          try await ask(port, "HEAD /bad/\(seed) HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"), toHead: true)
        #expect(head.isWhole && head.content.isEmpty, "seed \(seed): \(head)")
      }
    }
  }
}
#endif

#if HTTP
import CacheEngine
import CacheEngineTesting
import HTTPTypes
import Synchronization
import TestSupport
import Testing

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

// Testable: whether tables are empty again when all is done is nobody else's to see.
@testable import CacheEngineHTTP

/// An origin whose contents follow from their tags, and which lies, breaks off and hangs.
private final class HostileOrigin: HTTPOrigin {
  static let lie = HTTPField.Name("X-Lie")!
  static let sizes = [1, 37, 100, 300]

  private let chance: Mutex<Chance>
  private let version = Mutex(0)

  init(seed: UInt64) { chance = Mutex(Chance(seed: seed)) }

  /// What a tag stands for.
  static func content(of tag: String, path: String) -> String {
    var chance = Chance(seed: tag.utf8.reduce(5) { $0 &* 31 &+ UInt64($1) })
    let size = sizes[Int(path.utf8.last ?? 0) % sizes.count]
    return String((0..<size).map { _ in Character(String(Int.random(in: 0...9, using: &chance))) })
  }

  func send(
    _ request: HTTPTypes.HTTPRequest, body: HTTPBody,
    interim: @escaping @Sendable (HTTPTypes.HTTPResponse) async -> Void
  ) async throws -> HTTPAnswer {
    var dice = chance.withLock { Chance(seed: $0.next()) }
    for _ in 0..<Int.random(in: 0...3, using: &dice) { await Task.yield() }
    let version = version.withLock { version in
      if dice.happens(oneIn: 8) || request.method == .post { version += 1 }
      return version
    }
    if dice.happens(oneIn: 20) { throw CacheError(.unreachable, "down") }
    if dice.happens(oneIn: 20) { return HTTPAnswer(dice.one(of: [500, 503, 404])) }
    if dice.happens(oneIn: 40) {
      await untilCancelled()
      throw CancellationError()
    }
    let path = request.path ?? ""
    let variant = request.headerFields[.acceptLanguage] ?? ""
    let tag = "\"\(version)\(variant)\(path)\""
    let content = Self.content(of: tag, path: path)
    let control = dice.one(of: [
      "max-age=10", "max-age=3, stale-while-revalidate=20", "no-cache", "max-age=9999999999999", "no-store",
      "max-age=5, stale-if-error=50",
    ])
    var fields = ["Cache-Control: \(control)", "Vary: Accept-Language", "ETag: \(tag)"]
    if request.method != .head, dice.happens(oneIn: 12) { return Self.lie(content, fields, &dice) }
    if let asked = request.headerFields[.ifNoneMatch], asked.contains(tag) || dice.happens(oneIn: 9) {
      return HTTPAnswer(304, fields)
    }
    let isSame = request.headerFields[.ifRange].map { $0 == tag } ?? true
    var (text, status) = (content, 200)
    if isSame, case .part(let part) = ByteRange(request.headerFields[values: .range], of: content.utf8.count) {
      (text, status) = (String(decoding: Array(content.utf8)[part], as: UTF8.self), 206)
      fields.append("Content-Range: \(ContentPart(range: part, size: content.utf8.count).text)")
    }
    let isAnnounced = dice.happens(oneIn: 2)
    if isAnnounced { fields.append("Content-Length: \(text.utf8.count)") }
    if request.method == .head { return HTTPAnswer(status, fields) }
    return Self.stream(status, fields, text, isAnnounced: isAnnounced, breaksOff: dice.happens(oneIn: 10))
  }

  /// An answer that is not what it says it is.
  private static func lie(_ content: String, _ fields: [String], _ dice: inout Chance) -> HTTPAnswer {
    let fields = fields + ["X-Lie: 1"]
    return dice.one(of: [
      HTTPAnswer(206, fields + ["Content-Range: bytes 0-4/\(content.utf8.count)"], "x"),
      HTTPAnswer(206, fields + ["Content-Range: bytes 7-3/9"], "x"), HTTPAnswer(206, fields, "x"),
      HTTPAnswer(206, fields + ["Content-Range: bytes 0-0/1", "Content-Range: bytes 0-0/2"], "x"),
      HTTPAnswer(416, fields + ["Content-Range: bytes */\(content.utf8.count)"]),
      stream(200, fields + ["Content-Length: 900"], "x", isAnnounced: false, breaksOff: false),
    ])
  }

  private static func stream(
    _ status: Int, _ fields: [String], _ text: String, isAnnounced: Bool, breaksOff: Bool
  ) -> HTTPAnswer {
    let left = Mutex(Data(text.utf8))
    return HTTPAnswer(
      head: HTTPResponse(status: .init(code: status), headerFields: HTTPFields(lines: fields)),
      body: HTTPBody(length: isAnnounced ? text.utf8.count : nil) {
        await Task.yield()
        let part = left.withLock { left in
          defer { left = left.dropFirst(17) }
          return Data(left.prefix(17))
        }
        if breaksOff, part.count < 17 { throw CacheError(.invalidResponse, "broken") }
        return part.isEmpty ? nil : .bytes(part)
      })
  }
}

@Suite("The cache among clients that leave and an origin that lies", .timeLimit(.minutes(10)))
struct StormTests {
  /// What is wrong, and how often what happened.
  private final class Notes: Sendable {
    private let state = Mutex((wrong: [String](), happened: [String: Int]()))

    var all: (wrong: [String], happened: [String: Int]) { state.withLock { $0 } }

    func note(_ answer: HTTPCacheAnswer, _ complaint: String?, _ request: HTTPTypes.HTTPRequest) {
      let kind = answer.status.isCollapsed ? "collapsed" : answer.status.isHit ? "hit" : "asked"
      state.withLock { state in
        for kind in [kind, "\(answer.head.status.code)"] { state.happened[kind, default: 0] += 1 }
        if let complaint {
          state.wrong.append("\(complaint): \(request.headerFields), \(answer.head.headerFields)")
        }
      }
    }
  }

  private static func request(_ chance: inout Chance) -> HTTPTypes.HTTPRequest {
    var request = get(
      method: chance.one(of: [.get, .get, .get, .get, .get, .get, .get, .head, .post]),
      path: chance.one(of: ["/a", "/b", "/c", "/d"]))
    request.headerFields[.acceptLanguage] = chance.one(of: ["de", "en"])
    request.headerFields[.cacheControl] = chance.one(of: [nil, nil, nil, nil, "no-cache", "max-stale", "no-store"])
    let tag = "\"\(Int.random(in: 0...40, using: &chance))de\(request.path ?? "")\""
    if chance.happens(oneIn: 3) {
      let start = Int.random(in: 0...300, using: &chance)
      request.headerFields[.range] = chance.one(of: [
        "bytes=\(start)-\(start + 20)", "bytes=0-\(start)", "bytes=\(start)-", "bytes=-\(start)", "bytes=1-2, 8-9",
      ])
      if chance.happens(oneIn: 4) { request.headerFields[.ifRange] = tag }
    }
    if chance.happens(oneIn: 5) { request.headerFields[.ifNoneMatch] = tag }
    return request
  }

  /// What is wrong with an answer; `nil` if nothing is.
  private static func complaint(
    of answer: HTTPCacheAnswer, _ text: String, to request: HTTPTypes.HTTPRequest
  ) -> String? {
    let fields = answer.head.headerFields
    if fields.contains(HostileOrigin.lie) {
      return answer.status.isHit ? "a lie for somebody else" : nil
    }
    guard [200, 206].contains(answer.head.status), request.method == .get, let tag = fields[.eTag] else { return nil }
    guard tag.contains(request.headerFields[.acceptLanguage] ?? "") else { return "another variant" }
    let content = HostileOrigin.content(of: tag, path: request.path ?? "")
    if let length = fields[.contentLength], length != "\(text.utf8.count)" { return "another length" }
    if answer.head.status == .ok { return text == content ? nil : "another content" }
    guard let part = ContentPart(fields), part.size == content.utf8.count else { return "a part of nothing" }
    return text == String(decoding: Array(content.utf8)[part.range], as: UTF8.self) ? nil : "another part"
  }

  @Test("Whatever clients and the origin do, an answer is of one version and whole, and nothing is left")
  func storm() async throws {
    let notes = Notes()
    for seed in 0..<4 { await storm(seed: seed, notes) }
    let (wrong, happened) = notes.all
    #expect(wrong.isEmpty, "\(wrong.count): \(wrong.first ?? "")")
    // What never happens is not judged.
    for kind in ["hit", "collapsed", "asked", "200", "206", "304"] {
      #expect(happened[kind] != nil, "\(kind) never happened")
    }
  }

  private func storm(seed: Int, _ notes: Notes) async {
    let clock = ManualClock()
    let cache = HTTPCache(
      storing: MemoryCacheLevel<String, StoredVariants>(capacity: 20_000, clock: clock) { $1.cost },
      policy: HTTPCachePolicy(seed.isMultiple(of: 2) ? .shared : .private), origin: HostileOrigin(seed: UInt64(seed)),
      bodyLimit: 250, clock: clock)
    await withTaskGroup(of: Void.self) { group in
      for client in 0..<12 {
        group.addTask {
          var chance = Chance(seed: UInt64(seed * 100 + client))
          for _ in 0..<100 {
            let request = Self.request(&chance)
            let readsAll = !chance.happens(oneIn: 6)
            let exchange = Task {
              let answer = try await cache.response(for: request)
              if !readsAll {
                var parts = answer.body.makeAsyncIterator()
                _ = try await parts.next()
                return
              }
              let text = try await answer.text()
              notes.note(answer, Self.complaint(of: answer, text, to: request), request)
            }
            // Some leave at once, some in the middle, and nobody waits for an origin that hangs.
            let patience = chance.happens(oneIn: 5) ? Int.random(in: 0...20, using: &chance) : 2_000
            let impatience = Task {
              for _ in 0..<patience where !Task.isCancelled { await Task.yield() }
              exchange.cancel()
            }
            _ = await exchange.result
            impatience.cancel()
            if chance.happens(oneIn: 10) { clock.advance(by: .seconds(Int.random(in: 0...4, using: &chance))) }
            if chance.happens(oneIn: 60) { clock.stepWallClock(by: .seconds(chance.one(of: [-3600, -5, 5, 3600]))) }
            if chance.happens(oneIn: 100) { try? await cache.removeAll() }
          }
        }
      }
    }
    await cache.close()
    while !cache.turns.isIdle || !cache.flights.isIdle { await Task.yield() }
  }
}
#endif

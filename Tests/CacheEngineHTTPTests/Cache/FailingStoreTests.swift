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

/// A level of which one call fails, before its work is done or after it.
private struct OnceFailing: LevelDecorator {
  let base: MemoryCacheLevel<String, StoredVariants>
  let failing: Int
  let doesFirst: Bool
  let calls = Calls()

  final class Calls: Sendable {
    let count = Mutex(0)
  }

  private func call<Answer>(_ work: () async throws -> Answer) async throws -> Answer {
    let fails = calls.count.withLock { count in
      count += 1
      return count == failing
    }
    if fails, !doesFirst { throw CacheError(.simulated, "failed on purpose") }
    let answer = try await work()
    if fails { throw CacheError(.simulated, "failed on purpose, and did it all the same") }
    return answer
  }

  func get(_ key: String) async throws -> StoredVariants? { try await lookup(key).entry?.value }
  func lookup(_ key: String) async throws -> Lookup<StoredVariants> { try await call { try await base.lookup(key) } }
  func lookupIncludingExpired(_ key: String) async throws -> Lookup<StoredVariants> {
    try await call { try await base.lookupIncludingExpired(key) }
  }
  func store(_ value: StoredVariants, forKey key: String, terms: StoreTerms) async throws {
    try await call { try await base.store(value, forKey: key, terms: terms) }
  }
  func remove(_ key: String) async throws { try await call { try await base.remove(key) } }
  func clear() async throws { try await call { try await base.clear() } }
}

@Suite("A store of which any one call fails", .timeLimit(.minutes(10)))
struct FailingStoreTests {
  private let clock = ManualClock()

  /// Says in a field what its content is.
  private func origin(_ version: @escaping @Sendable () -> Int) -> ScriptedOrigin {
    ScriptedOrigin { request, _ in
      guard request.method == .get || request.method == .head else { return HTTPAnswer(204) }
      let language = request.headerFields[.acceptLanguage] ?? "none"
      let content = "\(version()) of \(request.path ?? "") in \(language)"
      let tag = "\"\(version())-\(language)\""
      let fields = [
        "Cache-Control: max-age=10", "Vary: Accept-Language", "ETag: \(tag)", "Content-Length: \(content.utf8.count)",
        "Own: \(content)",
      ]
      if let asked = request.headerFields[.ifNoneMatch], EntityTag.list(asked).contains(EntityTag(tag)) {
        return HTTPAnswer(304, fields.filter { !$0.hasPrefix("Content-Length") })
      }
      return HTTPAnswer(200, fields, request.method == .head ? "" : content)
    }
  }

  private static let own = HTTPField.Name("Own")!

  /// What an answer says is its content, of the version that the last change brought, or a newer one.
  private func check(
    _ request: HTTPTypes.HTTPRequest, _ answer: HTTPCacheAnswer, since least: Int, _ place: String
  ) async throws {
    let text = try await answer.text()
    guard request.method == .get || request.method == .head else { return }
    let own = try #require(answer.head.headerFields[Self.own], "\(place)")
    #expect(own.hasSuffix("of \(request.path ?? "") in \(request.headerFields[.acceptLanguage] ?? "none")"), "\(place)")
    #expect(try #require(Int(own.prefix { $0 != " " })) >= least, "\(place)")
    switch (request.method, answer.head.status) {
    case (.get, .ok): #expect(text == own, "\(place)")
    case (.get, .partialContent): #expect(text == own.dropFirst(2).prefix(4), "\(place)")
    default:
      #expect(text.isEmpty, "\(place)")
      #expect(answer.head.headerFields[.contentLength] == "\(own.utf8.count)", "\(place)")
    }
  }

  @Test(
    "No content comes with the fields of another one, nothing hangs, and no half is stored", arguments: [false, true])
  func oneFails(doesFirst: Bool) async throws {
    var failing = 1
    while true {
      let version = Mutex(1)
      var least = 1
      let level = OnceFailing(base: MemoryCacheLevel(clock: clock), failing: failing, doesFirst: doesFirst)
      let cache = HTTPCache(
        storing: level, policy: HTTPCachePolicy(.shared), origin: origin { version.withLock { $0 } }, clock: clock)
      for (number, step) in Self.script.enumerated() {
        let place = "call \(failing), step \(number)"
        switch step {
        case .ask(let requests):
          try await withThrowingTaskGroup { [least] group in
            for request in requests {
              group.addTask { try await check(request, cache.response(for: request), since: least, place) }
            }
            try await group.waitForAll()
          }
          await cache.settle()
          if requests.map(\.method) == [.post] { least = version.withLock { $0 } }
        case .wait: clock.advance(by: .seconds(20))
        case .change: version.withLock { $0 += 1 }
        case .removeAll:
          do { try await cache.removeAll() } catch let error as CacheError where error.code == .simulated {}
        }
        for summary in try await level.base.contents() {
          for response in level.base.peek(summary.key)?.responses ?? [] where !response.isHeadOnly {
            let own = response.head.headerFields[Self.own]
            #expect(own == String(decoding: response.body, as: UTF8.self), "\(place)")
          }
        }
      }
      if level.calls.count.withLock({ $0 }) < failing { break }
      // All is as if nothing had been.
      clock.advance(by: .seconds(20))
      let request = get("Accept-Language: de")
      let answer = try await cache.response(for: request)
      #expect(answer.head.headerFields[Self.own] == "\(version.withLock { $0 }) of /a in de", "call \(failing)")
      try await check(request, answer, since: least, "call \(failing), end")
      let again = try await cache.response(for: request)
      #expect(again.status.isHit, "call \(failing)")
      failing += 1
    }
    #expect(failing > 30)
  }

  private enum Step {
    case ask([HTTPTypes.HTTPRequest])
    case wait, change, removeAll
  }

  private static let script: [Step] = [
    .ask([get()]), .ask([get(), get("Accept-Language: de"), get()]), .ask([get(method: .head)]),
    .wait, .ask([get(), get("Accept-Language: de")]),
    .change, .ask([get("Range: bytes=2-5")]), .wait, .ask([get("Range: bytes=2-5"), get()]),
    .ask([get("Range: bytes=2-5", "Accept-Language: de")]),
    .change, .ask([get(method: .post)]), .ask([get(), get(method: .head)]),
    .change, .wait, .ask([get(method: .head)]), .ask([get()]), .ask([get("Accept-Language: de")]),
    .removeAll, .ask([get()]), .change, .ask([get("Cache-Control: no-cache")]),
    .ask([get(), get("Accept-Language: de")]),
    .ask([get(method: .delete), get()]), .ask([get("Accept-Language: de"), get(path: "/b"), get(method: .head)]),
  ]
}
#endif

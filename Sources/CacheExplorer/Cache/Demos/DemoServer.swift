#if Explorer
import CacheEngine
import CacheEngineHTTP
import CacheEngineTesting
import HTTPTypes
import Synchronization

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A small pretended web server: what the proxy of a demonstration asks, without a socket.
///
/// What it says follows from the time since it began and from what it was asked before.
///
/// The lifetime of the news, which are refreshed in the background, is no multiple of the interval between visits: whether it
/// had just ended would depend on the order of threads.
final class DemoServer: HTTPOrigin {
  private struct State {
    var generator = SeededGenerator(seed: 7)
    var asked: [String: Int] = [:]
    var newsVersion = 0
  }

  static let authority = "shop.example"

  private let clock: any CacheClock
  private let began: CacheInstant
  private let state = Mutex(State())

  init(clock: any CacheClock) {
    self.clock = clock
    began = clock.now
  }

  func send(
    _ request: HTTPTypes.HTTPRequest, body: HTTPBody,
    interim: @escaping @Sendable (HTTPTypes.HTTPResponse) async -> Void
  ) async throws -> HTTPAnswer {
    // Half a millisecond, so that no life ends at the very moment of a visit.
    let pause = state.withLock { Duration.microseconds(Int.random(in: 30...180, using: &$0.generator) * 1_000 + 500) }
    try await clock.sleep(until: clock.now.advanced(by: pause), tolerance: nil)
    let second = Int(began.duration(to: clock.now).components.seconds)
    guard !Self.down.contains(second) else {
      throw CacheError(.unreachable, "\(Self.authority) cannot be reached: the demonstration wants it so")
    }
    return answer(to: request, second: second)
  }

  /// The seconds in which it cannot be reached.
  private static let down = 60..<75

  private func answer(to request: HTTPTypes.HTTPRequest, second: Int) -> HTTPAnswer {
    let path = request.path ?? "/"
    let count = state.withLock { state in
      if request.method == .post { state.newsVersion += 1 }
      state.asked[path, default: 0] += 1
      return state.asked[path, default: 0]
    }
    guard request.method != .post else { return answer(.noContent, [:], "") }
    switch path.prefix(while: { $0 != "?" }) {
    case "/":
      return page(request, "home", version: second / 30, bytes: 18_000, [.cacheControl: "max-age=5"])
    case "/style.css":
      return page(request, "style", version: 1, bytes: 24_000, [.cacheControl: "public, max-age=3600"])
    case "/news":
      let version = second / 20 + state.withLock { $0.newsVersion }
      return page(
        request, "news", version: version, bytes: 6_000, [.cacheControl: "max-age=3, stale-while-revalidate=20"])
    case "/hello":
      let language = request.headerFields[.acceptLanguage] ?? "en"
      return answer(
        .ok, [.cacheControl: "max-age=15", .vary: "Accept-Language", .contentLanguage: language],
        Self.content("hello in \(language)", 1_200))
    case "/account":
      return answer(.ok, [.cacheControl: "private, max-age=60"], Self.content("somebody's account", 4_000))
    case "/basket": return answer(.ok, [.cacheControl: "no-store"], Self.content("somebody's basket", 900))
    case "/search": return page(request, path, version: 1, bytes: 9_000, [.cacheControl: "no-cache"])
    case "/rates":
      // Now and then the program behind it fails.
      guard count % 4 != 0 else { return answer(.serviceUnavailable, [:], "try again later\n") }
      return page(
        request, "rates", version: second / 6, bytes: 2_400, [.cacheControl: "max-age=3, stale-if-error=60"])
    default:
      return page(
        request, path, version: 1, bytes: 12_000 + path.utf8.reduce(0) { ($0 * 31 + Int($1)) % 40_000 },
        [.cacheControl: "max-age=20"])
    }
  }

  /// A page with an entity tag, or that it has not changed.
  private func page(
    _ request: HTTPTypes.HTTPRequest, _ name: String, version: Int, bytes: Int, _ fields: HTTPFields
  ) -> HTTPAnswer {
    var fields = fields
    let tag = "\"\(name.filter { $0.isLetter || $0.isNumber })-\(version)\""
    fields[.eTag] = tag
    guard request.headerFields[.ifNoneMatch]?.contains(tag) != true else { return answer(.notModified, fields, "") }
    return answer(.ok, fields, Self.content("\(name), version \(version)", bytes))
  }

  private func answer(_ status: HTTPTypes.HTTPResponse.Status, _ fields: HTTPFields, _ text: String) -> HTTPAnswer {
    var fields = fields
    fields[.date] = HTTPDate(clock.timeSinceEpoch).description
    if status != .notModified { fields[.contentType] = "text/plain" }
    return HTTPAnswer(
      head: HTTPTypes.HTTPResponse(status: status, headerFields: fields), body: HTTPBody(Data(text.utf8)))
  }

  private static func content(_ line: String, _ bytes: Int) -> String {
    String(repeating: "\(line)\n", count: max(1, bytes / (line.utf8.count + 1)))
  }
}
#endif

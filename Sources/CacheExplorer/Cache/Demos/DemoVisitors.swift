#if Explorer
import CacheEngineTesting
import HTTPTypes

/// Who visits the server of a demonstration: the same people every time.
struct DemoVisitors {
  /// What is asked for at a moment.
  struct Visit {
    /// Since the demonstration began.
    var at: Duration
    var requests: [HTTPTypes.HTTPRequest]
  }

  private static let interval = Duration.milliseconds(160)

  private var generator = SeededGenerator(seed: 11)
  private var count = 0

  mutating func next() -> Visit {
    defer { count += 1 }
    let at = Self.interval * count
    // Every twenty seconds a new page, which everybody wants at once.
    if count % 125 == 120 {
      return Visit(at: at, requests: Array(repeating: Self.request("/live/\(count / 125 + 1)"), count: 12))
    }
    if count == 530 { return Visit(at: at, requests: [Self.request("/news", method: .post)]) }
    return Visit(at: at, requests: [request()])
  }

  private mutating func request() -> HTTPTypes.HTTPRequest {
    switch Int.random(in: 0..<100, using: &generator) {
    case ..<18: return Self.request("/")
    case ..<32: return Self.request("/style.css")
    case ..<46: return Self.request("/news")
    case ..<56:
      let languages = ["en", "de", "fr", "ja"]
      return Self.request("/hello", language: languages.randomElement(using: &generator))
    case ..<60: return Self.request("/account")
    case ..<63: return Self.request("/basket")
    case ..<70: return Self.request("/search?q=\(Bool.random(using: &generator) ? "tea" : "cups")")
    case ..<78: return Self.request("/rates")
    default:
      // A few are looked at often.
      let most = Int.random(in: 1...40, using: &generator)
      return Self.request("/photos/\(Int.random(in: 1...most, using: &generator)).jpg")
    }
  }

  private static func request(
    _ path: String, method: HTTPTypes.HTTPRequest.Method = .get, language: String? = nil
  ) -> HTTPTypes.HTTPRequest {
    HTTPTypes.HTTPRequest(
      method: method, scheme: "http", authority: DemoServer.authority, path: path,
      headerFields: language.map { [.acceptLanguage: $0] } ?? [:])
  }
}
#endif

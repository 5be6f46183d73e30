#if Explorer
import CacheEngine
import Testing

@testable import ExplorerCache
@testable import ExplorerModel
@testable import ExplorerState
@testable import ExplorerText

/// The screen of a proxy.
struct ServedScreenTests {
  private var scene = Scene(size: Size(width: 120, height: 40))

  private func exchange(
    _ path: String, _ outcome: ServedExchange.Outcome, reason: String? = nil, detail: String? = nil, status: Int = 200,
    left: Int? = nil, method: String = "GET"
  ) -> ServedExchange {
    var exchange = ServedExchange(
      number: 0, time: Scene.wall, method: method, path: path, key: "http://a\(path)", status: status, outcome: outcome,
      bytes: 2_048, duration: .milliseconds(3))
    exchange.reason = reason
    exchange.detail = detail
    exchange.isStored = outcome == .validated
    exchange.left = left
    exchange.age = outcome == .hit ? 5 : nil
    exchange.cacheStatus = reason.map { "cache-explorer; fwd=\($0)" } ?? "cache-explorer; hit"
    return exchange
  }

  /// Sends requests with their numbers, and their sums.
  private mutating func serve(_ exchanges: [ServedExchange]) -> [Effect] {
    var (numbered, counts) = (exchanges, served)
    for place in numbered.indices {
      counts.count(numbered[place].outcome, bytes: numbered[place].bytes, isWhole: numbered[place].isWhole)
      numbered[place].number = counts.requests
    }
    return scene.send(.served(numbered, counts, lost: 0))
  }

  /// What was served until now.
  private var served: ServedCounts {
    if case .served(_, let counts, _)? = scene.model[ServedPanel.self].message { counts } else { ServedCounts() }
  }

  private func lines(_ size: Size? = nil) -> [String] {
    var canvas = Canvas(size ?? scene.model.size)
    view(scene.model, on: &canvas)
    return canvas.lines
  }

  /// A row of the list, which begins below the titles; beside those stands what is chosen.
  private func row(_ text: String) -> String? { lines().dropFirst(3).first { $0.contains(text) } }

  @Test(
    "The title says where the proxy listens and whom it asks, in whole where there is room",
    arguments: [
      ("127.0.0.1", "127.0.0.1:3000", 80, ":8080 → :3000"), ("::1", "[::1]:3000", 80, ":8080 → :3000"),
      ("localhost", "127.0.0.1:3000", 120, "localhost:8080 →….1:3000"),
      ("localhost", "127.0.0.1:3000", 144, "localhost:8080 → 127.0.0.1:3000"),
      ("127.0.0.1", "127.0.0.1", 144, "127.0.0.1:8080 → 127.0.0.1"),
    ])
  mutating func title(host: String, authority: String, width: Int, expected: String) throws {
    scene.model.title = ServedAddress(host: host, port: 8_080).title(before: authority)
    let heading = try #require(lines(Size(width: width, height: 40)).first)
    #expect(heading.contains("CacheExplorer \(width < 100 ? "" : " ")\(expected)  ●"), "\(heading)")
  }

  @Test("Without a proxy the screen says what would make one, and stays where it was")
  mutating func none() {
    scene.press(.character("9"))
    #expect(scene.model.page == .overview)
    #expect(lines().contains { $0.contains("cache-explorer serve") })
  }

  @Test(
    "Of what a level keeps without an end, it is not said that it does not expire: HTTP decides that",
    arguments: [80, 120])
  mutating func freshness(width: Int) {
    scene.model.size = Size(width: width, height: 24)
    scene.event(.stored(.set, cost: 10, deadline: nil, .zero), level: "memory", key: "http://a/x")
    scene.press(.character("2"))
    scene.pass(.seconds(1))
    #expect(row("http://a/x")?.contains("no expiry") == true)
    _ = serve([exchange("/x", .hit)])
    scene.pass(.seconds(1))
    #expect(row("http://a/x")?.contains("HTTP: see 9") == true && !lines().joined().contains("no expiry"))
    scene.press(.enter)
    #expect(lines().joined().contains("kept while there is room; screen 9 says"))
  }

  @Test("No command is proposed that a proxy, or a cache opened for reading only, refuses")
  mutating func proposed() {
    #expect(lines().contains { $0.contains(":set KEY VALUE stores") })
    #expect(lines().contains { $0.contains("run WORKLOAD") })
    scene.model.isReadOnly = true
    #expect(!lines().contains { $0.contains("set KEY") || $0.contains("run WORKLOAD") })
    #expect(lines().contains { $0.hasPrefix(" : types a command   filter TEXT") })
    scene.press(.character("3"))
    #expect(!lines().contains { $0.contains("get KEY") || $0.contains("run WORKLOAD") })
    scene.press(.character("1"))
    scene.model.isReadOnly = false
    _ = serve([])
    #expect(!lines().contains { $0.contains("set KEY") || $0.contains("run WORKLOAD") })
    #expect(lines().contains { $0.contains("nothing is cached yet   what clients ask for comes here") })
    #expect(lines().contains { $0.hasPrefix(" : types a command   get KEY · del KEY") })
    scene.press(.character("3"))
    #expect(lines().contains { $0.contains("no request yet   what clients ask for comes here") })
  }

  @Test("What no request matches is not said never to have been asked for")
  mutating func filtered() {
    _ = serve([exchange("/a", .hit)])
    scene.press(.character("9"))
    scene.type("/nowhere")
    scene.press(.enter)
    #expect(lines().contains { $0.contains("no request matches; Esc clears the filter") })
    #expect(!lines().contains { $0.contains("no client has asked") })
    scene.press(.enter)
    #expect(!lines().contains { $0.contains("no client has asked") })
  }

  @Test("A request stands there with method, status, what the cache did and why, age, life and size")
  mutating func rows() throws {
    scene.send(.input(.resized(Size(width: 200, height: 60))))
    _ = serve([])
    scene.press(.character("9"))
    _ = serve([
      exchange("/new", .forwarded, reason: "uri-miss", detail: "private", status: 203),
      exchange("/kept", .hit, left: 55), exchange("/asked", .validated, reason: "stale", left: -3, method: "HEAD"),
    ])
    let new = try #require(row("/new"))
    #expect(new.contains("GET") && new.contains("203"))
    #expect(new.contains("forwarded") && new.contains("uri-miss, private"))
    let kept = try #require(row("/kept"))
    #expect(kept.contains("hit") && kept.contains("5s") && kept.contains("55s") && kept.contains("2 KiB"))
    #expect(lines().contains { $0.contains("HTTP 1–3 of the last 3") && $0.contains("without the server 33.3% of 3") })
    // The newest is first, and chosen; what it means stands beside it.
    #expect(try #require(row("/asked")).contains("▸"))
    #expect(lines().contains { $0.contains("said") } && lines().contains { $0.contains("right.") })
    try StyleGrid.expect(scene.canvas, isStyledAs: "HTTP200x60")
  }

  @Test("The chosen request stays chosen when others come, and its address is asked for")
  mutating func stays() {
    _ = serve([])
    scene.press(.character("9"))
    let first = serve([exchange("/a", .hit), exchange("/b", .hit)])
    #expect(first == [.readVariants(key: "http://a/b")])
    let effects = scene.send(.input(.key(.down)))
    #expect(effects.contains(.readVariants(key: "http://a/a")))
    _ = serve([exchange("/c", .hit), exchange("/d", .hit)])
    #expect(scene.model[ServedPanel.self].current?.path == "/a")
    scene.send(
      .variants(
        key: "http://a/a",
        [
          ServedVariant(selecting: ["Accept: text/html"], status: 200, bytes: 10, validator: "\"x\"", age: 1, left: 9),
          ServedVariant(selecting: ["Accept: image/png"], status: 200, bytes: 20, validator: nil, age: 50, left: -40),
        ]))
    #expect(lines().contains { $0.contains("2 responses stored for it") })
    #expect(lines().contains { $0.contains("for Accept: image/png") })
    #expect(lines().contains { $0.contains("stale since 40s") })
  }

  @Test("An address takes three rows of what is said of it, however long it is", arguments: [8, 900])
  mutating func longAddress(length: Int) {
    scene.send(.input(.resized(Size(width: 80, height: 24))))
    _ = serve([])
    scene.press(.character("9"))
    _ = serve([exchange("/" + String(repeating: "z", count: length) + "end", .hit)])
    let answer = lines().drop { !$0.contains("┌ Answer") }
    #expect(answer.contains { $0.contains("zzend") })
    #expect(answer.prefix(5).contains { $0.contains("200 hit") })
  }

  @Test("How far an answer is scrolled is not so for the next one")
  mutating func scrolled() {
    scene.send(.input(.resized(Size(width: 80, height: 24))))
    _ = serve([])
    scene.press(.character("9"))
    _ = serve([
      exchange("/first", .hit), exchange("/second", .forwarded, reason: "vary-miss", detail: "no-freshness"),
    ])
    let variant = ServedVariant(selecting: [], status: 200, bytes: 10, validator: nil, age: 1, left: 9)
    scene.send(.variants(key: "http://a/second", Array(repeating: variant, count: 9)))
    #expect(lines().contains { $0.contains(" ↓ more · ↵ shows the content ┐") })
    scene.press(.enter, .down)
    #expect(!lines().contains { $0.contains("│ GET /second") })
    for _ in 0..<30 { scene.press(.down) }
    #expect(!lines().contains { $0.contains("↓ more") })
    scene.press(.escape, .down)
    #expect(lines().contains { $0.contains("│ GET /first") })
    scene.press(.up)
    #expect(!lines().contains { $0.contains("│ GET /second") })
  }

  @Test("Of an answer that broke off it is not said that it is stored")
  mutating func broken() {
    _ = serve([])
    scene.press(.character("9"))
    var exchange = exchange("/a", .forwarded, reason: "uri-miss")
    exchange.isStored = true
    #expect(exchange.sentence.hasSuffix(" The answer is stored."))
    exchange.isWhole = false
    #expect(exchange.sentence.hasSuffix(" It broke off here; only a whole answer is stored."))
  }

  @Test("Why an answer is not stored is said in the terms of its fields")
  mutating func unstored() {
    let exchange = exchange("/a", .forwarded, reason: "uri-miss", detail: "no-freshness")
    #expect(
      exchange.sentence.hasSuffix(": it has no lifetime (max-age, Expires) and no validator (ETag, Last-Modified)."))
  }

  @Test("What is asked for while the picture stands still is listed when it goes on")
  mutating func paused() {
    scene.send(.input(.resized(Size(width: 200, height: 60))))
    _ = serve([])
    scene.press(.character("9"))
    _ = serve([exchange("/a", .hit)])
    scene.type(" ")
    _ = serve([exchange("/b", .hit)])
    _ = serve([exchange("/c", .hit)])
    for lost in 2...3 { scene.send(.served([], served, lost: lost)) }
    #expect(lines().contains { $0.contains("HTTP 1–1 of the last 1 ") && $0.contains(" of 1 ") })
    #expect(!lines().contains { $0.contains("not listed") })
    guard case .served(let told, let counts, lost: 5)? = scene.model[ServedPanel.self].message else {
      Issue.record("nothing is told")
      return
    }
    #expect(told.map(\.path) == ["/a", "/b", "/c"] && counts.requests == 3)
    scene.type(" ")
    #expect(scene.model[ServedPanel.self].listed.map(\.path) == ["/c", "/b", "/a"])
    #expect(lines().contains { $0.contains("HTTP 1–3 of the last 3 ") && $0.contains(" of 3 ") })
    #expect(lines().contains { $0.contains("not listed 5") })
  }

  @Test("A filter looks at method, path, status and outcome; masked, no path is shown")
  mutating func filters() {
    _ = serve([])
    scene.press(.character("9"))
    _ = serve([exchange("/a", .hit), exchange("/secret", .refused, status: 502)])
    scene.press(.character("/"))
    scene.type("502")
    #expect(scene.model[ServedPanel.self].listed.map(\.path) == ["/secret"])
    scene.model.isMasked = true
    #expect(!lines().contains { $0.contains("secret") })
  }

  @Test("It fits every size, and keeps the newest thousand", arguments: [(40, 10), (58, 16), (80, 24), (200, 60)])
  mutating func sizes(width: Int, height: Int) {
    scene.send(.input(.resized(Size(width: width, height: height))))
    _ = serve([])
    scene.press(.character("9"))
    for half in [0..<750, 750..<1_500] { _ = serve(half.map { exchange("/\($0)", .hit, left: 5) }) }
    #expect(scene.model[ServedPanel.self].exchanges.count == 1_000)
    #expect(scene.model[ServedPanel.self].counts?.requests == 1_500)
    for _ in 0..<40 { scene.press(.down) }
    let lines = lines(Size(width: width, height: height))
    #expect(lines.count == height)
    #expect(lines.contains { $0.contains("▸") })
  }
}
#endif

#if Explorer
import CacheEngine
import CacheEngineProxy
import CacheEngineTesting
import Foundation
import Synchronization
import Testing

@testable import CacheExplorer
@testable import ExplorerCache
@testable import ExplorerCommands
@testable import ExplorerConfiguration
@testable import ExplorerModel
@testable import ExplorerState
@testable import ExplorerText

/// The demonstration that is asked over HTTP.
@Suite(.timeLimit(.minutes(10)))
struct ServedDemoTests {
  private func configuration(_ folder: borrowing TemporaryFolder) throws -> CacheConfiguration {
    try #require(Demo.named("http")).configuration(folder: folder.url.path)
  }

  /// What is asked in two minutes, and how that is answered.
  private func exchanges() async throws -> [ServedExchange] {
    let folder = try TemporaryFolder()
    let clock = SimulatedClock()
    let told = Mutex<[ServedExchange]>([])
    let demo = try await ServedDemo.open(
      try configuration(folder), file: "demo http", clock: clock,
      observe: { _, exchange in told.withLock { $0.append(exchange()) } })
    _ = await clock.drive { await demo.run(for: .seconds(120)) }
    try await demo.live.close()
    return told.withLock { $0 }
  }

  @Test("Its visitors see all that a cache does, and why")
  func outcomes() async throws {
    let exchanges = try await exchanges()
    #expect(exchanges.count > 700)
    func some(_ path: String, _ outcome: ServedExchange.Outcome, _ detail: String? = nil) -> Bool {
      exchanges.contains {
        $0.path.hasPrefix(path) && $0.outcome == outcome && (detail == nil || $0.detail == detail)
      }
    }
    #expect(some("/style.css", .hit) && some("/", .validated) && some("/news", .stale))
    #expect(some("/search", .validated) && some("/hello", .forwarded) && some("/hello", .hit))
    #expect(some("/account", .forwarded, "private") && some("/basket", .forwarded, "no-store"))
    #expect(some("/rates", .stale, "origin-error") || some("/rates", .forwarded, "origin-error"))
    #expect(some("/account", .refused, "destination_unavailable"))
    #expect(exchanges.contains { $0.method == "POST" && $0.status == 204 })
    #expect(!exchanges.contains { ["/account", "/basket"].contains($0.path) && $0.outcome == .hit })
    let hits = exchanges.count { [.hit, .stale].contains($0.outcome) }
    #expect(hits * 2 > exchanges.count)
  }

  @Test("What became of requests adds up to them, also if answers did not go out whole")
  func addsUp() {
    var counts = ServedCounts()
    for outcome in ServedExchange.Outcome.allCases { counts.count(outcome, bytes: 0, isWhole: outcome != .refused) }
    #expect(
      counts.sentence.hasPrefix(
        "6 requests: 2 hits (1 stale), 1 validated, 1 collapsed, 1 forwarded, 1 refused; 1 not sent whole; "))
  }

  @Test("Who interrupts a removal does not wait for the levels")
  func interrupts() async throws {
    let folder = try TemporaryFolder()
    let demo = try await ServedDemo.open(
      try configuration(folder), file: "demo http", clock: SystemClock(), observe: { _, _ in })
    demo.live.levels[0].faults.fault.latency = .seconds(3_600) ... .seconds(3_600)
    let executor = Interpreter(live: demo.live, mode: .interactive)
    let removal = Task { await executor.run(DeleteVerb(key: "a")) }
    removal.cancel()
    #expect(await removal.value.error == "it was interrupted")
    demo.breakOff()
    try await demo.live.close()
  }

  @Test("A path in a command stands for its address, as it does on the screen")
  func paths() async throws {
    let folder = try TemporaryFolder()
    let clock = SimulatedClock()
    let demo = try await ServedDemo.open(
      try configuration(folder), file: "demo http", clock: clock, observe: { _, _ in })
    _ = await clock.drive { await demo.run(for: .seconds(20)) }
    let executor = Interpreter(live: demo.live, mode: .script)
    for key in ["/style.css", "http://shop.example/style.css"] {
      #expect(await executor.run(GetVerb(key: key, level: nil)).outcome == .hit)
    }
    #expect(await executor.run(GetVerb(key: "style.css", level: nil)).outcome == .miss)
    try await demo.live.close()
  }

  @Test("It is the same every time")
  func deterministic() async throws {
    let (first, second) = (try await exchanges(), try await exchanges())
    #expect(first.count == second.count)
    let different = zip(first, second).first { ($0.path, $0.outcome) != ($1.path, $1.outcome) }
    #expect(different == nil)
  }

  @Test("Its picture shows the requests with what was done and why")
  func picture() async throws {
    let folder = try TemporaryFolder()
    let demo = try #require(Demo.named("http"))
    for size in [Size(width: 80, height: 24), Size(width: 120, height: 40)] {
      let canvas = try await DemoPicture.canvas(demo, try configuration(folder), seconds: 50, size: size)
      let text = canvas.lines.joined(separator: "\n")
      #expect(text.contains("validated") && text.contains("GET    /") && text.contains("/account is private"))
      // Where there is room for more than the last few.
      #expect(size.height < 40 || text.contains("/style.css"))
    }
  }
}
#endif

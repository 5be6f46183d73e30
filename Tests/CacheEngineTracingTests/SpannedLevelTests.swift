#if Tracing
import CacheEngine
import CacheEngineTesting
import CacheEngineTracing
import InMemoryTracing
import Synchronization
import Testing
import Tracing

/// Spans of reads.
///
/// `PagesTests` finds the code of the product's first page here.
struct SpannedLevelTests {
  private let tracer = InMemoryTracer()

  private func origin() -> ScriptedLevel<String, Int> {
    ScriptedLevel(name: "origin") { key in
      switch key {
      case "broken": throw CacheError(.unreachable, "gone", level: "origin")
      case "cancelled": throw CancellationError()
      case "absent": return .miss(.refused)
      default:
        var entry = Entry(1)
        entry.isStale = key == "old"
        return .hit(entry)
      }
    }
  }

  @Test("A read that leaves memory has a span; a hit in memory has none, whichever way it is asked")
  func leavesMemory() async throws {
    let memory = MemoryCacheLevel<String, Int>(name: "memory")
    let cache = memory.compose(origin()).spanned(as: "read", tracer: tracer)
    #expect(try await cache.get("a") == 1)
    #expect(tracer.finishedSpans.count == 1)
    #expect(try await cache.get("a") == 1)
    #expect(try await cache.lookup("a").entry?.value == 1)
    #expect(cache.peek("a") == 1)
    #expect(tracer.finishedSpans.count == 1)
    #expect(tracer.activeSpans.isEmpty)
  }

  @Test("Levels below memory have spans of their own")
  func below() async throws {
    let (memory, network) = (MemoryCacheLevel<String, Int>(), origin())
    let disk = ScriptedLevel<String, Int>(name: "disk") { _ in .miss(.absent) }
    // Article
    let photos = memory.compose(disk.spanned(as: "photo on disk", tracer: tracer))
      .compose(network.spanned(as: "fetch photo", tracer: tracer))
    // end
    for _ in 0..<2 { #expect(try await photos.get("a") == 1) }
    #expect(tracer.finishedSpans.map(\.operationName) == ["photo on disk", "fetch photo"])
  }

  @Test("A hit in memory counts once, whichever way it is asked for")
  func countsOnce() async throws {
    let memory = MemoryCacheLevel<String, Int>()
    let cache = memory.spanned(as: "read", tracer: tracer)
    try await cache.store(1, forKey: "a", terms: StoreTerms(expiry: .after(.seconds(1_000))))
    #expect(try await cache.get("a") == 1)
    #expect(memory.counts.hits == 1)
    #expect(try await cache.lookup("a").entry?.deadline != nil)
    #expect(memory.counts.hits == 2 && memory.counts.misses == 0)
    #expect(try await cache.lookup("b").entry == nil)
    #expect(memory.counts.hits == 2 && memory.counts.misses == 1)
    #expect(tracer.finishedSpans.count == 1)
  }

  @Test("An entry at hand is taken with one look: what is evicted then is not waited for without a span")
  func oneLook() async throws {
    let level = OneLook().compose(origin()).spanned(as: "read", tracer: tracer)
    #expect(try await level.lookup("a").entry?.value == 7)
    #expect(tracer.finishedSpans.isEmpty)
    #expect(try await level.lookup("a").entry?.value == 1)
    #expect(tracer.finishedSpans.count == 1)
  }

  /// Has a value that is evicted once it was looked at.
  private final class OneLook: LevelDecorator {
    let base = MemoryCacheLevel<String, Int>()
    private let isLeft = Mutex(true)

    func get(_ key: String) async throws -> Int? { try await base.get(key) }

    func peek(_ key: String) -> Int? { peekEntry(key)?.value }

    func peekEntry(_ key: String) -> Entry<Int>? {
      isLeft.withLock { isLeft in
        defer { isLeft = false }
        return isLeft ? Entry(7) : nil
      }
    }
  }

  @Test("Around the level below, reads have spans though the memory above is observed")
  func observedMemory() async throws {
    let statistics = CacheStatistics()
    let cache = MemoryCacheLevel<String, Int>().observed(as: "memory", by: statistics)
      .compose(origin().spanned(as: "fetch", tracer: tracer)).traced(by: statistics)
    for _ in 0..<3 { _ = try await cache.get("a") }
    #expect(tracer.finishedSpans.map(\.operationName) == ["fetch"])
  }

  @Test(
    "A span tells the level and the outcome, and only a failure is one",
    arguments: [("a", "hit"), ("old", "stale"), ("absent", "miss"), ("broken", "failed"), ("cancelled", "cancelled")])
  func outcomes(key: String, outcome: String) async throws {
    let level = origin().spanned(as: "read", tracer: tracer)
    let answer = try? await level.lookup(key)
    #expect((answer == nil) == ["failed", "cancelled"].contains(outcome))
    let span = try #require(tracer.finishedSpans.first)
    #expect(span.attributes.get("cache.outcome") == .string(outcome))
    #expect(span.attributes.get("cache.level") == .string("origin"))
    #expect(span.attributes.get("cache.miss_reason") == (outcome == "miss" ? .string("refused") : nil))
    #expect((span.status?.code == .error) == (outcome == "failed"))
    #expect(span.errors.count == (outcome == "failed" ? 1 : 0))
    #expect(tracer.activeSpans.isEmpty)
  }

  @Test("The error of a failed read comes out as it was")
  func errors() async {
    let level = origin().spanned(as: "read", tracer: tracer)
    await #expect(throws: CancellationError.self) { try await level.get("cancelled") }
    await #expect { try await level.get("broken") } throws: { ($0 as? CacheError)?.code == .unreachable }
  }

  @Test("The parent of a span is the task's, and what the level does has the span as its parent")
  func parents() async throws {
    let tracer = tracer
    let inner = BasicFetcher<String, Int>(name: "inner") { _ in
      tracer.withSpan("work") { _ in 1 }
    }
    let level = inner.spanned(as: "read", tracer: tracer)
    try await tracer.withSpan("request") { _ in _ = try await level.get("a") }
    let spans = Dictionary(uniqueKeysWithValues: tracer.finishedSpans.map { ($0.operationName, $0) })
    #expect(spans["request"]?.parentSpanID == nil)
    #expect(spans["read"]?.parentSpanID == spans["request"]?.spanID)
    #expect(spans["work"]?.parentSpanID == spans["read"]?.spanID)
    #expect(Set(spans.values.map(\.traceID)).count == 1)
  }

  @Test("A source is shown what has expired above it through spans, and read anew through them")
  func renewed() async throws {
    let clock = ManualClock()
    let source = BasicFetcher<String, Int>(
      clock: clock,
      renewing: { _, old in
        old?.validator == "v"
          ? .notModified(expiry: .after(.seconds(20))) : .value(1, expiry: .after(.seconds(10)), validator: "v")
      })
    let memory = MemoryCacheLevel<String, Int>(keepsExpired: .seconds(60), clock: clock)
    let cache = memory.compose(source.spanned(as: "source", tracer: tracer), clock: clock)
    #expect(try await cache.get("a") == 1)
    clock.advance(by: .seconds(10))
    #expect(try await cache.lookup("a").entry?.deadline == clock.now.advanced(by: .seconds(20)))
    let middle = MemoryCacheLevel<String, Int>().compose(source)
    let whole = MemoryCacheLevel<String, Int>().compose(middle.spanned(as: "middle", tracer: tracer))
    #expect(try await whole.get("a") == 1)
    try await middle.upper.set(7, forKey: "a")
    #expect(try await whole.reload("a").entry?.value == 1)
    #expect(tracer.finishedSpans.map(\.operationName) == ["source", "source", "middle", "middle"])
  }

  @Test("A spanned memory level keeps the contract")
  func contract() async {
    let contract = LevelContract("spanned", values: [1, 2, 3], capabilities: .expiring) {
      let clock = ManualClock()
      return LevelUnderTest(
        MemoryCacheLevel<String, Int>(clock: clock).spanned(as: "read", tracer: tracer), clock: clock)
    }
    #expect(await contract.violations() == [])
  }
}
#endif

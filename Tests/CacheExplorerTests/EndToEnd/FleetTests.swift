#if Redis
import CacheEngine
import CacheEngineInspector
import CacheEngineShared
import CacheEngineTesting
import Foundation
import PseudoTerminal
import TestRedis
import Testing

@testable import ExplorerCache
@testable import ExplorerModel

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// Several apps over one store, attached to at once.
@Suite(.timeLimit(.minutes(10)))
struct FleetTests {
  /// An app over a store that it shares with others.
  private final class App: Sendable {
    let cache: BasicCache<String, Data>
    let source: ScriptedLevel<String, Data>
    private let serving: InspectorServer

    init(_ name: String, _ store: SimulatedSharedStore, at socket: String, gate: Gate) throws {
      let inspector = CacheInspector()
      let client = store.client(name)
      let shared = try SharedCacheLevel<String, Data>(client, namespace: "test", name: "redis", valueCoding: .data)
      source = ScriptedLevel { key in
        if key == "slow" { try await gate.pass() }
        return .hit(Entry(Data("source".utf8)))
      }
      let memory = MemoryCacheLevel<String, Data>(name: "memory", removalListener: inspector.removals(from: "memory"))
      let traced = memory.observed(as: "memory", by: inspector)
        .compose(
          source.sharedPool(shared, lease: .seconds(60), observer: inspector),
          coherence: Coherence(client, of: shared), observer: inspector
        )
        .traced(by: inspector)
      // Of what was erased nobody sees what it is made of.
      cache = traced.normalize()
      serving = try CacheInspector.serve(traced, at: socket, name: name)
    }

    func close() { serving.close() }
  }

  /// Looks until the fleet is as it should be.
  private func wait(for fleet: AttachedCache, _ holds: (FleetSheet) -> Bool) async throws -> FleetSheet {
    var last = FleetSheet(now: CacheInstant(nanoseconds: 0))
    try await turns {
      for case .fleet(let sheet) in await fleet.refresh() { last = sheet }
      return holds(last)
    }
    return last
  }

  @Test("who holds what, who was told of a change and when, and who waits for whose load are seen over all apps")
  func side() async throws {
    let folder = try TemporaryFolder()
    let store = SimulatedSharedStore()
    let gate = Gate()
    let sockets = ["a.sock", "b.sock"].map { folder.url.appending(path: $0).path() }
    let (one, two) = (
      try App("one", store, at: sockets[0], gate: gate), try App("two", store, at: sockets[1], gate: gate)
    )
    let fleet = try await AttachedFleet.open([folder.url.path()], buffer: EventBuffer())
    let following = Task {
      await fleet.follow(Follower(post: { _ in }, use: { _ in }, pause: { try await ContinuousClock().sleep(for: $0) }))
    }
    _ = try await wait(for: fleet) { $0.apps.count == 2 && $0.apps.allSatisfy { $0.listens && $0.deafSince == nil } }

    _ = try await one.cache.get("k")
    _ = try await two.cache.get("k")
    let held = try await wait(for: fleet) { $0.keys.first { $0.name == "k" }?.copies.allSatisfy { $0 != nil } == true }
    #expect(held.apps.map(\.name) == ["one", "two"])
    #expect(held.apps.map(\.copies) == [1, 1])

    try await one.cache.set(Data("new".utf8), forKey: "k")
    let changed = try await wait(for: fleet) { $0.keys.first { $0.name == "k" }?.change?.told[1] != nil }
    let key = try #require(changed.keys.first { $0.name == "k" })
    #expect(key.change?.by == 0)
    #expect(key.copies[0] != nil)
    #expect(key.copies[1] == nil)
    #expect(changed.apps[1].told == 1)
    #expect(changed.apps[1].slowestTelling != nil)
    #expect(changed.apps[0].changes == 1)
    #expect(changed.lost == 0)

    let slow = Task { try await one.cache.get("slow") }
    await gate.arrivals(1)
    let waiting = Task { try await two.cache.get("slow") }
    let shared = try await wait(for: fleet) { $0.leases.first?.waiting == [1] }
    #expect(shared.leases.first?.leader == 0)
    #expect(shared.leases.first?.key == "slow")
    gate.open()
    _ = try await slow.value
    _ = try await waiting.value
    let over = try await wait(for: fleet) { $0.leases.isEmpty && $0.apps[1].longestWait != nil }
    #expect(over.apps[0].loads >= 1)
    #expect(over.apps[1].waits >= 1)

    two.close()
    let gone = try await wait(for: fleet) { $0.apps[1].ended != nil }
    #expect(gone.keys.allSatisfy { $0.copies[1] == nil })
    following.cancel()
    await following.value
    one.close()
  }

  @Test("what --once --format json prints of several apps fits its schema, and of their picture the text")
  func headless() async throws {
    let folder = try TemporaryFolder()
    let store = SimulatedSharedStore()
    let gate = Gate()
    let sockets = ["a.sock", "b.sock"].map { folder.url.appending(path: $0).path() }
    let apps = [try App("one", store, at: sockets[0], gate: gate), try App("two", store, at: sockets[1], gate: gate)]
    for app in apps { _ = try await app.cache.get("k") }
    let run = try await Program.run(["attach", folder.url.path(), "--once", "--format", "json", "--for", "50ms"])
    #expect(run.status == 0, "\(run.errors)")
    #expect(try JSONSchema(named: "fleet").faults(in: run.output) == [])
    #expect(run.output.contains(#""key":"k","copies":[{"app":0,"#))
    let named = try await Program.run(["attach"] + sockets + ["--once", "--for", "50ms"])
    #expect(named.status == 0, "\(named.errors)")
    #expect(named.output.contains("┌ Fleet 1–1 of 1 ") && named.output.contains("┌ Apps 2 "), "\(named.output)")
    let wrong = try await Program.run(["attach", sockets[0], "redis://localhost", "--once"])
    #expect(wrong.status == 2)
    let nobody = try await Program.run(
      ["attach", folder.url.appending(path: "x").path(), folder.url.appending(path: "y").path(), "--once"])
    #expect(nobody.status != 0)
    for app in apps { app.close() }
  }
}
#endif

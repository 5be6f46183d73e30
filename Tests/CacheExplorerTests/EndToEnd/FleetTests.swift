#if Redis
import CacheEngine
import CacheEngineInspector
import CacheEngineShared
import CacheEngineTesting
import Foundation
import PseudoTerminal
import Synchronization
import TestRedis
import TestSupport
import Testing

@testable import ExplorerCache
@testable import ExplorerModel
@testable import ExplorerState

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
    /// Whether it hears what others change.
    let hears: @Sendable () -> Bool
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
      let coherent = memory.observed(as: "memory", by: inspector)
        .compose(
          source.sharedPool(shared, lease: .seconds(60), observer: inspector),
          coherence: Coherence(client, of: shared), observer: inspector
        )
      hears = { coherent.coherence.deafSince == nil }
      let traced = coherent.traced(by: inspector)
      // Of what was erased nobody sees what it is made of.
      cache = traced.normalize()
      serving = try CacheInspector.serve(traced, at: socket, name: name)
    }

    func close() { serving.close() }
  }

  /// Looks until the fleet is as it should be.
  private func wait(
    for fleet: AttachedCache, at place: SourceLocation = #_sourceLocation, _ holds: (FleetSheet) -> Bool
  ) async throws -> FleetSheet {
    var last = FleetSheet(now: CacheInstant(nanoseconds: 0))
    do {
      try await turns {
        for case .fleet(let sheet) in await fleet.refresh() { last = sheet }
        return holds(last)
      }
    } catch {
      Issue.record("the fleet stands so: \(last)", sourceLocation: place)
      throw error
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

    var held = FleetSheet(now: CacheInstant(nanoseconds: 0))
    try await turns {
      for case .fleet(let sheet) in await fleet.refresh() { held = sheet }
      let copies = held.keys.first { $0.name == "k" }?.copies ?? [nil, nil]
      // What is heard late of the first load may cost the second app its copy. Who has one is left alone.
      for (app, copy) in zip([one, two], copies) where copy == nil { _ = try await app.cache.get("k") }
      // How many there are is listed, and which there are is told by events besides.
      return copies.allSatisfy { $0 != nil } && held.apps.map(\.copies) == [1, 1]
    }
    #expect(held.apps.map(\.name) == ["one", "two"])

    try await one.cache.set(Data("new".utf8), forKey: "k")
    let changed = try await wait(for: fleet) {
      $0.keys.contains {
        $0.name == "k" && $0.change?.by == 0 && $0.change?.isLoad == false && $0.change?.told[1] != nil
      }
    }
    let key = try #require(changed.keys.first { $0.name == "k" })
    #expect(key.change?.by == 0)
    #expect(key.copies[0] != nil)
    #expect(key.copies[1] == nil)
    #expect(changed.apps[1].told >= 1)
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

  @Test("an app that does not say what it holds keeps nobody waiting, and is heard when it does")
  func stopped() async throws {
    let folder = try TemporaryFolder()
    let (open, shut) = (Gate(), Gate())
    open.open()
    var servers: [InspectorServer] = []
    for (name, gate) in [("one", open), ("two", shut)] {
      let level = GatedLevel(base: MemoryCacheLevel<String, Data>(name: "memory"), gate: gate)
      try await level.set(Data([1]), forKey: "k")
      servers.append(try CacheInspector.serve(level, at: folder.url.appending(path: name).path(), name: name))
    }
    let fleet = try await AttachedFleet.open([folder.url.path()], buffer: EventBuffer())
    _ = try await wait(for: fleet) { $0.apps.map(\.copies) == [1, 0] }
    let told = Mutex(0)
    let following = Task {
      await fleet.follow(
        Follower(
          post: { message in if case .fleet = message { told.withLock { $0 += 1 } } }, use: { _ in },
          pause: { try await ContinuousClock().sleep(for: $0) }))
    }
    try await turns { told.withLock { $0 } > 2 }
    shut.open()
    _ = try await wait(for: fleet) { $0.apps.map(\.copies) == [1, 1] }
    following.cancel()
    await following.value
    for server in servers { server.close() }
  }

  private func twoApps(in folder: URL) throws -> [InspectorServer] {
    try ["one", "two"].map { name in
      try CacheInspector.serve(
        MemoryCacheLevel<String, Data>(), at: folder.appending(path: name).path(), name: name)
    }
  }

  @Test("an app that went while another was shown is shown as gone")
  func chosenWhenGone() async throws {
    let folder = try TemporaryFolder()
    let servers = try twoApps(in: folder.url)
    let fleet = try await AttachedFleet.open([folder.url.path()], buffer: EventBuffer())
    let shown = Mutex<[Bool]>([])
    let following = Task {
      await fleet.follow(
        Follower(
          post: { message in
            if case .attachedAgain(let it, _) = message { shown.withLock { $0.append(it.ended != nil) } }
          }, use: { _ in }, pause: { try await ContinuousClock().sleep(for: $0) }))
    }
    servers[1].close()
    _ = try await wait(for: fleet) { $0.apps[1].ended != nil }
    fleet.choose?(1)
    try await turns { !shown.withLock { $0.isEmpty } }
    #expect(shown.withLock { $0 } == [true])
    following.cancel()
    await following.value
    servers[0].close()
  }

  @Test("an app that went is gone also where nobody follows it, as with --once")
  func goneUnfollowed() async throws {
    let folder = try TemporaryFolder()
    let servers = try twoApps(in: folder.url)
    let fleet = try await AttachedFleet.open([folder.url.path()], buffer: EventBuffer())
    servers[1].close()
    let gone = try await wait(for: fleet) { $0.apps[1].ended != nil }
    #expect(gone.apps[0].ended == nil)
    servers[0].close()
  }

  @Test("what --once --format json prints of several apps fits its schema, and of their picture the text")
  func headless() async throws {
    let folder = try TemporaryFolder()
    let store = SimulatedSharedStore()
    let gate = Gate()
    let sockets = ["a.sock", "b.sock"].map { folder.url.appending(path: $0).path() }
    let apps = [try App("one", store, at: sockets[0], gate: gate), try App("two", store, at: sockets[1], gate: gate)]
    try await turns { apps.allSatisfy { $0.hears() } }
    for app in apps { _ = try await app.cache.get("k") }
    // An app of this process may be too busy to say in time what it holds; it is then said not to answer.
    func look(_ arguments: [String]) async throws -> Program.Run {
      var run = try await Program.run(["attach"] + arguments + ["--once", "--for", "50ms"])
      try await turns {
        if ["silentMilliseconds", "not answering"].allSatisfy({ !run.output.contains($0) }) { return true }
        run = try await Program.run(["attach"] + arguments + ["--once", "--for", "50ms"])
        return false
      }
      return run
    }
    let run = try await look([folder.url.path(), "--format", "json"])
    #expect(run.status == 0, "\(run.errors)")
    #expect(try JSONSchema(named: "fleet").faults(in: run.output) == [])
    #expect(run.output.contains(#""key":"k","copies":[{"app":0,"#))
    #expect(run.output.contains(#""listening":true,"copies":1,"#))
    let masked = try await look([folder.url.path(), "--json", "--mask"])
    #expect(masked.output.contains(#""key":"key-"#) && !masked.output.contains(#""key":"k""#), "\(masked.output)")
    let named = try await look(sockets)
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

/// `demo fleet`, with the processes that it starts.
@Suite(.enabled(if: TestRedis.isInstalled, Comment(rawValue: TestRedis.whyNot)), .timeLimit(.minutes(10)))
struct FleetDemoTests {
  private func demo(_ width: Int, _ height: Int, _ options: [String] = []) async throws -> PseudoTerminal {
    let terminal = try PseudoTerminal(
      Program.path, arguments: ["demo", "fleet"] + options, width: width, height: height,
      environment: [
        "TERM": "xterm-256color", "LANG": "C.UTF-8", "PATH": "/usr/bin:/bin:/usr/local/bin:/opt/homebrew/bin",
        "TMPDIR": "/tmp",
      ])
    try await terminal.wait(for: "three apps that hear each other") {
      $0.screen.contains("┌ Apps 3 ") && $0.screen.rows.count { $0.contains("● hears") } == 3
    }
    return terminal
  }

  /// The numbers of the three processes, as the screen tells them.
  private func processes(_ terminal: PseudoTerminal) throws -> [Int32] {
    let text = terminal.sight.screen.rows.joined(separator: "\n")
    let found = text.matches(of: #/(?:one|two|three) (\d+) /#).compactMap { Int32($0.1) }
    try #require(found.count == 3, "\(text)")
    return found
  }

  private static func isRunning(_ process: Int32) -> Bool {
    // Whoever has ended and waits to be reaped by somebody else has ended.
    guard let text = try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8) else {
      return kill(process, 0) == 0 && !FileManager.default.fileExists(atPath: "/proc/self/stat")
    }
    return text.split(separator: ")").last?.split(separator: " ").first != "Z"
  }

  /// The servers and guards whose command lines name a folder of the demonstration.
  private static func leftovers(_ folder: String) -> [String] {
    let all = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
    return all.filter { number in
      guard Int(number) != nil, let words = FileManager.default.contents(atPath: "/proc/\(number)/cmdline") else {
        return false
      }
      return String(decoding: words, as: UTF8.self).contains(folder)
    }
  }

  @Test(
    "a key set in one process is forgotten by the others, and all processes end with the program",
    arguments: [(120, 40), (80, 24)])
  func ends(width: Int, height: Int) async throws {
    let terminal = try await demo(width, height)
    let all = try processes(terminal)
    #expect(all.allSatisfy(Self.isRunning))
    terminal.send(":set item:0 hello")
    terminal.send(.enter)
    try await terminal.wait(forText: "set item:0 hello → ")
    if height == 40 {
      terminal.send("/item:0")
      terminal.send(.enter)
      try await terminal.wait(for: "the others to be told") {
        $0.screen.rows.count { $0.contains(" was told ") } == 2
      }
    }
    terminal.send("q")
    #expect(try await terminal.ending() == .exited(0))
    #expect(!all.contains(where: Self.isRunning))
  }

  @Test("they end as well when the program is killed, and leave nothing behind")
  func killed() async throws {
    let terminal = try await demo(120, 40)
    let all = try processes(terminal)
    let words = try #require(FileManager.default.contents(atPath: "/proc/\(all[0])/cmdline"))
    let folder = try #require(String(decoding: words, as: UTF8.self).firstMatch(of: #/cx-fleet-[0-9a-f]{8}/#)).0
    terminal.signal(SIGKILL)
    #expect(try await terminal.ending() == .signalled(SIGKILL))
    try await turns { !all.contains(where: Self.isRunning) }
    try await turns { Self.leftovers(String(folder)).isEmpty }
    try await turns { !FileManager.default.fileExists(atPath: "/tmp/\(folder)") }
  }

  @Test("without a redis-server it says how to install one")
  func missing() async throws {
    let program = Process()
    program.executableURL = URL(filePath: Program.path)
    program.arguments = ["demo", "fleet", "--plain"]
    program.environment = ["PATH": "/nowhere"]
    let errors = Pipe()
    program.standardError = errors
    program.standardOutput = Pipe()
    try program.run()
    let text = await withCheckedContinuation { continuation in
      DispatchQueue.global().async {
        continuation.resume(
          returning: String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self))
      }
    }
    #expect(text.contains("demo fleet needs a redis-server") && text.contains("apt-get install redis-server"))
  }

  @Test("a recorded session of several apps is replayed as it was shown")
  func recorded() async throws {
    let folder = try TemporaryFolder()
    let file = folder.url.appending(path: "s.rec").path()
    let terminal = try await demo(120, 40, ["--record", file])
    terminal.send("q")
    try await terminal.wait(forText: "quit? y/N")
    terminal.send("y")
    #expect(try await terminal.ending() == .exited(0))
    let run = try await Program.run(["--replay", file])
    #expect(run.status == 0, "\(run.errors)")
    #expect(run.output.contains("┌ Apps 3 ") && run.output.contains("● hears"), "\(run.output)")
    let cast = folder.url.appending(path: "s.cast").path()
    let export = try await Program.run(["--replay", file, "--export", cast])
    #expect(export.output.contains("every one as it was shown"), "\(export.output)\(export.errors)")
  }
}
#endif

#if Encryption
import CacheEngine
import CacheEngineEncryption
import CacheEngineTesting
import Crypto
import Foundation
import PseudoTerminal
import Testing

@testable import CacheEngineInspector
@testable import CacheExplorer
@testable import ExplorerCache
@testable import ExplorerCommands
@testable import ExplorerModel
@testable import ExplorerState

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// `cache-explorer attach` and the app in `Examples/AttachedApp`, as two processes.
@Suite(.serialized, .timeLimit(.minutes(10))) struct AttachTests {
  private static let environment = ["TERM": "xterm-256color", "LANG": "C.UTF-8"]

  /// The sample app, killed when the test is over.
  private final class App {
    private let process = Process()
    let socket: String
    /// Of its own, also for what it keeps on disk: an app that is killed cleans nothing up.
    ///
    /// A socket's path has to be short.
    private let folder = URL(filePath: "/tmp/cx-\(UUID().uuidString.prefix(8))")

    /// `socket`: Where to serve, if another app has served there before.
    init(_ options: [String] = [], at socket: String? = nil) async throws {
      try FileManager.default.createDirectory(
        at: folder, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
      self.socket = socket ?? folder.appending(path: "cache.sock").path()
      process.executableURL = URL(filePath: Program.path).deletingLastPathComponent().appending(path: "AttachedApp")
      process.arguments = [self.socket] + options
      process.environment = ProcessInfo.processInfo.environment.merging(["TMPDIR": folder.path()]) { $1 }
      let output = Pipe()
      process.standardOutput = output
      try process.run()
      let handle = output.fileHandleForReading
      let line = await withCheckedContinuation { continuation in
        DispatchQueue.global().async { continuation.resume(returning: handle.availableData) }
      }
      try #require(String(decoding: line, as: UTF8.self) == "serving at \(self.socket)\n")
    }

    var number: Int32 { process.processIdentifier }
    var isRunning: Bool { process.isRunning }
    /// Its exit status, once it has ended.
    var status: Int32 { process.terminationStatus }

    /// The names of what it keeps.
    var files: [String] { (try? FileManager.default.contentsOfDirectory(atPath: folder.path())) ?? [] }

    func kill(by signal: Int32 = SIGKILL) async {
      guard process.isRunning else { return }
      Self.send(signal, to: number)
      let process = process
      await withCheckedContinuation { continuation in
        DispatchQueue.global().async {
          process.waitUntilExit()
          continuation.resume()
        }
      }
    }

    func stop() { Self.send(SIGSTOP, to: number) }
    func goOn() { Self.send(SIGCONT, to: number) }

    private static func send(_ signal: Int32, to number: Int32) {
      #if canImport(Darwin)
      Darwin.kill(number, signal)
      #elseif canImport(Glibc)
      Glibc.kill(number, signal)
      #else
      Musl.kill(number, signal)
      #endif
    }

    deinit {
      if process.isRunning {
        Self.send(SIGKILL, to: number)
        // Until it is gone, it writes there.
        process.waitUntilExit()
      }
      try? FileManager.default.removeItem(at: folder)
    }
  }

  private func attach(to app: App, _ options: [String] = []) async throws -> PseudoTerminal {
    let terminal = try PseudoTerminal(
      Program.path, arguments: ["attach", app.socket] + options, width: 120, height: 40, environment: Self.environment)
    let number = app.number
    try await terminal.wait(for: "the first picture") {
      $0.screen.rows[0].contains("● attached \(number) thumbnails") && $0.screen.contains("┌ 1 MEMORY ")
        && $0.screen.contains("┌ 2 DISK ") && $0.screen.rows.last?.contains("qQuit") == true
    }
    return terminal
  }

  private func json(_ run: Program.Run) throws -> [String: Any] {
    try #require(JSONSerialization.jsonObject(with: Data(run.output.utf8)) as? [String: Any])
  }

  @Test("the screens of a running app show its levels, its calls and its entries, and q leaves it running")
  func screens() async throws {
    let app = try await App()
    let terminal = try await attach(to: app)
    try await terminal.wait(for: "traffic") {
      $0.screen.contains("photo:") && $0.screen.contains("served by MEMORY") && $0.screen.contains("thumbnails")
    }
    terminal.send("5")
    try await terminal.wait(forText: "refused")
    terminal.send("1")
    terminal.send(":get mine")
    terminal.send(.enter)
    try await terminal.wait(for: "an answer") {
      $0.screen.rows.contains { $0.hasPrefix(" ✓ get mine → ") && $0.contains("from THUMBNAILS") }
    }
    terminal.send("c")
    try await terminal.wait(forText: "thumbnails lets nobody change its cache")
    terminal.send(":set mine yours")
    terminal.send(.enter)
    try await terminal.wait(forText: "serve it with allowsWrites: true")
    terminal.send("q")
    #expect(try await terminal.ending() == .exited(0))
    #expect(app.isRunning)
  }

  @Test("what an app does is recorded, and replayed when it has ended")
  func records() async throws {
    let app = try await App()
    let folder = try TemporaryFolder()
    let file = folder.url.appending(path: "app.rec").path()
    let terminal = try await attach(to: app, ["--record", file, "--record-limit", "8MiB"])
    try await terminal.wait(for: "traffic") { $0.screen.rows[0].contains("● REC ") && $0.screen.contains("▸photo:") }
    terminal.send("q")
    try await terminal.wait(forText: "the session is recorded: quit?")
    terminal.send("y")
    #expect(try await terminal.ending() == .exited(0))
    let number = app.number
    await app.kill()
    let replay = try await Program.run(["--replay", file])
    #expect(replay.status == 0, "\(replay.errors)")
    #expect(replay.output.contains("attached \(number) thumbnails") && replay.output.contains("▸photo:"))
    let headless = try await Program.run(["attach", app.socket, "--once", "--record", file])
    #expect(headless.status == 2 && headless.errors.contains("--record needs the screen; leave out --once and --json"))
  }

  @Test(
    "one of several apps that is not there is told of, in a picture and as JSON as well",
    arguments: ["--once", "--json"])
  func missing(option: String) async throws {
    let app = try await App()
    let run = try await Program.run(["attach", app.socket, app.socket + "2", option, "--for", "1ms"])
    #expect(run.status == 0 && run.output.contains("thumbnails"))
    #expect(run.errors.hasPrefix("warning: ") && run.errors.contains(app.socket + "2"), "\(run.errors)")
  }

  @Test("where the app allows it, commands change its cache, and faults and clocks stay its own")
  func writes() async throws {
    let app = try await App(["--allow-writes", "--quiet"])
    let terminal = try await attach(to: app)
    func answer(to command: String, containing text: String) async throws {
      terminal.send(":\(command)")
      terminal.send(.enter)
      try await terminal.wait(for: "“\(text)” for “\(command)”") {
        $0.screen.rows.contains { $0.contains("\(command) → ") && $0.contains(text) }
      }
    }
    try await answer(to: "set a hello", containing: "stored in disk, memory")
    try await answer(to: "get a", containing: "5 B from MEMORY")
    try await answer(to: "expire a", containing: "2 entries expired")
    try await answer(to: "get a", containing: "from THUMBNAILS")
    try await answer(to: "del a", containing: "removed from")
    try await answer(to: "set b hello", containing: "stored in")
    try await answer(to: "warn", containing: "memory dropped 1 entry")
    try await answer(to: "clear", containing: "1 entry removed")
    try await answer(to: "fault disk down", containing: "faults can be given to caches that cache-explorer opened")
    try await answer(to: "speed 2", containing: "the clock belongs to the app")
    terminal.send("q")
    #expect(try await terminal.ending() == .exited(0))
    #expect(app.isRunning)
  }

  @Test("an app that is killed is said to be gone, the screens stay, and q leaves with 0")
  func appKilled() async throws {
    let app = try await App()
    let terminal = try await attach(to: app)
    try await terminal.wait(forText: "photo:")
    await app.kill()
    try await terminal.wait(forText: "✕ app gone, trying again")
    #expect(terminal.sight.screen.contains("photo:"))
    terminal.send("2")
    try await terminal.wait(forText: "photo:")
    terminal.send(":get photo:1")
    terminal.send(.enter)
    try await terminal.wait(forText: "the app has ended")
    terminal.send("q")
    #expect(try await terminal.ending() == .exited(0))
    #expect(terminal.modes == terminal.modesBefore)

    let late = try await Program.run(["attach", app.socket, "--once"])
    #expect(late.status == 5)
    #expect(late.errors.contains("nobody listens at \(app.socket) any more: the app has ended; start it again"))
  }

  @Test(
    "the sample app that is ended by a signal takes its socket and its files with it", arguments: [SIGINT, SIGTERM])
  func appEnded(by signal: Int32) async throws {
    let app = try await App()
    #expect(app.files.count == 2, "\(app.files)")
    await app.kill(by: signal)
    #expect(app.files == [])
    #expect(app.status == 0)
  }

  @Test("an app that is stopped is said not to answer, and since when, until it does again")
  func appStopped() async throws {
    let app = try await App()
    let terminal = try await attach(to: app)
    try await terminal.wait(forText: "photo:")
    app.stop()
    defer { app.goOn() }
    try await terminal.wait(for: "the sign of a silent app") {
      $0.screen.rows[0].firstMatch(of: /✕ not answering since \d\d:\d\d:\d\d/) != nil
    }
    #expect(terminal.sight.screen.contains("photo:"))
    app.goOn()
    let number = app.number
    try await terminal.wait(for: "an app that answers") {
      $0.screen.rows[0].contains("● attached \(number) thumbnails")
    }
    terminal.send("6")
    try await terminal.wait(forText: "the app answers again")
    terminal.send("q")
    #expect(try await terminal.ending() == .exited(0))
  }

  @Test("an app that is started again is attached again by itself, and counts begin anew")
  func appStartedAgain() async throws {
    let first = try await App(["--quiet", "--allow-writes"])
    let terminal = try await attach(to: first)
    terminal.send(":get mine")
    terminal.send(.enter)
    try await terminal.wait(for: "a counted read") {
      $0.screen.contains("from THUMBNAILS") && $0.screen.rows[0].contains("hit 0.0% of 1")
    }
    await first.kill()
    try await terminal.wait(forText: "✕ app gone, trying again")
    terminal.send("c")
    try await terminal.wait(forText: "it is attached again as soon as it listens at")
    terminal.send(":get mine")
    terminal.send(.enter)
    try await terminal.wait(forText: "this works again once it is attached again")
    #expect(terminal.sight.screen.rows[0].contains("hit 0.0% of 1"), "what was known stays")

    let second = try await App(["--quiet", "--allow-writes"], at: first.socket)
    let number = second.number
    try await terminal.wait(for: "the second app") {
      $0.screen.rows[0].contains("● attached again (pid \(number))") && $0.screen.rows[0].contains("hit —")
        && $0.screen.contains("counters were reset")
    }
    terminal.send(":set mine yours")
    terminal.send(.enter)
    try await terminal.wait(forText: "stored in disk, memory")
    terminal.send(":get mine")
    terminal.send(.enter)
    try await terminal.wait(for: "a read of the second app") {
      $0.screen.contains("5 B from MEMORY") && $0.screen.rows[0].contains("hit 100% of 1")
    }
    terminal.send("q")
    #expect(try await terminal.ending() == .exited(0))
    #expect(second.isRunning)
    withExtendedLifetime(first) {}
  }

  @Test("who else listens where the app was is refused as at the start, and the app is waited for")
  func refusedAgain() async throws {
    let folder = "/tmp/cx-\(UUID().uuidString.prefix(8))"
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let socket = folder + "/cache.sock"
    func serve(_ versions: ProtocolVersions = .current) throws -> InspectorServer {
      try CacheInspector.serve(
        MemoryCacheLevel<String, Data>(name: "memory", capacity: 1 << 20), at: socket, name: "app", versions: versions)
    }
    let first = try serve()
    let terminal = try PseudoTerminal(
      Program.path, arguments: ["attach", socket], width: 120, height: 40, environment: Self.environment)
    try await terminal.wait(forText: "● attached \(ProcessInfo.processInfo.processIdentifier) app")
    first.close()
    try await terminal.wait(forText: "✕ app gone, trying again")
    let newer = try serve(ProtocolVersions(7, 9))
    try await terminal.wait(forText: "app speaks version 7 to 9 of the protocol and you speak 1; install a newer")
    newer.close()
    let listener = try UnixSocket.listen(at: socket)
    let stranger = DispatchSource.makeReadSource(fileDescriptor: listener.descriptor.number, queue: .global())
    stranger.setEventHandler {
      if case .somebody(let peer) = UnixSocket.accept(from: listener) {
        _ = peer.writeAll(Array("220 mail ready\n".utf8))
      }
    }
    stranger.activate()
    try await terminal.wait(forText: "does not speak this protocol; is it another")
    await withCheckedContinuation { continuation in
      stranger.setCancelHandler { continuation.resume() }
      stranger.cancel()
    }
    UnixSocket.removeFile(of: listener)
    let last = try serve()
    try await terminal.wait(forText: "● attached again (pid ")
    terminal.send("q")
    #expect(try await terminal.ending() == .exited(0))
    withExtendedLifetime(last) {}
  }

  @Test("what a command did is counted when its answer is there")
  func counted() async throws {
    let app = try await App(["--quiet", "--allow-writes"])
    let reads = (0..<5).map { "get photo:\($0)\nget photo:\($0)\nstats\n" }.joined()
    let run = try await Program.run(["attach", app.socket, "--plain"], input: reads + "quit\n")
    let told = run.output.split(separator: "\n").compactMap { $0.firstMatch(of: #/^stats: ok; (\d+) requests/#)?.1 }
    #expect(told == ["2", "4", "6", "8", "10"], "\(run.output)")
  }

  @Test("an app of several that says nothing is said not to answer also where nobody follows it, until it does")
  func silentUnfollowed() async throws {
    let apps = [try await App(["--quiet"]), try await App(["--quiet"])]
    let fleet = try await AttachedFleet.open(apps.map(\.socket), buffer: EventBuffer())
    func silent() async -> [Bool] {
      for case .fleet(let sheet) in await fleet.refresh() { return sheet.apps.map { $0.silentSince != nil } }
      return []
    }
    try await turns { await silent() == [false, false] }
    apps[1].stop()
    try await turns { await silent() == [false, true] }
    apps[1].goOn()
    try await turns { await silent() == [false, false] }
    try await fleet.live.close()
  }

  @Test("in a directory of sockets the one app that listens is attached to, now and after it was gone")
  func directoryOfSockets() async throws {
    let first = try await App(["--quiet"])
    let folder = URL(filePath: first.socket).deletingLastPathComponent().path()
    let stale = folder + "0.sock"
    let dead = try await App(["--quiet"], at: stale)
    let both = try await Program.run(["attach", folder, "--once"])
    #expect(both.status == 0)
    #expect(both.output.contains("┌ Fleet ") && both.output.contains("┌ Apps 2 "), "\(both.output)")
    let link = try TemporaryFolder()
    let linked = link.url.appending(path: "run").path()
    try FileManager.default.createSymbolicLink(atPath: linked, withDestinationPath: folder)
    #expect(try await Program.run(["attach", linked, "--once"]).output.contains("┌ Apps 2 "))
    await dead.kill()
    let terminal = try PseudoTerminal(
      Program.path, arguments: ["attach", folder], width: 120, height: 40, environment: Self.environment)
    try await terminal.wait(forText: "● attached \(first.number) thumbnails")
    await first.kill()
    try await terminal.wait(forText: "✕ app gone, trying again")
    let nobody = try await Program.run(["attach", folder, "--once"])
    #expect(nobody.status == 5)
    #expect(nobody.errors.contains("nobody listens at any of the 2 sockets in \(folder)"))
    try FileManager.default.removeItem(atPath: stale)
    let one = try await Program.run(["attach", folder, "--once"])
    #expect(one.status == 5)
    #expect(one.errors == "error: nobody listens at \(first.socket); start the app that serves there\n")
    let next = try await App(["--quiet"], at: folder + "next.sock")
    try await terminal.wait(forText: "● attached again (pid \(next.number))")
    terminal.send("q")
    #expect(try await terminal.ending() == .exited(0))
    withExtendedLifetime(first) {}
  }

  @Test("a large value is shown as the beginning of what it is, and comes back whole when a removal is undone")
  func largeValues() async throws {
    let folder = "/tmp/cx-\(UUID().uuidString.prefix(8))"
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let value = Data((0..<2_500_000).map { UInt8(truncatingIfNeeded: $0 % 251) })
    let level = MemoryCacheLevel<String, Data>(name: "memory", capacity: 8 << 20)
    try await level.set(value, forKey: "poster")
    let server = try CacheInspector.serve(level, at: folder + "/cache.sock", name: "app", allowsWrites: true)
    let terminal = try PseudoTerminal(
      Program.path, arguments: ["attach", server.path], width: 120, height: 40, environment: Self.environment)
    try await terminal.wait(forText: "poster")
    terminal.send("v")
    try await terminal.wait(for: "its size and its beginning") {
      $0.screen.contains("bytes, 2.4 MiB in MEMORY") && $0.screen.contains("00 01 02 03")
    }
    terminal.send("G")
    try await terminal.wait(forText: "first 64 KiB of 2.4 MiB; the rest is not shown")
    terminal.send(.escape)
    terminal.send(":get poster")
    terminal.send(.enter)
    try await terminal.wait(forText: "get poster → 2.4 MiB from MEMORY")
    terminal.send(":del poster")
    terminal.send(.enter)
    try await terminal.wait(forText: "del poster → done")
    #expect(try await level.get("poster") == nil)
    terminal.send("u")
    try await terminal.wait(forText: "del poster is undone in memory")
    #expect(try await level.get("poster") == value)
    terminal.send("q")
    #expect(try await terminal.ending() == .exited(0))
  }

  @Test("of an encrypted folder all is shown but names and values, and how to see them is said")
  func encryptedFolder() async throws {
    let folder = try TemporaryFolder()
    let directory = folder.url.appending(path: "store").path()
    let cipher = try StoreEncryption(key: SymmetricKey(size: .bits256))
    let level = try DiskCacheLevel<String, Data>(directory: directory, cipher: cipher)
    try await level.set(Data(repeating: 1, count: 3_000), forKey: "a secret name")
    try await level.set(Data(repeating: 2, count: 300_000), forKey: "another secret", expiry: .after(.seconds(3_600)))
    let before = try FileManager.default.contentsOfDirectory(atPath: directory).sorted()
    let terminal = try PseudoTerminal(
      Program.path, arguments: ["attach", directory], width: 160, height: 40, environment: Self.environment)
    try await terminal.wait(for: "the entries") {
      $0.screen.contains("● folder, encrypted") && $0.screen.contains("name hidden (encrypted)")
        && $0.screen.contains("2.9 KiB") && $0.screen.contains("293 KiB") && $0.screen.contains("CacheInspector.serve")
    }
    #expect(!terminal.sight.screen.contains("secret"))
    terminal.send("v")
    try await terminal.wait(forText: "the values of this folder are encrypted; attach to an app that shows its cache")
    terminal.send(.escape)
    terminal.send("5")
    try await terminal.wait(forText: "every entry is whole as far as checksums tell")
    terminal.send("1")
    try await level.set(Data(repeating: 3, count: 5_000), forKey: "a third")
    try await terminal.wait(forText: "4.9 KiB")
    terminal.send("c")
    try await terminal.wait(forText: "a folder is shown for reading only")
    terminal.send("q")
    #expect(try await terminal.ending() == .exited(0))
    #expect(try FileManager.default.contentsOfDirectory(atPath: directory).sorted() == before)
    #expect(try await level.get("a secret name") == Data(repeating: 1, count: 3_000))
    try await level.close()
  }

  @Test("the What if screen asks about the levels of an app, and says what never came")
  func whatIf() async throws {
    let app = try await App()
    let terminal = try await attach(to: app)
    terminal.send("8")
    try await terminal.wait(for: "the levels of the app with their policies") {
      $0.screen.contains("adaptive 256 KiB") && $0.screen.contains("lru 4 MiB") && $0.screen.contains("look-ups")
    }
    #expect(!terminal.sight.screen.contains("dropped on the way"))
    terminal.send("q")
    #expect(try await terminal.ending() == .exited(0))
  }

  @Test("an explorer that is killed harms no app: another one attaches")
  func explorerKilled() async throws {
    let app = try await App()
    let terminal = try await attach(to: app)
    terminal.signal(SIGKILL)
    _ = try await terminal.ending()
    let run = try await Program.run(["attach", app.socket, "--once", "--json", "--for", "300ms"])
    #expect(run.status == 0, "\(run.errors)")
    #expect(app.isRunning)
  }

  @Test("once gives the statistics of a moment as JSON, or one picture")
  func once() async throws {
    let app = try await App()
    let run = try await Program.run(["attach", app.socket, "--json", "--for", "1s"])
    #expect(run.status == 0, "\(run.errors)")
    let statistics = try json(run)
    let levels = try #require(statistics["levels"] as? [[String: Any]])
    #expect(levels.compactMap { $0["name"] as? String } == ["memory", "disk", "thumbnails"])
    #expect(levels[0]["lookups"] as? Int ?? 0 > 0)
    #expect(levels[0]["entries"] as? Int ?? 0 > 0)
    #expect(levels[0]["capacityBytes"] as? Int == 256 << 10)
    #expect(statistics["requests"] as? Int ?? 0 > 0)
    let picture = try await Program.run(["attach", app.socket, "--once"])
    #expect(picture.output.contains("● attached \(app.number) thumbnails"))
    #expect(picture.output.contains("photo:"))
    #expect(!picture.output.contains("\u{1b}"))
  }

  @Test("without a screen all is told in sentences, and what goes wrong is too")
  func plain() async throws {
    let app = try await App(["--quiet"])
    let run = try await Program.run(
      ["attach", app.socket, "--plain"], input: "get x\nget x\nset x y\nreload\nstatus\nquit\n")
    #expect(run.status == 0)
    #expect(run.output.contains("attached to thumbnails, process \(app.number)"))
    #expect(run.output.contains("its levels are memory, disk, thumbnails"))
    #expect(run.output.contains("get: hit from thumbnails"))
    #expect(run.output.contains("get: hit from memory"))
    #expect(run.output.contains("thumbnails lets nobody change its cache"))
    #expect(run.output.contains("the cache belongs to the app"))
    #expect(run.output.contains("memory served") || run.output.contains("memory was not asked yet"))
  }

  @Test("who leaves is not told that the app has ended")
  func leaving() async throws {
    let app = try await App(["--quiet"])
    // The news of the end may come too late to be told: now and then is enough to see that it is none.
    for _ in 0..<8 {
      let run = try await Program.run(["attach", app.socket, "--plain"], input: "get x\n")
      #expect(run.status == 0)
      #expect(run.output.contains("get: hit from"))
      #expect(!run.output.contains("trying again"))
    }
  }

  @Test("without a screen, whoever is told that the app is gone is told of no key")
  func goneInSentences() async throws {
    let app = try await App(["--quiet"])
    let program = try RunningProgram(["attach", app.socket, "--plain"])
    #expect(await program.line { $0.hasPrefix("its levels are ") } != nil)
    await app.kill()
    let notice = try #require(await program.line { $0.contains("trying again") })
    #expect(notice.hasSuffix("; what is shown is what was known last"), "\(notice)")
    program.type("quit")
    #expect(await program.end().status == 0)
  }

  @Test("a folder is shown while its program writes to it, and nothing in it changes")
  func folder() async throws {
    let folder = try TemporaryFolder()
    let directory = folder.url.appending(path: "store").path()
    let level = try DiskCacheLevel<String, Data>(directory: directory)
    for number in 0..<3 { try await level.set(Data(repeating: 1, count: 100), forKey: "key \(number)") }
    try await level.set(Data([1]), forKey: "short", expiry: .after(.seconds(3_600)))
    let terminal = try PseudoTerminal(
      Program.path, arguments: ["attach", directory], width: 120, height: 40, environment: Self.environment)
    try await terminal.wait(for: "the entries") {
      $0.screen.contains("● folder, read-only") && $0.screen.contains("key 2") && $0.screen.contains("short")
    }
    try await level.set(Data([1]), forKey: "later")
    try await terminal.wait(forText: "later")
    terminal.send(":get later")
    terminal.send(.enter)
    try await terminal.wait(forText: "from DISK")
    terminal.send("5")
    try await terminal.wait(forText: "every entry is as it was written")
    terminal.send("c")
    try await terminal.wait(forText: "a folder is shown for reading only")
    terminal.send("q")
    #expect(try await terminal.ending() == .exited(0))
    #expect(try await level.get("later") == Data([1]))
    try await level.close()

    let before = try FileManager.default.contentsOfDirectory(atPath: directory).sorted()
    let run = try await Program.run(["attach", directory, "--json", "--for", "10ms"])
    #expect(run.status == 0, "\(run.errors)")
    let levels = try #require(try json(run)["levels"] as? [[String: Any]])
    #expect(levels.first?["entries"] as? Int == 5)
    #expect(try FileManager.default.contentsOfDirectory(atPath: directory).sorted() == before)

    let page = try await Program.run(
      ["attach", "./store/.", "--once", "--for", "10ms", "--page", "config"], directory: folder.url)
    #expect(page.output.contains(" store  ● folder") && page.output.contains("/store  "), "\(page.output)")
    let link = folder.url.appending(path: "link").path()
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "store")
    let linked = try await Program.run(["attach", link, "--once", "--for", "10ms"])
    #expect(linked.output.contains("● folder, read-only"), "\(linked.errors)")

    let nothing = try await Program.run(["attach", folder.url.path(), "--once"])
    #expect(nothing.status == 2)
    let fresh = folder.url.appending(path: "fresh").path()
    let unwritten = try DiskCacheLevel<String, Data>(directory: fresh)
    #expect(try await unwritten.get("a") == nil)
    #expect(try await Program.run(["attach", fresh, "--once"]).status == 0)
    try await unwritten.close()
    let empty = folder.url.appending(path: "empty")
    try FileManager.default.createDirectory(at: empty, withIntermediateDirectories: false)
    let early = try await Program.run(["attach", empty.path(), "--once"])
    #expect(early.status == 2 && early.errors.contains("holds no disk level and no socket"))
    let address = try await Program.run(["attach", "http://localhost:6379", "--once"])
    #expect(address.status == 2 && address.errors.contains("write it as in redis://localhost:6379"))
  }

  @Test(
    "a process of another user is refused on either side, also where the file would let it in",
    .enabled(
      if: geteuid() == 0 && FileManager.default.isExecutableFile(atPath: "/usr/bin/setpriv")
        && FileManager.default.isExecutableFile(atPath: "/usr/bin/perl")))
  func foreign() async throws {
    let app = try await App(["--quiet"])
    let folder = URL(filePath: app.socket).deletingLastPathComponent().path()
    func run(_ command: [String]) throws -> String {
      let process = Process()
      process.executableURL = URL(filePath: "/usr/bin/setpriv")
      process.arguments = ["--reuid", "65534", "--regid", "65534", "--clear-groups"] + command
      let output = Pipe()
      (process.standardOutput, process.standardError) = (output, output)
      try process.run()
      defer { process.waitUntilExit() }
      return String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    }
    let client = [
      "/usr/bin/perl", "-MSocket", "-e",
      "socket(S,AF_UNIX,SOCK_STREAM,0); connect(S,sockaddr_un($ARGV[0])) or die 'no way in'; print <S>", app.socket,
    ]
    #expect(try run(client).contains("no way in"))
    try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: folder)
    #expect(try run(client).contains("no way in"))
    try FileManager.default.setAttributes([.posixPermissions: 0o666], ofItemAtPath: app.socket)
    #expect(try run(client).contains("thumbnails runs as user 0 and you as 65534; attach as the user who runs it"))
    let copy = folder + "cache-explorer"
    try FileManager.default.copyItem(atPath: Program.path, toPath: copy)
    #expect(
      try run([copy, "attach", app.socket, "--once"]).contains("runs as user 0 and this one as 65534"))
    #expect(app.isRunning)
  }
}
#endif

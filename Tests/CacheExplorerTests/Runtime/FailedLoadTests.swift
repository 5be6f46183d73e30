import CacheEngine
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

/// A configuration that is understood, and cannot be opened.
@MainActor
@Suite(.timeLimit(.minutes(10))) struct FailedLoadTests {
  @Test(
    "A load that fails says what became of the cache of before, and the screen begins anew", arguments: [true, false])
  func fails(opensAgain: Bool) async throws {
    let configuration = try ConfigurationReader.read("levels: [{ memory: {} }]", file: "c.yaml", folder: "/")
    let builds = Mutex(0)
    let build: OpenedCache.Build = { configuration, file in
      let number = builds.withLock { count in
        count += 1
        return count
      }
      guard number == 1 || (number == 3 && opensAgain) else { throw CommandFailure(message: "no room") }
      return try await CacheBuilder.build(configuration, file: file)
    }
    let live = try await build(configuration, "c.yaml")
    let opened = OpenedCache(configuration: configuration, file: "c.yaml", isFile: true, live: live, build: build)
    let explorer = Explorer(
      screen: RecordingScreen(), opened: opened, buffer: EventBuffer(),
      model: Model(configuration, title: "c", now: live.clock.now))
    let run = try #require(try Verbs.parse("run zipf --rate 1"))
    #expect(await explorer.interpreter.run(run).outcome == .ok)

    let result = await explorer.interpreter.use(configuration, file: "d.yaml", for: "load")
    #expect(result.outcome == .error && result.isRefused)
    let state = opensAgain ? "is open again, with empty memory" : "could not be opened again: no room"
    #expect(result.error == "no room; the cache of before \(state), and the workload has ended")
    explorer.told(LoadVerb(file: "d.yaml"), result)
    let messages = await explorer.mailbox.take()
    #expect(messages.contains { if case .replaced = $0 { true } else { false } })
    #expect(explorer.interpreter.current.file == "c.yaml")
    try await explorer.live.close()
  }

  @Test("What was opened before a level that cannot be opened is closed when that is told, whoever holds it")
  func isClosed() async throws {
    let folder = try TemporaryFolder()
    _ = try folder.write("", to: "file")
    let configuration = try ConfigurationReader.read(
      "levels: [{ disk: { directory: first } }, { disk: { directory: file } }]", file: "c.yaml",
      folder: folder.url.path())
    var builder = CacheBuilder<Data>(clock: SystemClock(), observers: [], whatIf: [], whatIfShare: 0.05)
    do {
      _ = try await builder.open(configuration, file: "c.yaml")
      Issue.record("a file was opened as a directory")
    } catch let failure as ConfigurationFailure {
      #expect(failure.description.contains("disk-2 cannot be opened"))
    }
    // What the level has locked it has locked against this as well.
    let lock = try FileHandle(forUpdating: folder.url.appending(path: "first/lock"))
    #expect(flock(lock.fileDescriptor, LOCK_EX | LOCK_NB) == 0)
    withExtendedLifetime(builder) {}
  }
}

#if Explorer
import CacheEngine
import Foundation
import Testing

@testable import CacheExplorer
@testable import ExplorerCache
@testable import ExplorerCommands
@testable import ExplorerConfiguration
@testable import ExplorerModel
@testable import ExplorerState
@testable import ExplorerText

@Suite(.timeLimit(.minutes(10))) @MainActor struct SplitScreenTests {
  /// Two caches on one screen, each with a program of its own.
  private struct Both {
    let screen: RecordingScreen
    let split: SplitScreen
    let live: [LiveCache]
    let run: Task<Int32, Never>
    let input: Task<Void, Never>
  }

  private func open(_ size: Size) async throws -> Both {
    let screen = RecordingScreen(size: size)
    var opened: [(OpenedCache, EventBuffer)] = []
    let configurations = try ["first", "second"].map { name in
      try ConfigurationReader.read(
        "name: \(name)\nlevels:\n  - memory: { count: 10 }\n  - origin: { latency: 0s, size: 10 B, missing: 100% }\n",
        file: "\(name).yaml", folder: "/")
    }
    for configuration in configurations {
      let buffer = EventBuffer()
      let live = try await CacheBuilder.build(configuration, file: "c", observers: [buffer])
      opened.append((OpenedCache(live: live), buffer))
    }
    let live = opened.map(\.0.live)
    let split = SplitScreen(screen)
    let explorers = zip(configurations, zip(opened, split.panes)).map { configuration, rest in
      Explorer(
        screen: rest.1, opened: rest.0.0, buffer: rest.0.1,
        model: Model(configuration, title: configuration.name, now: SystemClock().now))
    }
    split.sides = { explorers.map { (title: $0.model.title, hits: $0.live.hitShare) } }
    let input = Task { await split.run() }
    return Both(
      screen: screen, split: split, live: live, run: Task { await Session.run(explorers, nil) }, input: input)
  }

  private func close(_ both: Both) async throws {
    both.screen.type("q")
    #expect(await both.run.value == 0)
    both.screen.close()
    await both.input.value
    for live in both.live { try await live.close() }
  }

  private func shows(_ both: Both, _ isMet: @escaping @MainActor ([String]) -> Bool) async -> Bool {
    await both.screen.canvas { isMet($0.rows) } != nil
  }

  @Test("commands go to both caches, or after F2 and F3 to one of them, and quitting leaves both")
  func commands() async throws {
    let both = try await open(Size(width: 120, height: 40))
    #expect(
      await shows(both) { $0[0].contains("A first") && $0[0].contains("B second") && $0[0].contains("keys: both") })
    both.screen.type(":set a 1\n")
    #expect(await shows(both) { $0.contains { $0.components(of: "✓ set a 1") == 2 } })
    for live in both.live { #expect(try await live.cache.get("a") != nil) }
    both.screen.send(.key(.function(3)))
    #expect(await shows(both) { $0[0].contains("keys: B") })
    both.screen.type(":del a\n")
    #expect(await shows(both) { $0.contains { $0.components(of: "✓ del a") == 1 } })
    #expect(try await both.live[0].cache.get("a") != nil)
    #expect(try await both.live[1].cache.get("a") == nil)
    both.screen.send(.key(.function(4)))
    #expect(await shows(both) { $0[0].contains("keys: both") })
    try await close(both)
  }

  @Test("what one file cannot hold of both is written of the chosen one")
  func files() async throws {
    let folder = try TemporaryFolder()
    let both = try await open(Size(width: 240, height: 40))
    for line in ["export x.json", "record x.rec"] {
      both.screen.type(":\(line)\n")
      #expect(
        await shows(both) { $0.contains { $0.components(of: "✕ \(line) → failed: both caches would write") == 2 } })
    }
    both.screen.send(.key(.function(3)))
    both.screen.type(":export \(folder.url.appending(path: "x.json").path())\n")
    #expect(await shows(both) { $0.contains { $0.contains("✓ export ") } })
    try await close(both)
  }

  @Test("what stands above both is about the caches in use")
  func loads() async throws {
    let folder = try TemporaryFolder()
    let file = try folder.write("name: third\nlevels: [memory]\n", to: "third.yaml")
    let both = try await open(Size(width: 120, height: 40))
    both.screen.type(":get a\n")
    #expect(await shows(both) { $0[0].contains("A first hit 0.0%  B second hit 0.0%") })
    both.screen.type(":load \(file)\n")
    #expect(await shows(both) { $0[0].contains("A third hit —  B third hit —") })
    try await close(both)
  }

  @Test("it is two columns where it is wide, two rows where it is high, else the chosen one; and follows the window")
  func layouts() async throws {
    let both = try await open(Size(width: 120, height: 40))
    #expect(await shows(both) { $0[1].components(of: "● LIVE") == 2 })
    both.screen.resize(to: Size(width: 80, height: 24))
    #expect(await shows(both) { $0.count == 24 && $0[1].contains("first") && $0[12].contains("second") })
    both.screen.resize(to: Size(width: 60, height: 14))
    #expect(
      await shows(both) {
        $0.count == 14 && $0[1].contains("first") && !$0.dropFirst().contains { $0.contains("second") }
      })
    both.screen.send(.key(.function(3)))
    #expect(await shows(both) { $0.count == 14 && $0[1].contains("second") })
    both.screen.send(.key(.control("z")))
    both.screen.send(.key(.function(4)))
    #expect(await shows(both) { $0.count == 14 && $0[1].contains("first") })
    #expect(both.screen.suspensions == 1)
    // The smallest screen that one cache works on is enough for two: the title makes room.
    both.screen.resize(to: Size(width: 40, height: 10))
    #expect(await shows(both) { $0.count == 10 && $0[0].contains("first") && $0[2].contains("MEMORY") })
    try await close(both)
  }

  @Test("the hit rates stand beside each other, and who is ahead")
  func title() {
    let picture = SplitPicture(Size(width: 120, height: 12), focus: .both)
    let rows = { (hits: [Double?]) in
      picture.canvas([nil, nil], titles: ["x", "y\u{1b}"], hits: hits, focus: .both).rows
    }
    #expect(rows([0.612, 0.701])[0].contains("A x hit 61.2%  B y\\e hit 70.1%  B +8.9 points"))
    #expect(rows([0.5, 0.5])[0].contains("no difference"))
    #expect(rows([nil, 0.5])[0].contains("A x hit —"))
  }

  @Test("a picture of any size is drawn whole")
  func sizes() {
    for width in stride(from: 1, through: 240, by: 13) {
      for height in stride(from: 1, through: 60, by: 5) {
        for focus in [SplitPicture.Focus.both, .first, .second] {
          let picture = SplitPicture(Size(width: width, height: height), focus: focus)
          let panes = (0...1).map { Canvas(picture.size(of: $0)) }
          let canvas = picture.canvas(panes, titles: ["日本語", "b"], hits: [0.1, 0.9], focus: focus)
          #expect(canvas.cells.count == width * height)
        }
      }
    }
  }
}

extension String {
  /// How often a text stands in it.
  fileprivate func components(of part: String) -> Int {
    split(separator: part, omittingEmptySubsequences: false).count - 1
  }
}
#endif

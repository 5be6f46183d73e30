#if Explorer
import CacheEngine
import Testing

@testable import ExplorerModel
@testable import ExplorerState
@testable import ExplorerText

/// The screen of a Redis server.
struct KeyspaceScreenTests {
  static func sheet() -> KeyspaceSheet {
    var server = KeyspaceSheet.Server()
    (server.address, server.version, server.role) = ("redis://localhost:6379", "7.0.15", "master")
    (server.usedBytes, server.peakBytes, server.mostBytes) = (98 << 20, 99 << 20, 100 << 20)
    (server.policy, server.hits, server.misses) = ("allkeys-lru", 881, 119)
    (server.evicted, server.clients, server.trackingClients, server.keys) = (12, 4, 2, 20_000)
    var sample = KeyspaceSheet.Sample()
    sample.keys = 1_000
    sample.prefixes = KeyspaceSheet.prefixes(
      of: (0..<900).map { ("user:\($0)", 100, .seconds($0)) } + (0..<100).map { ("page/\($0)", 5_000, nil) })
    return KeyspaceSheet(server: server, sample: sample)
  }

  private func scene(_ width: Int, _ height: Int) -> Scene {
    var scene = Scene(size: Size(width: width, height: height))
    scene.send(.keyspace(Self.sheet()))
    scene.type("K")
    return scene
  }

  @Test("Without a server the screen says how to look at one, and stays where it was")
  func none() {
    var scene = Scene(size: Size(width: 120, height: 40))
    scene.type("K")
    #expect(scene.model.page == .overview)
    #expect(scene.lines.contains { $0.contains("cache-explorer attach redis://localhost") })
  }

  @Test(
    "Prefixes stand there with their keys, bytes and lifetimes beside the server", arguments: [(120, 40), (80, 24)])
  func rows(width: Int, height: Int) throws {
    let scene = scene(width, height)
    #expect(scene.lines.contains { $0.contains("┌ Keyspace 1–2 of 2 ") })
    let page = try #require(scene.lines.first { $0.contains("▸page/") })
    #expect(page.contains("100") && page.contains("488 KiB") && page.contains("∞ 100"))
    let user = try #require(scene.lines.first { $0.contains(" user:") })
    #expect(user.contains("900") && user.contains("87.9 KiB") && user.contains("450s") || user.contains("7m"))
    #expect(scene.lines.contains { $0.contains("98 MiB of 100 MiB, 98.0%") })
    #expect(scene.lines.contains { $0.contains("88.1% of 1 000") })
    #expect(scene.lines.contains { $0.contains("1 000 of 20 000 keys") })
  }

  @Test("Of keys that a server lists, nobody knows when they were stored or used", arguments: [true, false])
  func undated(isServer: Bool) throws {
    var scene = Scene(
      size: Size(width: 120, height: 40), levels: [LevelRow(name: "redis", kind: "redis", capacity: "server")])
    let deadline = Scene.start.advanced(by: .seconds(60))
    scene.send(
      .snapshot(
        level: "redis",
        [ListedEntry(key: "user:1", cost: 56, created: isServer ? nil : Scene.start, deadline: deadline)]))
    scene.pass(.seconds(1))
    scene.press(.character("2"))
    let row = try #require(scene.lines.first { $0.contains("▸user:1 ") })
    #expect(row.contains("56 B"))
    #expect(row.contains("<5s") != isServer && row.contains("█") != isServer)
    scene.press(.enter)
    #expect(scene.lines.contains { $0.contains("stored before it was seen") } == isServer)
    #expect(scene.lines.contains { $0.contains("0 since the start, last used") } != isServer)
  }

  @Test("Of keys that were found at a server nobody knows either, and they stand after those that were used")
  func found() {
    var scene = Scene(
      size: Size(width: 120, height: 40), levels: [LevelRow(name: "redis", kind: "redis", capacity: "server")])
    scene.read("used", from: 0)
    scene.pass(.seconds(1))
    scene.send(.found(level: "redis", [ListedEntry(key: "found", cost: 56, created: nil, deadline: nil)]))
    #expect(scene.model.live.entries.row("found")?.isPresent == true)
    #expect(scene.model.live.entries.row("found")?.created == nil)
    scene.send(.sort("last"))
    let (list, rows) = (scene.model.list.order, scene.model.live.entries.rows)
    #expect(list.indices.map { rows[list[$0]].key } == ["used", "found"])
  }

  @Test("The keys of a server fill the screen", arguments: [(120, 40), (80, 24)])
  func whole(width: Int, height: Int) throws {
    try SharedGrids.expect(scene(width, height), shows: "Keyspace\(width)x\(height)")
  }

  @Test("What does not fit of a server's figures is said to follow, until it is there")
  func more() {
    var scene = scene(80, 24)
    #expect(scene.lines.contains { $0.contains(" ↓ more · Redis 7.0.15 ┐") })
    scene.press(.tab)
    scene.press(.down)
    #expect(scene.lines.contains { $0.contains(" the server speed ") })
    #expect(!scene.lines.contains { $0.contains("↓ more") })
  }

  @Test("s and S sort, / filters, and Enter shows the keys of the prefix")
  func grammar() {
    var scene = scene(120, 40)
    scene.type("s")
    #expect(scene.lines.contains { $0.contains("sort KEYS▼") })
    #expect(scene.model[KeyspacePanel.self].rows.map(\.name) == ["user:", "page/"])
    scene.type("S")
    #expect(scene.model[KeyspacePanel.self].rows.map(\.name) == ["page/", "user:"])
    scene.type("/USER")
    scene.press(.enter)
    #expect(scene.model[KeyspacePanel.self].rows.map(\.name) == ["user:"])
    scene.press(.enter)
    #expect(scene.model.page == .entries)
    #expect(scene.model.list.filter.text == "user:")
    scene.type("s")
    #expect(scene.model.list.sort == EntryList.Column.hits.next)
  }

  @Test("A chosen prefix stays chosen where it goes, and a frozen picture stands")
  func stays() {
    var scene = scene(120, 40)
    scene.press(.down)
    #expect(scene.lines.contains { $0.contains("▸user:") })
    var sheet = Self.sheet()
    sheet.sample.prefixes.reverse()
    scene.type("s")
    scene.send(.keyspace(sheet))
    #expect(scene.lines.contains { $0.contains("▸user:") })
    scene.type(" ")
    sheet.sample.prefixes = []
    scene.send(.keyspace(sheet))
    #expect(scene.lines.contains { $0.contains("▸user:") })
    scene.type("L")
    scene.send(.keyspace(sheet))
    #expect(scene.lines.contains { $0.contains("the database has no keys") })
  }

  @Test("What a listening brought stands beside the prefixes and in the server’s figures; masked, no prefix is told")
  func traffic() {
    var scene = scene(120, 40)
    var sheet = Self.sheet()
    var traffic = MonitoredTraffic(lasted: .seconds(5), isCut: false, commands: 90)
    (traffic.reads, traffic.writes, traffic.keys, traffic.clients) = (60, 30, 7, 2)
    traffic.prefixes = [MonitoredTraffic.Prefix(name: "user:", reads: 60, writes: 30)]
    traffic.fronts = [MonitoredTraffic.Front(entries: 100, hits: 45)]
    sheet.traffic = traffic
    scene.send(.keyspace(sheet))
    #expect(scene.lines.contains { $0.contains(" user:") && $0.contains("60     30") })
    #expect(scene.lines.contains { $0.contains("memory of 100 in each client: 75.0%") })
    scene.type("P")
    #expect(!scene.lines.contains { $0.contains("user:") })
  }
}
#endif

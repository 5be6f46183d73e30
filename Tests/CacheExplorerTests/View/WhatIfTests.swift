import CacheEngine
import CacheEngineHitRatio
import Foundation
import Testing

@testable import CacheExplorer
@testable import ExplorerCache
@testable import ExplorerCommands
@testable import ExplorerConfiguration
@testable import ExplorerModel
@testable import ExplorerState
@testable import ExplorerText

struct WhatIfTests {
  private static let yaml = """
    name: demo
    levels:
      - memory: { count: 100, policy: lru }
      - disk: { directory: ./cache, capacity: 20 MiB }
      - origin: { latency: 0s, size: 1 KiB, seed: 7 }
    """

  @Test(
    "A share is 100% only of all, and nothing has more digits than the column has room for",
    arguments: [(nil, "—"), (0, "0.0%"), (0.6118, "61.2%"), (0.9994, "99.9%"), (0.99999, "99.9%"), (1, "100%")]
      as [(Double?, String)])
  func shares(_ share: Double?, _ text: String) {
    #expect(WhatIfText.percent(share) == text)
  }

  @Test(
    "a change is the difference between the hit rates that are shown",
    arguments: [
      (0.6553, 0.4465, "−20.8"), (0.4465, 0.6553, "+20.8"), (0.5004, 0.5006, "+0.1"), (0.9999, 0.9996, "0.0"),
      (0.9996, 1, "+0.1"),
    ])
  func changes(_ now: Double, _ value: Double, _ text: String) throws {
    var report = try #require(Self.reports(looks: 1_000).first)
    for (index, share) in [now, value].enumerated() {
      let estimate = report.estimates[index]
      report.estimates[index] = HitRatioEstimate(
        eviction: estimate.eviction, capacity: estimate.capacity, value: share, margin: 0.001)
    }
    #expect(WhatIfText.gain(WhatIfText.rows(report)[1].gain) == text)
    #expect(ComparedMeasure(kind: .hitRate, level: nil).difference(now, value) == text + " points")
  }

  /// Reports of levels that were asked for keys in turn, which is the worst that order of use can meet.
  static func reports(looks: Int = 20_000) -> [HitRatioReport] {
    let observer = HitRatioObserver(
      levels: [
        .init(name: "memory", capacity: 100, unit: .entries, eviction: .lru),
        .init(name: "disk", capacity: 20 << 20, eviction: .lru, evictions: []),
      ], share: 1)
    for look in 0..<looks {
      let key = "key:\(look % 150)"
      let time = CacheInstant(nanoseconds: SystemClock().now.nanoseconds)
      observer.record(CacheEvent(time: time, level: "memory", key: key, kind: .miss(.absent, .microseconds(2))))
      observer.record(
        CacheEvent(time: time, level: "memory", key: key, kind: .stored(.set, cost: 1_024, deadline: nil, .zero)))
    }
    return observer.reports.map { report in
      var report = report
      // What depends on the machine.
      (report.timeSpent, report.timeShare, report.bytes) = (.zero, 0.0123, 214_000)
      return report
    }
  }

  static func scene(_ size: Size, reports: [HitRatioReport]) throws -> Scene {
    var scene = Scene(size: size, configuration: try ConfigurationReader.read(yaml, file: "demo.yaml", folder: "/srv"))
    #expect(scene.send(.input(.key(.character("8")))) == [.refreshWhatIf])
    scene.send(.whatIf(reports))
    return scene
  }

  @Test(
    "What if fills the screen at 120x40, 80x24 and 40x10", arguments: [(120, 40), (80, 24), (40, 10)])
  func screens(width: Int, height: Int) throws {
    let scene = try Self.scene(Size(width: width, height: height), reports: Self.reports())
    let lines = scene.lines
    let expected = WhatIfGrids.all["\(width)x\(height)"]?.split(separator: "\n", omittingEmptySubsequences: false)
      .map(String.init)
    #expect(lines == expected, "\(lines.joined(separator: "\n"))")
    try StyleGrid.expect(scene.canvas, isStyledAs: "WhatIf\(width)x\(height)")
  }

  @Test("at 200x60 every level has its whole table")
  func large() throws {
    let lines = try Self.scene(Size(width: 200, height: 60), reports: Self.reports()).lines
    #expect(lines.count == 60)
    for name in ["MEMORY", "DISK"] { #expect(lines.contains { $0.hasPrefix("│ \(name)  ") }, "\(name)") }
    for title in ["now", "×0.25", "×0.5", "×2", "×4"] {
      let leads = ["│   ", "│▸  ", "│ ✓ "].map { $0 + title + " " }
      #expect(lines.count { line in leads.contains { line.hasPrefix($0) } } == 2, "\(title)")
    }
  }

  @Test("where a change seems to help and is not advised, nobody is told that none helps")
  func doubtful() throws {
    var report = try #require(Self.reports().first)
    report.cheapestImprovement = nil
    #expect(WhatIfText.advice(report).hasPrefix("no change is known to help yet"))
    #expect(WhatIfText.shortAdvice(report) == "no change is known to help yet")
    let now = try #require(report.estimates.first)
    report.cheapestImprovement = report.estimates.first { $0.capacity > now.capacity }
    #expect(WhatIfText.advice(report).hasSuffix("; no other policy is known to help yet"))
    report.estimates.removeAll { $0.value > now.value }
    #expect(WhatIfText.advice(report).hasSuffix("; no other policy helps"))
    report.cheapestImprovement = nil
    #expect(WhatIfText.advice(report).hasPrefix("no change helps"))
  }

  @Test("a level that may grow as far as numbers go is shown like any other")
  func boundless() {
    let observer = HitRatioObserver(levels: [.init(name: "memory", capacity: .max, eviction: .lru, evictions: [])])
    let rows = observer.reports.flatMap(WhatIfText.rows)
    #expect(rows.map(\.title) == ["now", "×0.25", "×0.5", "×2", "×4"])
    #expect(rows.last?.setting == "7.8 EiB")
    #expect([0.25, 2, 1.5, 1e300].map(WhatIfText.name(of:)) == ["×0.25", "×2", "×1.5", "×1e+300"])
  }

  @Test("a policy that is named twice is one question")
  func repeatedPolicy() {
    let level = HitRatioObserver.Level(
      name: "memory", capacity: 10, eviction: .lru, evictions: [.sieve, .sieve, .lru, .fifo])
    let rows = HitRatioObserver(levels: [level]).reports.flatMap(WhatIfText.rows)
    #expect(rows.map(\.title) == ["now", "×0.25", "×0.5", "×2", "×4", "sieve", "fifo"])
  }

  @Test("until enough is known every number is a dash, and the screen says so")
  func unknown() throws {
    let scene = try Self.scene(Size(width: 80, height: 24), reports: Self.reports(looks: 100))
    #expect(scene.lines.contains { $0.contains("not enough is known yet: 100 of 256 look-ups") })
    #expect(scene.lines.contains { $0.contains("×0.5") && $0.contains("50 entries") && $0.contains("—") })
    #expect(!scene.lines.contains { $0.contains("±") })
  }

  @Test("j and k scroll what has no room, and a frozen picture stays as it is")
  func scrolls() throws {
    var scene = try Self.scene(Size(width: 80, height: 16), reports: Self.reports())
    #expect(!scene.lines.contains { $0.contains("DISK") })
    scene.press(.end)
    #expect(scene.lines.contains { $0.contains("DISK") })
    scene.press(.home)
    #expect(!scene.lines.contains { $0.contains("DISK") })
    scene.press(.character(" "))
    scene.send(.whatIf(Self.reports(looks: 10)))
    #expect(scene.model.whatIf.reports.first?.requests == 20_000)
    scene.press(.character("i"))
    #expect(scene.lines.contains { $0.contains("Figures") })
  }

  @Test("news are asked for once a second while the screen is open, and by the command")
  func refreshes() throws {
    var scene = try Self.scene(Size(width: 80, height: 24), reports: [])
    #expect(scene.lines.contains { $0.contains("no level of this cache has a capacity") })
    scene.read("a", from: 0)
    let later = scene.now.advanced(by: .seconds(1))
    #expect(scene.send(.tick(later, wall: Scene.wall)).contains(.refreshWhatIf))
    scene.type("1")
    scene.read("b", from: 0)
    #expect(!scene.send(.tick(later.advanced(by: .seconds(1)), wall: Scene.wall)).contains(.refreshWhatIf))
    #expect(scene.send(.showWhatIf) == [.refreshWhatIf])
    #expect(scene.model.page == .whatIf)
  }

  @Test("levels are bounded by entries or by bytes, as they are configured, and a disk has one policy")
  func levels() throws {
    let read = try ConfigurationReader.read(Self.yaml, file: "demo.yaml", folder: "/srv")
    #expect(
      read.levelsWithCapacity == [
        .init(name: "memory", capacity: 100, unit: .entries, eviction: .lru),
        .init(name: "disk", capacity: 20 << 20, eviction: .lru, evictions: []),
      ])
  }

  @Test("the command tells of every level or of one, as text and as JSON, and counts anew if asked")
  func command() async throws {
    let folder = try TemporaryFolder()
    let configuration = try ConfigurationReader.read(
      "levels:\n  - memory: { count: 100, policy: lru }\n  - origin: { latency: 0s, size: 10 B }", file: "c.yaml",
      folder: folder.url.path())
    // Every key is looked at: how many keys a share of the time is for depends on the machine.
    let live = try await CacheBuilder.build(configuration, file: "c.yaml", whatIfShare: 1)
    let interpreter = Interpreter(live: live, mode: .script)
    // More than there is room for, evenly: only room helps.
    _ = await interpreter.run(try #require(try Verbs.parse("run uniform --keys 200 --requests 8000 --rate max")))
    let all = await interpreter.run(WhatIfVerb(level: nil))
    #expect(all.outcome == .ok)
    let note = try #require(all.note)
    #expect(note.hasPrefix("memory: 200 entries in place of 100 entries would bring +"), "\(note)")
    #expect(note.contains("  ◀ the cheapest that helps"))
    let object = try #require(try JSONSerialization.jsonObject(with: Data(all.json.utf8)) as? [String: Any])
    let levels = try #require(object["levels"] as? [[String: Any]])
    #expect(levels.count == 1)
    #expect(levels[0]["unit"] as? String == "entries")
    #expect(levels[0]["lookups"] as? Int == 8_000)
    let cheapest = try #require(levels[0]["cheapest"] as? [String: Any])
    #expect(cheapest["capacity"] as? Int == 200)
    #expect(cheapest["hitRate"] as? Double ?? 0 > 0.8)
    #expect((levels[0]["estimates"] as? [Any])?.count == 11)
    let one = await interpreter.run(WhatIfVerb(level: "memory", then: .reset))
    #expect(one.note?.hasSuffix("counting starts again from here") == true)
    #expect(live.whatIf.reports.first?.requests == 0)
    let none = await interpreter.run(WhatIfVerb(level: "origin"))
    #expect(none.error == "origin has no capacity that could be another; those with one are memory")
    let unknown = await interpreter.run(WhatIfVerb(level: "mem"))
    #expect(unknown.error == "there is no level “mem”; those with one are memory")
    try await live.close()
  }

  @Test("open --once --json tells it beside the statistics, and a script answers it")
  func headless() async throws {
    let folder = try TemporaryFolder()
    let file = try folder.write(
      "levels:\n  - memory: { capacity: 20 KiB, policy: lru }\n  - origin: { latency: 0s, size: 1 KiB }", to: "c.yaml")
    let once = try await Program.run(
      ["open", file, "--run", "loop --rate max --keys 30", "--requests", "6000", "--once", "--json"])
    #expect(once.status == 0, "\(once.errors)")
    let object = try #require(try JSONSerialization.jsonObject(with: Data(once.output.utf8)) as? [String: Any])
    let levels = try #require(object["whatIf"] as? [[String: Any]])
    #expect(levels.first?["capacity"] as? Int == 20 << 10)
    #expect(levels.first?["advice"] as? String ?? "" != "")
    let script = try await Program.run(["run", file], input: "run loop --rate max --keys 30 --requests 6000\nwhatif\n")
    #expect(script.output.contains("whatif: ok"))
    #expect(script.output.contains("×2        40 KiB"))
    let plain = try await Program.run(["open", file, "--plain"], input: "whatif memory\nwhatif nothing\nquit\n")
    #expect(plain.output.contains("memory: not enough is known yet: 0 of 256 look-ups"))
    #expect(plain.output.contains("whatif: error"))
  }
}

import CacheEngine
import ExplorerText
import Testing

@testable import ExplorerModel
@testable import ExplorerState

/// What a memory warning cost, and that nothing which matters is cut while there is room.
struct BannerTests {
  /// A warning after which the hit rate fell, and came back if `isOver`.
  private func scene(width: Int, isOver: Bool = false) -> Scene {
    var scene = Scene.busy(Size(width: width, height: 24))
    guard isOver else { return scene }
    for _ in 0..<12 {
      for _ in 0..<4 { scene.read("user:42", from: 0) }
      scene.pass(.seconds(1))
    }
    return scene
  }

  private func banner(_ scene: Scene) -> String? { scene.lines.first { $0.hasPrefix(" ▲") } }

  @Test("The banner tells how far the hit rate fell at every width, and nothing in it is cut", arguments: 40...160)
  func costs(width: Int) throws {
    for isOver in [false, true] {
      let text = try #require(banner(scene(width: width, isOver: isOver)))
      #expect(text.contains(/hit( rate)? 84% → 50%, recover(ing|ed in \d+ ?\w+)/), "\(text)")
      #expect(text.contains("recovering") != isOver)
      #expect(!text.contains("…"))
      #expect(text.contains("Esc") || width < 44)
    }
  }

  @Test("Wider screens tell more: when, which level, how much")
  func detail() throws {
    #expect(
      try #require(banner(scene(width: 120))).contains(
        "MEMORY WARNING 12:03:20  MEMORY dropped 6 entries (61.2 MiB) in"))
    #expect(try #require(banner(scene(width: 80))).contains("12:03:20"))
    #expect(try #require(banner(scene(width: 50))).contains("61.2 MiB"))
  }

  @Test("Without reads before the warning there is no rate that could have fallen", arguments: [40, 60, 80, 120])
  func withoutReads(width: Int) throws {
    var scene = Scene(size: Size(width: width, height: 24))
    scene.event(.memoryWarning(dropped: 3_870, cost: 64_172_851, .microseconds(1_300)), level: "memory")
    let text = try #require(banner(scene))
    #expect(text.contains("61.2 MiB") && !text.contains("hit") && !text.contains("…"))
  }

  @Test("Loads that have no row in the panel are counted on its edge, which says what is shown")
  func hiddenFlights() {
    var scene = Scene.busy(Size(width: 120, height: 40))
    for number in 0..<9 {
      let request = scene.nextRequest()
      scene.event(.requestBegan(.get), key: "slow:\(number)", request: request)
      scene.event(.flightBegan, level: "pool", key: "slow:\(number)", request: request)
    }
    #expect(scene.model.live.inFlight.count == 10)
    let rows = Layout(scene.model).rows(.inFlight)
    #expect(
      scene.lines.contains { $0.contains(" 1–\(rows) of 10 ┘") }, "\(rows)\n\(scene.lines.joined(separator: "\n"))")
    scene.press(.tab, .end)
    #expect(scene.lines.contains { $0.contains("–10 of 10 ┘") })
  }

  private static let longNames = [
    LevelRow(name: "memory-of-photos", kind: "memory", capacity: "adaptive 64 MiB"),
    LevelRow(name: "disk", kind: "disk", capacity: "256 MiB"),
    LevelRow(name: "origin-eu-west", kind: "origin", isOrigin: true),
  ]

  @Test("At 120x40 no box cuts its errors, its fault or its name while another has room")
  func boxesShare() throws {
    var scene = Scene.busy(Size(width: 120, height: 40), levels: Self.longNames)
    for number in 0..<1_234 {
      let request = scene.nextRequest()
      scene.event(.requestBegan(.get), key: "k\(number)", request: request)
      scene.event(
        .failed(.get, "no route to host", .milliseconds(3)), level: "origin-eu-west", key: "k\(number)",
        request: request)
      scene.event(
        .requestEnded(.get, .failed("no route to host"), .milliseconds(3)), key: "k\(number)", request: request)
    }
    scene.send(.faults(["origin-eu-west": "error 50%"]))
    let top = scene.lines[1...7].joined(separator: "\n")
    #expect(top.contains("ORIGIN-EU-WEST") && top.contains("✕ error 50%"), "\(top)")
    #expect(top.contains("1 MEMORY-OF-PHOTOS") && top.contains("adaptive 64 MiB"))
    #expect(top.contains("errors 1 234"))
    #expect(!top.contains("…"))
  }

  @Test("What does not fit says so: with no room for everybody each box gets as much as it lacks or as the others")
  func tooMuch() {
    let names = (1...3).map { "a-level-with-a-very-long-name-\($0)" }
    let levels = names.map { LevelRow(name: $0, kind: "memory", capacity: "adaptive 64 MiB") }
    let scene = Scene(size: Size(width: 120, height: 40), levels: levels)
    let places = LevelBoxes.places(scene.model.shown, in: Rect(x: 0, y: 1, width: 120, height: 7))
    let widths = places.map(\.box.width)
    #expect(widths.max().map { $0 - (widths.min() ?? 0) <= 1 } == true, "\(widths)")
    #expect(places.last?.box.right == 120)
  }
}

import CacheEngine
import Testing

@testable import CacheExplorer
@testable import ExplorerCache
@testable import ExplorerModel
@testable import ExplorerState
@testable import ExplorerText

struct ViewPropertyTests {
  private static let levelSets: [[LevelRow]] = [
    Scene.threeLevels, [], [LevelRow(name: "日本\u{1b}[0m", kind: "memory", capacity: "\u{202e}x")],
    (1...9).map { LevelRow(name: "memory-\($0)", kind: "memory") },
  ]

  @Test("Whatever happens at whatever size: no trap, nothing outside, nothing unsafe in a cell", arguments: 1...24)
  func survivesAnything(seed: Int) {
    let levels = Self.levelSets[seed % Self.levelSets.count]
    var messages = RandomMessages(seed: UInt64(seed), levels: levels)
    var model = Model(title: "\u{1b}]0;title\u{7}", levels: levels, now: Scene.start)
    for step in 0..<240 {
      _ = update(&model, messages.message())
      guard step % 4 == 0 else { continue }
      check(model)
    }
  }

  @Test("Operators around levels and lanes: nothing traps, overlaps or leaves its place", arguments: 1...16)
  func survivesOperators(seed: Int) throws {
    let scene = try OperatorScene.busy(Size(width: 120, height: 40))
    var messages = RandomMessages(
      seed: UInt64(seed), levels: scene.model.live.levels, operators: scene.model.live.operators)
    var model = scene.model
    for step in 0..<240 {
      _ = update(&model, messages.message())
      guard step % 4 == 0 else { continue }
      check(model)
    }
  }

  @Test("Operators are drawn whole at sizes from 1x1 to 241x61")
  func drawsOperatorsAtEverySize() throws {
    for yaml in [OperatorScene.everything, OperatorScene.twoLanes] {
      var model = try OperatorScene.busy(Size(width: 80, height: 24), yaml).model
      for width in stride(from: 1, through: 241, by: 8) {
        for height in stride(from: 1, through: 61, by: 3) {
          model.size = Size(width: width, height: height)
          check(model)
        }
      }
    }
  }

  @Test(
    "Every screen, and whatever is inspected on it, is drawn whole at sizes from 1x1 to 241x61",
    arguments: Page.allCases)
  func drawsEveryScreen(page: Page) throws {
    var scene = try ScreensScene.make(Size(width: 120, height: 40))
    scene.send(
      .models(
        ModelSheet.Content(
          source: "live", rows: [ModelSheet.Row(name: .init(type: "\u{1b}", id: "日本\u{202e}"), isStored: true)])))
    let hostile = "\u{1b}日本\u{202e}:"
    var sample = KeyspaceSheet.Sample()
    sample.prefixes = KeyspaceSheet.prefixes(of: [(hostile, 1 << 48, .seconds(1 << 40)), ("", nil, nil)])
    var server = KeyspaceSheet.Server()
    (server.address, server.policy, server.hits) = (hostile, hostile, 1 << 60)
    scene.send(.keyspace(KeyspaceSheet(server: server, sample: sample)))
    var ledger = FleetLedger()
    for number in 0..<16 {
      let app = ledger.join(
        FleetSheet.App(name: hostile, pid: .max, socket: "\(number)"), shared: ["redis"], sources: [],
        at: scene.now.advanced(by: .seconds(-1)))
      for kind: CacheEvent.Kind in [
        .requestEnded(.set, .done, .zero), .stored(.set, cost: .max, deadline: scene.now, .zero),
        .operated(.shared(.leads(lease: hostile))), .operated(.shared(.forgot(nil))),
      ] { ledger.note(CacheEvent(time: scene.now, level: "memory", key: hostile, kind: kind), app: app) }
    }
    scene.send(.fleet(ledger.sheet(now: scene.now)))
    scene.type("\(page.key)")
    var models = [scene.model]
    scene.press(.enter)
    models.append(scene.model)
    scene.model.inspection = Inspection(
      .value(ValueSight(key: "日本\u{9b}31m", level: "x", content: .bytes(Array(0...255), of: 900))))
    models.append(scene.model)
    scene.model.mode = .explaining
    models.append(scene.model)
    for var model in models {
      for width in stride(from: 1, through: 241, by: 24) {
        for height in stride(from: 1, through: 61, by: 9) {
          model.size = Size(width: width, height: height)
          check(model)
        }
      }
    }
  }

  #if Explorer
  @Test(
    "Ten thousand random keys on screens that are full: nothing traps, and what they lead to is drawn", arguments: 1...4
  )
  func survivesKeys(seed: Int) throws {
    var scene = try EnterTests.scene(.overview, Size(width: 120, height: 40))
    var messages = RandomMessages(seed: UInt64(seed), levels: scene.model.live.levels)
    let sizes = [(40, 10), (80, 24), (120, 40), (200, 60)].map { Size(width: $0.0, height: $0.1) }
    var seen: Set<Page> = []
    for step in 0..<2_500 {
      _ = update(&scene.model, .input(.key(messages.key())))
      seen.insert(scene.model.page)
      if step % 500 == 0 { scene.model.size = sizes[step / 500 % sizes.count] }
      if step % 10 == 0 { check(scene.model) }
    }
    #expect(seen.count >= 8, "the keys reach the screens: \(seen.map(\.title))")
  }
  #endif

  @Test("Sizes from 1x1 to 129x45 are drawn whole")
  func drawsEverySize() {
    var model = Scene.busy(Size(width: 80, height: 24)).model
    for width in stride(from: 1, through: 130, by: 4) {
      for height in stride(from: 1, through: 45, by: 2) {
        model.size = Size(width: width, height: height)
        check(model)
      }
    }
  }

  private func check(_ model: Model) {
    var canvas = Canvas(model.size)
    view(model, on: &canvas)
    #expect(canvas.cells.count == canvas.size.width * canvas.size.height)
    if let cursor = canvas.cursor { #expect(canvas.contains(cursor.x, cursor.y), "\(model.size) \(cursor)") }
    var faults: [String] = []
    for y in 0..<canvas.size.height {
      var isRightHalf = false
      for x in 0..<canvas.size.width {
        let glyph = canvas[x, y].glyph.text
        if isRightHalf != glyph.isEmpty { faults.append("half at \(x),\(y) of \(model.size)") }
        if !glyph.isEmpty, !isSafe(glyph) { faults.append("\(Array(glyph.unicodeScalars)) at \(x),\(y)") }
        isRightHalf = !isRightHalf && DisplayText(glyph).width == 2
      }
      if isRightHalf { faults.append("cut at the edge of row \(y) of \(model.size)") }
    }
    #expect(faults.isEmpty)
  }

  /// Independent of the table that the scrubbing uses.
  private func isSafe(_ glyph: String) -> Bool {
    let scalars = Array(glyph.unicodeScalars)
    let isFit = scalars.allSatisfy { scalar in
      let value = scalar.value
      return value >= 0x20 && !(0x7f...0x9f).contains(value) && !(0x200b...0x200f).contains(value)
        && !(0x2028...0x202e).contains(value) && !(0x2060...0x206f).contains(value) && value != 0xfeff && value != 0xad
        && value != 0xfe0f && !(0xe0000...0xe01ef).contains(value) && !(0x1f1e6...0x1f1ff).contains(value)
    }
    return isFit && scalars.count <= 5 && glyph.count == 1
  }
}

import CacheEngine
import Testing

@testable import CacheExplorer
@testable import ExplorerCache
@testable import ExplorerCommands
@testable import ExplorerConfiguration
@testable import ExplorerModel
@testable import ExplorerState
@testable import ExplorerText

/// The screens as they are drawn, whole.
struct ScreensTests {
  private static let small = Size(width: 80, height: 24)
  private static let large = Size(width: 120, height: 40)
  private static let huge = Size(width: 200, height: 60)

  @Test("The title of the requests never ends in the middle of what it tells", arguments: 40...80)
  func requestsTitle(width: Int) throws {
    var scene = Scene.busy(Size(width: width, height: 24))
    scene.press(.character("3"))
    let title = try #require(scene.lines.first { $0.contains("┌ Requests") })
    #expect(!title.contains(": ┐"))
  }

  @Test(
    "Entries, Requests, Latency, Config and Log fill the screen at 200x60, 120x40, 80x24 and 40x10",
    arguments: [huge, large, small, Layout.smallest], [Page.entries, .requests, .latency, .config, .log])
  func pages(size: Size, page: Page) throws {
    var scene = try ScreensScene.make(size)
    scene.type("\(page.key)")
    #expect(scene.model.page == page)
    try expect(scene, shows: "\(page.title)\(size.width)x\(size.height)")
  }

  @Test(
    "While a workload runs, q asks over the whole picture's last rows at 80x24 and 40x10",
    arguments: [small, Layout.smallest])
  func asksBeforeQuitting(size: Size) throws {
    var scene = try ScreensScene.make(size)
    scene.send(.workload("zipf"))
    scene.type("q")
    try expect(scene, shows: "Quit\(size.width)x\(size.height)")
    scene.type("?")
    scene.press(.escape)
    scene.type("?/quit")
    #expect(scene.lines.contains { $0.contains("asks first while a workload runs") } || size == Layout.smallest)
  }

  @Test("A request that led a load: its way on one axis, who joined it, and why each level missed")
  func leader() throws {
    var scene = try ScreensScene.make(Self.large)
    scene.type("3/thumb")
    scene.press(.enter, .down, .down, .enter)
    try expect(scene, shows: "leader")
    #expect(scene.lines.contains { $0.contains("Request #8  get thumb:903") })
    // The first lines that lead somewhere are those who joined.
    scene.press(.enter)
    #expect(scene.lines.contains { $0.contains("Request #9  get thumb:903") })
    #expect(scene.lines.contains { $0.contains("#8 led the load; this one shared its answer") })
    scene.press(.escape)
    #expect(scene.lines.contains { $0.contains("Request #8  get thumb:903") })
    scene.press(.escape)
    #expect(scene.model.inspection == nil)
  }

  @Test("A request that failed says so, and Enter on its why goes to the event in the log")
  func failure() throws {
    var scene = try ScreensScene.make(Self.small)
    scene.type("3/logo")
    scene.press(.enter, .enter)
    try expect(scene, shows: "failure")
    scene.press(.end, .pageDown, .enter)
    #expect(scene.model.page == .log)
    let line = try #require(scene.model.logLine.flatMap { scene.model.live.log[$0] })
    #expect(line.text.contains("failed") && line.text.contains("no route to host"))
    #expect(scene.lines.contains { $0.contains("▸") && $0.contains("no route to host") })
  }

  @Test("From an expired entry's why, Enter goes to the event with which it expired")
  func goesToTheCause() throws {
    var scene = try ScreensScene.make(Self.large)
    scene.type("3/user:42")
    scene.press(.enter, .enter)
    #expect(
      scene.lines.contains { $0.contains("why: MEMORY missed because its copy expired 12:03:30 (ttl 30s); see event") })
    scene.press(.enter)
    let line = try #require(scene.model.logLine.flatMap { scene.model.live.log[$0] })
    #expect(line.text.hasPrefix("expired user:42"))
    // The line knows its request: back again.
    scene.press(.enter)
    #expect(scene.lines.contains { $0.contains("Request #6  get user:42") })
  }

  @Test("A key's last request opens from its entry, and one in flight from its row")
  func opensFromEverywhere() throws {
    var scene = try ScreensScene.make(Self.large)
    scene.type("/feed")
    scene.press(.enter, .enter)
    #expect(scene.lines.contains { $0.contains("Request #7  get feed:home") })
    #expect(scene.lines.contains { $0.contains("evicted 12:03:32 to make room for img:hero") })
    scene.press(.escape, .escape, .tab, .enter)
    #expect(scene.lines.contains { $0.contains("Request #12  get search:swift") })
    #expect(scene.lines.contains { $0.contains("under way") })
  }

  @Test("a long key leaves room for what is known of its value")
  func longKey() {
    var scene = Scene(size: Size(width: 80, height: 24))
    let key = String(repeating: "k", count: 300)
    scene.read(key, from: 0)
    scene.pass(.seconds(1))
    scene.type("2v")
    scene.send(.value(ValueSight(key: key, level: "memory", content: .bytes([0x61], of: 1))))
    #expect(
      scene.lines.contains {
        $0.contains("Value of kkk") && $0.hasSuffix(" text, 1 B in MEMORY · P hides · Esc closes ┐")
      }, "\(scene.lines)")
  }

  @Test("a setting is shown at any depth, as a recording may give it", arguments: [Int.min, -1, 3, 1 << 31, .max])
  func depth(depth: Int) {
    var scene = Scene(size: Size(width: 80, height: 24))
    scene.send(.settings([ConfigurationSetting(depth: depth, owner: "memory", field: "count", value: "17")]))
    scene.type("5")
    #expect(scene.lines.contains { $0.contains("count") && $0.contains("17") }, "\(scene.lines)")
  }

  @Test("time passes at any speed that a recording may give", arguments: [0, -1, 1e-300, 1e300, Double.infinity])
  func speeds(speed: Double) {
    var scene = Scene(size: Size(width: 80, height: 24))
    scene.send(.speed(speed))
    scene.pass(.seconds(1))
    #expect(Quantity.speeds.contains(scene.model.speed))
  }

  @Test("a pattern that cannot be searched for says how to mend it", arguments: [40, 80, 200])
  func filterFault(width: Int) {
    var scene = Scene(size: Size(width: width, height: 24))
    scene.type("2//(?=a)/")
    // A line may break between any two characters.
    let shown = scene.lines.joined().replacing(" ", with: "")
    #expect(shown.contains("use.[]()|*+?{}^$\\d\\w\\s\\b,and(?i)atthebeginning"), "\(shown)")
  }

  @Test("what is known of a value gives way to nothing else in its title", arguments: [60, 80])
  func longDescription(width: Int) {
    var scene = Scene(size: Size(width: width, height: 24))
    scene.read("big", from: 0)
    scene.pass(.seconds(1))
    scene.type("2v")
    let bytes = [UInt8](repeating: 0xff, count: 65_536)
    scene.send(.value(ValueSight(key: "big", level: "memory", content: .bytes(bytes, of: 50_000_000))))
    #expect(
      scene.lines.contains { $0.contains("Value of big") && $0.contains("bytes, 47.7 MiB in MEMORY") },
      "\(scene.lines)")
  }

  @Test("v shows a value as text, as JSON or as bytes, and P hides it")
  func values() throws {
    var scene = try ScreensScene.make(Self.small)
    scene.type("2/user:42")
    scene.press(.enter)
    #expect(scene.send(.input(.key(.character("v")))) == [.readValue(key: "user:42", level: "memory")])
    func show(_ text: [UInt8]) {
      scene.send(.value(ValueSight(key: "user:42", level: "memory", content: .bytes(text, of: text.count))))
    }
    show(Array(#"{"name":"A\u001b[2J","tags":["x",1.5,true,null],"empty":{}}"#.utf8))
    try expect(scene, shows: "valueJSON")
    show([0, 0x1b, 0x5b, 0x41, 0xff, 0xfe] + Array(0..<40))
    try expect(scene, shows: "valueBytes")
    show(Array("two\nlines \u{202e}turned".utf8))
    #expect(scene.lines[2].contains("two"))
    #expect(scene.lines[3].contains("lines \\u{202e}turned"))
    scene.press(.character("P"))
    #expect(!scene.lines.contains { $0.contains("turned") })
    #expect(scene.lines.contains { $0.contains("•••••••• hidden") })
    scene.send(.value(ValueSight(key: "user:42", level: nil, content: .absent)))
    #expect(scene.lines.contains { $0.contains("no level holds it ") && !$0.contains("any more") })
    scene.press(.character("v"))
    #expect(scene.model.inspection == nil)
    // An answer that comes late opens nothing.
    show([1])
    #expect(scene.model.inspection == nil)
  }

  @Test("i explains every figure of the focused panel: what it is, its unit, window and source")
  func explains() throws {
    var scene = try ScreensScene.make(Self.large)
    scene.press(.character("i"))
    try expect(scene, shows: "figures")
    for page in [Page.entries, .requests, .latency, .config, .log] {
      scene.press(.escape)
      scene.type("\(page.key)i")
      #expect(scene.lines.contains { $0.contains("Figures") && $0.contains("Esc closes") })
      for word in ["is  ", "unit  ", "window  ", "source  "] { #expect(scene.lines.contains { $0.contains(word) }) }
    }
  }

  @Test("What explains a figure leaves a blank before the edge of the window, however wide that is")
  func explainsWithinItsWindow() throws {
    for width in 40...92 {
      var scene = try ScreensScene.make(Size(width: width, height: 24))
      scene.type("3i")
      let rows = scene.lines.filter { $0.hasPrefix("│") && $0.hasSuffix("│") }
      #expect(rows.count > 10)
      for row in rows { #expect(row.dropLast().last == " ", "\(row)") }
    }
  }

  @Test("a tells the latencies of hits from those of misses")
  func latencyParts() throws {
    var scene = try ScreensScene.make(Self.large)
    scene.type("4")
    #expect(scene.lines.contains { $0.contains("MEMORY") && $0.contains("n 12 ") })
    scene.type("a")
    #expect(scene.lines.contains { $0.contains("MEMORY") && $0.contains("n 0 ") })
    #expect(scene.lines.contains { $0.contains("origin") && $0.contains("n 6 ") })
    scene.type("a")
    #expect(scene.lines.contains { $0.contains("MEMORY") && $0.contains("n 12 ") })
    scene.type("a")
    scene.press(.enter)
    #expect(scene.lines.contains { $0.contains("Request #11  get img:logo") })
  }

  @Test("A reload shows what it would change and applies it only after a yes")
  func reloads() throws {
    var scene = try ScreensScene.make(Self.small)
    #expect(scene.send(.input(.key(.character("r")))) == [.reload])
    let old = try ConfigurationReader.read(ScreensScene.configuration, file: "demo.yaml", folder: "/srv")
    let new = try ConfigurationReader.read(
      ScreensScene.configuration.replacing("expiry: 30s", with: "expiry: 5s")
        .replacing("- disk", with: "- memory: { name: second }\n  - disk"),
      file: "demo.yaml", folder: "/srv")
    scene.send(.planned(.changes(old.changes(to: new))))
    try expect(scene, shows: "reload")
    #expect(scene.send(.input(.key(.character("n")))) == [])
    #expect(scene.model.config.plan == nil)
    scene.send(.planned(.changes(old.changes(to: new))))
    #expect(scene.send(.input(.key(.character("y")))) == [.applyReload])
    scene.send(.replaced(Replacement(new, file: "demo.yaml")))
    #expect(scene.model.live.levels.map(\.name) == ["memory", "second", "disk", "origin"])
    #expect(scene.model.live.requests.count.requests == 0)
    #expect(!scene.model.live.log.numbers.isEmpty)
    scene.send(.planned(.changes([])))
    #expect(scene.model.mode == .normal)
    #expect(scene.model.command.answer?.text == "reload: nothing has changed")
  }

  @Test("A file that cannot be loaded changes nothing and says where it is wrong")
  func refusesToReload() throws {
    var scene = try ScreensScene.make(Self.small)
    scene.send(
      .planned(
        .refused([
          ConfigurationProblem(
            file: "demo.yaml", place: Place(line: 3, column: 5), message: "there is no level “dsk”",
            remedy: "write disk")
        ])))
    #expect(scene.lines.contains { $0.contains("demo.yaml:3:5: error: there is no level “dsk”; write disk") })
    #expect(scene.model.mode == .normal)
  }

  @Test("In the log e goes to trouble, m marks, W wraps, and the reader is told what it follows")
  func readsTheLog() throws {
    var scene = try ScreensScene.make(Self.small)
    scene.type("6")
    #expect(scene.lines[1].contains("following"))
    scene.press(.character("E"))
    #expect(scene.lines[1].contains("scrolled: G follows"))
    #expect(scene.lines.contains { $0.contains("▸") && $0.contains("ERROR") })
    scene.press(.up, .up, .character("m"), .down, .down, .down)
    let marked = try #require(scene.model.log.marks.first)
    scene.press(.character("E"), .character("E"), .character("E"))
    #expect(scene.model.logLine == marked)
    scene.press(.character("W"))
    try expect(scene, shows: "wrapped")
    scene.press(.character("G"))
    #expect(scene.model.log.isFollowing)
    // Search counts its matches and goes from one to the next.
    scene.type("/user:42")
    scene.press(.enter)
    #expect(scene.lines[1].contains("\"user:42\" 10 matches"))
    scene.press(.character("N"))
    #expect(scene.lines.contains { $0.contains("▸") && $0.contains("user:42") })
  }

  @Test("Whoever is overtaken by the end of the log is told what holds it")
  func overrunsTheLog() throws {
    var scene = Scene(size: Self.small)
    func say(_ count: Int) { for number in 0..<count { scene.log(.info, "memory", "line \(number)") } }
    say(100)
    scene.type("6")
    scene.press(.up, .up)
    #expect(scene.lines[1].contains("scrolled: G follows"))
    say(LogRing.capacity)
    #expect(scene.lines[1].contains("too fast to read: Space pauses"))
    scene.press(.pageDown)
    #expect(scene.lines[1].contains("scrolled: G follows"))
  }

  @Test("Models: those of each type, their relations both ways, and Enter follows a relation")
  func models() throws {
    var scene = try ScreensScene.make(Self.small)
    scene.type("7")
    #expect(scene.model.page == .overview)
    #expect(scene.model.command.answer?.isGood == false)
    typealias Name = ModelSheet.Name
    let (dune, herbert) = (Name(type: "Book", id: "dune"), Name(type: "Author", id: "herbert"))
    var book = ModelSheet.Row(name: dune, isStored: true, deadline: scene.now.advanced(by: .seconds(20)))
    book.relations = [herbert]
    book.detail = "Book(id: \"dune\", title: \"Dune\u{1b}[2J\")"
    var author = ModelSheet.Row(name: herbert, isStored: false, detail: "not stored; only pointed to or observed")
    (author.dependents, author.observers, author.toldAt) = ([dune], 2, scene.now)
    scene.send(.models(ModelSheet.Content(source: "live", rows: [book, author])))
    scene.type("7")
    scene.press(.down)
    try expect(scene, shows: "models")
    scene.type("P")
    #expect(!scene.lines.contains { $0.contains("dune") || $0.contains("herbert") })
    scene.type("P")
    #expect(!scene.lines.contains { $0.contains("… more") })
    book.detail = String(repeating: "word ", count: 400)
    scene.send(.models(ModelSheet.Content(source: "live", rows: [book, author])))
    #expect(scene.lines.contains { $0.contains("… more ┘") })
    scene.press(.enter, .enter)
    #expect(scene.model.models.current?.name == herbert)
    scene.press(.escape)
    #expect(scene.model.focus == PanelID(ModelsPanel.self))
    scene.type("/dune")
    #expect(scene.model.models.order.count == 1)
    scene.type("x")
    scene.press(.enter, .enter)
    #expect(scene.model.focus == PanelID(ModelsPanel.self))
    #expect(scene.model.command.answer?.text == "no model matches; Esc clears the filter")
  }

  private func expect(_ scene: Scene, shows name: String, at location: SourceLocation = #_sourceLocation) throws {
    let lines = scene.lines
    let expected = ScreenGrids.all[name]?.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    #expect(lines == expected, "\(name)\n\(lines.joined(separator: "\n"))", sourceLocation: location)
    try StyleGrid.expect(scene.canvas, isStyledAs: name, at: location)
  }
}

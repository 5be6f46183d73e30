import CacheEngine
import Testing

@testable import CacheExplorer
@testable import ExplorerCache
@testable import ExplorerCommands
@testable import ExplorerModel
@testable import ExplorerState
@testable import ExplorerText

/// Copying, exporting, undoing, beginning the figures anew, and the pace of time.
struct KeepingTests {
  private let size = Size(width: 120, height: 40)

  @Test("y copies the chosen key without what could do harm when pasted, and only if it may")
  func copiesKeys() {
    var scene = Scene(size: size)
    scene.read("a\u{1b}[2J\n", from: 2)
    scene.pass(.seconds(1))
    #expect(scene.send(.input(.key(.character("y")))).isEmpty)
    #expect(scene.lines.contains { $0.contains("start with --clipboard") })
    scene.model.canCopy = true
    #expect(scene.send(.input(.key(.character("y")))) == [.copy("a\\u{1b}[2J\\u{a}")])
    scene.press(.character("P"))
    #expect(scene.send(.input(.key(.character("y")))) == [.copy(scene.model.mask.name(of: "a\u{1b}[2J\n"))])
  }

  @Test("Y asks for the value in the level that has it; hidden values are not copied")
  func copiesValues() {
    var scene = Scene(size: size)
    scene.read("a", from: 2)
    scene.pass(.seconds(1))
    scene.model.canCopy = true
    #expect(scene.send(.input(.key(.character("Y")))) == [.copyValue(key: "a", level: "memory")])
    scene.press(.character("P"))
    #expect(scene.send(.input(.key(.character("Y")))).isEmpty)
    #expect(scene.lines.contains { $0.contains("values are hidden") })
    var empty = Scene(size: size)
    empty.model.canCopy = true
    #expect(empty.send(.input(.key(.character("Y")))).isEmpty)
    #expect(empty.lines.contains { $0.contains("no key is chosen here") })
  }

  @Test("X proposes a file name on the command line, which Enter writes")
  func exports() {
    var scene = Scene.busy(size)
    scene.press(.character("X"))
    #expect(scene.model.mode == .command)
    #expect(scene.model.command.editor.text == "export overview-120323.txt --view")
    #expect(scene.send(.input(.key(.enter))) == [.run("export overview-120323.txt --view")])
  }

  @Test("What X proposes is understood on every screen", arguments: Page.allCases)
  func proposesExports(page: Page) throws {
    var scene = Scene.busy(size)
    scene.model.show(page)
    scene.press(.character("X"))
    let verb = try #require(try Verbs.parse(scene.model.command.editor.text))
    #expect((verb as? ExportVerb)?.file == "\(page.word)-120323.txt")
  }

  @Test("The view is exported as it stands, and the rows of a panel as a table")
  func exportsRows() throws {
    var scene = Scene.busy(size)
    let picture = try #require(ViewExport(scene.model, as: .txt))
    #expect(picture.text == scene.lines.joined(separator: "\n") + "\n")
    let csv = try #require(ViewExport(scene.model, as: .csv)).text.split(separator: "\r\n")
    #expect(csv[0] == "key,levels,bytes,ageMilliseconds,timeLeftMilliseconds,hits")
    #expect(csv.count == 1 + scene.model.list.order.count)
    #expect(csv[1].hasPrefix("user:42,memory disk,4200,"))
    scene.type("2/cfg")
    scene.press(.enter)
    for (text, cell) in [
      ("a,\u{301}b", "\"a,\u{301}b\""), ("a\"\u{301}", "\"a\"\"\u{301}\""), ("=\u{301}1", "'=\u{301}1"),
      ("a\r\nb", "\"a\r\nb\""), ("a\u{2028}b", "\"a\u{2028}b\""), ("a b", "a b"),
    ] {
      #expect(Export.quoted(text).unicodeScalars.elementsEqual(cell.unicodeScalars), "\(Export.quoted(text))")
    }
    let json = try #require(ViewExport(scene.model, as: .json))
    #expect(json.text.hasPrefix(#"[{"key":"cfg/flags","levels":"memory disk","bytes":9216,"#))
    #expect(json.summary == "1 row")
    scene.type("4")
    #expect(ViewExport(scene.model, as: .json) == nil)
    #expect(ViewExport(scene.model, as: .txt) != nil)
  }

  @Test("0 begins shares, rates and latencies anew, keeps entries, requests and log, and still adds up")
  func resets() {
    var scene = Scene.busy(size)
    let (entries, calls, lines) = (
      scene.model.list.order.count, scene.model.live.calls.count, scene.model.live.log.numbers
    )
    scene.press(.character("0"))
    #expect(
      scene.model.live.traffic.allSatisfy { $0.answered == 0 && $0.latency.count == 0 && $0.lookups == $0.pending })
    #expect(scene.model.live.requests.count.ended == 0)
    #expect(scene.model.live.requests.count.requests == scene.model.live.requests.count.pending)
    #expect(scene.model.live.requests.count.pending > 0)
    #expect(scene.model.list.order.count == entries)
    #expect(scene.model.live.calls.count == calls)
    #expect(scene.model.live.log.numbers == lines)
    scene.read("user:42", from: 0)
    #expect(scene.lines[0].contains("hit 100% of 1, 5 s 100%"))
    scene.press(.character(" "), .character("0"))
    #expect(scene.lines.contains { $0.contains("the picture stands still") })
  }

  @Test("What keys answer is not cut at 80 columns", arguments: ["u", "%", "y"])
  func fits(key: Character) {
    var scene = Scene(size: Size(width: 80, height: 24))
    scene.press(.character(key))
    #expect(scene.lines.contains { $0.hasPrefix(" ✓ ") || $0.hasPrefix(" ✕ ") })
    #expect(!scene.lines.contains { ($0.hasPrefix(" ✓ ") || $0.hasPrefix(" ✕ ")) && $0.contains("…") })
  }

  @Test("u takes back what can be taken back exactly, and says so where nothing can")
  func undoes() {
    var scene = Scene(size: size)
    #expect(scene.send(.input(.key(.character("u")))).isEmpty)
    #expect(scene.lines.contains { $0.contains("nothing can be undone exactly") })
    scene.send(.undoable("set a"))
    #expect(scene.send(.input(.key(.character("u")))) == [.perform(.undo)])
    scene.model.isReadOnly = true
    #expect(scene.send(.input(.key(.character("u")))).isEmpty)
  }

  @Test("< and > halve and double the pace of the cache's time, which the header tells")
  func paces() {
    var scene = Scene(size: size)
    #expect(scene.send(.input(.key(.character("<")))) == [.perform(.speed(0.5))])
    scene.send(.speed(0.5))
    #expect(scene.lines[0].contains("● LIVE ×0.5"))
    #expect(scene.send(.input(.key(.character(">")))) == [.perform(.speed(1))])
    scene.send(.speed(1_000))
    #expect(scene.send(.input(.key(.character(">")))) == [.perform(.speed(1_000))])
  }

  @Test("t goes through every theme and comes back")
  func themes() {
    var scene = Scene(size: size)
    var seen: [Theme] = []
    for _ in Theme.allCases {
      guard case .theme(let theme)? = scene.send(.input(.key(.character("t")))).first else { continue }
      seen.append(theme)
    }
    #expect(seen == Theme.allCases.dropFirst() + [.standard])
  }

  @Test("A level with more entries than are listed says how many are not, and Enter on a filter looks for them")
  func unlisted() {
    var scene = Scene(size: size)
    scene.send(.unlisted(["disk": 150_000]))
    #expect(scene.lines.contains { $0.contains("+150 000 of DISK not listed") })
    scene.type("/zebra")
    #expect(scene.send(.input(.key(.enter))) == [.find("zebra")])
    scene.send(.found(level: "disk", [ListedEntry(key: "zebra:1", cost: 9, created: scene.now, deadline: nil)]))
    #expect(scene.lines.contains { $0.contains("▸zebra:1") })
    scene.send(.unlisted([:]))
    #expect(!scene.lines.contains { $0.contains("not listed") })
    scene.type("/zebra")
    #expect(scene.send(.input(.key(.enter))).isEmpty)
  }

  @Test("An entry that left without telling its key empties no list, and a later miss says what is known")
  func nameless() throws {
    var scene = Scene(size: size)
    scene.read("a", from: 2, lifetime: nil)
    scene.read("b", from: 2, lifetime: nil)
    scene.event(.removed(.evicted, cost: 10), level: "disk")
    #expect(scene.model.live.entries.row("a")?.presence[1] != nil)
    #expect(scene.model.isUncertain || scene.model.askedAt == scene.now)
    let request = scene.nextRequest()
    scene.event(.requestBegan(.get), key: "a", request: request)
    scene.event(.lookupBegan, level: "disk", key: "a", request: request)
    scene.event(.miss(.absent, .microseconds(9)), level: "disk", key: "a", request: request)
    let record = try #require(scene.model.live.calls[request])
    let cause = try #require(record.steps.last?.cause)
    #expect(cause.kind == .nameless(.evicted, count: 1))
    #expect(
      CauseText.sentence(cause, at: .level(1), key: "a", scene.model)
        == "DISK missed; it let an entry go without telling the key, the last 12:03:00 (evicted): this may have been one"
    )
  }
}

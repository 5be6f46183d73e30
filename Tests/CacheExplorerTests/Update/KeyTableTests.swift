import Testing

@testable import ExplorerCache
@testable import ExplorerCommands
@testable import ExplorerModel
@testable import ExplorerState
@testable import ExplorerText

struct KeyTableTests {
  @Test("No key does two things in one place", arguments: [KeyTable.Realm.normal, .typing, .confirming, .replaying])
  func noDuplicates(realm: KeyTable.Realm) {
    var seen: Set<InputEvent.Key> = []
    for binding in KeyTable.bindings where binding.scope.realm == realm {
      for key in binding.keys { #expect(seen.insert(key).inserted, "\(key)") }
    }
  }

  @Test("Every key means something where it is in force, and has a name and a sentence")
  func allDocumented() {
    for binding in KeyTable.bindings {
      #expect(!binding.keys.isEmpty && !binding.name.isEmpty && !binding.does.isEmpty)
      #expect(binding.does.last != ".")
      guard binding.scope.realm == .normal else { continue }
      var model = Scene(size: Size(width: 120, height: 40)).model
      #expect(model.carryOut(binding.action) != nil, "\(binding.name)")
    }
  }

  @Test("The name of a binding names each of its keys")
  func namesAllKeys() {
    for binding in KeyTable.bindings {
      let names = binding.name.split(separator: " ")
      // Upper and lower case of one answer are one name.
      let keys = Set(binding.keys.map { $0 == .character("Y") ? .character("y") : $0 })
      #expect(names.count == keys.count, "\(binding.name)")
    }
  }

  @Test("/ in the help searches it: what contains the text is shown, Esc shows everything again, and then closes")
  func helpIsSearched() {
    var scene = Scene(size: Size(width: 80, height: 24))
    scene.type("?/memory warn")
    #expect(scene.lines.contains { $0.contains("w") && $0.contains("send a memory warning") })
    #expect(!scene.lines.contains { $0.contains("one row up") })
    scene.press(.enter)
    #expect(scene.model.mode == .help)
    #expect(scene.lines.contains { $0.contains("/memory warn") })
    scene.press(.escape)
    #expect(scene.lines.contains { $0.contains("one row up") })
    scene.press(.escape)
    #expect(scene.model.mode == .normal)
    scene.type("?/zebra")
    #expect(scene.lines.contains { $0.contains("nothing here says that") })
    scene.press(.control("c"), .escape)
    #expect(scene.model.mode == .normal)
  }

  @Test("The help shows every key")
  func helpIsComplete() {
    var scene = Scene(size: Size(width: 120, height: 40))
    scene.press(.character("?"))
    var text = ""
    for _ in 0..<8 {
      text += scene.lines.joined(separator: "\n")
      scene.press(.pageDown)
    }
    for binding in KeyTable.bindings {
      #expect(text.contains(binding.does), "\(binding.name)")
    }
  }

  private static let sizes = [Size(width: 120, height: 40), Size(width: 80, height: 24), Layout.smallest]

  /// Everything that the help says, read page by page.
  private func read(_ scene: Scene) -> String {
    var scene = scene
    var rows: [String] = []
    for _ in 0..<120 {
      rows += scene.lines.map { $0.replacing("│", with: " ") }
      scene.press(.pageDown)
    }
    return rows.joined(separator: " ")
  }

  @Test("How a verb is used is never cut, however small the window", arguments: sizes, Grammar.commandLine.names)
  func helpOfVerb(size: Size, name: String) throws {
    var scene = Scene(size: size)
    scene.send(.helpAbout(verb: name))
    #expect(scene.lines.contains { $0.contains("Help · \(name)") })
    #expect(!scene.lines.contains { $0.contains("…") && $0.contains("│") })
    let verb = try #require(Grammar.commandLine.named(name))
    let text = read(scene)
    for word in (verb.usage + " " + verb.line + " " + verb.details).split(whereSeparator: { $0.isWhitespace }) {
      #expect(text.contains(word) || word.count > size.width - 8, "\(word)")
    }
    scene.press(.escape)
    #expect(scene.model.mode == .normal)
    scene.press(.character("?"))
    #expect(!scene.lines.contains { $0.contains("Help · \(name)") }, "? is about all keys again")
  }

  @Test("A screen that has nothing to show says so in a row of 80 columns, whole", arguments: Page.allCases)
  func refusals(page: Page) throws {
    var scene = Scene(size: Size(width: 80, height: 24))
    scene.press(.character(page.key))
    let hasNothing = [Page.models, .http, .keyspace, .fleet].contains(page)
    #expect((scene.model.page != page) == hasNothing)
    if hasNothing { #expect(scene.lines[22].hasPrefix(" ✕ ") && !scene.lines[22].contains("…"), "\(scene.lines[22])") }
  }

  @Test("The help tells every verb too, and is searched for them")
  func helpTellsVerbs() {
    var scene = Scene(size: Size(width: 80, height: 24))
    scene.send(.help)
    let text = read(scene)
    for verb in Grammar.commandLine.verbs { #expect(text.contains(verb.name), "\(verb.name)") }
    scene.type("/workload")
    #expect(scene.lines.contains { $0.contains("run a workload") })
    scene.press(.escape, .escape)
    scene.send(.helpAbout(verb: "run"))
    scene.type("/zipf")
    #expect(scene.lines.contains { $0.contains("zipf:") })
    #expect(!scene.lines.contains { $0.contains("scan:") || $0.contains("run WORKLOAD") })
  }
}

import Testing

@testable import ExplorerModel
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
    #expect(scene.lines.contains { $0.contains("no key does that") })
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
}

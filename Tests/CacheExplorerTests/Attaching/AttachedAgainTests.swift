import CacheEngine
import Testing

@testable import ExplorerModel
@testable import ExplorerState
@testable import ExplorerText

/// What the screen does when the program that the cache belongs to is there again.
@Suite struct AttachedAgainTests {
  private func gone() -> Scene {
    var scene = Scene(size: Size(width: 120, height: 40))
    scene.model.attachment = Attachment(label: "attached 7 app")
    scene.read("a", from: 0)
    scene.send(
      .attachment(Attachment(label: "attached 7 app", whyReadOnly: "the app has ended", ended: "the app has ended")))
    return scene
  }

  private func comeBack(_ scene: inout Scene, whyReadOnly: String? = nil) {
    let replacement = Replacement(
      title: "app", levels: scene.model.live.levels, operators: scene.model.live.operators,
      chain: scene.model.live.chain, config: ConfigSheet())
    scene.send(.attachedAgain(Attachment(label: "attached again (pid 8)", whyReadOnly: whyReadOnly), replacement))
  }

  @Test("the overview says that the app is gone, then that it is attached again, and counts begin anew")
  func header() {
    var scene = gone()
    #expect(scene.lines[0].contains("✕ app gone, trying again"))
    #expect(scene.model.live.requests.count.answered == 1)
    comeBack(&scene)
    #expect(scene.lines[0].contains("● attached again (pid 8)"))
    #expect(scene.model.live.requests.count.answered == 0)
    #expect(scene.lines.contains { $0.contains("counters were reset") })
  }

  @Test("the header says since when an app does not answer, in the reader's time of day")
  func silent() {
    var scene = gone()
    scene.model.utcOffsetInSeconds = 3_600
    var attachment = Attachment(label: "attached 7 app")
    attachment.silentSince = .seconds(86_400 * 3 + 3_661)
    scene.send(.attachment(attachment))
    #expect(scene.lines[0].contains("✕ not answering since 02:01:01"))
    attachment.silentSince = nil
    scene.send(.attachment(attachment))
    #expect(scene.lines[0].contains("● attached 7 app"))
  }

  @Test("what is typed and what stands still is not lost")
  func kept() {
    var scene = gone()
    scene.press(.character(" "))
    #expect(scene.model.frozen != nil)
    scene.press(.character(":"))
    scene.type("get b")
    comeBack(&scene)
    #expect(scene.model.frozen?.requests.count.answered == 1)
    #expect(scene.model.command.editor.text == "get b")
    #expect(scene.model.mode == .command)
  }

  @Test("nothing can be changed while the app is gone, and after that as far as the app allows")
  func changes() {
    var scene = gone()
    scene.press(.character("c"))
    #expect(scene.lines.contains { $0.contains("the app has ended") })
    #expect(scene.model.mode == .normal)
    comeBack(&scene, whyReadOnly: "app lets nobody change its cache")
    scene.press(.character("c"))
    #expect(scene.lines.contains { $0.contains("app lets nobody change its cache") })
    comeBack(&scene)
    scene.press(.character("c"))
    if case .confirming = scene.model.mode {} else { Issue.record("nobody asks whether to clear") }
  }
}

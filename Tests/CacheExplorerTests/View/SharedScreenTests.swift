#if Explorer
import Testing

@testable import ExplorerCache
@testable import ExplorerConfiguration
@testable import ExplorerModel
@testable import ExplorerState
@testable import ExplorerText

/// The box of a level that processes share.
struct SharedScreenTests {
  private func scene(_ status: SharedStatus, width: Int = 120, height: Int = 40) throws -> Scene {
    let text = "levels:\n  - memory\n  - redis: { url: \"redis://h\", namespace: photos }"
    let configuration = try ConfigurationReader.read(text, file: "c.yaml", folder: "/")
    var scene = Scene(size: Size(width: width, height: height), configuration: configuration)
    scene.send(.shared(["redis": status]))
    return scene
  }

  private func screen(_ status: SharedStatus) throws -> String { try scene(status).lines.joined(separator: "\n") }

  @Test("A level that listens, and one that is deaf, in a whole screen", arguments: [(120, 40), (80, 24)])
  func whole(width: Int, height: Int) throws {
    var status = SharedStatus()
    (status.isConnected, status.isAsked) = (true, true)
    (status.perSecond, status.roundTrip, status.unsettled) = (3, .microseconds(400), 2)
    try SharedGrids.expect(try scene(status, width: width, height: height), shows: "Redis\(width)x\(height)")
    (status.isConnected, status.deafFor) = (false, .seconds(12))
    try SharedGrids.expect(try scene(status, width: width, height: height), shows: "Deaf\(width)x\(height)")
  }

  @Test("It says whether changes are heard, how long an answer takes, and what was written in vain")
  func listening() throws {
    var status = SharedStatus()
    (status.isConnected, status.isAsked) = (true, true)
    (status.perSecond, status.roundTrip, status.unsettled) = (3, .microseconds(400), 0)
    #expect(try screen(status).contains("listening  trip 400µs  told 3/s"))
    status.unsettled = 2
    #expect(try screen(status).contains("listening  unsettled 2  trip 400µs"))
  }

  @Test("The log names in full who tells of changes", arguments: [120, 80])
  func heard(width: Int) throws {
    var scene = try scene(SharedStatus(), width: width, height: 24)
    scene.log(.info, "coherence", "forgot greeting")
    scene.press(.character("6"))
    #expect(scene.lines.contains { $0.contains("INFO  coherence forgot greeting") })
  }

  @Test("Before there is a connection it does not listen")
  func early() throws {
    let text = "levels:\n  - memory\n  - redis: { url: \"redis://h\", namespace: photos }"
    let configuration = try ConfigurationReader.read(text, file: "c.yaml", folder: "/")
    let scene = Scene(size: Size(width: 120, height: 40), configuration: configuration)
    #expect(scene.lines.contains { $0.contains("✕ deaf 0s") } && !scene.lines.contains { $0.contains("listening") })
  }

  @Test("It says since when nothing is heard")
  func deaf() throws {
    var status = SharedStatus()
    (status.isAsked, status.deafFor) = (true, .seconds(12))
    #expect(try screen(status).contains("deaf 12s"))
    #expect(!(try screen(status).contains("listening")))
  }

  @Test("A level that nobody listens to says whether it is connected")
  func unheard() {
    var status = SharedStatus()
    #expect(status.hearing == "not connected")
    status.isConnected = true
    #expect(status.hearing == "connected")
    #expect(status.json.line.contains(#""connected":true"#) && !status.json.line.contains("listening"))
  }
}
#endif

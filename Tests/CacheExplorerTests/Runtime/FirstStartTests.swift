import Foundation
import Testing

@testable import CacheExplorer

struct FirstStartTests {
  @Test("Where to begin is told once, in one line, and never again")
  func once() throws {
    let folder = try TemporaryFolder()
    let file = folder.url.appending(path: "state/cache-explorer/greeted").path()
    let line = try #require(FirstStart.greeting(notedIn: file))
    #expect(!line.contains("\n") && line.contains("^P") && line.contains("?"))
    #expect(FirstStart.greeting(notedIn: file) == nil)
    let attributes = try FileManager.default.attributesOfItem(atPath: file)
    #expect(attributes[.posixPermissions] as? Int == 0o600)
  }

  @Test("Where nothing can be noted nobody is told, each time anew")
  func nowhere() throws {
    #expect(FirstStart.greeting(notedIn: nil) == nil)
    #expect(FirstStart.greeting(notedIn: "/dev/null/cache-explorer/greeted") == nil)
    let paths = ProgramPaths(environment: ["XDG_STATE_HOME": "/s", "HOME": "/h"])
    #expect(paths.greeted == "/s/cache-explorer/greeted")
    #expect(ProgramPaths(environment: [:]).greeted == nil)
  }

  @Test("Two programs that start at once greet once between them")
  func atOnce() async throws {
    let folder = try TemporaryFolder()
    let file = folder.url.appending(path: "greeted").path()
    let greetings = await withTaskGroup(of: String?.self) { group in
      for _ in 0..<16 { group.addTask { FirstStart.greeting(notedIn: file) } }
      return await group.reduce(into: [String?]()) { $0.append($1) }
    }
    #expect(greetings.compactMap(\.self).count == 1)
  }
}

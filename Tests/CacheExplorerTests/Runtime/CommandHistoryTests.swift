import Foundation
import Testing

@testable import CacheExplorer
@testable import ExplorerModel
@testable import ExplorerState

struct CommandHistoryTests {
  @Test("What is typed in one session is there in the next, oldest first, for nobody else to read")
  func survives() throws {
    let folder = try TemporaryFolder()
    let path = folder.url.path() + "/state/cache-explorer/history"
    let first = CommandHistory(path: path)
    #expect(first.lines.isEmpty)
    for line in ["get a", "run zipf", "  ", "warn"] { first.append(line) }
    #expect(CommandHistory(path: path).lines == ["get a", "run zipf", "warn"])
    let rights = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    #expect(rights == 0o600)
    let folderRights = try FileManager.default.attributesOfItem(atPath: folder.url.path() + "/state/cache-explorer")
    #expect(folderRights[.posixPermissions] as? Int == 0o700)
  }

  @Test(
    "No value is kept",
    arguments: [
      "set a secret", "set a 'se cret' --ttl 5s", "set a", " set a secret", "set a @x \"open", "'set' a secret",
      "ste a secret", "put a secret", "set\ta\tsecret",
    ])
  func secrets(line: String) throws {
    let folder = try TemporaryFolder()
    let path = folder.url.path() + "/history"
    CommandHistory(path: path).append(line)
    #expect(CommandHistory(path: path).lines.isEmpty)
    #expect(!FileManager.default.fileExists(atPath: path))
    CommandHistory(path: path).append("set a @file --ttl 5s")
    #expect(CommandHistory(path: path).lines == ["set a @file --ttl 5s"])
  }

  @Test("What is no history of a reasonable size is not read, and keeps nobody waiting")
  func strange() throws {
    let folder = try TemporaryFolder()
    let pipe = folder.url.path() + "/pipe"
    #expect(unsafe mkfifo(pipe, 0o600) == 0)
    let history = CommandHistory(path: pipe)
    history.append("get a")
    #expect(history.lines.isEmpty)
    let large = folder.url.path() + "/large"
    try Data("get a\n".utf8).write(to: URL(filePath: large))
    #expect(unsafe truncate(large, 17 << 20) == 0)
    #expect(CommandHistory(path: large).lines.isEmpty)
    CommandHistory(path: large).append("get b")
    #expect(try FileManager.default.attributesOfItem(atPath: large)[.size] as? Int == 17 << 20)
  }

  @Test("It is bounded, and a long file is cut")
  func bounded() throws {
    let folder = try TemporaryFolder()
    let path = folder.url.path() + "/history"
    try Data((0..<3_000).map { "get key:\($0)\n" }.joined().utf8).write(to: URL(filePath: path))
    let history = CommandHistory(path: path)
    #expect(history.lines.count == CommandHistory.most)
    #expect(history.lines.last == "get key:2999")
    let kept = try String(contentsOf: URL(filePath: path), encoding: .utf8)
    #expect(kept.split(separator: "\n").count == CommandHistory.most)
    history.append(String(repeating: "g", count: 5_000))
    #expect(CommandHistory(path: path).lines.last == "get key:2999")
  }

  @Test("A file that is cut stays whole until the shorter one is there, and a link is left alone")
  func cut() throws {
    let folder = try TemporaryFolder()
    let path = folder.url.path() + "/history"
    let text = (0..<3_000).map { "get key:\($0)\n" }.joined()
    try Data(text.utf8).write(to: URL(filePath: path))
    #expect(unsafe chmod(path, 0o600) == 0)
    let link = folder.url.path() + "/link"
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: path)
    #expect(CommandHistory(path: link).lines.count == CommandHistory.most)
    let before = try #require(FileHandle(forReadingAtPath: path))
    #expect(CommandHistory(path: path).lines.count == CommandHistory.most)
    #expect(try before.readToEnd() == Data(text.utf8))
    #expect(try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int != text.utf8.count)
    #expect(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int == 0o600)
    #expect(try Set(FileManager.default.contentsOfDirectory(atPath: folder.url.path())) == ["history", "link"])
  }

  @Test("A place that cannot be written is done without")
  func unwritable() {
    let history = CommandHistory(path: "/proc/no/such/history")
    history.append("get a")
    #expect(history.lines.isEmpty)
  }

  @Test("Paths follow the XDG specification, which knows absolute ones only")
  func paths() {
    #expect(ProgramPaths(environment: ["XDG_STATE_HOME": "/s", "HOME": "/h"]).history == "/s/cache-explorer/history")
    #expect(
      ProgramPaths(environment: ["XDG_STATE_HOME": "s", "HOME": "/h"]).history
        == "/h/.local/state/cache-explorer/history")
    #expect(ProgramPaths(environment: [:]).history == nil)
    #expect(ProgramPaths(environment: [:]).text.contains("HOME"))
  }
}

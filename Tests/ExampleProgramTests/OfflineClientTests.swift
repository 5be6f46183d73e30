import Foundation
import LoopbackServer
import TestSupport
import Testing

/// The client on the command line, with and without a server.
@Suite(.timeLimit(.minutes(5)))
struct OfflineClientTests {
  private let folder = DiskFolder()

  private func run(_ server: LoopbackServer, fresh: Int = 3_600, _ arguments: String...) async throws -> ExampleRun {
    let options = arguments.filter { $0.hasPrefix("--") }
    return try await ExampleRun(
      "OfflineClient",
      ["--cache", folder.path, "--fresh", "\(fresh)"] + options + [server.address]
        + arguments.filter { !$0.hasPrefix("--") })
  }

  @Test("Answers are lines of JSON, a path is asked for once while its answer is fresh, and nothing else is written")
  func online() async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    server.setValue(Data(#"{"name": "Ada",  "id": 1}"#.utf8), forPath: "/users/1")
    server.setValue(Data("[1, 2]".utf8), forPath: "/list")
    for _ in 0..<2 {
      let run = try await run(server, "users/1", "list", "users/1")
      #expect(run.output == "{\"id\":1,\"name\":\"Ada\"}\n[1,2]\n{\"id\":1,\"name\":\"Ada\"}\n")
      #expect(run.errors == "")
      #expect(run.status == 0)
    }
    #expect(server.requestCount("/users/1") == 1)
    #expect(server.requestCount("/list") == 1)
  }

  @Test("Without a server it gives what it has kept, with one line that says so, and none of the library's own")
  func offline() async throws {
    let server = try LoopbackServer()
    server.setValue(Data("{\"id\":1}".utf8), forPath: "/users/1")
    #expect(try await run(server, fresh: 0, "users/1").status == 0)
    server.stop()

    let kept = try await run(server, fresh: 0, "users/1")
    #expect(kept.output == "{\"id\":1}\n")
    #expect(
      kept.errors.wholeMatch(of: #/note: http://127\.0\.0\.1:\d+ does not answer; users/1 is \d+ s old\n/#) != nil)
    #expect(kept.status == 0)

    let both = try await run(server, fresh: 0, "users/2", "users/1")
    #expect(both.output == "{\"id\":1}\n", "one that is not there keeps none from being given")
    #expect(both.errors.hasPrefix("error: there is no users/2: "))
    #expect(both.errors.split(separator: "\n").count == 2)
    #expect(both.status == 69)
  }

  @Test("What operators log by themselves are warnings, in a program that has not set up its logging")
  func logged() async throws {
    let server = try LoopbackServer()
    server.setValue(Data("1".utf8), forPath: "/a")
    let well = try await run(server, fresh: 0, "--verbose", "a")
    #expect((well.output, well.errors) == ("1\n", ""), "while all goes well there is nothing to say")
    server.stop()
    let offline = try await run(server, fresh: 0, "--verbose", "a")
    let logged = offline.errors.split(separator: "\n").filter { !$0.hasPrefix("note: ") }
    #expect(!logged.isEmpty)
    #expect(logged.allSatisfy { $0.contains(" warning CacheEngine") }, "\(logged)")
  }

  @Test("What is no JSON, a status that is none of success and a wrong call are told, and none of them is kept")
  func refusals() async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    server.setValue(Data("<html>Log in</html>".utf8), forPath: "/portal")
    let portal = try await run(server, "portal")
    #expect((portal.status, portal.output) == (65, ""))
    #expect(portal.errors == "error: portal is not JSON\n")
    server.setValue(Data("1".utf8), forPath: "/portal")
    #expect(try await run(server, "portal").output == "1\n")

    let absent = try await run(server, "-/status/404")
    #expect((absent.status, absent.output) == (69, ""))
    #expect(absent.errors.hasPrefix("error: there is no -/status/404: "))
    #expect(try await ExampleRun("OfflineClient", ["--cache", folder.path]).status == 64)
    #expect(try await ExampleRun("OfflineClient", ["--cache", folder.path, "ftp://x", "a"]).status == 64)
  }
}

#if Explorer
import ArgumentParser
import ExplorerCache
import ExplorerText

/// A process of the demonstration `fleet`, which starts it; it ends when its standard input does.
struct FleetPartCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "fleet-part", abstract: "A process of “demo fleet”, which starts it.", shouldDisplay: false)

  @Option(help: "Serve its cache at this socket.") var serve: String?
  @Option(help: "What it is called.") var name = "worker"
  @Option(help: "What it asks for.") var seed: UInt64 = 1
  @Argument(help: "The socket of a redis-server; without --serve the server and the folder to run it in.")
  var words: [String]

  func run() async throws {
    if let serve {
      guard words.count == 1 else { throw ValidationError("name the socket of a redis-server") }
      try await FleetWorker(name: name, seed: seed, redis: words[0], socket: serve).run()
    } else {
      guard words.count == 2 else { throw ValidationError("name a redis-server and a folder") }
      do { try FleetDemo.runServer(words[0], in: words[1]) } catch { throw ProgramFailure(.usage, "error: \(error)") }
    }
  }
}
#endif

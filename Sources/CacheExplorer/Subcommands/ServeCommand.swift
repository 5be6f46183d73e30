#if Explorer
import ArgumentParser
import CacheEngine
import CacheEngineProxy
import ExplorerCache
import ExplorerState
import ExplorerText

/// `cache-explorer serve CONFIG --http HOST:PORT --origin URL`.
struct ServeCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "serve", abstract: "Caches the responses of an HTTP server, and shows the cache at work.",
    discussion: """
      A proxy in front of your own server: responses that may be cached are stored in the levels of the configuration \
      and served from there, by the rules of HTTP (RFC 9111); everything else goes to the server. A configuration \
      has levels that store (memory, disk) and operators around them; anything that makes no sense for responses is \
      rejected with its line.

      Without a screen (--plain) there is a line for every request, and commands are read from standard input; --json and \
      --quiet are for services. SIGTERM and SIGINT stop it: no new connection is accepted, requests under way are finished \
      within --grace, and the exit status is 0, or 1 if an expectation failed. The lines of --json can be replayed with \
      `cache-explorer replay CONFIG --trace FILE`.
      """)

  @Argument(help: .configuration, completion: .configuration) var config: String
  @Option(
    name: .customLong("http"),
    help: .taking("host:port", "Where to listen; by default 127.0.0.1:8080. Port 0 is any free one."),
    transform: ServeCommand.address)
  var listen = ServedAddress(host: "127.0.0.1", port: 8080)
  @Option(
    help: .taking("url", "The server behind the proxy: http://HOST[:PORT], or https."), transform: ServeCommand.server)
  var origin: ServedAddress
  @Option(
    help: .taking("file", "Certificates (PEM) to trust instead of the system's, for --origin https://…."),
    completion: .file())
  var authorities: String?
  @Flag(help: "A line of JSON for every request; no screen, no commands.") var json = false
  @Flag(help: "No line for a request; no screen, no commands.") var quiet = false
  @Flag(help: "Store responses that set cookies, if they are otherwise storable.") var storeCookies = false
  @Option(
    parsing: .unconditional, help: .taking("size", "The largest content that is stored; by default 8 MiB."),
    transform: ServeCommand.size
  )
  var bodyLimit = 8 << 20
  @Option(
    parsing: .unconditional, help: .taking("time", "How long the server may be silent; by default 60s."),
    transform: ServeCommand.timeLimit)
  var timeout = Duration.seconds(60)
  @Option(
    parsing: .unconditional,
    help: .taking("time", "How long requests under way may take to finish at the end; by default 10s."),
    transform: ServeCommand.duration)
  var grace = Duration.seconds(10)
  @Option(help: .expect) var expect: [String] = []
  @OptionGroup var recording: RecordOptions
  @OptionGroup var appearance: ScreenOptions

  func validate() throws {
    guard !(json && quiet) else { throw ValidationError("--json and --quiet exclude each other; leave one out") }
    guard !(json || quiet) || !appearance.screen else {
      throw ValidationError("--screen and --\(json ? "json" : "quiet") exclude each other; leave one out")
    }
    try recording.check(isHeadless: json || quiet, by: "--\(json ? "json" : "quiet")")
    guard authorities == nil || origin.isSecure else {
      throw ValidationError("--authorities is about an https server; leave it out, or write --origin https://…")
    }
    guard !listen.mayBe(origin) else {
      throw ValidationError("the proxy would ask itself; give --origin the address of the server behind it")
    }
  }

  func run() async throws {
    OpenFiles.allowMany()
    let configuration = try Loaded.file(config)
    var terms = ServedCache.Terms()
    terms.settings.host = listen.host
    terms.settings.port = listen.port
    terms.storesCookies = storeCookies
    terms.bodyLimit = bodyLimit
    try await Session.serve(
      Session.Serving(
        configuration: configuration, file: config, traffic: .proxy(try asked(), terms),
        manner: json ? .json : quiet ? .quiet : .plain, grace: grace,
        expectations: try Loaded.expectations(expect, of: configuration, hasProxy: true), appearance: appearance,
        record: recording.record, recordLimit: recording.limit))
  }

  private func asked() throws -> ServerOrigin {
    guard origin.isSecure else { return ServerOrigin(host: origin.host, port: origin.port, answerTimeout: timeout) }
    do {
      return try ServerOrigin(
        secureHost: origin.host, port: origin.port, authorities: authorities, answerTimeout: timeout)
    } catch let error as CacheError {
      throw ProgramFailure(.usage, "error: \(error.message)")
    }
  }

  private static func address(_ text: String) throws -> ServedAddress {
    guard let address = ServedAddress(text), (0...65_535).contains(address.port) else {
      throw ValidationError("“\(text)” is no address to listen at; write HOST:PORT, as in 127.0.0.1:8080")
    }
    return address
  }

  private static func server(_ text: String) throws -> ServedAddress {
    do throws(QuantityError) { return try ServedAddress(origin: text) } catch {
      throw ValidationError("\(error.message); \(error.remedy)")
    }
  }

  private static func size(_ text: String) throws -> Int {
    do { return try Quantity.bytes(text) } catch { throw ValidationError("\(error.message); \(error.remedy)") }
  }

  private static func timeLimit(_ text: String) throws -> Duration {
    do { return try Quantity.timeLimit(text) } catch { throw ValidationError("\(error.message); \(error.remedy)") }
  }

  private static func duration(_ text: String) throws -> Duration {
    do { return try Quantity.duration(text) } catch { throw ValidationError("\(error.message); \(error.remedy)") }
  }
}
#endif

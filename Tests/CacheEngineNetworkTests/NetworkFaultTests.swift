import CacheEngine
import CacheEngineNetwork
import Foundation
import LoopbackServer
import Testing

/// What a server can do wrong: every case ends in an error of the right kind, in bounded time.
@Suite(.timeLimit(.minutes(10)))
struct NetworkFaultTests {
  private let server: LoopbackServer

  init() throws {
    server = try LoopbackServer()
  }

  private func patientFetcher() -> NetworkFetcher<URL> {
    NetworkFetcher(timeout: .patience, connectTimeout: .patience)
  }

  private func failure(
    of path: String, timeout: Duration = .patience, limits: HTTPLimits = .default
  ) async throws -> CacheError {
    let fetcher = NetworkFetcher<URL>(timeout: timeout, connectTimeout: .patience, limits: limits)
    let url = server.url(path)
    return try #require(await #expect(throws: CacheError.self, "\(path)") { try await fetcher.get(url) })
  }

  @Test(
    "P11 A server that stalls or drips meets the deadline, and its connection is closed",
    arguments: ["/-/stall/before", "/-/stall/headers", "/-/stall/after", "/-/stall/body", "/-/drip"])
  func stalls(path: String) async throws {
    defer { server.stop() }
    var limit = Duration.milliseconds(150)
    // On a busy machine the deadline may come before the request has, and then the server sees nobody go.
    repeat {
      let error = try await failure(of: path, timeout: limit)
      #expect(error.code == .timedOut)
      #expect(error.message.contains("127.0.0.1:\(server.port)\(path) "))
      limit *= 2
    } while server.requestCount(path) == 0
    try await server.waitForDisconnects(1)
  }

  @Test(
    "C152 P10 A body that is cut is an invalid response",
    arguments: [
      "/-/short", "/-/close", "/-/reset", "/-/reset/body", "/-/chunked/cut", "/-/chunked/bad", "/-/chunked/no-end",
    ])
  func cutBodies(path: String) async throws {
    defer { server.stop() }
    #expect(try await failure(of: path).code == .invalidResponse)
  }

  @Test(
    "P10 A length that is wrong, doubled, negative, huge or not the only one is an invalid response",
    arguments: [
      "/-/lengths/10,10", "/-/lengths/10,11", "/-/lengths/11,10", "/-/length/11", "/-/length/-1", "/-/length/+10",
      "/-/length/9223372036854775807", "/-/length/9223372036854775808", "/-/length/99999999999999999999999",
      "/-/length/0x0a", "/-/length/10,10", "/-/both", "/-/unframed",
    ])
  func lengths(path: String) async throws {
    defer { server.stop() }
    #expect(try await failure(of: path).code == .invalidResponse)
  }

  @Test("P11 A body without end stops at the limit", arguments: ["/-/endless", "/-/chunked/endless"])
  func endless(path: String) async throws {
    defer { server.stop() }
    let limits = HTTPLimits(bodyBytes: 1 << 20)
    let error = try await failure(of: path, limits: limits)
    #expect(error.code == .invalidResponse)
    #expect(error.message.contains("1048576 bytes"))
    try await server.waitForDisconnects(1)
  }

  @Test("P11 A body of exactly the limit is a value, one byte more is not")
  func bodyLimit() async throws {
    defer { server.stop() }
    server.setValue(Data(repeating: 1, count: 1_000), forPath: "/v")
    let exact = NetworkFetcher<URL>(limits: HTTPLimits(bodyBytes: 1_000))
    #expect(try await exact.get(server.url("/v"))?.count == 1_000)
    #expect(try await failure(of: "/v", limits: HTTPLimits(bodyBytes: 999)).code == .invalidResponse)
  }

  @Test(
    "P10 A body that is encoded or partial without being asked for is an invalid response",
    arguments: ["/-/gzip", "/-/partial"])
  func unaskedForms(path: String) async throws {
    defer { server.stop() }
    #expect(try await failure(of: path).code == .invalidResponse)
  }

  @Test(
    "P11 Too many or malformed header lines, and what is no HTTP, are an invalid response",
    arguments: [
      "/-/headers/20000", "/-/header-bytes/1000000", "/-/interim/1000", "/-/garbage", "/-/http09", "/-/folded",
      "/-/nul",
    ])
  func heads(path: String) async throws {
    defer { server.stop() }
    #expect(try await failure(of: path).code == .invalidResponse)
  }

  @Test("P11 Header lines beyond the limit in bytes are an invalid response")
  func headerBytes() async throws {
    defer { server.stop() }
    let error = try await failure(of: "/-/header-bytes/2000", limits: HTTPLimits(headerBytes: 1_900))
    #expect(error.code == .invalidResponse)
    #expect(error.message.contains("1900 bytes"))
  }

  @Test("Some interim answers before the real one do no harm")
  func interimAnswers() async throws {
    defer { server.stop() }
    #expect(try await patientFetcher().get(server.url("/-/interim/3")) == Data("body".utf8))
  }

  @Test("P11 Ten redirects are followed, and no more")
  func redirectCount() async throws {
    defer { server.stop() }
    #expect(try await patientFetcher().get(server.url("/-/redirect/chain/10")) != nil)
    #expect(try await failure(of: "/-/redirect/chain/11").code == .invalidResponse)
    #expect(try await failure(of: "/-/redirect/loop").code == .invalidResponse)
    #expect(server.requestCount("/-/redirect/loop") == 11)
  }

  @Test(
    "P11 Redirects to other schemes, with credentials or to nowhere are not followed",
    arguments: ["file:///etc/passwd", "ftp://127.0.0.1/", "http://a:b@127.0.0.1/", "http://127.0.0.1:0/", "", "//"])
  func badRedirects(location: String) async throws {
    defer { server.stop() }
    #expect(try await failure(of: "/-/redirect/to?\(location)").code == .invalidResponse)
  }

  @Test("P11 Credentials follow a redirect within their origin and never to another one")
  func credentialsOnRedirect() async throws {
    defer { server.stop() }
    let other = try LoopbackServer()
    defer { other.stop() }
    let fetcher = NetworkFetcher<URL>(headers: [
      HTTPHeader("Authorization", "Bearer t"), HTTPHeader("X-Key", "k"), HTTPHeader("Accept", "text/plain"),
    ])
    let same = try await fetcher.get(server.url("/-/redirect/to?/-/echo"))
    let sameText = String(decoding: try #require(same), as: UTF8.self)
    #expect(sameText.contains("authorization: Bearer t\n") && sameText.contains("x-key: k\n"))
    let elsewhere = try await fetcher.get(server.url("/-/redirect/to?\(other.address)/-/echo"))
    let text = String(decoding: try #require(elsewhere), as: UTF8.self)
    #expect(!text.contains("authorization") && !text.contains("x-key"))
    #expect(text.contains("accept: text/plain\n"))
  }

  @Test("P11 Redirects share one deadline with what they lead to")
  func deadlineOverRedirects() async throws {
    defer { server.stop() }
    let error = try await failure(of: "/-/redirect/to?/-/stall/body", timeout: .milliseconds(150))
    #expect(error.code == .timedOut)
  }

  @Test("A server that was stopped is unreachable, also over a connection that was kept")
  func stopped() async throws {
    server.setValue(Data("v".utf8), forPath: "/v")
    let (fetcher, url) = (patientFetcher(), server.url("/v"))
    #expect(try await fetcher.get(url) == Data("v".utf8))
    server.stop()
    let error = try #require(await #expect(throws: CacheError.self) { try await fetcher.get(url) })
    #expect(error.code == .unreachable)
    #expect(error.level == "network")
  }

  @Test("A host name that does not exist is unreachable")
  func unknownHost() async throws {
    server.stop()
    let fetcher = try NetworkFetcher(template: "http://host.invalid/{key}", timeout: .seconds(10))
    let error = try #require(await #expect(throws: CacheError.self) { try await fetcher.get("a") })
    // A machine without any network may take its time to find out.
    #expect(error.code == .unreachable || error.code == .timedOut)
  }

  @Test(
    "P11 Only http and https addresses with a port that exists are fetched",
    arguments: [
      "file:///etc/passwd", "ftp://host/", "data:,x", "http:///path", "http://host:0/", "http://host:65536/",
      "relative",
    ])
  func addresses(text: String) async throws {
    server.stop()
    let (fetcher, url) = (patientFetcher(), URL(string: text))
    guard let url else { return }
    let error = try #require(await #expect(throws: CacheError.self) { try await fetcher.get(url) })
    #expect(error.code == .invalidAddress)
  }

  @Test("A cancelled get returns at once with CancellationError, and its connection is closed")
  func cancellation() async throws {
    defer { server.stop() }
    // No other test shares the transport, no deadline is near, nothing comes from the server, and libcurl has none of
    // the timers that belong to connecting: nothing but the cancellation can close the connection.
    let fetcher = NetworkFetcher<URL>(
      timeout: .patience, connectTimeout: .patience, transport: LoneTransport.make())
    _ = try await fetcher.get(server.url("/-/echo"))
    let url = server.url("/-/stall/before")
    let task = Task { try await fetcher.get(url) }
    try await server.waitForRequests(2)
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    try await server.waitForDisconnects(1)
  }

  @Test("A get in a task that is cancelled already asks nobody")
  func cancelledBefore() async throws {
    defer { server.stop() }
    let url = server.url("/v")
    let task = Task {
      unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
      return try await patientFetcher().get(url)
    }
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(server.requestCount() == 0)
  }

  @Test("Cancelling half of many gets leaves the others to complete")
  func halfCancelled() async throws {
    defer { server.stop() }
    server.setValue(Data("v".utf8), forPath: "/v")
    server.hold()
    let (fetcher, url) = (patientFetcher(), server.url("/v"))
    let tasks = (0..<20).map { _ in Task { try await fetcher.get(url) } }
    try await server.waitForRequests(20)
    for task in tasks.prefix(10) { task.cancel() }
    for task in tasks.prefix(10) { await #expect(throws: CancellationError.self) { try await task.value } }
    try await server.waitForDisconnects(10)
    server.release()
    for task in tasks.suffix(10) { #expect(try await task.value == Data("v".utf8)) }
  }

  #if os(Linux) || os(macOS)
  @Test("A transport that is let go while it works still answers")
  func transportLetGo() async throws {
    defer { server.stop() }
    server.setValue(Data("v".utf8), forPath: "/v")
    server.hold()
    let url = server.url("/v")
    let task = Task { try await NetworkFetcher<URL>(transport: CurlTransport()).get(url) }
    try await server.waitForRequests(1)
    server.release()
    #expect(try await task.value == Data("v".utf8))
  }
  #endif

  @Test("P2 A deadline of any length is taken", arguments: [.zero, .seconds(-5), .seconds(Int64.max)] as [Duration])
  func oddDeadlines(timeout: Duration) async throws {
    defer { server.stop() }
    server.setValue(Data("v".utf8), forPath: "/v")
    let (fetcher, url) = (NetworkFetcher<URL>(timeout: timeout, connectTimeout: .seconds(Int64.max)), server.url("/v"))
    if timeout > .zero {
      #expect(try await fetcher.get(url) == Data("v".utf8))
    } else {
      let error = try #require(await #expect(throws: CacheError.self) { try await fetcher.get(url) })
      #expect(error.code == .timedOut)
    }
  }
}

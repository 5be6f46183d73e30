import CacheEngine
import CacheEngineNetwork
import Foundation
import LoopbackServer
import Testing

@Suite(.timeLimit(.minutes(10)))
struct NetworkFetcherTests {
  private let server: LoopbackServer

  init() throws {
    server = try LoopbackServer()
  }

  private func fetcher(
    timeout: Duration = .patience, limits: HTTPLimits = .default, headers: [HTTPHeader] = [],
    transport: (any HTTPTransport)? = nil
  ) -> NetworkFetcher<URL> {
    NetworkFetcher(timeout: timeout, connectTimeout: .patience, limits: limits, headers: headers, transport: transport)
  }

  @Test("A whole body is a hit with its size as cost and the level's name")
  func hit() async throws {
    defer { server.stop() }
    server.setValue(Data("hello".utf8), forPath: "/greeting")
    let entry = try #require(try await fetcher().lookup(server.url("/greeting")).entry)
    #expect(entry.value == Data("hello".utf8))
    #expect(entry.cost == 5)
    #expect(entry.level == "network")
    #expect(entry.deadline == nil)
  }

  @Test("A fetcher gives header fields to who asks, and fetchers of one's own can ask by the shared transport")
  func fields() async throws {
    defer { server.stop() }
    server.setValue(Data("hello".utf8), forPath: "/greeting")
    let (network, url) = (fetcher(), server.url("/greeting"))
    let lengths = BasicFetcher { try await network.response(for: $0).values(of: "content-length").first }
    #expect(try await lengths.get(url) == "5")
    let missing = try await StandardTransport().send(
      TransportRequest(url: server.url("/-/status/404"), timeout: .patience, connectTimeout: .patience))
    #expect(missing.status == 404 && !missing.headers.isEmpty)
    let error = await #expect(throws: CacheError.self) { try await network.response(for: server.url("/-/status/404")) }
    #expect(error?.status == 404 && error?.level == "network")
  }

  @Test("Real files below a directory arrive byte for byte, and nothing outside of it")
  func files() async throws {
    let directory = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    let server = try LoopbackServer(files: directory)
    defer { server.stop() }
    let fetcher = try NetworkFetcher(template: "\(server.address)/{key}")
    let expected = try Data(contentsOf: URL(fileURLWithPath: #filePath))
    #expect(try await fetcher.get("NetworkFetcherTests.swift") == expected)
    let outside = await #expect(throws: CacheError.self) { try await fetcher.get("%2e%2e/Placeholder.swift") }
    #expect(outside?.status == 404)
  }

  @Test("C150 Three simultaneous gets of one URL all complete")
  func threeAtOnce() async throws {
    defer { server.stop() }
    server.setValue(Data("one".utf8), forPath: "/one")
    server.hold()
    let (fetcher, url) = (fetcher(), server.url("/one"))
    try await withThrowingTaskGroup(of: Data?.self) { group in
      for _ in 0..<3 { group.addTask { try await fetcher.get(url) } }
      try await server.waitForRequests(3)
      server.release()
      for try await value in group { #expect(value == Data("one".utf8)) }
    }
  }

  @Test("Fifty simultaneous gets all complete with the value of their own key")
  func fiftyAtOnce() async throws {
    defer { server.stop() }
    for index in 0..<50 { server.setValue(Data("value \(index)".utf8), forPath: "/\(index)") }
    server.hold()
    let fetcher = try NetworkFetcher(template: "\(server.address)/{key}")
    try await withThrowingTaskGroup(of: (Int, Data?).self) { group in
      for index in 0..<50 { group.addTask { (index, try await fetcher.get("\(index)")) } }
      try await server.waitForRequests(50)
      server.release()
      for try await (index, value) in group { #expect(value == Data("value \(index)".utf8)) }
    }
    #expect(server.requestCount() == 50)
  }

  @Test(
    "C151 A status outside 200–299 is an error that carries the status",
    arguments: [300, 304, 400, 401, 403, 404, 410, 418, 429, 500, 503, 599, 999])
  func statuses(status: Int) async throws {
    defer { server.stop() }
    let (fetcher, url) = (fetcher(), server.url("/-/status/\(status)"))
    let error = try #require(await #expect(throws: CacheError.self) { try await fetcher.get(url) })
    #expect(error.code == .status)
    #expect(error.status == status)
    #expect(error.level == "network")
  }

  @Test("C151 A 304 with a body, which nobody asked for, is a status error")
  func notModifiedWithBody() async throws {
    defer { server.stop() }
    let (fetcher, url) = (fetcher(), server.url("/-/status/304-body"))
    let error = try #require(await #expect(throws: CacheError.self) { try await fetcher.get(url) })
    #expect(error.status == 304)
  }

  @Test("An error names scheme, host, port and path, and neither credentials nor query")
  func messageWithoutSecrets() async throws {
    defer { server.stop() }
    let (fetcher, port) = (fetcher(), server.port)
    let url = try #require(URL(string: "http://ann:secret@127.0.0.1:\(port)/-/status/404?token=hidden"))
    let error = try #require(await #expect(throws: CacheError.self) { try await fetcher.get(url) })
    #expect(error.message.hasPrefix("http://127.0.0.1:\(port)/-/status/404 answered with status 404: "))
    #expect(!"\(error)".contains("secret") && !"\(error)".contains("hidden"))
  }

  @Test("An empty body of 204 is an empty value")
  func noContent() async throws {
    defer { server.stop() }
    #expect(try await fetcher().get(server.url("/-/status/204")) == Data())
  }

  @Test("A body in chunks arrives whole")
  func chunked() async throws {
    defer { server.stop() }
    #expect(try await fetcher().get(server.url("/-/chunked")) == Data("0123456789".utf8))
  }

  @Test("Gets one after the other use one connection")
  func reuse() async throws {
    defer { server.stop() }
    let fetcher = fetcher(transport: LoneTransport.make())
    for _ in 0..<5 { _ = try await fetcher.get(server.url("/-/echo")) }
    #expect(server.connectionCount == 1)
    #expect(server.requestCount() == 5)
  }

  @Test("A connection on which more came than was asked for is not used again")
  func unaskedAnswer() async throws {
    defer { server.stop() }
    let fetcher = fetcher(transport: LoneTransport.make())
    server.setValue(Data("mine".utf8), forPath: "/mine")
    // The surplus may come with the answer or after it; either way it must not answer the next request.
    _ = try? await fetcher.get(server.url("/-/unasked"))
    #expect(try await fetcher.get(server.url("/mine")) == Data("mine".utf8))
  }

  @Test("No more transfers run at a time than allowed, and the others have their turn later")
  func boundedTransfers() async throws {
    defer { server.stop() }
    server.setValue(Data("v".utf8), forPath: "/v")
    let (fetcher, url) = (fetcher(transport: LoneTransport.make(2)), server.url("/v"))
    server.hold()
    try await withThrowingTaskGroup(of: Data?.self) { group in
      for _ in 0..<12 { group.addTask { try await fetcher.get(url) } }
      try await server.waitForRequests(2)
      #expect(server.connectionCount == 2)
      server.release()
      for try await value in group { #expect(value == Data("v".utf8)) }
    }
    #expect(server.requestCount() == 12)
    #expect(server.connectionCount == 2)
  }

  @Test("A server that stalls holds up those who ask it, and not those who ask another")
  func fairness() async throws {
    defer { server.stop() }
    let other = try LoopbackServer()
    defer { other.stop() }
    other.setValue(Data("v".utf8), forPath: "/v")
    let (fetcher, stalling) = (fetcher(transport: LoneTransport.make(2)), server.url("/-/stall/before"))
    let stalled = (0..<6).map { _ in Task { try await fetcher.get(stalling) } }
    try await server.waitForRequests(2)
    #expect(try await fetcher.get(other.url("/v")) == Data("v".utf8))
    #expect(server.requestCount() == 2)
    for task in stalled { task.cancel() }
    for task in stalled { await #expect(throws: CancellationError.self) { try await task.value } }
  }

  @Test("A transfer that waits for its turn still ends at its deadline")
  func deadlineWhileWaiting() async throws {
    defer { server.stop() }
    let transport = LoneTransport.make(1)
    let (patient, hasty) = (fetcher(transport: transport), fetcher(timeout: .milliseconds(100), transport: transport))
    let url = server.url("/-/stall/before")
    let blocker = Task { try await patient.get(url) }
    try await server.waitForRequests(1)
    let error = try #require(await #expect(throws: CacheError.self) { try await hasty.get(url) })
    #expect(error.code == .timedOut)
    #expect(server.requestCount() == 1)
    blocker.cancel()
    await #expect(throws: CancellationError.self) { try await blocker.value }
  }

  @Test("Identity is asked for, unless the caller asks for something else")
  func encodingAskedFor() async throws {
    defer { server.stop() }
    let usual = try #require(try await fetcher().get(server.url("/-/echo")))
    #expect(String(decoding: usual, as: UTF8.self).contains("accept-encoding: identity\n"))
    let asking = fetcher(headers: [HTTPHeader("Accept-Encoding", "gzip")])
    let other = try #require(try await asking.get(server.url("/-/echo")))
    #expect(String(decoding: other, as: UTF8.self).contains("accept-encoding: gzip\n"))
  }

  @Test("No cookie is kept or sent back")
  func cookies() async throws {
    defer { server.stop() }
    let fetcher = fetcher()
    _ = try await fetcher.get(server.url("/-/cookie"))
    let echo = try #require(try await fetcher.get(server.url("/-/echo")))
    #expect(!String(decoding: echo, as: UTF8.self).contains("cookie"))
  }

  @Test("User and password of the address become an Authorization field")
  func credentials() async throws {
    defer { server.stop() }
    let url = try #require(URL(string: "http://ann:p%40ss@127.0.0.1:\(server.port)/-/echo"))
    let echo = try #require(try await fetcher().get(url))
    let expected = "authorization: Basic \(Data("ann:p@ss".utf8).base64EncodedString())\n"
    #expect(String(decoding: echo, as: UTF8.self).contains(expected))
  }

  @Test("A header field that would break its line is refused before anything is sent")
  func headerInjectionByField() async throws {
    defer { server.stop() }
    let (fetcher, url) = (fetcher(headers: [HTTPHeader("X-A", "b\r\nX-C: d")]), server.url("/-/echo"))
    let error = try #require(await #expect(throws: CacheError.self) { try await fetcher.get(url) })
    #expect(error.code == .invalidAddress)
    #expect(server.requestCount() == 0)
  }

  @Test("C10 C11 Storing into a fetcher and removing from it succeed and do nothing")
  func writing() async throws {
    defer { server.stop() }
    let (fetcher, url) = (fetcher(), server.url("/v"))
    try await fetcher.set(Data("mine".utf8), forKey: url)
    try await fetcher.remove(url)
    try await fetcher.clear()
    #expect(server.requestCount() == 0)
  }

  @Test("A transport of one's own is asked, and its error gets the level's name")
  func ownTransport() async throws {
    struct Refusing: HTTPTransport {
      func send(_ request: TransportRequest) async throws -> TransportResponse {
        throw CacheError(.unreachable, "no line to \(request.url.path)")
      }
    }
    server.stop()
    let fetcher = NetworkFetcher<Int>(name: "far", transport: Refusing()) { key in
      try #require(URL(string: "http://host/\(key)"))
    }
    let error = try #require(await #expect(throws: CacheError.self) { try await fetcher.get(7) })
    #expect(error.level == "far")
    #expect(error.code == .unreachable)
  }
}

#if Proxy
import NIOCore
import NIOEmbedded
import Testing

@testable import CacheEngineProxy

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

@Suite("Clients that close their side of the connection once they have asked", .timeLimit(.minutes(3)))
struct HalfClosureTests: ProxySuite {
  let log = ServedLog()

  @Test("They are answered, from the server and from the cache, in their order, and the connection ends")
  func answered() async throws {
    try await withProxy(origin: { Self.fresh(String($0.split(separator: " ")[1])) }) { (port, _, origin) async throws in
      let requests = ["/a", "/b", "/a"].map { "GET \($0) HTTP/1.1\r\nHost: a\r\n\r\n" }.joined()
      for _ in 0..<2 {
        let answer = try await RawClient.ask(port, requests, halfCloses: true)
        let contents = answer.components(separatedBy: "\r\n\r\n").dropFirst()
        #expect(contents.map { $0.components(separatedBy: "HTTP/1.1")[0] } == ["/a", "/b", "/a"])
      }
      #expect(origin.requests.count == 2)
    }
  }

  @Test("An answer that they take late is whole")
  func late() async throws {
    let body = String(repeating: "x", count: 6 << 20)
    try await withProxy(origin: { _ in Self.fresh(body) }) { (port, proxy, _) async throws in
      for count in 1...2 {
        let late = try await RawClient.askAndTakeNothing(port, "GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        try await late.halfClose()
        // What is in memory is written at once, and waits for the client.
        while count == 2, proxy.counts.requests < 2 { await Task.yield() }
        #expect(try await late.takeAll().hasSuffix(body))
      }
    }
  }

  @Test("What was written and not yet sent goes out before the connection is closed, whoever closes it")
  func notYetSent() throws {
    let channel = EmbeddedChannel(handler: HalfClosure())
    channel.write(IOData.byteBuffer(ByteBuffer(string: "an answer")), promise: nil)
    channel.close(promise: nil)
    #expect(try channel.readOutbound(as: IOData.self) == .byteBuffer(ByteBuffer(string: "an answer")))
  }

  @Test("Behind the last answer of a connection there is none, not even one from memory")
  func last() async throws {
    try await withProxy(origin: { _ in Self.fresh("body") }) { (port, _, origin) async throws in
      _ = try await ask(port, get())
      for first in [
        "GET http://b/ HTTP/1.1\r\nHost: a\r\n\r\n", "GET / HTTP/1.0\r\nConnection: keep-alive, close\r\n\r\n",
      ] {
        let answer = try await ask(port, first + "GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(answer.components(separatedBy: "HTTP/1.1 ").count == 2)
      }
    }
  }

  @Test("An HTTP/1.0 client that says both `keep-alive` and `close` is not waited for")
  func both() async throws {
    try await withProxy(origin: { _ in Self.fresh("body") }) { (port, _, _) async throws in
      let request = "GET / HTTP/1.0\r\nConnection: keep-alive, close\r\n\r\n"
      for _ in 0..<2 { #expect(try await ask(port, request).contains("\r\nConnection: close\r\n")) }
    }
  }

  @Test(
    "A request that they have not sent whole is refused, and is no fault of the server",
    arguments: [
      "GET / HTTP/1.1\r\nHo", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nhalf",
      "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nha",
    ])
  func half(request: String) async throws {
    try await withProxy(origin: { _ in Self.fresh("body") }) { (port, _, origin) async throws in
      let answer = try await RawClient.ask(port, request, halfCloses: true)
      #expect(answer.hasPrefix("HTTP/1.1 400 "))
      #expect(origin.requests.isEmpty)
    }
    #expect(log.all.allSatisfy { $0.fault == nil })
  }
}
#endif

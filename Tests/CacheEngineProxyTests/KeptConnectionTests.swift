#if Proxy
import CacheEngineProxy
import Synchronization
import Testing

@Suite("Connections to the server that are kept", .timeLimit(.minutes(3)))
struct KeptConnectionTests: ProxySuite {
  let log = ServedLog()

  @Test(
    "What may be done twice is asked once more if a kept connection ends in place of an answer, and nothing else is",
    arguments: [
      ("GET", "", "", 200), ("DELETE", "", "", 200), ("POST", "", "", 502), ("PUT", "content", "", 502),
      ("GET", "", "HTTP/1.1 103 Early Hints\r\n\r\n", 502),
    ])
  func ends(_ method: String, _ content: String, _ last: String, _ status: Int) async throws {
    let count = Mutex(0)
    try await withProxy(origin: { _ in
      let number = count.withLock { count in
        count += 1
        return count
      }
      return number == 2 ? RawAnswer(last, closes: true) : RawAnswer("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
    }) { (port, _, origin) async throws in
      #expect(try await ask(port, get()).hasSuffix("ok"))
      let length = content.isEmpty ? "" : "Content-Length: \(content.utf8.count)\r\n"
      let answer = try await ask(
        port, "\(method) / HTTP/1.1\r\nHost: a\r\n\(length)Connection: close\r\n\r\n\(content)")
      #expect(answer.contains("HTTP/1.1 \(status) "))
      #expect(origin.connections.opened == (status == 200 ? 2 : 1))
    }
  }

  @Test(
    "A connection that was idle for too long, or that the server wants to end, is not used again",
    arguments: [("", Duration.zero), ("Connection: close\r\n", .seconds(3_600))])
  func notKept(field: String, idleTime: Duration) async throws {
    try await withProxy(
      reaching: { ServerOrigin(host: "127.0.0.1", port: $0, idleTime: idleTime) },
      origin: { _ in RawAnswer("HTTP/1.1 200 OK\r\n\(field)Content-Length: 2\r\n\r\nok") }
    ) { (port, _, origin) async throws in
      for count in 1...2 {
        #expect(try await ask(port, get()).hasSuffix("ok"))
        #expect(origin.connections.opened == count)
      }
    }
  }

  @Test("A new connection that ends in place of an answer is not tried again")
  func endsNew() async throws {
    try await withProxy(origin: { _ in RawAnswer("", closes: true) }) { (port, _, origin) async throws in
      #expect(try await ask(port, get()).hasPrefix("HTTP/1.1 502 "))
      #expect(origin.requests.count == 1)
    }
  }
}
#endif

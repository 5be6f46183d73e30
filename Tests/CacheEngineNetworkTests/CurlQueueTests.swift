import CacheEngine
@testable import CacheEngineNetwork
#if os(Linux) || os(macOS)
import Foundation
import Testing

@Suite struct CurlQueueTests {
  private func transfer(_ text: String) throws -> CurlTransfer {
    let url = try #require(URL(string: text))
    return CurlTransfer(TransportRequest(url: url), address: try HTTPAddress(url), deadline: .now + .seconds(60))
  }

  @Test("A request of an idle origin waits for one of each busy origin, however many of them wait")
  func turns() throws {
    // The order of a dictionary differs from run to run: many origins, so that luck is not enough.
    for busy in 1...8 {
      var queue = CurlQueue(transfers: 1, transfersPerOrigin: 1)
      for index in 0..<20 * busy { queue.append(try transfer("http://busy\(index % busy).example/\(index)")) }
      let first = queue.next()
      var running = try #require(first)
      queue.append(try transfer("http://idle.example/"))
      var before = 0
      while running.address.host != "idle.example" {
        queue.ended(running)
        let next = queue.next()
        running = try #require(next)
        before += 1
      }
      // The one that runs, and then one of each.
      #expect(before <= 1 + busy)
    }
  }

  @Test("Every origin has as many turns as any other while all of them wait, in the order of their requests")
  func fairness() throws {
    var queue = CurlQueue(transfers: 2, transfersPerOrigin: 2)
    for index in 0..<30 { queue.append(try transfer("http://host\(index / 10).example/\(index % 10)")) }
    var served: [String] = []
    var under: [any CurlJob] = []
    while let next = queue.next() ?? (under.isEmpty ? nil : under.removeFirst()) {
      if served.contains(next.address.text) {
        queue.ended(next)
      } else {
        served.append(next.address.text)
        under.append(next)
      }
    }
    #expect(served == (0..<30).map { "http://host\($0 % 3).example/\($0 / 3)" })
    #expect(queue.isEmpty)
  }
}
#endif

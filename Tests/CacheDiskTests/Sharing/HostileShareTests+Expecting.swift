import CacheCore
import CacheEngineTesting
import Foundation
import Testing

@testable import CacheDisk

extension HostileShareTests {
  @Test("what the levels of a process expect adds up, in whatever order it comes")
  func expectations() async throws {
    let owner = try open()
    let socket = try connect()
    socket.send(try hello())
    // The second one was thought of first.
    let told = [StoreExpectation(hearsChanges: true, hearsLosses: true), StoreExpectation(hearsLosses: true)]
    for (number, expectation) in told.enumerated() {
      socket.send(
        try StoreRequest.expect(expectation).frame(
          number: UInt64(number + 1), origin: 0, at: SystemClock().now.nanoseconds, isAgain: false))
    }
    #expect(try await frames(3, from: socket).frames.count == 3)
    try await owner.set(Data([1]), forKey: "a")
    #expect(try await frames(1, from: socket).frames.first?.kind == StoreReply.changed)
    try await owner.close()
  }

  @Test("P15 a listing that goes on behind every place there is ends, and nothing else does")
  func farPlace() async throws {
    let owner = try open()
    try await owner.set(Data([1]), forKey: "a")
    let socket = try connect()
    socket.send(try hello())
    let welcome = try #require(try await frames(1, from: socket).frames.first)
    let instance = try StoreHello.readWelcome(try welcome.load(limit: 0))
    socket.send(
      try StoreRequest.list(from: .max, of: instance).frame(
        number: 1, origin: 0, at: SystemClock().now.nanoseconds, isAgain: false))
    let reply = try #require(try await frames(1, from: socket).frames.first)
    guard case .page(let entries, next: nil, of: _) = try StoreReply(reply.kind, try reply.load(limit: 0)) else {
      Issue.record("a page was to come")
      return
    }
    #expect(entries.isEmpty)
    #expect(try await owner.get("a") == Data([1]))
    try await owner.close()
  }

  @Test("who would wait for a silent owner for ever waits for a very long time")
  func endlessPatience() async throws {
    let owner = try open(silence: .seconds(Int64.max))
    let guest = try open(apart: true, silence: .seconds(Int64.max))
    try await guest.set(Data([1]), forKey: "a")
    #expect(try await owner.get("a") == Data([1]))
    // The next one takes over.
    try await owner.close()
    #expect(try await guest.get("a") == Data([1]))
    try await guest.close()
  }
}

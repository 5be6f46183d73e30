import CacheEngine
import Foundation
import Testing

@testable import CacheEngineInspector

/// Values that do not fit into one line.
@Suite(.timeLimit(.minutes(10))) struct LargeValueTests {
  private static func bytes(_ count: Int, seed: UInt8 = 1) -> Data {
    Data((0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) &+ seed })
  }

  private func ask(_ visitor: Visitor, keeps: Bool = true, limit: Int? = 1_000) async throws -> ServerLine.Answer {
    var ask = ClientLine.Ask(.look, level: "memory", key: "a")
    (ask.limit, ask.keeps) = (limit, keeps ? true : nil)
    return try await visitor.client.ask(ask)
  }

  private func more(_ visitor: Visitor, of id: Int, from: Int) async throws -> ServerLine.Answer {
    var ask = ClientLine.Ask(.more)
    (ask.of, ask.from, ask.limit) = (id, from, 1_000)
    return try await visitor.client.ask(ask)
  }

  private func serve(_ value: Data) async throws -> (Stack, InspectorServer, Visitor, path: String) {
    let stack = Stack(memory: 64 << 20)
    try await stack.memory.set(value, forKey: "a")
    let folder = "/tmp/ce-\(UUID().uuidString.prefix(8))"
    let server = try serveCache(stack.cache, at: folder + "/cache.sock", name: "app")
    return (stack, server, try await Visitor(server.path), folder)
  }

  @Test(
    "a value of any length up to the bound arrives whole, piece by piece",
    arguments: [0, 1, 262_143, 262_144, 262_145, 1_048_577, 16 << 20])
  func whole(count: Int) async throws {
    let value = Self.bytes(count)
    let (_, server, visitor, folder) = try await serve(value)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let answer = try await visitor.client.read(
      ClientLine.Ask(.look, level: "memory", key: "a"), atMost: WireLimits.kept)
    #expect(answer.value == value)
    #expect(answer.size == nil)
    let read = try await visitor.client.read(ClientLine.Ask(.get, key: "a"), atMost: WireLimits.kept)
    #expect(read.value == value)
    #expect(read.level == "memory")
    withExtendedLifetime(server) {}
  }

  @Test("of a value beyond the bound, or beyond what is wanted, the beginning comes and how long it is")
  func beginning() async throws {
    let value = Self.bytes((16 << 20) + 1)
    let (stack, server, visitor, folder) = try await serve(value)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let ask = ClientLine.Ask(.look, level: "memory", key: "a")
    let large = try await visitor.client.read(ask, atMost: WireLimits.kept)
    #expect(large.value == value.prefix(WireLimits.piece))
    #expect(large.size == value.count)
    try await stack.memory.set(value.prefix(2 << 20), forKey: "a")
    for most in [1, 300_000, 1 << 20] {
      let part = try await visitor.client.read(ask, atMost: most)
      #expect(part.value == value.prefix(most))
      #expect(part.size == 2 << 20)
    }
    withExtendedLifetime(server) {}
  }

  @Test("all pieces are of the value that was read, whatever is stored meanwhile")
  func oneValue() async throws {
    let value = Self.bytes(2_500)
    let (stack, server, visitor, folder) = try await serve(value)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let first = try await ask(visitor)
    #expect(first.next == 1_000)
    #expect(first.size == 2_500)
    try await stack.memory.set(Self.bytes(2_500, seed: 9), forKey: "a")
    let second = try await more(visitor, of: first.id, from: 1_000)
    let third = try await more(visitor, of: first.id, from: 2_000)
    #expect(second.next == 2_000)
    #expect(third.next == nil)
    #expect((first.value ?? Data()) + (second.value ?? Data()) + (third.value ?? Data()) == value)
    #expect(
      try await more(visitor, of: first.id, from: 2_000).error == "there is no value to go on with; ask for it again")
    withExtendedLifetime(server) {}
  }

  @Test("two values are kept for one who looks and no more, and what cannot be gone on with is said")
  func bounded() async throws {
    let (_, server, visitor, folder) = try await serve(Self.bytes(2_500))
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let asks = [try await ask(visitor), try await ask(visitor), try await ask(visitor)]
    #expect(try await more(visitor, of: asks[0].id, from: 1_000).outcome == "failed")
    for known in asks.dropFirst() {
      #expect(try await more(visitor, of: known.id, from: 1_000).value?.count == 1_000)
      for wrong in [0, -1, 2_500, .max] {
        #expect(try await more(visitor, of: known.id, from: wrong).outcome == "failed")
      }
    }
    let other = try await Visitor(server.path)
    #expect(try await more(other, of: asks[1].id, from: 1_000).outcome == "failed", "another’s value")
  }

  @Test("who knows of no pieces gets what it always got: the first MiB, and how many bytes there are")
  func older() async throws {
    let value = Self.bytes(3 << 20)
    let (_, server, visitor, folder) = try await serve(value)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let answer = try await ask(visitor, keeps: false, limit: nil)
    #expect(answer.value == value.prefix(1 << 20))
    #expect(answer.size == 3 << 20)
    #expect(answer.next == nil)
    #expect(try await ask(visitor, keeps: false, limit: .max).value?.count == 1 << 20)
    #expect(try await ask(visitor, keeps: false, limit: .min).value?.count == 1)
    withExtendedLifetime(server) {}
  }

  @Test("a kept value is let go of when nobody asks for the rest")
  func forgotten() throws {
    let (near, _) = try UnixSocket.pair()
    var connection = Connection(id: 1, descriptor: near)
    let now = ContinuousClock.now
    connection.keep(Data(repeating: 1, count: 3_000), for: 4, at: now)
    var ask = ClientLine.Ask(.more)
    (ask.of, ask.from, ask.limit) = (4, 1_000, 1_000)
    connection.forget(after: .seconds(10), at: now + .seconds(9))
    #expect(connection.piece(ask, at: now + .seconds(9)).value?.count == 1_000)
    connection.forget(after: .seconds(10), at: now + .seconds(19))
    #expect(connection.kept.count == 1)
    connection.forget(after: .seconds(10), at: now + .seconds(20))
    #expect(connection.kept.isEmpty)
  }
}

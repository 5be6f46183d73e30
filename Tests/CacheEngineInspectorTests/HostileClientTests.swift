import CacheEngine
import CacheEngineTesting
import Foundation
import Testing

@testable import CacheEngineInspector

/// Whatever somebody sends, the app lives and others are served.
@Suite(.timeLimit(.minutes(10))) struct HostileClientTests {
  private static let hello = #"{"hello":{"versions":[1,1],"client":"test"}}"# + "\n"

  private func expectServed(_ path: String) async throws {
    let visitor = try await Visitor(path)
    #expect(try await visitor.ask(.get, key: "a").outcome == "hit")
  }

  @Test("a newer one and an older one are told what to do, and one that speaks more versions is welcome")
  func versions() async throws {
    let folder = try SocketFolder()
    let server = try serveCache(
      Stack().cache, at: folder.socket, name: "app", versions: ProtocolVersions(2, 3))
    func refusal(_ versions: ProtocolVersions) async -> CacheError? {
      do {
        _ = try await Visitor(folder.socket, versions: versions)
        return nil
      } catch { return error as? CacheError }
    }
    let older = await refusal(ProtocolVersions(1, 1))
    #expect(older?.code == .incompatibleProtocol)
    #expect(
      older?.message
        == "app speaks version 2 to 3 of the protocol and you speak 1; install a newer cache-explorer")
    #expect(
      await refusal(ProtocolVersions(4, 6))?.message
        == "app speaks version 2 to 3 of the protocol and you speak 4 to 6; build the app with a newer CacheEngine")
    #expect(try await Visitor(folder.socket, versions: ProtocolVersions(1, 2)).client.welcome.version == 2)
    #expect(try await Visitor(folder.socket, versions: ProtocolVersions(1, 9)).client.welcome.version == 3)
    withExtendedLifetime(server) {}
  }

  @Test(
    "what is no line of the protocol is refused politely, and the connection ends",
    arguments: [
      "nonsense\n", "{\n", "[1,2,3]\n", "\u{0}\u{1}\u{2}\n", #"{"ask":{"id":1,"what":"get","key":"a"}}"# + "\n",
      #"{"hello":{"versions":["one"],"client":"x"}}"# + "\n", hello + "nonsense\n",
      hello + "{\"ask\":{\"id\":\"x\"}}\n",
      hello + String(repeating: "[", count: 100_000) + "\n",
    ])
  func junk(_ text: String) async throws {
    let folder = try SocketFolder()
    let server = try serveCache(Stack().cache, at: folder.socket)
    let raw = try await RawConnection(folder.socket)
    raw.send(text)
    let answer = try await raw.rest()
    #expect(answer.contains(#"{"refused":{"code":"line","#))
    try await expectServed(folder.socket)
    try await turns { server.attachedCount == 0 }
  }

  @Test("a line without an end is given up at four mebibytes")
  func giant() async throws {
    let folder = try SocketFolder()
    let server = try serveCache(Stack().cache, at: folder.socket)
    let raw = try await RawConnection(folder.socket)
    raw.send(Self.hello)
    for _ in 0..<80 { raw.send([UInt8](repeating: 0x20, count: 65_536)) }
    #expect(try await raw.rest().contains("a line may have 4194304 bytes"))
    try await expectServed(folder.socket)
    withExtendedLifetime(server) {}
  }

  @Test("a question that nobody knows is answered, and one twice under way is refused")
  func questions() async throws {
    let folder = try SocketFolder()
    let server = try serveCache(Stack().cache, at: folder.socket, name: "app")
    let visitor = try await Visitor(folder.socket)
    var ask = ClientLine.Ask(.get)
    ask.what = "dance"
    #expect(try await visitor.client.ask(ask).error?.contains("app does not know the question “dance”") == true)
    #expect(try await visitor.ask(.get).error?.contains("“get” needs a key") == true)
    #expect(
      try await visitor.ask(.get, level: "attic", key: "a").error?.contains("the levels are memory, source") == true)
    #expect(try await visitor.ask(.entries, level: "source").error?.contains("no entries that can be listed") == true)
    withExtendedLifetime(server) {}
  }

  @Test("one that takes nothing loses events, is told how many, and the app goes on as before")
  func slow() async throws {
    let folder = try SocketFolder()
    let stack = Stack(capacity: 1_000)
    let server = try serveCache(stack.cache, at: folder.socket)
    let raw = try await RawConnection(folder.socket)
    raw.send(Self.hello)
    try await turns { server.attachedCount > 0 }
    let total = 100_000
    for number in 0..<total {
      stack.inspector.record(
        CacheEvent(time: CacheInstant(nanoseconds: Int64(number)), key: "key", kind: .lookupBegan))
    }
    let (received, lost) = try await raw.events(until: total)
    #expect(lost > 0)
    #expect(try await stack.cache.get("a") != nil)
    server.close()
    #expect(received + lost == total)
  }

  @Test("somebody who only hangs about before the greeting is let go")
  func silent() async throws {
    let folder = try SocketFolder()
    let server = try CacheInspector.serve(Stack().cache, at: folder.socket)
    let raw = try await RawConnection(folder.socket)
    raw.send(#"{"hel"#)
    #expect(try await raw.rest() == "")
    try await expectServed(folder.socket)
    withExtendedLifetime(server) {}
  }
}

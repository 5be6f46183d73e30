#if Redis
import CacheEngine
import CacheEngineShared
import CacheEngineTesting
import Testing

@testable import CacheEngineRedis

/// Slots, who has them, and what is heard of several servers: plain values.
struct RedisTopologyTests {
  private func slot(_ name: String) -> Int { RedisSlot.of(Array(name.utf8)) }

  @Test("names fall into the slots that the specification says, by what stands in braces if there is something")
  func slots() {
    // 0x31C3, the check value of CRC-16/XMODEM.
    #expect(slot("123456789") == 12_739)
    #expect(slot("{user1000}.following") == slot("user1000"))
    #expect(slot("foo{bar}{zap}") == slot("bar"))
    #expect(slot("foo{{bar}}zap") == slot("{bar"))
    #expect(slot("foo{}{bar}") != slot("bar") && slot("foo{}{bar}") != slot("foo"))
    #expect(slot("{unclosed") != slot("unclosed"))
  }

  @Test("a namespace's names are written in its braces and read without, and others are left alone")
  func names() {
    func written(_ name: String) -> String {
      String(decoding: RedisNames.tagged.written(Array(name.utf8)), as: UTF8.self)
    }
    func read(_ name: String) -> String { String(decoding: RedisNames.tagged.read(Array(name.utf8)), as: UTF8.self) }
    for (plain, tagged) in [
      ("photos:r:a", "{photos}:r:a"), ("photos:r:{x}:y", "{photos}:r:{x}:y"), ("no colon", "no colon"), (":a", ":a"),
      ("", ""),
    ] {
      #expect(written(plain) == tagged)
      #expect(read(tagged) == plain)
    }
    #expect(written("{photos}:r:a") == "{photos}:r:a")
    #expect(slot("{photos}:r:{x}:y") == slot("photos"))
    #expect(RedisNames.plain.written(Array("a:b".utf8)) == Array("a:b".utf8))
  }

  @Test("a life is counted in whole milliseconds, and never shortened")
  func lives() {
    for (life, written) in [
      (Duration.milliseconds(2), "2"), (.nanoseconds(2_000_001), "3"), (.zero, "1"), (.seconds(Int64.min), "1"),
      (.seconds(Int64.max), "9223372036855"),
    ] {
      let command = RedisScript.command(.set([1], to: [2], lifetime: life), .plain)
      #expect(command.last == Array(written.utf8), "\(life)")
    }
  }

  private static let nodes = """
    07c3 127.0.0.1:7004@17004 slave e7d1 0 1426238317239 4 connected
    67ed 127.0.0.1:7002@17002,two.example master - 0 1426238316232 2 connected 5461-10922
    292f 127.0.0.1:7003@17003 master - 0 1426238318243 3 connected 10923-16383 [93-<-292f]
    e7d1 :7001@17001 myself,master - 0 0 1 connected 0-5459 5460
    aaaa 127.0.0.1:7005@17005 master - 0 0 0 connected
    bbbb 127.0.0.1:7006@17006 master,fail - 0 0 0 disconnected
    dddd 127.0.0.1:7007@17007 master,fail? - 0 0 0 disconnected
    cccc :0@0 master,noaddr - 0 0 0 disconnected 7
    """

  @Test("what a server says of its cluster is understood: slots, epochs, who is empty, who is gone")
  func view() throws {
    let view = try #require(RedisTopology.View(Self.nodes, saidBy: "here", byName: true))
    var topology = RedisTopology()
    topology.learn(view)
    #expect(topology[0] == RedisAddress(host: "here", port: 7_001) && topology[5_460]?.port == 7_001)
    #expect(topology[5_461] == RedisAddress(host: "two.example", port: 7_002))
    #expect(topology[16_383]?.port == 7_003)
    #expect(topology.primaries.map(\.port).sorted() == [7_001, 7_002, 7_003, 7_005])
    #expect(RedisTopology.View(Self.nodes, saidBy: "here", byName: false)?.claims[0].claim.owner.host == "127.0.0.1")
  }

  @Test("of two who have a slot the one counts with the higher epoch, in whatever order they are asked")
  func epochs() throws {
    func view(_ text: String) throws -> RedisTopology.View {
      try #require(RedisTopology.View(text, saidBy: "h", byName: false))
    }
    let old = try view("a 1.1.1.1:1@2 myself,master - 0 0 1 connected 0-16383")
    let new = try view(
      "b 2.2.2.2:2@3 myself,master - 0 0 4 connected 0-99\na 1.1.1.1:1@2 master - 0 0 1 connected 100-16383")
    for views in [[old, new], [new, old], [old, new, old]] {
      var topology = RedisTopology()
      for view in views { topology.learn(view) }
      #expect(topology[99]?.port == 2 && topology[100]?.port == 1)
      #expect(topology.primaries.map(\.port).sorted() == [1, 2])
    }
    var topology = RedisTopology()
    topology.learn(old)
    topology.move(5, to: RedisAddress(host: "3.3.3.3", port: 3))
    #expect(topology[5]?.port == 3 && topology.primaries.count == 2)
    topology.add(RedisAddress(host: "4.4.4.4", port: 4))
    #expect(topology.primaries.count == 3)
    topology.keep(spares: [])
    #expect(topology.primaries.count == 2)
  }

  @Test("what is no description of a cluster is none, whatever it is", arguments: 0..<200)
  func damaged(seed: Int) {
    var generator = SeededGenerator(seed: UInt64(seed))
    var bytes = Array(Self.nodes.utf8)
    for _ in 0...seed % 7 {
      bytes[Int.random(in: bytes.indices, using: &generator)] = UInt8.random(in: 0..<128, using: &generator)
    }
    var topology = RedisTopology()
    if let view = RedisTopology.View(String(decoding: bytes, as: UTF8.self), saidBy: "h", byName: true) {
      topology.learn(view)
    }
    #expect(topology.primaries.count <= 8)
    for text in ["MOVED", "MOVED 1 x", "ASK a b:c", "MOVED 1 h:0", "ASK 1 :99999", "", "ERR MOVED 1 h:1"] {
      #expect(RedisRedirect(text, saidBy: "h") == nil)
    }
    #expect(RedisRedirect("MOVED 1 ::1:7000", saidBy: "h") == .moved(to: RedisAddress(host: "::1", port: 7_000)))
  }

  private final class Server {}

  @Test("several servers are heard when each of them is; the first that is lost is told, and not the second")
  func hearing() {
    let (a, b, c) = (Server(), Server(), Server())
    let ids = [a, b, c].map { ObjectIdentifier($0) }
    let (then, later) = (CacheInstant(nanoseconds: 5), CacheInstant(nanoseconds: 9))
    var hearing = JointHearing()
    #expect(hearing.set([ids[0], ids[1]], lastHeard: then) == nil)
    #expect(hearing.take(.everything(.connected), from: ids[0]) == nil)
    #expect(hearing.take(.everything(.connected), from: ids[1]) == .everything(.connected))
    #expect(hearing.take(.everything(.flushed), from: ids[0]) == .everything(.flushed))
    #expect(hearing.take(.names([[1]]), from: ids[1]) == .names([[1]]))
    #expect(hearing.take(.names([[1]]), from: ids[2]) == nil)
    #expect(hearing.take(.lost(lastHeard: then), from: ids[0]) == .lost(lastHeard: then))
    #expect(hearing.take(.lost(lastHeard: later), from: ids[1]) == nil)
    #expect(hearing.take(.everything(.connected), from: ids[1]) == nil)
    // Who was lost is gone.
    #expect(hearing.set([ids[1]], lastHeard: later) == .everything(.connected))
    #expect(hearing.set([ids[1], ids[2]], lastHeard: later) == .lost(lastHeard: later))
    #expect(hearing.take(.everything(.flushed), from: ids[1]) == nil)
    #expect(hearing.take(.everything(.connected), from: ids[2]) == .everything(.connected))
    withExtendedLifetime((a, b, c)) {}
  }
}
#endif

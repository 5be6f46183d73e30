@testable import CacheDisk
import CacheEngine
import Foundation

#if Redis
@testable import CacheEngineRedis
#endif

extension FuzzTarget {
  /// What comes through the socket of a shared directory: a message, its kind first, and the same bytes as a stream of frames.
  func sharing(_ bytes: [UInt8]) throws {
    try stream(bytes)
    guard let kind = bytes.first else { return }
    let body = Array(bytes.dropFirst())
    var (origin, sent): (UInt64, Int64) = (0, 0)
    try again(body) {
      try StoreRequest(kind, $0, origin: &origin, sent: &sent)
    } frame: {
      try $0.frame(number: 1, origin: 1, at: 1, isAgain: false)
    }
    try again(body) {
      try StoreReply(kind, $0)
    } frame: {
      try $0.frame(number: 1)
    }
    try again(body) {
      try StoreChange($0, origin: &origin)
    } frame: {
      try $0.frame(from: 1)
    }
    try again(body) {
      try SegmentedStore.Loss($0)
    } frame: {
      try $0.frame()
    }
    try again(body) {
      try StoreHello($0)
    } frame: {
      try $0.frame()
    }
    for read in [
      StoreHello.readWelcome,
      {
        _ = try StoreHello.readRefusal($0); return 0
      },
    ] {
      do { _ = try read(body) } catch is ProtocolViolation {}
    }
  }

  /// What is read can be written, and is read as the same.
  private func again<Message>(
    _ body: [UInt8], _ read: ([UInt8]) throws -> Message, frame: (Message) throws -> SharedFrame
  ) throws {
    let message: Message
    do { message = try read(body) } catch is ProtocolViolation { return }
    let written = try frame(message).load(limit: 1 << 24)
    // Tags have no order.
    let again = try frame(try read(written)).load(limit: 1 << 24)
    try expect(written.sorted() == again.sorted(), "\(message) is written as something else")
  }

  private func stream(_ bytes: [UInt8]) throws {
    var (rest, files, frames): (ArraySlice<UInt8>, [StoreFile], [UInt8]) = (bytes[...], [], [])
    do {
      while let frame = try SharedFrame.next(in: &rest, &files) { frames += frame.bytes }
    } catch is ProtocolViolation {}
    try expect(frames.elementsEqual(bytes.prefix(frames.count)), "frames are cut where they do not end")
    try expect(frames.count + rest.count == bytes.count, "bytes between frames are gone")
  }

  /// What a server of Redis sends: replies, and what stands in them of a cluster and of changes.
  func replies(_ bytes: [UInt8]) throws {
    #if Redis
    func parse(_ pieces: [ArraySlice<UInt8>]) -> String {
      var parser = RESPParser(limits: RESPParser.Limits(bytes: 1 << 16, depth: 16))
      var values: [RESPValue] = []
      do {
        for piece in pieces {
          parser.append(piece)
          while let value = try parser.next() { values.append(value) }
        }
      } catch { return "\(values) \(error)" }
      return "\(values)"
    }
    let whole = parse([bytes[...]])
    try expect(parse(bytes.indices.map { bytes[$0...$0] }) == whole, "replies depend on how they arrive: \(whole)")
    let text = String(decoding: bytes, as: UTF8.self)
    for byName in [true, false] {
      guard let view = RedisTopology.View(text, saidBy: "host", byName: byName) else { continue }
      var topology = RedisTopology()
      topology.learn(view)
      try expect(
        Set(topology.inOrder).isSubset(of: topology.primaries), "who has slots is not among those that are listened to")
    }
    _ = RedisRedirect(text, saidBy: "host")
    _ = RedisChannel.read(bytes)
    #endif
  }
}

extension FuzzSeeds {
  static func sharing() throws -> [String: Data] {
    func message(_ frame: SharedFrame) throws -> Data { Data([frame.kind] + (try frame.load(limit: 1 << 20))) }
    func request(_ request: StoreRequest) throws -> SharedFrame {
      try request.frame(number: 7, origin: 3, at: 11, isAgain: false)
    }
    let key = StoreKey(Array("a".utf8))
    let hello = try StoreHello(instance: 5, capacity: 1 << 20, isSealed: false, boot: 9, now: 11).frame()
    let get = try request(.get(key, includingExpired: true))
    let put = try request(
      .put(
        StorePut(
          key: key, type: Array("data".utf8), created: 1, deadline: 2, cost: 3, tags: ["t"], durability: .synced,
          condition: .absent, value: Data("value".utf8))))
    var report = StoreReport()
    report.damaged = [.init(key: "a", file: "log-1", reason: "checksum")]
    report.strays = ["x"]
    let found = FoundValue(
      type: Array("data".utf8), tags: ["t"], cost: 3, created: 1, deadline: 2, isExpired: false,
      value: Data("value".utf8))
    return try [
      "hello": message(hello), "get": message(get), "put": message(put),
      "list": message(request(.list(from: 1, of: 2))),
      "tagged": message(request(.removeTagged("t", .buffered))),
      "expect": message(request(.expect(StoreExpectation(keepsExpired: 1, hearsChanges: true)))),
      "found": message(StoreReply.found(found).frame(number: 7)),
      "count": message(StoreReply.count(1).frame(number: 7)),
      "report": message(StoreReply.report(report).frame(number: 7)),
      "failed": message(StoreReply.failed(CacheError(.diskReadFailed, "why")).frame(number: 7)),
      "changed": message(StoreChange.key(key).frame(from: 3)),
      "lost": message(SegmentedStore.Loss(key: key, cause: .evicted, cost: 3, madeRoomFor: key).frame()),
      "welcome": message(StoreHello.welcome(instance: 5)),
      "refusal": message(StoreHello.refusal(CacheError(.unusableStore, "why"))),
      "stream": Data(hello.bytes + get.bytes + put.bytes),
    ]
  }

  static let replies = [
    "values":
      "*3\r\n$3\r\nabc\r\n$-1\r\n_\r\n:-7\r\n,1.5\r\n#t\r\n+OK\r\n-ERR why\r\n(123456789012345678901\r\n=7\r\ntxt:abc\r\n",
    "hello": "%2\r\n$6\r\nserver\r\n$5\r\nredis\r\n$5\r\nproto\r\n:3\r\n|1\r\n+a\r\n+b\r\n~2\r\n:1\r\n:2\r\n",
    "push": ">2\r\n$10\r\ninvalidate\r\n*1\r\n$6\r\nns:r:a\r\n>2\r\n$10\r\ninvalidate\r\n_\r\n",
    "nodes":
      "1 10.0.0.1:7000@17000,one myself,master - 0 0 3 connected 0-5460 [5461->-2]\n2 :7001@17001 master,fail - 0 0 1 connected 5461-16383\n3 h:1@2 slave 1 0 0 1 connected\n",
    "moved": "MOVED 866 10.0.0.1:7000", "ask": "ASK 866 :7000",
  ].mapValues { Data($0.utf8) }
}

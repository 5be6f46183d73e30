// A record of another version cannot be made with the public interface.
import CacheEngine
@testable import CacheEngineShared
import CacheEngineTesting
import Foundation
import Testing

@Suite struct SharedRecordTests {
  let store = SimulatedSharedStore()

  private func level(_ namespace: String = "test") throws -> SharedCacheLevel<String, Data> {
    try SharedCacheLevel(store.client("here"), namespace: namespace, valueCoding: .data)
  }

  private static let sample: SharedRecord = {
    var record = SharedRecord(
      created: 5, deadline: 9, cost: 3, stamp: SharedToken.random(), key: Array("key".utf8))
    record.type = Array("data".utf8)
    record.tags = [
      .init(id: Array("tag".utf8), stamp: SharedToken.random()), .init(id: [], stamp: SharedToken.random()),
    ]
    record.value = [1, 2, 3]
    return record
  }()

  @Test("P7 an encryption that is printed or dumped does not show its secret")
  func redaction() {
    let encryption = SharedEncryption(TestCipher(), secret: [UInt8](repeating: 0xa7, count: 32))
    var dumped = ""
    dump(encryption, to: &dumped)
    for text in ["\(encryption)", String(reflecting: encryption), dumped] {
      #expect(text.contains("TestCipher") && !text.contains("167"), "\(text)")
    }
  }

  @Test("what was written is read, with every field")
  func roundTrip() {
    for value in [[], [7], Array(repeating: 9, count: 10_000)] as [[UInt8]] {
      var record = Self.sample
      record.value = value
      record.isSealed = value.count == 1
      #expect(SharedRecord.read(record.bytes(seed: 5), seed: 5) == .record(record))
    }
  }

  @Test("any changed byte, any missing end, and any byte more is damage")
  func damage() {
    let whole = Self.sample.bytes(seed: 5)
    for place in whole.indices {
      var bytes = whole
      bytes[place] ^= 0x10
      #expect(SharedRecord.read(bytes, seed: 5) == .damaged, "byte \(place)")
      #expect(SharedRecord.read(Array(whole.prefix(place)), seed: 5) == .damaged, "cut at \(place)")
    }
    #expect(SharedRecord.read(whole + [0], seed: 5) == .damaged)
    #expect(SharedRecord.read(whole, seed: 6) == .damaged)
  }

  @Test("lengths that lie are damage, also where their sums are right")
  func lyingLengths() {
    for place in [6, 8, 11, 12, 15, 16, 23] {
      var bytes = Self.sample.bytes(seed: 5)
      bytes[place] = 0xff
      Self.sumAgain(&bytes)
      #expect(SharedRecord.read(bytes, seed: 5) == .damaged, "byte \(place)")
    }
    var bytes = Self.sample.bytes(seed: 5)
    bytes[SharedRecord.headLength + 7] = 0xee  // the length of the first tag
    let body = Checksum.of(Array(bytes[SharedRecord.headLength...]), seed: 5)
    unsafe withUnsafeBytes(of: body.littleEndian) { unsafe bytes.replaceSubrange(72..<80, with: $0) }
    Self.sumAgain(&bytes)
    #expect(SharedRecord.read(bytes, seed: 5) == .damaged)
  }

  private static func sumAgain(_ bytes: inout [UInt8]) {
    let sum = Checksum.of(Array(bytes.prefix(80)), seed: 5)
    unsafe withUnsafeBytes(of: sum.littleEndian) { unsafe bytes.replaceSubrange(80..<88, with: $0) }
  }

  @Test("what a newer version wrote is a miss that says so, and stays; what is damaged or foreign is one too")
  func newerAndForeign() async throws {
    let level = try level()
    try await level.set(Data("v".utf8), forKey: "a")
    let name = Array("test:r:a".utf8)
    let whole = try #require(store.contents[name])
    let seed = level.namespace.seed
    var newer = whole
    newer[4] = 2
    let sum = Checksum.of(Array(newer.prefix(80)), seed: seed)
    unsafe withUnsafeBytes(of: sum.littleEndian) { unsafe newer.replaceSubrange(80..<88, with: $0) }
    let table: [(String, [UInt8], MissReason)] = [
      ("newer", newer, .newer), ("foreign", Array("some other program's".utf8), .damaged), ("empty", [], .damaged),
      ("cut", Array(whole.dropLast()), .damaged),
      ("changed", whole.dropLast() + [whole[whole.count - 1] ^ 1], .damaged),
    ]
    for (word, bytes, reason) in table {
      store.plant(name, bytes)
      #expect(try await level.lookup("a").missReason == reason, "\(word)")
      #expect(store.contents[name] == bytes, "\(word)")
    }
    #expect(try await level.setIfAbsent(Data("w".utf8), forKey: "a"))
    #expect(try await level.get("a") == Data("w".utf8))
  }

  @Test("a record under another key, or of another namespace, is damage")
  func wronglyKeyed() async throws {
    let (level, other) = (try level(), try level("other"))
    try await level.set(Data("v".utf8), forKey: "a")
    try await other.set(Data("w".utf8), forKey: "a")
    let record = try #require(store.contents[Array("test:r:a".utf8)])
    store.plant(Array("test:r:b".utf8), record)
    store.plant(Array("other:r:a".utf8), record)
    #expect(try await level.lookup("b").missReason == .damaged)
    #expect(try await other.lookup("a").missReason == .damaged)
    #expect(try await level.get("a") == Data("v".utf8))
  }

  @Test("with one secret for two namespaces, a sealed record and its stamp are of no use in the other one")
  func movedSealed() async throws {
    let encryption = SharedEncryption(TestCipher(), secret: TestCipher.secret)
    func sealing(_ namespace: String) throws -> SharedCacheLevel<String, Data> {
      try SharedCacheLevel(store.client("here"), namespace: namespace, encryption: encryption, valueCoding: .data)
    }
    let (level, other) = (try sealing("test"), try sealing("other"))
    try await level.set(Data("v".utf8), forKey: "a")
    let (id, otherID) = (level.codec.id(of: Array("a".utf8)), other.codec.id(of: Array("a".utf8)))
    #expect(id != otherID)
    #expect(level.codec.id(ofTag: "t") != other.codec.id(ofTag: "t"))
    let bytes = try #require(store.contents[level.namespace.record(id)])
    let read = SharedRecord.read(bytes, seed: level.namespace.seed)
    guard case .record(var record) = read else {
      Issue.record("what was written is no record, but \(read)")
      return
    }
    #expect(record.isSealed)
    #expect(record.binding(in: level.namespace) != record.binding(in: other.namespace))
    // Whoever can write to the store can also make the sums that fit, and give it the name of the key there.
    store.plant(other.namespace.stamp, store.contents[level.namespace.stamp])
    record.key = otherID
    store.plant(other.namespace.record(otherID), record.bytes(seed: other.namespace.seed))
    #expect(try await other.lookup("a").missReason == .authenticationFailed)
    // Even with the name that it was sealed under.
    record.key = id
    let moved = try other.codec.open(record.bytes(seed: other.namespace.seed), id: id, key: Array("a".utf8))
    guard case .failure(let miss) = moved else {
      Issue.record("a record of another namespace was opened")
      return
    }
    #expect(miss.reason == .authenticationFailed)
    #expect(try await level.get("a") == Data("v".utf8))
  }

  @Test("bytes of another coding are an error, for that key alone, and stay")
  func otherCoding() async throws {
    let level = try level()
    let numbers = try SharedCacheLevel<String, Int>(store.client("there"), namespace: "test", valueCoding: .json)
    try await level.set(Data("v".utf8), forKey: "a")
    try await numbers.set(5, forKey: "n")
    let error = await #expect(throws: CacheError.self) { try await numbers.get("a") }
    #expect(error?.code == .invalidCachedData && error?.level == "shared")
    #expect(try await numbers.batchGetSome(["a", "n"]).map(\.value) == [5])
    #expect(try await level.get("a") == Data("v".utf8))
  }
}

import CacheEngine
import CacheEngineTesting
import Foundation
import Synchronization
import TestSupport
import Testing
@testable import CacheDisk

/// Stores that other versions wrote.
@Suite(.timeLimit(.minutes(10))) struct DiskFormatTests {
  typealias Level = DiskCacheLevel<String, Data>

  /// What the explorer stored that wrote the first format, before there were tags; one was closed, one was killed.
  private var stored: [String: Data] {
    [
      "short-0": "zero", "short-1": "uno", "short-3": "three", "caf\u{e9}": "coffee",
      "long": String((0..<9_000).map { Character(UnicodeScalar(UInt8(97 + $0 % 26))) }),
    ].mapValues { Data($0.utf8) }
  }

  @Test(
    "P4 a store of the first format is looked into, read and written on, after a close and after a crash",
    arguments: ["closed", "crashed"])
  func firstFormat(state: String) async throws {
    let source = try #require(Bundle.module.url(forResource: "Formats/1-\(state)", withExtension: nil))
    let folder = DiskFolder()
    try FileManager.default.copyItem(at: source, to: URL(filePath: folder.path))
    if state == "closed" { #expect(try folder.bytes(of: "index")[8] == 1) }
    let look = try await DiskCacheInspection.open(folder.path)
    for (key, bytes) in stored { #expect(try await look.value(forKey: key) == bytes) }
    #expect(try await look.health().damaged == 0)
    let level = try Level(directory: folder.path, capacity: 1 << 20)
    #expect(Set(try await level.contents().map(\.key)) == Set(stored.keys))
    for (key, bytes) in stored { #expect(try await level.get(key) == bytes) }
    #expect(try await level.verify().isSound)
    try await level.set(value(40, 200), forKey: "new", tags: ["tagged"])
    try await level.set(value(41, 200), forKey: "short-3")
    try await level.remove("long")
    try await level.close()
    #expect(try folder.bytes(of: "index")[8] == 4)
    let again = try Level(directory: folder.path, capacity: 1 << 20)
    #expect(try await again.lookup("new").entry?.tags == ["tagged"])
    #expect(try await again.get("short-3") == value(41, 200))
    #expect(try await again.get("long") == nil)
    #expect(try await again.get("short-1") == stored["short-1"])
    try await again.close()
  }

  @Test(
    "P4 a store of the second format, with tags, is read and written on, after a close and after a crash",
    arguments: ["closed", "crashed"])
  func secondFormat(state: String) async throws {
    let source = try #require(Bundle.module.url(forResource: "Formats/2-\(state)", withExtension: nil))
    let folder = DiskFolder()
    try FileManager.default.copyItem(at: source, to: URL(filePath: folder.path))
    if state == "closed" { #expect(try folder.bytes(of: "index")[8] == 2) }
    let long = Data((0..<9_000).map { UInt8(97 + $0 % 26) })
    for round in 0..<2 {
      let level = try Level(directory: folder.path, capacity: 1 << 20)
      #expect(try await level.get("short") == Data("one".utf8))
      #expect(try await level.get("over") == Data("three".utf8))
      #expect(try await level.get("gone") == nil)
      #expect(try await level.get("long") == long)
      #expect(try await level.lookup("short").entry?.tags == ["red", "blue"])
      #expect(try await level.verify().isSound)
      #expect(try await level.get("new") == (round == 0 ? nil : value(1, 9_000)))
      try await level.set(value(1, 9_000), forKey: "new")
      if round == 1 { #expect(try await level.removeAll(tagged: "red") == 2) }
      try await level.close()
      #expect(try folder.bytes(of: "index")[8] == 4)
    }
  }

  /// A checkpoint of the second format as the third one has it: with counters, how far records and files were numbered.
  private func third(_ second: [UInt8]) throws -> [UInt8] {
    let salt = unsafe second.withUnsafeBytes { unsafe $0.loadUnaligned(fromByteOffset: 16, as: UInt64.self) }
    var third = Array(second.dropLast(8))
    third[8] = 3
    var counters = ByteWriter()
    counters.put(UInt64(1_000))
    counters.put(UInt64(2_000))
    third.insert(contentsOf: counters.bytes, at: 24)
    var sum = ByteWriter()
    sum.put(Checksum.of(third, seed: salt))
    return third + sum.bytes
  }

  @Test("P4 a checkpoint of the third format is read, and its counters go on")
  func thirdFormat() async throws {
    let source = try #require(Bundle.module.url(forResource: "Formats/2-closed", withExtension: nil))
    let folder = DiskFolder()
    try FileManager.default.copyItem(at: source, to: URL(filePath: folder.path))
    try folder.write(Data(try third(Array(try folder.bytes(of: "index")))), to: "index")
    let level = try Level(directory: folder.path, capacity: 1 << 20)
    #expect(level.store?.writer.withLock { $0.sequence } == 1_000)
    #expect(level.store?.writer.withLock { $0.fileNumber } == 2_000)
    #expect(try await level.get("short") == Data("one".utf8))
    #expect(try await level.get("gone") == nil)
    #expect(try await level.lookup("short").entry?.tags == ["red", "blue"])
    try await level.set(value(1, 9_000), forKey: "new")
    #expect(folder.names.contains("val-00000000000007d1"))
    try await level.close()
    let bytes = Array(try folder.bytes(of: "index"))
    #expect(bytes[8] == 4)
    let again = try Level(directory: folder.path, capacity: 1 << 20)
    #expect(try await again.get("new") == value(1, 9_000))
    #expect(try await again.get("over") == Data("three".utf8))
    try await again.close()
  }

  @Test("P4 a record of a newer format is an error that says so, and nothing is cut off or removed")
  func newerRecord() async throws {
    let folder = DiskFolder()
    let level = try Level(directory: folder.path, capacity: 1 << 20)
    for number in 0..<3 { try await level.set(value(number, 100), forKey: "\(number)") }
    try await level.set(value(4, 9_000), forKey: "long")
    try await level.close()
    try folder.remove("index")
    let name = try #require(folder.segments.first)
    var bytes = Array(try folder.bytes(of: name))
    let salt = unsafe bytes.withUnsafeBytes { unsafe $0.loadUnaligned(fromByteOffset: 16, as: UInt64.self) }
    bytes[Segment.headSize + 4] = 7
    let head = Array(bytes[Segment.headSize..<Segment.headSize + RecordHeader.size - 8])
    let sum = Checksum.of(head, seed: salt)
    for index in 0..<8 { bytes[Segment.headSize + 96 + index] = UInt8(truncatingIfNeeded: sum >> (8 * UInt64(index))) }
    try folder.write(Data(bytes), to: name)
    try folder.write(value(1, 10), to: "tmp-0000000000000009")
    let before = try folder.names.sorted().map { try folder.bytes(of: $0) }
    let error = #expect(throws: CacheError.self) { try Level(directory: folder.path, capacity: 1 << 20) }
    #expect(error?.code == .unusableStore)
    #expect(error?.message.contains("version 7") == true && error?.message.contains(folder.path) == true)
    let seen = await #expect(throws: CacheError.self) { try await DiskCacheInspection.open(folder.path) }
    #expect(seen?.code == .unusableStore)
    #expect(try folder.names.sorted().map { try folder.bytes(of: $0) } == before)
  }
}

import CacheCore
import CacheEngineTesting
import Foundation
import TestSupport
import Testing

@testable import CacheDisk

/// A level that only looks sees what another one writes.
@Suite(.timeLimit(.minutes(10))) struct FollowingTests {
  typealias Level = DiskCacheLevel<String, Data>

  let folder = DiskFolder()
  let clock = ManualClock()

  func open(_ access: StoreAccess = .readWrite, capacity: Int = 1 << 20) throws -> Level {
    try Level(directory: folder.path, capacity: capacity, access: access, clock: clock)
  }

  func value(_ number: Int, _ length: Int = 300) -> Data {
    Data("\(number) ".utf8) + Data(repeating: UInt8(truncatingIfNeeded: number), count: length)
  }

  @Test("P15 what is set, replaced, removed, expired or cleared is seen by the next read, without a lock")
  func follows() async throws {
    let writer = try open()
    let looking = try open(.readOnly)
    #expect(try await looking.get("a") == nil)
    for round in 0..<50 {
      try await writer.set(value(round), forKey: "a")
      #expect(try await looking.get("a") == value(round))
      try await writer.set(value(round, 50_000), forKey: "own file")
      #expect(try await looking.get("own file") == value(round, 50_000))
      #expect(try looking.contains("a"))
      try await writer.remove("a")
      #expect(try looking.contains("a") == false)
      #expect(try await looking.lookup("a").missReason == .absent)
    }
    try await writer.set(value(1), forKey: "b")
    try await writer.clear()
    #expect(try await looking.get("b") == nil)
    #expect(looking.usage.count == 0)
    #expect(try await looking.contents().isEmpty)
    #expect(try await looking.verify().isSound)
  }

  // Long enough ago for another change to show, and later than nanoseconds can say.
  @Test("P15 a log that grows in a directory that does not change is followed", arguments: [1_000, 10_500_000_000])
  func growing(changed: TimeInterval) async throws {
    let writer = try open()
    try await writer.set(value(0), forKey: "a")
    try FileManager.default.setAttributes(
      [.modificationDate: Date(timeIntervalSince1970: changed)], ofItemAtPath: folder.path)
    let looking = try open(.readOnly)
    for round in 1..<50 {
      #expect(try await looking.get("a") == value(round - 1))
      try await writer.set(value(round), forKey: "a")
      #expect(try looking.contains("a"))
      #expect(try await looking.get("a") == value(round))
    }
  }

  @Test("P15 a segment whose head is still on its way is left out, and read once it is there", arguments: [0, 39])
  func headOnItsWay(length: Int) async throws {
    let writer = try open()
    var last = 0
    while folder.segments.count < 2 {
      last += 1
      try await writer.set(value(last, 5_000), forKey: "\(last)")
    }
    let copy = try folder.copy()
    try await writer.close()
    let newest = try #require(copy.segments.last)
    let bytes = try copy.bytes(of: newest)
    try copy.write(bytes.prefix(length), to: newest)
    let looking = try Level(directory: copy.path, capacity: 1 << 20, access: .readOnly, clock: clock)
    // The writer stands still meanwhile, for so long that a change of the directory would show; this is none.
    try FileManager.default.setAttributes(
      [.modificationDate: Date(timeIntervalSince1970: 1_000)], ofItemAtPath: copy.path)
    for _ in 0..<2 {
      #expect(try await looking.get("1") == value(1, 5_000))
      #expect(try await looking.get("\(last)") == nil)
    }
    try copy.write(bytes, to: newest)
    #expect(try await looking.get("\(last)") == value(last, 5_000))
  }

  @Test("P15 segments that come and go, the checkpoint, and another writer are followed")
  func segments() async throws {
    var writer = try open()
    let looking = try open(.readOnly)
    let names = folder.segments
    for round in 0..<4_000 {
      try await writer.set(value(round, 2_000), forKey: "\(round % 100)")
      if round % 7 == 0 { #expect(try await looking.get("\(round % 100)") == value(round, 2_000)) }
      if round % 1_000 == 999 {
        try await writer.close()
        #expect(try await looking.get("\(round % 100)") == value(round, 2_000))
        writer = try open()
      }
    }
    #expect(!names.contains { folder.segments.contains($0) })
    for key in 0..<100 { #expect(try await looking.get("\(key)") == writer.get("\(key)")) }
    var listed: Set<String> = []
    for try await entry in looking.entries() { listed.insert(entry.key) }
    #expect(listed == Set(try await writer.contents().map(\.key)))
  }

  @Test("who looks is told what the files take by now, and finds them sound")
  func grown() async throws {
    let writer = try open(capacity: 8 << 20)
    try await writer.set(value(0), forKey: "0")
    let looking = try open(.readOnly, capacity: 8 << 20)
    let inspection = try await DiskCacheInspection.open(folder.path, clock: clock)
    for number in 1..<100 { try await writer.set(value(number, 10_000), forKey: "\(number)") }
    #expect(looking.usage.count == 100)
    #expect(looking.usage.cost >= 99 * 10_000)
    #expect(try await looking.verify().isSound)
    try await inspection.refresh()
    #expect(try await inspection.verify().isSound)
  }

  @Test("a directory that is replaced is read anew, and one that is gone is an error")
  func replaced() async throws {
    let writer = try open()
    try await writer.set(value(1), forKey: "a")
    let looking = try open(.readOnly)
    #expect(try await looking.get("a") == value(1))
    try await writer.close()
    try FileManager.default.removeItem(atPath: folder.path)
    let error = await #expect(throws: CacheError.self) { try await looking.get("a") }
    #expect(error?.code == .diskReadFailed)
    let second = try open()
    try await second.set(value(2), forKey: "a")
    #expect(try await looking.get("a") == value(2))
    try await looking.close()
    let closed = await #expect(throws: CacheError.self) { try await looking.get("a") }
    #expect(closed?.code == .closed)
  }

  @Test("a listing ends with an error where the directory is read anew meanwhile, and where the level is closed")
  func listingCutOff() async throws {
    let writer = try open()
    for number in 0..<300 { try await writer.set(value(number, 10), forKey: "\(number)") }
    let looking = try open(.readOnly)
    func rest(of listing: inout DiskEntries<String>.AsyncIterator) async throws -> CacheError.Code? {
      do { while try await listing.next() != nil {} } catch let error as CacheError { return error.code }
      return nil
    }
    var listing = looking.entries().makeAsyncIterator()
    #expect(try await listing.next() != nil)
    // As the next writer does with what has not come to the disk whole.
    let name = try #require(folder.segments.last)
    try folder.write(folder.bytes(of: name).dropLast(8), to: name)
    #expect(try await looking.get("299") == nil)
    let first = try await rest(of: &listing)
    #expect(first == .diskReadFailed)
    listing = looking.entries().makeAsyncIterator()
    #expect(try await listing.next() != nil)
    try await looking.close()
    let second = try await rest(of: &listing)
    #expect(second == .closed)
  }

  @Test("who looks while others write reads whole values that were set for their keys")
  func busy() async throws {
    let writer = try open()
    let looking = try open(.readOnly)
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask {
        for round in 0..<3_000 {
          try await writer.set(value(round, round % 50 == 0 ? 20_000 : 700), forKey: "\(round % 20)")
        }
      }
      group.addTask {
        var last: [Int: Int] = [:]
        for round in 0..<3_000 {
          let key = round % 20
          guard let found = try await looking.get("\(key)") else { continue }
          let number = try #require(Int(String(decoding: found.prefix { $0 != 32 }, as: UTF8.self)))
          #expect(number % 20 == key && found == value(number, number % 50 == 0 ? 20_000 : 700))
          #expect(number >= last[key] ?? 0)
          last[key] = number
        }
      }
      try await group.waitForAll()
    }
  }
}

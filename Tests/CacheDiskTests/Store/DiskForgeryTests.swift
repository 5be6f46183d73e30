import CacheEngine
import CacheEngineTesting
import Foundation
import TestSupport
import Testing
@testable import CacheDisk

/// Numbers that nobody counts to, with checksums that fit.
@Suite(.timeLimit(.minutes(10))) struct DiskForgeryTests {
  typealias Level = DiskCacheLevel<String, Data>

  enum Place: CaseIterable {
    case lock, index, log
  }

  let folder = DiskFolder()
  let clock = ManualClock()

  private func open(_ folder: DiskFolder) throws -> Level {
    try Level(
      directory: folder.path, capacity: 16 << 20, keyCoding: .canonicalText, valueCoding: .data, clock: clock)
  }

  /// A directory as a crash leaves it, with one entry, and the random number of its store.
  private func crashed() async throws -> (folder: DiskFolder, salt: UInt64) {
    let level = try open(folder)
    try await level.set(value(1), forKey: "a")
    let crashed = try folder.copy()
    let salt = try #require(level.store).salt
    try await level.close()
    return (crashed, salt)
  }

  @Test(
    "P2 P4 a number that was forged for a file of the log ends no program and costs no write, wherever it stands",
    arguments: Place.allCases, [UInt64.max, UInt64.max >> 1, UInt64(1) << 48])
  func segmentNumber(place: Place, number: UInt64) async throws {
    let (folder, salt) = try await crashed()
    switch place {
    case .lock: try folder.write(Data(Segment.begun(number, salt: salt)), to: FileName.lock)
    case .index:
      let forged = Checkpoint(segments: [number: 1_000], index: StoreIndex(), sequence: .max, fileNumber: .max)
      let bytes = try #require(forged.bytes(salt: salt, at: ClockReading(clock)))
      try folder.write(Data(bytes), to: FileName.checkpoint)
    case .log: try folder.write(Data(Segment.head(number: number, salt: salt)), to: Segment.name(number))
    }
    for round in 0..<3 {
      let level = try open(folder)
      #expect(try await level.get("a") == value(1))
      // Enough for new files of the log.
      for number in 0..<12 {
        if round > 0 { #expect(try await level.get("\(number)") == value(number + round - 1, 100_000)) }
        try await level.set(value(number + round, 100_000), forKey: "\(number)")
      }
      try await level.close()
      if round == 0 { try folder.remove(FileName.checkpoint) }
    }
  }

  @Test("P2 P4 lengths that were forged for values in files of their own add up to nothing that ends the program")
  func ownFileLengths() async throws {
    let (folder, salt) = try await crashed()
    let times = RecordTimes(createdWall: 0, createdBoot: 0, boot: 0, lifetime: RecordTimes.forever)
    var log = Segment.head(number: 2, salt: salt)
    for number in UInt64(1)...40_000 {
      var pointer = ByteWriter()
      for part in [number, .max, 0] { pointer.put(part) }
      var record = unsafe pointer.bytes.withUnsafeBytes {
        unsafe PreparedRecord(
          .value, key: StoreKey(Array("forged-\(number)".utf8)), times: times, value: $0, salt: salt)
      }
      record.seal(sequence: number, flags: RecordHeader.hasOwnFile, salt: salt)
      log += record.bytes
    }
    try folder.write(Data(log), to: Segment.name(2))
    let level = try open(folder)
    #expect(try await level.get("a") == value(1))
    #expect(level.usage.count == 1)
    try await level.set(value(2), forKey: "b")
    #expect(try await level.get("b") == value(2))
    try await level.close()
  }
}

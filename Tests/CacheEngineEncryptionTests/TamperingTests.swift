#if Encryption
import CacheEngine
import CacheEngineTesting
import Crypto
import Foundation
import Testing

@testable import CacheEngineEncryption
@testable import CacheDisk

/// What somebody can do who writes to the files and has no key: make misses, and nothing else.
@Suite(.timeLimit(.minutes(10))) struct TamperingTests {
  let folder = EncryptedFolder()
  let clock = ManualClock()

  /// A crashed store of three entries, the middle one with everything that an entry can have.
  private func crashed(length: Int = 20) async throws -> EncryptedFolder {
    let level = try folder.open(clock: clock)
    try await level.set(marked("before", length), forKey: "before")
    try await level.store(
      marked("victim", length), forKey: "victim", terms: StoreTerms(expiry: .after(.seconds(60)), tags: ["tag"]))
    try await level.set(marked("behind", length), forKey: "behind")
    let crashed = try folder.copy()
    try await level.close()
    return crashed
  }

  /// Opens a store with a log of these bytes, and closes it so that the next one reads a log too.
  private func with(_ folder: EncryptedFolder, _ forger: Forger, _ body: (Level) async throws -> Void) async throws {
    try folder.write(forger.bytes, to: forger.name)
    let level = try folder.open(clock: clock)
    try await body(level)
    try await level.close()
    try FileManager.default.removeItem(atPath: folder.path + "/index")
  }

  private func expectForged(_ folder: EncryptedFolder, _ forger: Forger, length: Int = 20, _ comment: Comment? = nil)
    async throws
  {
    try await with(folder, forger) { (level: Level) async throws in
      #expect(try await level.lookup("victim").missReason == .authenticationFailed, comment)
      #expect(try await level.lookup("victim").missReason == .absent, comment)
      #expect(try await level.get("before") == marked("before", length), comment)
      #expect(try await level.get("behind") == marked("behind", length), comment)
    }
  }

  @Test("P13 a bit changed at any place of key, tags, label or value is a miss that is counted, and no other entry's")
  func everyByteOfTheBody() async throws {
    let copy = try await crashed()
    let intact = try Forger(copy)
    #expect(intact.records.count == 3)
    for place in intact.body(1).indices {
      var forger = intact
      forger.edit(1) { _, body in body[place] ^= 1 << (place % 8) }
      // Its first 32 bytes are the name of the key: another entry, which is nobody's.
      if place >= 32 {
        try await expectForged(copy, forger, "byte \(place)")
      } else {
        try await with(copy, forger) { (level: Level) async throws in
          #expect(try await level.lookup("victim").missReason == .absent)
          #expect(try await Set(level.contents().map(\.key)) == ["before", "behind"])
          #expect(try await level.verify().authenticationFailedCount == 1)
        }
      }
    }
  }

  @Test("P13 a bit changed at any place of a record's head never gives a wrong value, nor another deadline or cost")
  func everyBitOfTheHead() async throws {
    let copy = try await crashed()
    let intact = try Forger(copy)
    let deadline = clock.now.advanced(by: .seconds(60))
    var hits = 0
    for place in 0..<RecordHeader.size - 8 {
      for bit in 0..<8 {
        var forger = intact
        forger.flip(headOf: 1, byte: place, bit: bit)
        try await with(copy, forger) { (level: Level) async throws in
          if let entry = try await level.lookup("victim").entry {
            #expect(entry.value == marked("victim", 20) && entry.deadline == deadline && entry.cost == 20)
            hits += 1
          }
          for other in ["before", "behind"] {
            if let value = try await level.get(other) { #expect(value == marked(other, 20)) }
          }
        }
      }
    }
    // The place in the order of writes and what is left free are not bound to the entry; they decide nothing here.
    #expect(hits > 0 && hits < 200)
  }

  @Test("P13 a lifetime can be lengthened neither in the log nor in the checkpoint")
  func deadline() async throws {
    let copy = try await crashed()
    let intact = try Forger(copy)
    for change in [{ $0.lifetime = RecordTimes.forever }, { $0.lifetime += 1 }, { $0.createdWall += 1 }]
      as [(inout RecordTimes) -> Void]
    {
      var forger = intact
      forger.edit(1) { header, _ in change(&header.times) }
      try await expectForged(copy, forger)
    }
    let closed = folder
    let forger = try Forger(closed)
    let sizes = Dictionary(
      uniqueKeysWithValues: try closed.segments.map {
        (try #require(FileName.segment.number(in: $0)), try closed.bytes(of: $0).count)
      })
    var checkpoint = try #require(
      Checkpoint(try closed.bytes(of: "index"), salt: forger.salt, at: ClockReading(clock), sizes: sizes))
    for (key, entry) in checkpoint.index.all where entry.deadline != .max {
      checkpoint.index.setDeadline(.max, of: key)
    }
    try closed.write(try #require(checkpoint.bytes(salt: forger.salt, at: ClockReading(clock))), to: "index")
    clock.advance(by: .seconds(61))
    let level = try closed.open(clock: clock)
    #expect(try await level.contents().count == 2)
    #expect(try await level.lookup("victim").missReason == .authenticationFailed)
    #expect(try await level.get("before") == marked("before", 20))
    try await level.close()
  }

  @Test("P13 a value that is cut, or stands under another key, another label or as plain text, is a miss")
  func moved() async throws {
    let copy = try await crashed()
    let intact = try Forger(copy)
    var forger = intact
    forger.edit(1) { header, body in
      body.removeLast()
      header.valueLength -= 1
    }
    try await expectForged(copy, forger, "cut")

    // The whole of another entry under this name, with the times of each of them.
    for times in [intact.records[0].header.times, intact.records[1].header.times] {
      forger = intact
      forger.edit(1) { header, body in
        let name = body.prefix(32)
        body = Array(name + intact.body(0).dropFirst(32))
        header.tagsLength = intact.records[0].header.tagsLength
        header.valueLength = intact.records[0].header.valueLength
        header.times = times
      }
      try await expectForged(copy, forger, "another entry")
    }

    // The value of another entry beside this entry's label.
    forger = intact
    forger.edit(1) { _, body in
      let sealed = 20 + StoreEncryption.overhead
      body = Array(body.dropLast(sealed) + intact.body(0).suffix(sealed))
    }
    try await expectForged(copy, forger, "another value")

    // What a store without encryption would hold.
    for flags in [0, RecordHeader.isSealed] {
      forger = intact
      forger.edit(1) { header, body in
        let value = Array("forged".utf8)
        body = Array(body.prefix(32)) + Array("data".utf8) + value
        (header.typeLength, header.tagsLength, header.valueLength) = (4, 0, UInt64(value.count))
        header.flags = flags
      }
      try await expectForged(copy, forger, "plain text")
    }
  }

  @Test("P13 an older value of the same key, beside the label of the newer one, is a miss")
  func olderValue() async throws {
    let level = try folder.open(clock: clock)
    try await level.set(marked("before", 20), forKey: "before")
    try await level.set(marked("victim", 20), forKey: "victim")
    let old = try Forger(folder).body(1)
    try await level.set(marked("victor", 20), forKey: "victim")
    try await level.set(marked("behind", 20), forKey: "behind")
    let copy = try folder.copy()
    try await level.close()
    var forger = try Forger(copy)
    forger.edit(2) { _, body in
      let sealed = 20 + StoreEncryption.overhead
      body = Array(body.dropLast(sealed) + old.suffix(sealed))
    }
    try await expectForged(copy, forger)
  }

  @Test("P13 a record of another directory with the same key is nothing here")
  func otherDirectory() async throws {
    let copy = try await crashed()
    let other = EncryptedFolder()
    let level = try other.open(clock: clock)
    for key in ["before", "victim", "behind"] { try await level.set(marked("other", 20), forKey: key) }
    let foreign = try Forger(other)
    try await level.close()
    var forger = try Forger(copy)
    let (found, body) = (foreign.records[1].header, foreign.body(1))
    forger.edit(1) { header, mine in
      mine = Array(mine.prefix(32) + body.dropFirst(32))
      (header.tagsLength, header.valueLength, header.times) = (found.tagsLength, found.valueLength, found.times)
    }
    try await expectForged(copy, forger)
  }

  @Test("P13 long values in files of their own that are changed or exchanged are misses")
  func ownFiles() async throws {
    let copy = try await crashed(length: 300_000)
    let intact = try Forger(copy)
    let files = copy.names.filter { $0.hasPrefix("val-") }
    #expect(files.count == 3)
    let victim = try copy.bytes(of: files[1])
    for change in ["flip", "exchange"] {
      var value = victim
      if change == "flip" { value[150_000] ^= 1 } else { value = try copy.bytes(of: files[0]) }
      try copy.write(value, to: files[1])
      var forger = intact
      forger.edit(1) { header, body in
        var checksum = ByteWriter()
        checksum.put(Checksum.of(value, seed: intact.salt))
        let start = header.prefixLength + 16
        body.replaceSubrange(start..<start + 8, with: checksum.bytes)
      }
      try await expectForged(copy, forger, length: 300_000, "\(change)")
      try copy.write(victim, to: files[1])
    }
  }

  @Test("P13 forged entries are counted in statistics, told as removed, and reported and repaired by verify")
  func counts() async throws {
    let copy = try await crashed()
    var forger = try Forger(copy)
    forger.edit(1) { _, body in body[body.count - 1] ^= 1 }
    try await with(copy, forger) { (level: Level) async throws in
      let report = try await level.verify()
      #expect(report.damagedCount == 1 && report.authenticationFailedCount == 1 && !report.isSound)
      #expect(report.damaged.first?.isForged == true)
      #expect(report.damaged.first?.key.contains("victim") == false)
      let statistics = CacheStatistics()
      let observed = level.observed(as: "disk", by: statistics, clock: clock)
      #expect(try await observed.get("victim") == nil)
      #expect(statistics.snapshot.levels["disk"]?.misses[.authenticationFailed] == 1)
    }
    try await with(copy, forger) { (level: Level) async throws in
      #expect(try await level.verify(repairing: true).repaired == 1)
      #expect(try await level.verify().isSound)
      #expect(level.usage.count == 2)
    }
  }
}
#endif

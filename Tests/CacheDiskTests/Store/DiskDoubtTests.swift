import CacheEngine
import CacheEngineTesting
import Foundation
import Synchronization
import TestSupport
import Testing
@testable import CacheDisk

/// What a store makes of files that it cannot read, did not write, or of which a part is missing.
@Suite(.timeLimit(.minutes(10))) struct DiskDoubtTests {
  typealias Level = DiskCacheLevel<String, Data>

  let folder = DiskFolder()
  let clock = ManualClock()

  private func open(
    _ folder: DiskFolder? = nil, _ durability: Durability = .buffered,
    capacity: Int = 1 << 20, calls: FileCalls = FileCalls()
  ) throws -> Level {
    try Level(
      directory: (folder ?? self.folder).path, capacity: capacity, name: "disk", expiry: .never, keepsExpired: .zero,
      durability: durability, access: .readWrite, keyCoding: .canonicalText, valueCoding: .data, clock: clock,
      removalListener: nil, calls: calls)
  }

  private func path(_ name: String, in folder: DiskFolder? = nil) -> String {
    (folder ?? self.folder).path + "/" + name
  }

  private func cut(_ name: String, to length: UInt64, in folder: DiskFolder? = nil) throws {
    let handle = try FileHandle(forUpdating: URL(filePath: path(name, in: folder)))
    try handle.truncate(atOffset: length)
    try handle.close()
  }

  // MARK: Names

  @Test("P4 P14 directories under the names of our files are left alone, and the store opens and works")
  func directories() async throws {
    let level = try open()
    try await level.set(value(1), forKey: "a")
    try await level.close()
    let names = [
      "val-0000000000000009", "tmp-0000000000000009", "tmp-0000000000000000", "log-0000000000000002",
      "log-0000000000000009",
    ]
    for name in names {
      try FileManager.default.createDirectory(atPath: path(name), withIntermediateDirectories: false)
      try Data("precious".utf8).write(to: URL(filePath: path(name)).appending(path: "file"))
    }
    for round in 0..<3 {
      let level = try open()
      #expect(try await level.get("a") == value(1))
      for number in 0..<300 { try await level.set(value(number, 5_000), forKey: "\(number % 20)") }
      try await level.set(value(round, 50_000), forKey: "long")
      _ = try await level.get("a")
      #expect(try await level.verify(repairing: true).isSound)
      try await level.set(value(1), forKey: "a")
      try await level.close()
      let again = try open()
      #expect(try await again.get("long") == value(round, 50_000))
      try await again.close()
    }
    for name in names { #expect(FileManager.default.fileExists(atPath: path(name) + "/file")) }
  }

  @Test("a directory in the place of the lock is an error that names it, and nothing is touched")
  func directoryAsLock() async throws {
    try FileManager.default.createDirectory(
      atPath: path("lock"), withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    let error = #expect(throws: CacheError.self) { try open() }
    #expect(error?.code == .unusableStore)
    #expect(error?.message.contains("\(folder.path)/lock") == true)
  }

  @Test("P14 a file that has a name elsewhere too is not written to under a name of ours")
  func hardLinks() async throws {
    let victim = folder.path + "-victim"
    defer { try? FileManager.default.removeItem(atPath: victim) }
    try value(9).write(to: URL(filePath: victim))
    let level = try open()
    try await level.set(value(1), forKey: "a")
    try FileManager.default.linkItem(atPath: victim, toPath: path("tmp-0000000000000000"))
    try await level.close()
    #expect(try Data(contentsOf: URL(filePath: victim)) == value(9))
    #expect(FileManager.default.fileExists(atPath: path("index")))
    let again = try open()
    #expect(try await again.get("a") == value(1))
    try await again.close()
    try FileManager.default.removeItem(atPath: path("lock"))
    try FileManager.default.linkItem(atPath: victim, toPath: path("lock"))
    let error = #expect(throws: CacheError.self) { try open() }
    #expect(error?.code == .unusableStore)
    #expect(error?.message.contains("\(folder.path)/lock") == true)
    #expect(try Data(contentsOf: URL(filePath: victim)) == value(9))
  }

  @Test("P14 a file of the log that has a name elsewhere too stays as it is, and no write is lost behind it")
  func hardLinkedLog() async throws {
    let victim = folder.path + "-victim"
    defer { try? FileManager.default.removeItem(atPath: victim) }
    let level = try open()
    try await level.set(value(1), forKey: "a")
    try await level.close()
    try FileManager.default.linkItem(atPath: path("log-0000000000000001"), toPath: victim)
    // As a crash leaves it.
    let handle = try #require(FileHandle(forWritingAtPath: victim))
    try handle.seekToEnd()
    try handle.write(contentsOf: value(9, 100))
    try handle.close()
    let before = try Data(contentsOf: URL(filePath: victim))
    for round in 2..<4 {
      let level = try open()
      #expect(try await level.get("a") == value(1))
      #expect(try await level.get("b") == (round == 2 ? nil : value(2)))
      try await level.set(value(round), forKey: "b")
      try await level.close()
      #expect(try Data(contentsOf: URL(filePath: victim)) == before)
    }
    try value(8, 50_000).write(to: URL(filePath: victim))
    try FileManager.default.linkItem(atPath: victim, toPath: path("log-0000000000000009"))
    let last = try open()
    #expect(try await last.get("b") == value(3))
    try await last.set(value(4), forKey: "b")
    try await last.close()
    #expect(try await open().get("b") == value(4))
    #expect(try Data(contentsOf: URL(filePath: victim)) == value(8, 50_000))
  }

  @Test(
    "P4 a stray file of the log, however high its number, is left alone, and no write is lost behind it",
    arguments: ["log-3fffffffffffffff", "log-7fffffffffffffff", "log-ffffffffffffffff", "log-0000ffffffffffff"])
  func strayLog(name: String) async throws {
    let level = try open()
    try await level.set(value(1), forKey: "a")
    let crashed = try folder.copy()
    try await level.close()
    for (folder, stray) in [(folder, value(9, 100)), (crashed, Data())] {
      try folder.write(stray, to: name)
      for round in 0..<3 {
        let level = try open(folder)
        #expect(try await level.get("a") == value(1))
        if round > 0 { #expect(try await level.get("b") == value(round - 1)) }
        try await level.set(value(round), forKey: "b")
        #expect(try await level.verify().isSound)
        if round == 1 { try await level.close() } else { level.store?.leave() }
      }
    }
  }

  @Test(
    "P4 a stray own file, however high its number, costs no value that is written later",
    arguments: ["val-3fffffffffffffff", "val-7fffffffffffffff", "val-ffffffffffffffff", "val-0000ffffffffffff"])
  func strayValue(name: String) async throws {
    let level = try open()
    try await level.set(value(1), forKey: "a")
    try await level.close()
    try folder.write(value(2), to: name)
    for round in 0..<3 {
      let level = try open()
      if round > 0 { #expect(try await level.get("b") == value(round - 1, 50_000)) }
      try await level.set(value(round, 50_000), forKey: "b")
      try await level.close()
    }
  }

  @Test(
    "P1 a segment of another store that was put into the directory costs nothing, and is left alone",
    arguments: [true, false])
  func foreignSegment(isOldest: Bool) async throws {
    let other = DiskFolder()
    let theirs = try open(other)
    while other.segments.count < 6 { try await theirs.set(value(66, 5_000), forKey: UUID().uuidString) }
    let (foreign, own) = (isOldest ? "log-0000000000000001" : "log-0000000000000006", "val-0000000000ffffff")
    let bytes = try other.bytes(of: foreign)
    try await theirs.close()
    let level = try open()
    for number in 0..<10 { try await level.set(value(number, 9_000), forKey: "\(number)") }
    if isOldest {
      while folder.names.contains(foreign) {
        for number in 0..<20 { try await level.set(value(number, 5_000), forKey: "rest-\(number)") }
      }
      for number in 0..<10 { try await level.set(value(number, 9_000), forKey: "\(number)") }
    }
    let crashed = try folder.copy()
    try await level.close()
    for folder in [folder, crashed] {
      try folder.write(bytes, to: foreign)
      for _ in 0..<2 {
        // A value of theirs, to which nothing here points.
        try folder.write(Data([1]), to: own)
        let level = try open(folder)
        for number in 0..<10 { #expect(try await level.get("\(number)") == value(number, 9_000)) }
        #expect(Set(try await level.verify().strays) == [foreign, own])
        for number in 0..<10 { try await level.set(value(number, 9_000), forKey: "\(number)") }
        try await level.close()
      }
      #expect(try folder.bytes(of: foreign) == bytes)
    }
  }

  // MARK: Sizes

  @Test(
    "P2 a file of a terabyte in the place of one of ours ends no program, and costs nothing that can be read",
    arguments: [
      "index", "log-0000000000000001", "log-0000000000000002", "val-0000000000000001", "val-0000000000000009",
    ])
  func sparse(name: String) async throws {
    let level = try open()
    try await level.set(value(1), forKey: "a")
    try await level.set(value(2, 50_000), forKey: "long")
    let crashed = try folder.copy()
    try await level.close()
    for folder in [folder, crashed] {
      if !FileManager.default.fileExists(atPath: path(name, in: folder)) { try folder.write(Data(), to: name) }
      try cut(name, to: 1 << 40, in: folder)
      let look = try await DiskCacheInspection.open(folder.path, clock: clock)
      #expect(try await look.value(forKey: "a") == value(1))
      _ = try await look.health()
      let level = try open(folder)
      #expect(try await level.get("a") == value(1))
      if name != "val-0000000000000001" { #expect(try await level.get("long") == value(2, 50_000)) }
      for number in 0..<300 { try await level.set(value(number, 5_000), forKey: "\(number % 20)") }
      try await look.refresh()
      #expect(try await look.value(forKey: "19") == value(299, 5_000))
      try await level.close()
      let again = try open(folder)
      #expect(try await again.get("19") == value(299, 5_000))
      try await again.close()
    }
  }

  @Test("P2 a capacity that is too small, and a coding whose name is too long, are errors that say so")
  func impossibleSettings() async throws {
    func coding(_ length: Int) -> ByteCoding<Data> {
      ByteCoding(name: String(repeating: "n", count: length), encode: { $0 }, decode: { $0 })
    }
    for (capacity, length) in [(400, 4), (-1, 4), (1 << 20, 65_536)] {
      let error = #expect(throws: CacheError.self) {
        try Level(
          directory: folder.path, capacity: capacity, keyCoding: .canonicalText, valueCoding: coding(length),
          clock: clock)
      }
      #expect(error?.code == .invalidSetting)
    }
    #expect(folder.names == [])
    let level = try Level(
      directory: folder.path, capacity: 1 << 20, keyCoding: .canonicalText, valueCoding: coding(65_535), clock: clock)
    try await level.set(value(1), forKey: "a")
    #expect(try await level.get("a") == value(1))
    try await level.close()
  }

  // MARK: What cannot be read

  @Test(
    "P4 a stretch of the log that the disk does not give costs its entries alone, and nothing is cut off or removed")
  func unreadable() async throws {
    let level = try open(capacity: 16 << 20)
    for number in 0..<100 { try await level.set(value(number, 5_000), forKey: "\(number)") }
    try await level.set(value(7, 200_000), forKey: "long")
    let crashed = try folder.copy()
    try await level.close()
    let segments = crashed.segments
    let before = try segments.map { try crashed.bytes(of: $0).count }
    for bad in [0..<40, 100_000..<100_001, 480_000..<1_000_000] {
      var calls = FileCalls()
      let real = FileCalls()
      unsafe calls.read = { descriptor, bytes, offset in
        if bytes.count > 0, (offset..<offset + bytes.count).overlaps(bad) {
          errno = EIO
          return -1
        }
        return unsafe real.read(descriptor, bytes, offset)
      }
      let copy = try crashed.copy()
      let level = try? open(copy, capacity: 16 << 20, calls: calls)
      // Where not even one head can be read, the store is refused.
      #expect((level == nil) == (bad.lowerBound == 0 && segments.count == 1))
      try await level?.set(value(1), forKey: "new")
      try await level?.close()
      for (name, length) in zip(segments, before) { #expect(try copy.bytes(of: name).count >= length) }
      let again = try open(copy, capacity: 16 << 20)
      for number in 0..<100 { #expect(try await again.get("\(number)") == value(number, 5_000)) }
      #expect(try await again.get("long") == value(7, 200_000))
      #expect(try await again.get("new") == (level == nil ? nil : value(1)))
      try await again.close()
    }
  }

  @Test("P4 a head that the disk does not give costs no other file of the log")
  func unreadableHead() async throws {
    let level = try open()
    for number in 0..<40 { try await level.set(value(number, 5_000), forKey: "\(number)") }
    let crashed = try folder.copy()
    try await level.close()
    let bad = crashed.segments[1]
    let badOnes = Mutex<Set<Int32>>([])
    let real = FileCalls()
    var calls = real
    calls.open = { directory, name, flags in
      let descriptor = real.open(directory, name, flags)
      badOnes.withLock { badOnes in
        if name == bad { badOnes.insert(descriptor) } else { badOnes.remove(descriptor) }
      }
      return descriptor
    }
    unsafe calls.read = { descriptor, bytes, offset in
      guard offset == 0, badOnes.withLock({ $0.contains(descriptor) }) else {
        return unsafe real.read(descriptor, bytes, offset)
      }
      errno = EIO
      return -1
    }
    let doubtful = try open(crashed, calls: calls)
    #expect(try await doubtful.get("0") == value(0, 5_000))
    #expect(try await doubtful.get("39") == value(39, 5_000))
    try await doubtful.close()
    let again = try open(crashed)
    for number in 0..<40 { #expect(try await again.get("\(number)") == value(number, 5_000)) }
    try await again.close()
  }

  @Test("a file of the log that the disk does not open refuses the store and is named, and nothing is changed")
  func unopened() async throws {
    let level = try open()
    for number in 0..<40 { try await level.set(value(number, 5_000), forKey: "\(number)") }
    try await level.close()
    let before = folder.names.sorted()
    let bad = folder.segments[1]
    let real = FileCalls()
    var calls = real
    calls.open = { directory, name, flags in
      guard name == bad else { return real.open(directory, name, flags) }
      errno = EIO
      return -1
    }
    let error = #expect(throws: CacheError.self) { try open(calls: calls) }
    #expect(error?.code == .unusableStore)
    #expect(error?.message.contains(path(bad)) == true)
    #expect(folder.names.sorted() == before)
    let again = try open()
    for number in 0..<40 { #expect(try await again.get("\(number)") == value(number, 5_000)) }
    try await again.close()
  }

  // MARK: What is missing

  /// A store of which the newest segment has an overwritten and a removed value; `newest` is its name.
  private func overwritten(isClosed: Bool) async throws -> (folder: DiskFolder, newest: String) {
    let level = try open()
    try await level.set(value(1), forKey: "over")
    try await level.set(value(2), forKey: "gone")
    var number = 0
    while folder.segments.count < 3 {
      try await level.set(value(number, 4_000), forKey: "\(number)")
      number += 1
    }
    let newest = try #require(folder.segments.last)
    try await level.set(value(3), forKey: "over")
    try await level.remove("gone")
    let crashed = try folder.copy()
    try await level.close()
    return (isClosed ? folder : crashed, newest)
  }

  @Test(
    "P1 where the newest segment of a closed store was emptied nothing old comes back, and it is told",
    arguments: [0, 10, 40, nil])
  func emptied(length: UInt64?) async throws {
    let (folder, newest) = try await overwritten(isClosed: true)
    if let length { try cut(newest, to: length, in: folder) } else { try folder.remove(newest) }
    for round in 0..<2 {
      let level = try open(folder)
      #expect(try await level.get("over") == nil)
      #expect(try await level.get("gone") == nil)
      #expect(try await level.get("0") == value(0, 4_000))
      if round == 0 {
        let report = try await level.verify()
        #expect(!report.isSound && report.damagedCount > 0 && report.damaged.contains { $0.file == newest })
      }
      try await level.set(value(5), forKey: "new")
      #expect(try await level.verify(repairing: true).repaired == (round == 0 ? 1 : 0))
      #expect(try await level.verify().isSound)
      let crashed = try folder.copy()
      let other = try open(crashed)
      #expect(try await other.get("new") == value(5))
      #expect(try await other.get("over") == nil)
      try await other.close()
      try await level.close()
    }
  }

  @Test("where the newest segment was emptied and there is no checkpoint, it is told", arguments: [0, 10, 40, nil])
  func emptiedAfterCrash(length: UInt64?) async throws {
    let (folder, newest) = try await overwritten(isClosed: false)
    if let length { try cut(newest, to: length, in: folder) } else { try folder.remove(newest) }
    let level = try open(folder)
    let report = try await level.verify()
    #expect(!report.isSound && report.damaged.contains { $0.file == newest })
    try await level.set(value(5), forKey: "new")
    #expect(try await level.get("0") == value(0, 4_000))
    try await level.close()
    let again = try open(folder)
    #expect(try await again.verify().isSound)
    #expect(try await again.get("new") == value(5))
    try await again.close()
  }

  @Test("P3 P4 where all of the log is gone and the index is left it is told, and what is written from then on stays")
  func logGone() async throws {
    let level = try open()
    for number in 0..<40 { try await level.set(value(number, 5_000), forKey: "\(number)") }
    try await level.close()
    let gone = folder.segments
    for name in gone { try folder.remove(name) }
    let again = try open()
    #expect(again.usage.count == 0)
    #expect(Set(try await again.verify().damaged.map(\.file)) == Set(gone))
    for number in 0..<20 { try await again.set(value(number, 1_000), forKey: "new-\(number)") }
    let crashed = try folder.copy()
    try await again.close()
    let other = try open(crashed)
    for number in 0..<20 { #expect(try await other.get("new-\(number)") == value(number, 1_000)) }
    #expect(try await other.verify().isSound)
    try await other.close()
  }

  @Test("what the disk never confirmed is not missed: a batch that was taken back leaves a sound store")
  func takenBack() async throws {
    let isFailing = Mutex(false)
    var calls = FileCalls()
    let real = FileCalls()
    calls.sync = { descriptor in
      guard isFailing.withLock({ $0 }) else { return real.sync(descriptor) }
      errno = EIO
      return -1
    }
    let level = try open(nil, .synced, calls: calls)
    isFailing.withLock { $0 = true }
    await #expect(throws: CacheError.self) { try await level.set(value(1), forKey: "a") }
    let crashed = try folder.copy()
    isFailing.withLock { $0 = false }
    let other = try open(crashed)
    #expect(try await other.verify().isSound)
    try await other.close()
    try await level.clear()
    try await level.close()
  }

  // MARK: What was not finished

  @Test(
    "P3 an overwrite whose value did not come to the disk leaves the acknowledged value before it, for good",
    arguments: Durability.allCases, [true, false])
  func unfinished(durability: Durability, isLast: Bool) async throws {
    let level = try open(nil, durability, capacity: 16 << 20)
    try await level.set(value(1, 9_000), forKey: "a")
    try await level.set(value(2, 200_000), forKey: "own")
    let newest = try #require(folder.segments.last)
    let before = try folder.bytes(of: newest).count
    // These two come to the disk in one batch, of which the disk confirms nothing.
    try await level.set(value(3, 9_000), forKey: "a")
    let after = try folder.bytes(of: newest).count
    if !isLast { try await level.set(value(4, 10), forKey: "b") }
    let crashed = try folder.copy()
    try await level.close()
    var bytes = try crashed.bytes(of: newest)
    // As after a power cut: its head stands there, and of the pages behind it nothing.
    bytes.replaceSubrange(before + 1_000..<after - 100, with: Data(count: after - before - 1_100))
    // Nobody waited for the disk after that.
    let salt = unsafe Array(bytes).withUnsafeBytes { unsafe $0.loadUnaligned(fromByteOffset: 16, as: UInt64.self) }
    if !isLast {
      var rest = Array(bytes[after...])
      var header = try #require(unsafe rest.withUnsafeBytes { unsafe RecordHeader($0, salt: salt) })
      header.flags &= ~RecordHeader.followsSync
      header.write(to: &rest, salt: salt)
      bytes.replaceSubrange(after..., with: rest)
    }
    try crashed.write(bytes, to: newest)
    for round in 0..<3 {
      let level = try open(crashed, durability, capacity: 16 << 20)
      #expect(try await level.get("a") == value(1, 9_000))
      #expect(try await level.get("own") == value(2, 200_000))
      #expect(try await level.get("b") == (isLast ? nil : value(4, 10)))
      if round > 0 { #expect(try await level.get("\(round - 1)") == value(round)) }
      // What stands before the second one is believed to have come to the disk.
      for _ in 0..<2 { try await level.set(value(round + 1), forKey: "\(round)") }
      try await level.close()
      // Nor does the next crash bring it back.
      try crashed.remove("index")
    }
  }

  @Test("P3 what was damaged after the disk had confirmed it is a miss, and brings nothing old back")
  func damagedAfterSync() async throws {
    let level = try open(nil, .synced)
    try await level.set(value(1), forKey: "a")
    let newest = try #require(folder.segments.last)
    let before = try folder.bytes(of: newest).count
    try await level.set(value(2), forKey: "a")
    try await level.set(value(3), forKey: "b")
    let crashed = try folder.copy()
    try await level.close()
    var bytes = try crashed.bytes(of: newest)
    bytes[before + 200] ^= 1
    try crashed.write(bytes, to: newest)
    let again = try open(crashed, .synced)
    #expect(try await again.lookup("a").missReason == .damaged)
    #expect(try await again.get("b") == value(3))
    try await again.close()
  }

  @Test(
    "P3 a missing own file that the disk had is a miss; one of which an earlier version's record does not say so leaves the value before it",
    arguments: [true, false])
  func missingOwnFile(isEarlier: Bool) async throws {
    let level = try open(nil, .synced, capacity: 16 << 20)
    try await level.set(value(1), forKey: "a")
    try await level.set(value(2), forKey: "b")
    try await level.set(value(3, 400_000), forKey: "a")
    let crashed = try folder.copy()
    try await level.close()
    let own = try #require(crashed.names.first { $0.hasPrefix("val-") })
    try crashed.remove(own)
    if isEarlier {
      let name = try #require(crashed.segments.first)
      var bytes = Array(try crashed.bytes(of: name))
      let salt = unsafe bytes.withUnsafeBytes { unsafe $0.loadUnaligned(fromByteOffset: 16, as: UInt64.self) }
      let records = SegmentScan(Array(bytes[Segment.headSize...]), from: Segment.headSize, salt: salt).records
      let found = try #require(records.last { $0.ownFile != nil })
      var header = found.header
      header.flags &= ~RecordHeader.followsOwnFile
      var head = Array(bytes[found.offset..<found.offset + RecordHeader.size])
      header.write(to: &head, salt: salt)
      bytes.replaceSubrange(found.offset..<found.offset + RecordHeader.size, with: head)
      try crashed.write(Data(bytes), to: name)
    }
    let again = try open(crashed, .synced, capacity: 16 << 20)
    #expect(try await again.get("a") == (isEarlier ? value(1) : nil))
    #expect(try await again.get("b") == value(2))
    try await again.close()
  }

  @Test("P1 the number of an evicted value's file is not given again, and reading that key harms no other")
  func numbers() async throws {
    let level = try open()
    try await level.set(value(1, 50_000), forKey: "evicted")
    // Eviction, as the store does it when it needs room.
    var batch = WriteBatch(store: level.store!, isSyncing: false)
    let victim = try #require(level.store!.state.withLock { $0.index.leastRecentlyUsed })
    level.store!.state.withLock { state in
      state.index.remove(victim.key)
      state.hasForgotten = true
    }
    batch.lose(victim.key, victim.entry, .evicted)
    batch.finish()
    #expect(!folder.names.contains { $0.hasPrefix("val-") })
    try await level.close()
    let second = try open()
    try await second.set(value(2, 50_000), forKey: "other")
    #expect(folder.names.filter { $0.hasPrefix("val-") } == ["val-0000000000000002"])
    try await second.close()
    try folder.remove("index")
    let third = try open()
    #expect(try await third.get("evicted") == nil)
    #expect(try await third.get("other") == value(2, 50_000))
    try await third.close()
    // A store that an earlier version wrote has the number twice.
    try FileManager.default.moveItem(
      atPath: path("val-0000000000000002"), toPath: path("val-0000000000000001"))
    try folder.remove("index")
    let name = try #require(folder.segments.first)
    var bytes = Array(try folder.bytes(of: name))
    let salt = unsafe bytes.withUnsafeBytes { unsafe $0.loadUnaligned(fromByteOffset: 16, as: UInt64.self) }
    let records = SegmentScan(Array(bytes[Segment.headSize...]), from: Segment.headSize, salt: salt).records
    let reused = try #require(records.last { $0.ownFile?.number == 2 })
    var record = Array(bytes[reused.offset..<reused.offset + reused.header.recordLength])
    var header = reused.header
    record[header.valueRange.lowerBound] = 1
    header.valueChecksum = Checksum.of(Array(record[header.valueRange]), seed: header.prefixChecksum)
    header.write(to: &record, salt: salt)
    bytes.replaceSubrange(reused.offset..<reused.offset + record.count, with: record)
    try folder.write(Data(bytes), to: name)
    let fourth = try open()
    #expect(try await fourth.get("evicted") == nil)
    #expect(try await fourth.get("other") == value(2, 50_000))
    #expect(try await fourth.verify().isSound)
    try await fourth.close()
  }
}

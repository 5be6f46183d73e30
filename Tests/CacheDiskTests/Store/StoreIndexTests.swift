import CacheEngine
import CacheEngineTesting
import Testing
@testable import CacheDisk

/// The index against a plain dictionary and a list in order of use.
@Suite(.timeLimit(.minutes(10))) struct StoreIndexTests {
  private static let salt: UInt64 = 0x5eed

  /// What the index must hold, kept in the plainest way.
  private struct Model {
    var entries: [StoreKey: StoreIndex.Entry] = [:]
    var tags: [StoreKey: Set<String>] = [:]
    /// From the least to the most recently used.
    var order: [StoreKey] = []

    mutating func insert(_ entry: StoreIndex.Entry, _ key: StoreKey, _ newTags: Set<String>) {
      remove(key)
      entries[key] = entry
      tags[key] = newTags
      order.append(key)
    }

    mutating func remove(_ key: StoreKey) {
      (entries[key], tags[key]) = (nil, nil)
      order.removeAll { $0 == key }
    }
  }

  private func entry(
    _ key: StoreKey, _ tags: Set<String>, _ generator: inout SeededGenerator
  ) throws -> StoreIndex.Entry {
    let deadline =
      Int64.random(in: 0..<3, using: &generator) == 0 ? .max : Int64.random(in: 1...1_000, using: &generator)
    var entry = StoreIndex.Entry(
      segment: UInt64.random(in: 1...5, using: &generator), offset: 8 * Int.random(in: 5...1_000, using: &generator),
      sequence: UInt32.random(in: 0 ... .max, using: &generator), keyLength: UInt32(key.bytes.count),
      typeLength: UInt16.random(in: 0...9, using: &generator),
      tagsLength: tags.isEmpty ? 0 : UInt32(try RecordTags.bytes(tags).count),
      valueLength: UInt64.random(in: 0...9_000, using: &generator),
      cost: [0, 77, 1 << 40, .max, -3].randomElement(using: &generator) ?? 0, isSealed: false, deadline: deadline,
      created: Int64.random(in: -50...0, using: &generator))
    if Int.random(in: 0..<8, using: &generator) == 0 {
      (entry.ownFile, entry.ownFileLength) = (UInt64.random(in: 1...99, using: &generator), 300_000)
    }
    return entry
  }

  private func expect(_ index: StoreIndex, equals model: Model) {
    #expect(index.count == model.entries.count)
    #expect(index.inOrderOfUse.map(\.key) == model.order)
    #expect(index.inOrderOfUse.allSatisfy { model.entries[$0.key] == $0.entry && index.find($0.key) == $0.entry })
    #expect(model.order.allSatisfy { index.tags(of: $0) == model.tags[$0] })
    for tag in ["red", "blue"] {
      #expect(Set(index.keys(tagged: tag)) == Set(model.tags.filter { $0.value.contains(tag) }.keys))
    }
    #expect(index.liveBytes == model.entries.values.reduce(0) { $0 + $1.bytes })
    for segment in UInt64(0)...6 {
      let bytes = model.entries.values.reduce(0) { $0 + ($1.segment == segment ? $1.recordLength : 0) }
      #expect(index.liveBytes(in: segment) == bytes)
    }
    #expect(Set(index.withOwnFiles.map(\.key)) == Set(model.entries.filter { $0.value.ownFile != nil }.keys))
    var (place, met) = (Optional(0), [StoreKey: StoreIndex.Entry]())
    while let from = place {
      let (page, next) = index.entries(from: from, count: 7)
      for (key, entry) in page {
        #expect(met[key] == nil)
        met[key] = entry
      }
      place = next
    }
    #expect(met == model.entries)
  }

  private func reopened(_ index: StoreIndex, _ model: Model) throws -> (StoreIndex, Model) {
    let reading = ClockReading(now: 2_000, wall: 9_000, boot: 3)
    let segments = Dictionary(uniqueKeysWithValues: (1...6).map { (UInt64($0), 1 << 20) })
    let checkpoint = Checkpoint(segments: segments, index: index, sequence: 5, fileNumber: 6)
    let bytes = try #require(checkpoint.bytes(salt: Self.salt, at: reading))
    let read = try #require(Checkpoint(bytes, salt: Self.salt, at: reading, sizes: segments))
    #expect(read.segments == segments && read.sequence == 5 && read.fileNumber == 6)
    var kept = model
    // What was ended by hand is gone after a restart.
    for (key, entry) in model.entries where entry.isEnded { kept.remove(key) }
    return (read.index, kept)
  }

  @Test(
    "what is put in, moved, ended, expired and taken out leaves the index as a dictionary would be, also through a checkpoint",
    arguments: [UInt32.max, 7], [1, 2, 3] as [UInt64])
  func model(hashMask: UInt32, seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    // Many more than are held at a time, so that blocks of keys become sparse; some are longer than the arena takes.
    let keys = (0..<600).map { number in
      StoreKey(Array("\(number):".utf8) + [UInt8](repeating: 7, count: [0, 25, 200, 900, 1_100][number % 5]))
    }
    var index = StoreIndex(hashMask: hashMask)
    var model = Model()
    for step in 0..<6_000 {
      let key = keys[Int.random(in: 0..<keys.count, using: &generator)]
      switch Int.random(in: 0..<20, using: &generator) {
      case 0..<10:
        let tags: Set<String> = [[], [], [], ["red"], ["red", "blue"]].randomElement(using: &generator) ?? []
        let entry = try entry(key, tags, &generator)
        #expect(index.insert(entry, for: key, tags: tags) == model.entries[key])
        model.insert(entry, key, tags)
      case 10..<12:
        #expect(index.remove(key) == model.entries[key])
        model.remove(key)
      case 12..<15:
        #expect(index.use(key) == model.entries[key])
        if model.entries[key] != nil {
          model.order.removeAll { $0 == key }
          model.order.append(key)
        }
      case 15:
        index.setDeadline(500, of: key, isEnded: true)
        model.entries[key]?.deadline = 500
        model.entries[key]?.isEnded = true
      case 16:
        index.move(key, to: 6, offset: 8 * step, sequence: UInt64(step) | 1 << 40)
        model.entries[key]?.segment = 6
        model.entries[key]?.offset = 8 * step
        model.entries[key]?.sequence = UInt32(step)
      case 17:
        let first = index.leastRecentlyUsed
        #expect(first?.key == model.order.first && first?.entry == model.order.first.flatMap { model.entries[$0] })
        if let first, index.count > 200 {
          index.remove(first.key)
          model.remove(first.key)
        }
      case 18 where step % 8 == 0:
        let now = Int64.random(in: 1...600, using: &generator)
        let gone = index.takeExpired(at: now)
        #expect(Set(gone.map(\.key)) == Set(model.entries.filter { $0.value.deadline <= now }.keys))
        #expect(gone.allSatisfy { model.entries[$0.key] == $0.entry })
        for (key, _) in gone { model.remove(key) }
        #expect(!index.hasExpired(at: now))
      case 19 where step % 64 == 0:
        index.removeAll { $0.segment == 2 }
        for (key, entry) in model.entries where entry.segment == 2 { model.remove(key) }
      default: break
      }
      #expect(index.find(key) == model.entries[key])
      if step % 150 == 0 { expect(index, equals: model) }
      guard step % 1_500 == 1_499 else { continue }
      let (read, kept) = try reopened(index, model)
      expect(read, equals: kept)
      // What is read hashes keys as it should, and would not let them collide.
      if hashMask == .max { (index, model) = (read, kept) }
    }
    expect(index, equals: model)
  }

  @Test("keys that come and go leave no more room behind them than those that are held take")
  func arena() throws {
    var arena = KeyArena()
    var held: [(place: UInt32, key: [UInt8])] = []
    var generator = SeededGenerator(seed: 4)
    var most = 0
    func place(_ key: [UInt8]) throws -> UInt32 {
      try #require(unsafe key.withUnsafeBytes { unsafe arena.add($0) })
    }
    for number in 0..<15_000 {
      let key = Array("\(number)".utf8) + [UInt8](repeating: 1, count: Int.random(in: 0...60, using: &generator))
      held.append((try place(key), key))
      guard held.count > 2_000 else { continue }
      held.swapAt(Int.random(in: 0..<held.count, using: &generator), held.count - 1)
      guard let sparse = arena.remove(held.removeLast().place) else { continue }
      let there = Dictionary(uniqueKeysWithValues: held.indices.map { (held[$0].place, $0) })
      for (old, key) in arena.keys(in: sparse) {
        guard let position = there[old] else { continue }
        held[position].place = try place(key)
      }
      arena.free(sparse)
      most = max(most, arena.bytes)
    }
    for (place, key) in held { #expect(unsafe arena.withKey(place) { unsafe Array($0) } == key) }
    let needed = held.reduce(0) { $0 + $1.key.count + 2 }
    #expect(most < 2 * needed)
  }

  @Test("an entry of a million takes at most 100 bytes, its key of 25 bytes included")
  func memory() throws {
    let slot = MemoryLayout<StoreIndex.Slot>.stride
    #expect(slot == 56)
    // A place of four bytes in a table that is at least three eighths full, and the key with its length.
    #expect(Double(slot) + 4 / 0.375 + 27 < 100)
  }

  @Test("P4 an entry that would end behind its segment is left out of a checkpoint")
  func hostileEntries() throws {
    var generator = SeededGenerator(seed: 9)
    let reading = ClockReading(now: 2_000, wall: 9_000, boot: 3)
    var index = StoreIndex()
    for number in 0..<20 {
      let key = StoreKey(Array("\(number)".utf8))
      var entry = try entry(key, [], &generator)
      (entry.segment, entry.offset, entry.valueLength) = (1, 1_000 * number, 400)
      index.insert(entry, for: key)
    }
    let bytes = try #require(
      Checkpoint(segments: [1: 20_000], index: index, sequence: 1, fileNumber: 1).bytes(salt: Self.salt, at: reading))
    let whole = try #require(Checkpoint(bytes, salt: Self.salt, at: reading, sizes: [1: 20_000]))
    #expect(whole.index.count == 20)
    let last = try #require(index.find(StoreKey(Array("10".utf8))))
    let cut = try #require(
      Checkpoint(bytes, salt: Self.salt, at: reading, sizes: [1: last.offset + last.recordLength]))
    #expect(Set(cut.index.all.map(\.key)) == Set((0...10).map { StoreKey(Array("\($0)".utf8)) }))
    #expect(try #require(Checkpoint(bytes, salt: Self.salt, at: reading, sizes: [:])).index.count == 0)
    // Cut or changed anywhere, and with a right checksum, it is read or refused, and nothing else happens.
    for place in stride(from: 8, to: bytes.count - 8, by: 3) {
      var forged = bytes
      forged[place] ^= 0xff
      let sum = Checksum.of(Array(forged.dropLast(8)), seed: Self.salt)
      for byte in 0..<8 { forged[forged.count - 8 + byte] = UInt8(truncatingIfNeeded: sum >> (8 * UInt64(byte))) }
      let read = Checkpoint(forged, salt: Self.salt, at: reading, sizes: [1: 20_000])
      #expect(read.map { $0.index.all.allSatisfy { $0.entry.offset + $0.entry.recordLength <= 20_000 } } ?? true)
    }
  }

  @Test("P8 times that a checkpoint keeps mean the same after a restart of the machine")
  func times() throws {
    var index = StoreIndex()
    let key = StoreKey([1])
    var generator = SeededGenerator(seed: 1)
    var entry = try entry(key, [], &generator)
    (entry.created, entry.deadline, entry.segment) = (1_000, 5_000, 1)
    index.insert(entry, for: key)
    let checkpoint = Checkpoint(segments: [1: 1 << 20], index: index, sequence: 1, fileNumber: 1)
    let bytes = try #require(
      checkpoint.bytes(salt: Self.salt, at: ClockReading(now: 2_000, wall: 100_000, boot: 7)))
    func read(_ reading: ClockReading) throws -> StoreIndex.Entry {
      try #require(Checkpoint(bytes, salt: Self.salt, at: reading, sizes: [1: 1 << 20])?.index.find(key))
    }
    // In the same boot the clock that cannot step decides, in another one the time of day.
    let same = try read(ClockReading(now: 3_000, wall: 7, boot: 7))
    #expect(same.created == 1_000 && same.deadline == 5_000)
    let other = try read(ClockReading(now: 50, wall: 101_500, boot: 8))
    #expect(other.created == 50 - 2_500 && other.deadline == 50 + 1_500)
    #expect(try read(ClockReading(now: 50, wall: 104_000, boot: 8)).deadline <= 50)
    #expect(try read(ClockReading(now: 50, wall: 98_000, boot: 8)).deadline == .min)
    // Of one from the future the log knows more: once the time of day is right, it lives again.
    index.insert(try read(ClockReading(now: 50, wall: 98_000, boot: 8)), for: key)
    let doubtful = Checkpoint(segments: [1: 1 << 20], index: index, sequence: 1, fileNumber: 1)
    #expect(doubtful.bytes(salt: Self.salt, at: ClockReading(now: 60, wall: 98_010, boot: 8)) == nil)
  }
}

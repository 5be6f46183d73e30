import CacheCore
import CacheEngine
@testable import CacheEngineModels
import CacheEngineTesting
import Foundation
import Synchronization
import TestSupport
import Testing

@Suite struct ModelArchiveTests {
  let codings: [ModelCoding] = [
    .json(Author.self, as: "author"), .json(Book.self, as: "book"), .json(Shelf.self, as: "shelf"),
  ]
  let clock = ManualClock()
  let herbert = Author(id: "herbert", name: "Frank Herbert")
  let dune = Book(id: "dune", title: "Dune", author: Related(id: "herbert"))

  private func archive(
    _ cache: ModelCache, _ level: some CacheLevel<String, Data>, observer: (any CacheObserver)? = nil
  ) -> ModelArchive {
    ModelArchive(of: cache, in: level, models: codings, observer: observer)
  }

  @Test(
    "whatever an identifier begins with, its model is restored and listed",
    arguments: ["\u{301}a", "🏻", "\u{200d}", "a/b", ""])
  func identifiers(id: String) async throws {
    let level = MemoryCacheLevel<String, Data>()
    let coding = ModelCoding(Author.self, as: "author", coding: .json) { $0 }
    let cache = ModelCache(clock: clock)
    let archive = ModelArchive(of: cache, in: level, models: [coding])
    cache.insert(Author(id: id))
    try await archive.save()
    let again = ModelCache(clock: clock)
    let restored = ModelArchive(of: again, in: level, models: [coding])
    #expect(try await restored.restore() == ModelArchive.Restoration(loaded: 1))
    #expect(again.value(Author.self, id: id) == Author(id: id))
    let listed = try await ModelArchive.contents(of: level, clock: clock)
    #expect(listed.map(\.type) == ["author"] && listed.map(\.id) == [id])
  }

  @Test("the whole graph survives a restart on disk: models, relations, deadlines")
  func survivesOnDisk() async throws {
    let folder = DiskFolder()
    let shelves = (0..<20).map { Shelf(id: $0, books: [Related(id: "dune"), Related(id: "\($0)")]) }
    do {
      let disk = try DiskCacheLevel<String, Data>(directory: folder.path, capacity: 8 << 20, clock: clock)
      let cache = ModelCache(clock: clock)
      cache.insert(herbert)
      let archive = archive(cache, disk)
      cache.insert(dune, expiry: .after(.seconds(60)))
      cache.performBatchUpdates { batch in for shelf in shelves { batch.insert(shelf) } }
      #expect(!archive.isSaved)
      try await archive.save()
      #expect(archive.isSaved)
      try await disk.close()
    }
    clock.advance(by: .seconds(30))
    clock.reboot()
    let disk = try DiskCacheLevel<String, Data>(directory: folder.path, capacity: 8 << 20, clock: clock)
    let cache = ModelCache(clock: clock)
    let archive = archive(cache, disk)
    #expect(try await archive.restore() == ModelArchive.Restoration(loaded: 22))
    #expect(archive.isSaved)
    #expect(shelves.allSatisfy { cache.value(Shelf.self, id: $0.id) == $0 })
    let calls = Calls<Shelf?>()
    let observation = cache.observe(shelves[3]) { calls.append($0) }
    cache.insert(Author(id: "herbert", born: 1920))
    #expect(calls.all == [shelves[3]])
    #expect(cache.value(Author.self, id: "herbert")?.name == "Frank Herbert")
    clock.advance(by: .seconds(29))
    #expect(cache.value(Book.self, id: "dune") == dune)
    clock.advance(by: .seconds(1))
    #expect(cache.value(Book.self, id: "dune") == nil)
    observation.cancel()
    try await disk.close()
  }

  @Test("a batch that removes everything and stores anew leaves the new models in the archive, and no others")
  func archivesClearingBatch() async throws {
    let level = MemoryCacheLevel<String, Data>()
    let cache = ModelCache()
    let archive = archive(cache, level)
    cache.insert(herbert)
    try await archive.save()
    cache.insert(dune)
    cache.performBatchUpdates { batch in
      batch.removeAll()
      batch.insert(Shelf(id: 1, books: []))
    }
    try await archive.save()
    let second = ModelCache()
    let restored = self.archive(second, level)
    #expect(try await restored.restore() == ModelArchive.Restoration(loaded: 1))
    #expect(second.value(Shelf.self, id: 1) == Shelf(id: 1, books: []))
  }

  @Test(
    "a level that knows no deadlines keeps them all the same, over a restart of the machine too",
    arguments: [false, true])
  func deadlinesOnAnyLevel(reboots: Bool) async throws {
    let level = ScriptedLevel<String, Data>(clock: ManualClock())
    let plain = BasicCache<String, Data>(
      get: { try await level.get($0) }, set: { try await level.set($0, forKey: $1) },
      remove: { try await level.remove($0) }, clear: { try await level.clear() })
    let first = ModelCache(clock: clock)
    let saving = archive(first, plain)
    first.insert(dune, expiry: .after(.seconds(60)))
    try await saving.save()
    clock.advance(by: .seconds(59))
    if reboots { clock.reboot() }
    let second = ModelCache(clock: clock)
    #expect(try await archive(second, plain).restore().loaded == 1)
    clock.advance(by: .seconds(1))
    #expect(second.value(Book.self, id: "dune") == nil)
    #expect(try await archive(ModelCache(clock: clock), plain).restore() == ModelArchive.Restoration(missing: 1))
    if reboots {
      clock.reboot()
      clock.stepWallClock(by: .seconds(-3_600))
      #expect(try await archive(ModelCache(clock: clock), plain).restore().loaded == 0)
    } else {
      clock.stepWallClock(by: .seconds(-3_600))
      #expect(try await archive(ModelCache(clock: clock), plain).restore().loaded == 0)
    }
  }

  @Test("a save writes each changed model once, as it is now, and nothing else")
  func savesChangesOnly() async throws {
    let level = ScriptedLevel<String, Data>()
    let cache = ModelCache()
    let archive = archive(cache, level)
    try await archive.save()
    #expect(level.calls.isEmpty)
    for title in ["a", "b", "c"] { cache.insert(Book(id: "dune", title: title)) }
    cache.insert(Person(id: 1, friend: Related(id: 2)))
    try await archive.save()
    #expect(level.count(of: .set(#"models/book/"dune""#, .set)) == 1)
    let writes = level.calls.count { if case .set = $0 { true } else { false } }
    #expect(writes == 3)  // the book, its page of the list, and the head of that
    cache.insert(Book(id: "dune", title: "d"))
    try await archive.save()
    #expect(level.calls.count { if case .set = $0 { true } else { false } } == 4)
    #expect(archive.isSaved)
  }

  @Test("what is removed leaves the level with the next save; what is evicted or pruned stays there and can be read")
  func removals() async throws {
    let level = ScriptedLevel<String, Data>()
    let cache = ModelCache(countLimit: 2)
    let archive = archive(cache, level)
    for id in ["a", "b", "c"] { cache.insert(Book(id: id, title: id)) }
    // Evicted before it was written: it is written, and found meanwhile.
    #expect(cache.value(Book.self, id: "a") == nil)
    #expect(try await archive.value(Book.self, id: "a")?.title == "a")
    try await archive.save()
    cache.pruneUnobservedValues()
    #expect(cache.count == 0)
    #expect(try await archive.value(Book.self, id: "b")?.title == "b")
    #expect(cache.value(Book.self, id: "b")?.title == "b")
    cache.remove(Book.self, id: "c")  // not in memory, but in the level
    #expect(try await archive.value(Book.self, id: "c") == nil)
    try await archive.save()
    #expect(level.stored(#"models/book/"c""#) == nil)
    #expect(try await archive.value(Book.self, id: "c") == nil)
    cache.removeAll()
    #expect(try await archive.value(Book.self, id: "a") == nil)
    cache.insert(Book(id: "d", title: "d"))
    try await archive.save()
    #expect(try await self.archive(ModelCache(), level).restore() == ModelArchive.Restoration(loaded: 1))
  }

  @Test("a damaged model counts as absent, is reported, and is removed alone")
  func damage() async throws {
    let level = ScriptedLevel<String, Data>()
    let cache = ModelCache()
    let saving = archive(cache, level)
    cache.insert(herbert)
    cache.insert(dune)
    cache.insert(Shelf(id: 1, books: [Related(dune)]))
    try await saving.save()
    let key = #"models/book/"dune""#
    let whole = try #require(level.stored(key)).value
    for place in whole.indices {
      var bytes = whole
      bytes[place] ^= 0x10
      try await level.set(bytes, forKey: key)
      let observer = RecordingObserver()
      let second = ModelCache()
      let reading = archive(second, level, observer: observer)
      #expect(try await reading.restore() == ModelArchive.Restoration(loaded: 2, unreadable: 1), "byte \(place)")
      #expect(second.count == 2 && second.value(Book.self, id: "dune") == nil)
      #expect(level.stored(key) == nil)
      #expect(observer.events.count == 1)
      #expect(observer.events.first?.key == key)
    }
    for damaged in [
      Data(), whole.dropLast(), whole + [0], try #require(level.stored(#"models/author/"herbert""#)).value,
    ] {
      try await level.set(damaged, forKey: key)
      #expect(try await archive(ModelCache(), level).value(Book.self, id: "dune") == nil)
    }
  }

  @Test("what a save writes while a damaged record is read stays", arguments: [true, false])
  func damageOvertaken(isRestored: Bool) async throws {
    let (memory, gate) = (MemoryCacheLevel<String, Data>(), Gate())
    let damaged = Mutex<Data?>(Data([1, 2, 3]))
    let level = BasicCache<String, Data>(
      get: { name in
        let bytes = name == #"models/book/"dune""# ? damaged.withLock { $0.take() } : nil
        guard let bytes else { return try await memory.get(name) }
        try await gate.pass()
        return bytes
      }, set: { try await memory.set($0, forKey: $1) }, remove: { try await memory.remove($0) },
      clear: { try await memory.clear() })
    do {
      let cache = ModelCache()
      let saving = archive(cache, level)
      cache.insert(dune)
      try await saving.save()
    }
    let cache = ModelCache()
    let archive = archive(cache, level)
    let reading = Task {
      if isRestored { _ = try await archive.restore() } else { _ = try await archive.value(Book.self, id: "dune") }
    }
    await gate.arrivals(1)
    cache.insert(dune)
    let saving = Task { try await archive.save() }
    if isRestored {
      // It waits; what does not has its time.
      for _ in 0..<1_000 { await Task.yield() }
    } else {
      try await saving.value
    }
    gate.open()
    try await reading.value
    try await saving.value
    #expect(try await self.archive(ModelCache(), level).restore().loaded == 1)
  }

  @Test("the whole record of another model of the type is not taken for the one that was asked for")
  func strangerInPlace() async throws {
    let level = ScriptedLevel<String, Data>()
    let cache = ModelCache()
    let saving = archive(cache, level)
    for id in 1...2 { cache.insert(Shelf(id: id, books: [])) }
    try await saving.save()
    try await level.set(try #require(level.stored("models/shelf/2")).value, forKey: "models/shelf/1")
    #expect(try await archive(ModelCache(), level).value(Shelf.self, id: 1) == nil)
    #expect(level.stored("models/shelf/1") == nil)
    #expect(try await archive(ModelCache(), level).value(Shelf.self, id: 2) == Shelf(id: 2, books: []))
  }

  @Test("whole bytes that are no longer a model are reported and stay for another version of the app")
  func otherVersion() async throws {
    let level = ScriptedLevel<String, Data>()
    let cache = ModelCache()
    let saving = archive(cache, level)
    cache.insert(dune)
    cache.insert(herbert)
    try await saving.save()
    let observer = RecordingObserver()
    let changed = ModelArchive(
      of: ModelCache(), in: level, models: [.json(Author.self, as: "book")], observer: observer)
    #expect(try await changed.restore() == ModelArchive.Restoration(loaded: 1, unreadable: 1))
    #expect(observer.events.count == 1)
    #expect(try await archive(ModelCache(), level).restore().loaded == 2)
  }

  @Test("what a newer version wrote is left as it is: a model is reported, and where the list is newer nothing is done")
  func newerVersion() async throws {
    let level = ScriptedLevel<String, Data>()
    let cache = ModelCache()
    let saving = archive(cache, level)
    cache.insert(dune)
    cache.insert(herbert)
    try await saving.save()
    func renew(_ key: String) async throws -> Data {
      var bytes = [UInt8](try #require(level.stored(key)).value)
      bytes[10] += 1
      var head = ByteWriter()
      head.put(ModelRecord.checksum(bytes[8...]))
      bytes.replaceSubrange(0..<8, with: head.bytes)
      try await level.set(Data(bytes), forKey: key)
      return Data(bytes)
    }
    let key = #"models/book/"dune""#
    let newer = try await renew(key)
    let observer = RecordingObserver()
    let reading = archive(ModelCache(), level, observer: observer)
    #expect(try await reading.restore() == ModelArchive.Restoration(loaded: 1, unreadable: 1))
    #expect(level.stored(key)?.value == newer)
    #expect(observer.events.count == 1)
    let head = try await renew("models//")
    let other = ModelCache()
    let refused = archive(other, level)
    other.insert(herbert)
    await #expect(throws: CacheError.self) { try await refused.restore() }
    await #expect(throws: CacheError.self) { try await refused.save() }
    #expect(level.stored("models//")?.value == head)
    #expect(level.stored(key)?.value == newer)
  }

  @Test("what fails to be written stays unsaved and is written by the next save")
  func failures() async throws {
    let isDown = Calls<Bool>()
    let level = ScriptedLevel<String, Data> { _, key in
      if isDown.count == 0, key.contains("book") { throw CacheError(.simulated, "down") }
    }
    let cache = ModelCache()
    let archive = archive(cache, level)
    cache.insert(herbert)
    cache.insert(dune)
    await #expect(throws: CacheError.self) { try await archive.save() }
    #expect(!archive.isSaved)
    isDown.append(false)
    try await archive.save()
    #expect(archive.isSaved)
    #expect(try await self.archive(ModelCache(), level).restore().loaded == 2)
  }

  @Test("a model that cannot be encoded holds up no other; the error names it")
  func encodingFails() async throws {
    struct Measure: Identifiable, Codable { let id: Int; var value: Double }
    let level = ScriptedLevel<String, Data>()
    let cache = ModelCache()
    let archive = ModelArchive(of: cache, in: level, models: [.json(Measure.self, as: "measure")], observer: nil)
    for id in 0..<10 { cache.insert(Measure(id: id, value: id == 5 ? .nan : 1)) }
    let error = await #expect(throws: CacheError.self) { try await archive.save() }
    #expect(error?.code == .partialFailure)
    #expect(error?.failures.map(\.level).count == 1)
    #expect(error?.description.contains("Measure(5)") == true)
    cache.insert(Measure(id: 5, value: 2))
    try await archive.save()
    #expect(archive.isSaved)
  }

  @Test("an error that a model cannot be encoded shows neither the model nor more of its identifier than the beginning")
  func encodingFailsBriefly() async throws {
    struct Note: Identifiable, Codable { let id: String; var value: Double }
    let foreign = #expect(throws: CacheError.self) { try codings[0].encode(dune) }
    #expect(foreign?.message == "a model of type Book is not a Author")
    let cache = ModelCache()
    let archive = ModelArchive(
      of: cache, in: ScriptedLevel<String, Data>(), models: [.json(Note.self, as: "note")], observer: nil)
    cache.insert(Note(id: String(repeating: "i", count: 1_000_000), value: .nan))
    let error = await #expect(throws: CacheError.self) { try await archive.save() }
    #expect(error?.failures.count == 1 && error?.description.utf8.count ?? .max < 2_000)
  }

  @Test("models that wait to be written die outside the lock as well")
  func deaths() async throws {
    final class Farewell: Identifiable, Codable, Sendable {
      let id: Int
      let onDeath = Calls<@Sendable () -> Void>()
      init(id: Int) { self.id = id }
      deinit { for call in onDeath.all { call() } }
      private enum CodingKeys: CodingKey { case id }
    }
    let cache = ModelCache(countLimit: 0)
    let deaths = Calls<Int>()
    var archive: ModelArchive? = ModelArchive(
      of: cache, in: ScriptedLevel<String, Data>(), models: [.json(Farewell.self, as: "farewell")])
    func insert(_ id: Int) {
      let model = Farewell(id: id)
      model.onDeath.append { [weak cache] in
        // With no room, the ledger alone holds the model; this would not return if it died under the lock.
        if cache?.value(Book.self, id: "none") == nil { deaths.append(id) }
      }
      cache.insert(model)
    }
    insert(1)
    insert(1)  // replaced
    #expect(deaths.all == [1])
    cache.removeAll()  // cleared
    #expect(deaths.all == [1, 1])
    insert(2)
    try await archive?.save()  // written
    #expect(deaths.all == [1, 1, 2])
    insert(3)
    archive = nil  // given up
    #expect(deaths.all == [1, 1, 2, 3])
  }

  @Test("a store or a removal while a model is read wins over what was read")
  func changesDuringRead() async throws {
    let backing = ScriptedLevel<String, Data>()
    let seed = ModelCache()
    let seeding = archive(seed, backing)
    seed.insert(dune)
    seed.insert(Book(id: "emma", title: "Emma"))
    try await seeding.save()

    let gate = Gate()
    let slow = ScriptedLevel<String, Data> { key in
      let answer = try await backing.lookup(key)
      if key.contains("book") { try await gate.pass() }
      return answer
    }
    let cache = ModelCache()
    let reading = archive(cache, slow)
    async let read = reading.value(Book.self, id: "dune")
    async let removed = reading.value(Book.self, id: "emma")
    await gate.arrivals(2)
    cache.insert(Book(id: "dune", title: "newer"))
    cache.insert(Book(id: "emma", title: "newer"))
    cache.remove(Book.self, id: "emma")
    gate.open()
    #expect(try await read?.title == "newer")
    #expect(try await removed == nil)
    #expect(cache.value(Book.self, id: "dune")?.title == "newer")
    #expect(cache.value(Book.self, id: "emma") == nil)
  }

  @Test("a change while it is being written is written by the next save")
  func changesDuringSave() async throws {
    let gate = Gate()
    let level = ScriptedLevel<String, Data> { _, _ in try await gate.pass() }
    let cache = ModelCache()
    let archive = archive(cache, level)
    cache.insert(Book(id: "dune", title: "old"))
    async let saved: Void = archive.save()
    await gate.arrivals(1)
    cache.insert(Book(id: "dune", title: "new"))
    gate.open()
    try await saved
    #expect(!archive.isSaved)
    try await archive.save()
    let other = ModelCache()
    #expect(try await self.archive(other, level).restore().loaded == 1)
    #expect(other.value(Book.self, id: "dune")?.title == "new")
  }

  @Test("it saves by itself at intervals of the cache's clock, and goes on after a failure")
  func savesAtIntervals() async throws {
    let attempts = Calls<String>()
    let level = ScriptedLevel<String, Data> { _, key in
      attempts.append(key)
      if attempts.count == 1 { throw CacheError(.simulated, "down") }
    }
    let cache = ModelCache(clock: clock)
    let observer = RecordingObserver()
    let archive = archive(cache, level, observer: observer)
    cache.insert(dune)
    let saving = Task { try await archive.save(every: .seconds(5)) }
    for _ in 0..<2 {
      await clock.waitForSleepers()
      clock.advance(by: .seconds(5))
    }
    await clock.waitForSleepers()
    #expect(archive.isSaved)
    #expect(observer.events.count == 1)
    saving.cancel()
    await #expect(throws: CancellationError.self) { try await saving.value }
  }

  @Test("random stores, removals, clears, evictions, saves and restarts lose nothing that was saved", arguments: 0..<15)
  func agreesWithDictionary(seed: Int) async throws {
    var random = SeededGenerator(seed: UInt64(seed))
    let level = ScriptedLevel<String, Data>()
    var cache = ModelCache(countLimit: 5)
    var archive = archive(cache, level)
    var (now, saved): ([Int: Shelf], [Int: Shelf]) = ([:], [:])
    for number in 0..<200 {
      let id = Int.random(in: 0..<12, using: &random)
      switch Int.random(in: 0..<10, using: &random) {
      case 0...3:
        now[id] = Shelf(id: id, books: [Related(id: "\(number)")])
        cache.insert(Shelf(id: id, books: [Related(id: "\(number)")]))
      case 4:
        now[id] = nil
        cache.remove(Shelf.self, id: id)
      case 5:
        if number % 4 == 0 {
          now = [:]
          cache.removeAll()
        }
      case 6: cache.pruneUnobservedValues()
      case 7:
        try await archive.save()
        saved = now
      case 8:
        // The process ends without another save.
        cache = ModelCache(countLimit: 5)
        archive = self.archive(cache, level)
        now = saved
        if Bool.random(using: &random) { #expect(try await archive.restore().loaded == saved.count) }
      default: #expect(try await archive.value(Shelf.self, id: id) == now[id], "seed \(seed), \(number)")
      }
    }
    try await archive.save()
    for id in 0..<12 { #expect(try await archive.value(Shelf.self, id: id) == now[id]) }
  }
}

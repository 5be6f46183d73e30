import CacheEngine
@testable import CacheEngineModels
import CacheEngineTesting
import Foundation
import Synchronization
import TestSupport
import Testing

/// What is on the level is found, or counted as lost; what was removed stays removed.
@Suite struct ModelArchiveListTests {
  let codings: [ModelCoding] = [.json(Author.self, as: "author"), .json(Shelf.self, as: "shelf")]
  static let headKey = "models//"

  private func archive(
    _ cache: ModelCache, _ level: some CacheLevel<String, Data>, observer: (any CacheObserver)? = nil
  ) -> ModelArchive {
    ModelArchive(of: cache, in: level, models: codings, observer: observer)
  }

  private func save(_ ids: Range<Int>, in level: some CacheLevel<String, Data>) async throws {
    let cache = ModelCache()
    let archive = archive(cache, level)
    for id in ids { cache.insert(Shelf(id: id, books: [])) }
    try await archive.save()
  }

  private func pageKeys(_ level: ScriptedLevel<String, Data>) -> [String] {
    (0..<ArchiveList.pageCount).map { "models//\($0)" }.filter { level.stored($0) != nil }
  }

  @Test("the models of a page of the list that a level has forgotten or damaged are counted as missing, and told")
  func lostPages() async throws {
    let level = ScriptedLevel<String, Data>()
    try await save(0..<1_000, in: level)
    let page = try #require(pageKeys(level).first)
    let whole = try #require(level.stored(page)).value
    for isDamaged in [false, true] {
      if isDamaged { try await level.set(whole.dropLast(), forKey: page) } else { try await level.remove(page) }
      let observer = RecordingObserver()
      let cache = ModelCache()
      let found = try await archive(cache, level, observer: observer).restore()
      #expect(found.missing > 0 && found.loaded + found.missing == 1_000)
      #expect(observer.events.last?.key == page)
      guard case .failed(.get, let said, _)? = observer.events.last?.kind else {
        Issue.record("the page was not missed")
        continue
      }
      #expect(said.contains("the names of \(found.missing) models"))
      await #expect(throws: CacheError.self) { try await ModelArchive.contents(of: level) }
      // Each can be asked for by its identifier as before.
      for id in 0..<1_000 where cache.value(Shelf.self, id: id) == nil {
        #expect(try await archive(ModelCache(), level).value(Shelf.self, id: id) != nil)
      }
    }
  }

  @Test("a level that lists its entries is asked for the models of pages that it has forgotten")
  func listingLevel() async throws {
    let level = MemoryCacheLevel<String, Data>()
    try await save(0..<300, in: level)
    for page in 0..<ArchiveList.pageCount { try await level.remove("models//\(page)") }
    let cache = ModelCache()
    let reading = archive(cache, level)
    #expect(try await reading.restore() == ModelArchive.Restoration(loaded: 300))
    // The next save puts them back on the pages that it writes.
    for id in 0..<300 { cache.insert(Shelf(id: id, books: [Related(id: "dune")])) }
    try await reading.save()
    #expect(try await ModelArchive.contents(of: level).count == 300)
  }

  @Test("without its head the list is as good as before, but for pages that are gone as well")
  func lostHead() async throws {
    let level = ScriptedLevel<String, Data>()
    try await save(0..<500, in: level)
    let whole = try #require(level.stored(Self.headKey)).value
    for damaged in [nil, Data(), whole.dropLast()] {
      if let damaged {
        try await level.set(damaged, forKey: Self.headKey)
      } else {
        try await level.remove(Self.headKey)
      }
      #expect(try await archive(ModelCache(), level).restore() == ModelArchive.Restoration(loaded: 500))
    }
  }

  @Test(
    "a level that cannot tell what it has is not taken for an empty one: nothing is lost, and all is there once it can",
    arguments: [MissReason.unanswered, .unsettled, .refused, .newer])
  func unknown(reason: MissReason) async throws {
    let held = ScriptedLevel<String, Data>()
    try await save(0..<200, in: held)
    let silent = Mutex(true)
    let level = ScriptedLevel<String, Data>(
      onSet: { try await held.set($0, forKey: $1) },
      onGet: { silent.withLock { $0 } ? .miss(reason) : try await held.lookup($0) })
    let cache = ModelCache()
    let archive = archive(cache, level)
    await #expect(throws: CacheError.self) { try await archive.restore() }
    cache.insert(Shelf(id: 1_000, books: []))
    await #expect(throws: CacheError.self) { try await archive.save() }
    silent.withLock { $0 = false }
    try await archive.save()
    #expect(try await archive.restore() == ModelArchive.Restoration(loaded: 201))
    #expect(try await self.archive(ModelCache(), held).restore() == ModelArchive.Restoration(loaded: 201))
  }

  @Test(
    "after everything was removed and saved nothing comes back, whatever the level has forgotten of the list",
    arguments: [true, false])
  func removedStaysRemoved(listsEntries: Bool) async throws {
    let memory = MemoryCacheLevel<String, Data>()
    let level: BasicCache<String, Data> = memory.normalize()
    func archive(_ cache: ModelCache) -> ModelArchive {
      listsEntries ? self.archive(cache, memory) : self.archive(cache, level)
    }
    try await save(0..<200, in: memory)
    let head = try #require(try await memory.get(Self.headKey))
    let keys = try await memory.contents().map(\.key)
    for key in keys where key.hasPrefix("models//") && key != Self.headKey { try await memory.remove(key) }
    let cache = ModelCache()
    let clearing = archive(cache)
    cache.removeAll()
    cache.insert(Shelf(id: 1_000, books: []))
    try await clearing.save()
    let shelves = try await memory.contents().map(\.key).filter { $0.hasPrefix("models/shelf/") }
    if listsEntries { #expect(shelves == ["models/shelf/1000"]) }
    for id in 0..<200 { #expect(try await clearing.value(Shelf.self, id: id) == nil) }
    let later = archive(ModelCache())
    #expect(try await later.restore() == ModelArchive.Restoration(loaded: 1))
    for id in 0..<200 { #expect(try await later.value(Shelf.self, id: id) == nil) }
    #expect(try await memory.get(Self.headKey) != head)
  }

  @Test(
    "after everything was removed an archive goes on saving where the level cannot remove by condition",
    arguments: ["hidden", "above", "below"])
  func savesWithoutSelectiveRemoval(_ place: String) async throws {
    let plain = ScriptedLevel<String, Data>()
    let memory = MemoryCacheLevel<String, Data>()
    let level: BasicCache<String, Data> =
      switch place {
      case "above": plain.normalize().compose(memory).normalize()
      case "below": memory.compose(plain.normalize()).normalize()
      default: plain.normalize()
      }
    let cache = ModelCache()
    let archive = archive(cache, level)
    for id in 0..<20 { cache.insert(Shelf(id: id, books: [])) }
    try await archive.save()
    cache.removeAll()
    cache.insert(Shelf(id: 1_000, books: []))
    try await archive.save()
    #expect(archive.isSaved)
    #expect(try await self.archive(ModelCache(), level).restore() == ModelArchive.Restoration(loaded: 1))
  }

  @Test("a save whose removal of what was there fails for another reason is tried again")
  func failingRemoval() async throws {
    let isDown = Mutex(true)
    let level = HookedLevel(
      base: MemoryCacheLevel<String, Data>(),
      onClear: { if isDown.withLock({ $0 }) { throw CacheError(.simulated, "down") } })
    let cache = ModelCache()
    let archive = archive(cache, level)
    cache.insert(Shelf(id: 1, books: []))
    try await archive.save()
    cache.removeAll()
    await #expect(throws: CacheError.self) { try await archive.save() }
    #expect(!archive.isSaved)
    isDown.withLock { $0 = false }
    try await archive.save()
    #expect(archive.isSaved)
  }

  @Test("a restore after everything was removed, and before that was saved, brings nothing back")
  func restoredBetween() async throws {
    let level = ScriptedLevel<String, Data>()
    try await save(0..<10, in: level)
    let cache = ModelCache()
    let archive = archive(cache, level)
    cache.removeAll()
    try await archive.restore()
    #expect(cache.count == 0)
    try await archive.save()
    #expect(level.stored("models/shelf/1") == nil)
  }

  @Test("what a save wrote that failed half-way is removed with the rest")
  func halfSaved() async throws {
    let failing = Calls<Bool>()
    let level = ScriptedLevel<String, Data> { _, key in
      // Models are written, and then nothing is.
      if key.hasPrefix("models/shelf/") {
        failing.append(true)
      } else if failing.count > 0 {
        throw CacheError(.simulated, "down")
      }
    }
    let cache = ModelCache()
    let first = archive(cache, level)
    for id in 0..<50 { cache.insert(Shelf(id: id, books: [])) }
    await #expect(throws: CacheError.self) { try await first.save() }
    let written = (0..<50).filter { level.stored("models/shelf/\($0)") != nil }
    #expect(!written.isEmpty)
    _ = failing.take()

    let second = ModelCache()
    let clearing = archive(second, level)
    second.removeAll()
    try await clearing.save()
    for id in written { #expect(level.stored("models/shelf/\(id)") == nil) }
    let third = archive(ModelCache(), level)
    for id in 0..<50 { #expect(try await third.value(Shelf.self, id: id) == nil) }
  }

  @Test("a removal of everything that was cut short by a crash is completed by whoever comes next")
  func cutShort() async throws {
    let isDown = Calls<Bool>()
    let backing = MemoryCacheLevel<String, Data>()
    let level = BasicCache<String, Data>(
      get: { try await backing.get($0) }, set: { try await backing.set($0, forKey: $1) },
      remove: { key in
        if isDown.count > 0 { throw CacheError(.simulated, "down") }
        try await backing.remove(key)
      }, clear: { try await backing.clear() })
    try await save(0..<20, in: level)
    let cache = ModelCache()
    let clearing = archive(cache, level)
    cache.removeAll()
    isDown.append(true)
    await #expect(throws: CacheError.self) { try await clearing.save() }
    #expect(!clearing.isSaved)
    _ = isDown.take()
    #expect(try await ModelArchive.contents(of: level).isEmpty)
    #expect(try await archive(ModelCache(), level).restore() == ModelArchive.Restoration())
    #expect(try await backing.contents().map(\.key) == [Self.headKey])
  }

  @Test("other things in the level stay when everything is removed, also those of an archive with a longer prefix")
  func othersStay() async throws {
    let level = MemoryCacheLevel<String, Data>()
    let (one, two) = (ModelCache(), ModelCache())
    let first = archive(one, level)
    let second = ModelArchive(of: two, in: level, prefix: "models/later/", models: codings, observer: nil)
    for cache in [one, two] { cache.insert(Shelf(id: 1, books: [])) }
    try await first.save()
    try await second.save()
    try await level.set(Data(), forKey: "models/picture")
    one.removeAll()
    try await first.save()
    #expect(try await level.get("models/picture") != nil)
    #expect(try await level.get("models/shelf/1") == nil)
    let third = ModelArchive(of: ModelCache(), in: level, prefix: "models/later/", models: codings, observer: nil)
    #expect(try await third.restore() == ModelArchive.Restoration(loaded: 1))
  }

  @Test("an identifier is one, whatever Unicode form it is spelled in: in memory, on the list, and in the level")
  func unicodeForms() async throws {
    let folder = DiskFolder()
    let disk = try DiskCacheLevel<String, Data>(directory: folder.path, capacity: 8 << 20)
    let (composed, decomposed) = ("Andr\u{e9}", "Andre\u{301}")
    for (saved, asked) in [(composed, decomposed), (decomposed, composed)] {
      let cache = ModelCache()
      let archive = archive(cache, disk)
      cache.insert(Author(id: saved, name: "one"))
      try await archive.save()
      cache.insert(Author(id: asked, born: 1))
      try await archive.save()
      let observer = RecordingObserver()
      let reading = self.archive(ModelCache(), disk, observer: observer)
      #expect(try await reading.restore() == ModelArchive.Restoration(loaded: 1))
      #expect(observer.events.isEmpty)
      #expect(try await reading.value(Author.self, id: asked)?.name == "one")
      #expect(try await ModelArchive.contents(of: disk).count == 1)
      cache.remove(Author.self, id: asked)
      try await archive.save()
      #expect(try await self.archive(ModelCache(), disk).value(Author.self, id: saved) == nil)
    }
    try await disk.close()
  }

  @Test("a type has one name, whatever Unicode form it is spelled in, also where the list is gone")
  func unicodeNames() async throws {
    let folder = DiskFolder()
    let disk = try DiskCacheLevel<String, Data>(directory: folder.path, capacity: 8 << 20)
    func archive(_ cache: ModelCache, _ name: String) -> ModelArchive {
      ModelArchive(of: cache, in: disk, models: [.json(Shelf.self, as: name)], observer: nil)
    }
    let (composed, decomposed) = ("\u{e9}tag\u{e8}re", "e\u{301}tage\u{300}re")
    let cache = ModelCache()
    let saving = archive(cache, decomposed)
    for id in 0..<20 { cache.insert(Shelf(id: id, books: [])) }
    try await saving.save()
    for page in 0..<ArchiveList.pageCount { try await disk.remove("models//\(page)") }
    for name in [decomposed, composed] {
      #expect(try await archive(ModelCache(), name).restore() == ModelArchive.Restoration(loaded: 20))
    }
    try await disk.close()
  }

  @Test("an archive of the first format, without head and eras, is read and gone on with")
  func firstFormat() async throws {
    let level = ScriptedLevel<String, Data>()
    let cache = ModelCache()
    let saving = archive(cache, level)
    for id in 0..<30 { cache.insert(Shelf(id: id, books: [])) }
    try await saving.save()
    for key in pageKeys(level) + (0..<30).map({ "models/shelf/\($0)" }) {
      let bytes = try #require(level.stored(key)).value
      var old = ByteWriter()
      old.put(ModelRecord.firstFormat)
      old.bytes += bytes.dropFirst(20)
      var checksum = ByteWriter()
      checksum.put(ModelRecord.checksum(old.bytes[...]))
      try await level.set(Data(checksum.bytes + old.bytes), forKey: key)
    }
    try await level.remove(Self.headKey)
    let second = ModelCache()
    let observer = RecordingObserver()
    let reading = archive(second, level, observer: observer)
    #expect(try await reading.restore() == ModelArchive.Restoration(loaded: 30))
    #expect(observer.events.isEmpty)
    second.insert(Shelf(id: 30, books: []))
    try await reading.save()
    #expect(try await archive(ModelCache(), level).restore() == ModelArchive.Restoration(loaded: 31))
    second.removeAll()
    try await reading.save()
    #expect(try await archive(ModelCache(), level).restore() == ModelArchive.Restoration())
  }

  @Test("a head that is whole but holds what cannot be is not believed")
  func absurdHead() async throws {
    let level = ScriptedLevel<String, Data>()
    try await save(0..<10, in: level)
    let era = try ModelRecord(try #require(level.stored(Self.headKey)).value, name: "/", clock: SystemClock()).era
    for body in [
      "{}", #"{"era":1,"counts":[1]}"#,
      #"{"era":\#(era),"counts":[\#(Array(repeating: "9223372036854775807", count: 256).joined(separator: ","))]}"#,
      #"{"era":\#(era),"counts":[\#(Array(repeating: "-1", count: 256).joined(separator: ","))]}"#,
    ] {
      let record = ModelRecord(name: "/", era: era, deadline: nil, body: Data(body.utf8))
      try await level.set(record.encoded(by: SystemClock()), forKey: Self.headKey)
      #expect(try await archive(ModelCache(), level).restore() == ModelArchive.Restoration(loaded: 10))
    }
  }
}

import CacheEngine
@testable import CacheEngineModels
import CacheEngineTesting
import Foundation
import Synchronization
import TestSupport
import Testing

/// A model that comes before what the archive has of it was read loses none of that.
@Suite struct ModelArchiveMergingTests {
  let whole = Author(id: "herbert", name: "Frank Herbert", born: 1920)

  private func archive(_ cache: ModelCache, _ level: some CacheLevel<String, Data>) -> ModelArchive {
    ModelArchive(of: cache, in: level, models: [.json(Author.self, as: "author")], observer: nil)
  }

  private func seeded() async throws -> ScriptedLevel<String, Data> {
    let level = ScriptedLevel<String, Data>()
    let cache = ModelCache()
    let archive = archive(cache, level)
    cache.insert(Author(id: "herbert", name: "F. Herbert", born: 1920))
    try await archive.save()
    return level
  }

  private func saved(_ level: some CacheLevel<String, Data>) async throws -> Author? {
    try await archive(ModelCache(), level).value(Author.self, id: "herbert")
  }

  @Test(
    "a model that came before the archive was made, or before it was read, is merged by the save",
    arguments: [true, false])
  func beforeSave(isFirst: Bool) async throws {
    let level = try await seeded()
    let cache = ModelCache()
    if isFirst { cache.insert(Author(id: "herbert", name: "Frank Herbert")) }
    let archive = archive(cache, level)
    if !isFirst { cache.insert(Author(id: "herbert", name: "Frank Herbert")) }
    let calls = Calls<Author?>()
    let observation = cache.observe(Author.self, id: "herbert") { calls.append($0) }
    try await archive.save()
    #expect(archive.isSaved)
    #expect(try await saved(level) == whole)
    #expect(cache.value(Author.self, id: "herbert") == whole)
    #expect(calls.all == [whole])
    observation.cancel()
    // It is whole now, so the next one is written without a look.
    let reads = level.count(of: .get(#"models/author/"herbert""#))
    cache.insert(Author(id: "herbert", born: 1921))
    try await archive.save()
    #expect(level.count(of: .get(#"models/author/"herbert""#)) == reads)
    #expect(try await saved(level)?.born == 1921)
  }

  @Test(
    "a model is not written over one that the level does not answer for: it is merged once the level does",
    arguments: [MissReason.unanswered, .newer])
  func unanswered(reason: MissReason) async throws {
    let held = try await seeded()
    let isSilent = Mutex(true)
    let level = ScriptedLevel<String, Data>(
      onSet: { try await held.set($0, forKey: $1) },
      onGet: { key in
        if key.hasPrefix("models/author/"), isSilent.withLock({ $0 }) { return .miss(reason) }
        return try await held.lookup(key)
      })
    let cache = ModelCache()
    let archive = archive(cache, level)
    cache.insert(Author(id: "herbert", name: "Frank Herbert"))
    await #expect(throws: CacheError.self) { try await archive.value(Author.self, id: "herbert") }
    await #expect(throws: CacheError.self) { try await archive.save() }
    #expect(try await archive.restore() == ModelArchive.Restoration(unreadable: 1))
    isSilent.withLock { $0 = false }
    try await archive.save()
    #expect(try await saved(held) == whole)
  }

  @Test(
    "a model that came before is merged when the archive is restored, or when it is asked for",
    arguments: [true, false])
  func beforeRead(restores: Bool) async throws {
    let level = try await seeded()
    let cache = ModelCache()
    let archive = archive(cache, level)
    cache.insert(Author(id: "herbert", name: "Frank Herbert"))
    if restores {
      #expect(try await archive.restore() == ModelArchive.Restoration(loaded: 1))
    } else {
      #expect(try await archive.value(Author.self, id: "herbert") == whole)
    }
    #expect(cache.value(Author.self, id: "herbert") == whole)
    #expect(!archive.isSaved)
    try await archive.save()
    #expect(try await saved(level) == whole)
  }

  @Test("what comes after an eviction is merged with what was evicted, written or not", arguments: [true, false])
  func afterEviction(isWritten: Bool) async throws {
    let level = ScriptedLevel<String, Data>()
    let cache = ModelCache(countLimit: 1)
    let archive = archive(cache, level)
    cache.insert(Author(id: "herbert", name: "F. Herbert", born: 1920))
    if isWritten { try await archive.save() }
    cache.insert(Author(id: "le guin"))
    #expect(cache.value(Author.self, id: "herbert") == nil)
    let stored = cache.insert(Author(id: "herbert", name: "Frank Herbert"))
    if !isWritten { #expect(stored == whole) }
    cache.insert(Author(id: "le guin"))  // evicted again, before it is written
    try await archive.save()
    #expect(try await saved(level) == whole)
    #expect(try await archive.value(Author.self, id: "herbert") == whole)
  }

  @Test("what was removed, or has expired, is merged with nothing")
  func removed() async throws {
    let clock = ManualClock()
    let level = try await seeded()
    let cache = ModelCache(clock: clock)
    let archive = archive(cache, level)
    cache.remove(Author.self, id: "herbert")
    cache.insert(Author(id: "herbert", name: "another"))
    try await archive.save()
    #expect(try await saved(level) == Author(id: "herbert", name: "another"))

    cache.removeAll()
    cache.insert(Author(id: "herbert", born: 1))
    #expect(try await archive.value(Author.self, id: "herbert") == Author(id: "herbert", born: 1))
    try await archive.save()
    #expect(try await saved(level) == Author(id: "herbert", born: 1))

    let third = ModelCache(countLimit: 1, clock: clock)
    let expiring = self.archive(third, level)
    third.insert(Author(id: "herbert", name: "short"), expiry: .after(.seconds(1)))
    clock.advance(by: .seconds(1))
    #expect(try await expiring.value(Author.self, id: "herbert") == nil)
    third.insert(Author(id: "herbert", name: "short"), expiry: .after(.seconds(1)))
    third.insert(Author(id: "le guin"))
    clock.advance(by: .seconds(1))
    #expect(try await expiring.value(Author.self, id: "herbert") == nil)
  }

  @Test("a batch that removes a model and stores it anew merges with nothing; one that only stores it, does")
  func batches() async throws {
    let level = try await seeded()
    let cache = ModelCache()
    let archive = archive(cache, level)
    cache.performBatchUpdates { $0.insert(Author(id: "herbert", name: "Frank Herbert")) }
    #expect(try await archive.value(Author.self, id: "herbert") == whole)
    let other = ModelCache()
    let second = self.archive(other, level)
    other.performBatchUpdates { batch in
      batch.remove(Author.self, id: "herbert")
      batch.insert(Author(id: "herbert", name: "new"))
    }
    try await second.save()
    #expect(try await saved(level) == Author(id: "herbert", name: "new"))
  }

  @Test("what was read before a removal is not merged into what was stored after it")
  func staleRead() async throws {
    let backing = try await seeded()
    let gate = Gate()
    let first = Calls<Bool>()
    let slow = ScriptedLevel<String, Data> { key in
      let answer = try await backing.lookup(key)
      if key.contains("author"), first.count == 0 {
        first.append(true)
        try await gate.pass()
      }
      return answer
    }
    let cache = ModelCache()
    let archive = archive(cache, slow)
    async let read = archive.value(Author.self, id: "herbert")
    await gate.arrivals(1)
    cache.remove(Author.self, id: "herbert")
    try await backing.remove(#"models/author/"herbert""#)
    try await archive.save()
    cache.insert(Author(id: "herbert", name: "new"))
    gate.open()
    #expect(try await read == Author(id: "herbert", name: "new"))
    #expect(cache.value(Author.self, id: "herbert") == Author(id: "herbert", name: "new"))
  }

  @Test("a save whose look at the archive fails overwrites nothing, and the next one merges")
  func failingLook() async throws {
    let backing = try await seeded()
    let isDown = Calls<Bool>()
    let level = BasicCache<String, Data>(
      get: { key in
        if key.contains("author"), isDown.count > 0 { throw CacheError(.simulated, "down") }
        return try await backing.get(key)
      }, set: { try await backing.set($0, forKey: $1) }, remove: { try await backing.remove($0) },
      clear: { try await backing.clear() })
    let cache = ModelCache()
    let archive = archive(cache, level)
    cache.insert(Author(id: "herbert", name: "Frank Herbert"))
    isDown.append(true)
    await #expect(throws: CacheError.self) { try await archive.save() }
    #expect(try await saved(backing)?.born == 1920)
    _ = isDown.take()
    try await archive.save()
    #expect(try await saved(backing) == whole)
  }

  @Test("random stores, removals, evictions, saves, restores and restarts lose no field", arguments: 0..<20)
  func agreesWithDictionary(seed: Int) async throws {
    var random = SeededGenerator(seed: UInt64(seed))
    let level = ScriptedLevel<String, Data>()
    var cache = ModelCache(countLimit: 3)
    var archive = archive(cache, level)
    var (now, saved): ([String: Author], [String: Author]) = ([:], [:])
    for number in 0..<300 {
      let id = "\(Int.random(in: 0..<6, using: &random))"
      switch Int.random(in: 0..<12, using: &random) {
      case 0...5:
        let author =
          Bool.random(using: &random) ? Author(id: id, name: "\(number)") : Author(id: id, born: number)
        now[id] = now[id]?.merged(with: author) ?? author
        cache.insert(author)
      case 6:
        now[id] = nil
        cache.remove(Author.self, id: id)
      case 7:
        if number % 5 == 0 {
          now = [:]
          cache.removeAll()
        }
      case 8:
        try await archive.save()
        saved = now
      case 9:
        // The process ends without another save.
        cache = ModelCache(countLimit: 3)
        archive = self.archive(cache, level)
        now = saved
      case 10: try await archive.restore()
      default: #expect(try await archive.value(Author.self, id: id) == now[id], "seed \(seed), \(number)")
      }
    }
    try await archive.save()
    let last = self.archive(ModelCache(), level)
    for id in 0..<6 { #expect(try await last.value(Author.self, id: "\(id)") == now["\(id)"], "seed \(seed)") }
  }
}

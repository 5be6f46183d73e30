import CacheEngine
import CacheEngineModels
import CacheEngineTesting
import Foundation
import Testing

@Suite struct ModelInspectionTests {
  let clock = ManualClock()

  @Test("a model tells its relations both ways and how many observe it, stored or not")
  func bothWays() {
    let cache = ModelCache(clock: clock)
    cache.insert(Book(id: "dune", title: "Dune", author: Related(id: "herbert")), expiry: .after(.seconds(60)))
    let observations = (0..<3).map { _ in cache.observe(Author.self, id: "herbert") { _ in } }
    let dune = ModelKey(Book.self, id: "dune")
    let herbert = ModelKey(Author.self, id: "herbert")

    let book = cache.inspect(dune)
    #expect(book?.relations == [herbert])
    #expect(book?.dependents == [])
    #expect(book?.value as? Book != nil)
    #expect(book?.deadline == clock.now.advanced(by: .seconds(60)))
    #expect(book?.cost == 1)
    let author = cache.inspect(herbert)
    #expect(author?.isStored == false)
    #expect(author?.dependents == [dune])
    #expect(author?.observerCount == 3)
    for observation in observations { observation.cancel() }
    #expect(cache.inspect(herbert)?.observerCount == 0)
    #expect(cache.inspect(ModelKey(Author.self, id: "nobody")) == nil)
  }

  @Test("looking at everything counts as no use and drops nothing")
  func onlyLooks() {
    let cache = ModelCache(countLimit: 2, clock: clock)
    cache.insert(Author(id: "a"), expiry: .after(.seconds(1)))
    cache.insert(Author(id: "b"))
    clock.advance(by: .seconds(5))
    #expect(Set(cache.inspectAll().map { "\($0.key.id)" }) == ["a", "b"])
    #expect(cache.inspect(ModelKey(Author.self, id: "a"))?.isStored == true)
    // Had it counted as a use, "b" would leave.
    cache.insert(Author(id: "c"))
    #expect(Set(cache.inspectAll().map { "\($0.key.id)" }) == ["b", "c"])
    #expect(cache.count == 2)
  }

  @Test("an archive lists what it holds without the models' types, and says what is damaged or forgotten")
  func listsAnArchive() async throws {
    let level = MemoryCacheLevel<String, Data>(clock: clock)
    let cache = ModelCache(clock: clock)
    let archive = ModelArchive(
      of: cache, in: level, models: [.json(Author.self, as: "author"), .json(Book.self, as: "book")], observer: nil)
    cache.insert(Book(id: "dune", title: "Dune", author: Related(id: "herbert")), expiry: .after(.seconds(60)))
    cache.insert(Author(id: "herbert", name: "Frank Herbert"))
    cache.insert(Author(id: "le guin"))
    try await archive.save()
    try await level.set(Data("damage".utf8), forKey: "models/author/\"le guin\"")

    let found = try await ModelArchive.contents(of: level, clock: clock)
    #expect(found.map(\.type) == ["author", "author", "book"])
    #expect(found.map(\.id) == ["\"herbert\"", "\"le guin\"", "\"dune\""])
    #expect(found[0].body.map { String(decoding: $0, as: UTF8.self) }?.contains("Frank Herbert") == true)
    #expect(found[1].body == nil)
    #expect(found[2].deadline == clock.now.advanced(by: .seconds(60)))
    #expect(cache.count == 3)
  }
}

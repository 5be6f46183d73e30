import CacheEngine
@testable import CacheEngineModels
import Foundation
import TestSupport
import Testing

@Suite struct ModelCacheTests {
  let cache = ModelCache()
  let dune = Book(id: "dune", title: "Dune")
  let herbert = Author(id: "herbert", name: "Frank Herbert")

  private enum Shop {
    struct Item: Identifiable, Equatable, Sendable {
      let id: Int
      var price: Int
    }
  }

  private enum Depot {
    struct Item: Identifiable, Equatable, Sendable {
      let id: Int
      var shelf: String
    }
  }

  @Test("P1 P7 a stored model is read back by its type and identifier, at once")
  func readsBack() {
    cache.insert(dune)
    #expect(cache.value(Book.self, id: "dune") == dune)
    let inferred: Book? = cache.value(id: "dune")
    #expect(inferred == dune)
    #expect(cache.count == 1)
  }

  @Test("P2 an unknown identifier gives nil")
  func unknown() {
    cache.insert(dune)
    #expect(cache.value(Book.self, id: "emma") == nil)
  }

  @Test("P3 equal identifiers of different types are different entries")
  func typesAreApart() {
    cache.insert(Book(id: "x", title: "X"))
    cache.insert(Author(id: "x", name: "Malcolm"))
    #expect(cache.value(Book.self, id: "x")?.title == "X")
    #expect(cache.value(Author.self, id: "x")?.name == "Malcolm")
    #expect(cache.value(Shelf.self, id: 0) == nil)
  }

  @Test("an identifier that does not equal itself names one model as well: it is found, observed, replaced and removed")
  func unequalToItself() {
    struct Place: Identifiable {
      struct ID: Hashable {
        var x: Double
        var y: Double
      }
      let id: ID
      var name: String
    }
    let calls = Calls<String?>()
    do {
      let observation = cache.observe(Place.self, id: Place.ID(x: .nan, y: 1)) { calls.append($0?.name) }
      for name in ["a", "b"] { cache.insert(Place(id: Place.ID(x: .nan, y: 1), name: name)) }
      cache.insert(Place(id: Place.ID(x: .nan, y: 2), name: "c"))
      withExtendedLifetime(observation) {}
    }
    #expect(calls.all == ["a", "b"])
    #expect(cache.count == 2)
    #expect(cache.value(Place.self, id: Place.ID(x: .nan, y: 1))?.name == "b")
    for y in [1.0, 2] { cache.remove(Place.self, id: Place.ID(x: .nan, y: y)) }
    #expect(cache.count == 0)
    #expect(cache.nodeCount == 0)
  }

  @Test("P4 a model that does not merge takes the place of the old one")
  func replaces() {
    cache.insert(Book(id: "dune", title: "Dune", author: Related(herbert)))
    let stored = cache.insert(Book(id: "dune", title: "Der Wüstenplanet"))
    #expect(stored.author == nil)
    #expect(cache.value(Book.self, id: "dune") == stored)
    #expect(cache.count == 1)
  }

  @Test("P5 a model that merges is merged with the old one; the first one is stored as it is")
  func merges() {
    let first = Author(id: "herbert", name: "Frank")
    #expect(cache.insert(first) == first)
    #expect(cache.value(Author.self, id: "herbert") == first)
    let merged = cache.insert(Author(id: "herbert", born: 1920))
    #expect(merged == Author(id: "herbert", name: "Frank", born: 1920))
    #expect(cache.value(Author.self, id: "herbert") == merged)
  }

  @Test("P5 a model merges also where only its being identifiable is known")
  func mergesWithoutStaticKnowledge() {
    func store<Model: Identifiable & Sendable>(_ model: Model) where Model.ID: Sendable { cache.insert(model) }
    store(Author(id: "herbert", name: "Frank"))
    store(Author(id: "herbert", born: 1920))
    #expect(cache.value(Author.self, id: "herbert") == Author(id: "herbert", name: "Frank", born: 1920))
  }

  @Test("P5 a merge may use the cache, and starts again from what it finds when another store came between")
  func mergeUsesTheCache() {
    struct Counter: Identifiable, Mergeable {
      let id: Int
      var sum: Int
      var onMerge: (@Sendable () -> Void)?

      func merged(with new: Counter) -> Counter {
        new.onMerge?()
        return Counter(id: id, sum: sum + new.sum)
      }
    }
    cache.insert(Counter(id: 1, sum: 1))
    let interruptions = Calls<Int>()
    cache.insert(
      Counter(id: 1, sum: 10) { [cache] in
        interruptions.append(1)
        if interruptions.count == 1 { cache.insert(Counter(id: 1, sum: 100)) }
      })
    #expect(cache.value(Counter.self, id: 1)?.sum == 111)
    #expect(interruptions.count == 2)
  }

  @Test("P6 P27 remove-all makes every model nil and tells each observer once")
  func removesAll() {
    cache.insert(Book(id: "dune", title: "Dune", author: Related(herbert)))
    cache.insert(herbert)
    let books = Calls<Book?>()
    let authors = Calls<Author?>()
    let observations = (
      cache.observe(dune) { books.append($0) }, cache.observe(herbert) { authors.append($0) },
      cache.observe(Book.self, id: "emma") { books.append($0) }
    )
    let changes = cache.removeAll()
    #expect(cache.value(Book.self, id: "dune") == nil)
    #expect(cache.value(Author.self, id: "herbert") == nil)
    #expect(cache.count == 0)
    #expect(books.all == [nil])
    #expect(authors.all == [nil])
    #expect(changes.count == 2 && changes.allSatisfy { $0.kind == .removed(.cleared) })
    withExtendedLifetime(observations) {}
  }

  @Test("P8 types of one short name in different scopes share nothing")
  func nestedTypes() {
    cache.insert(Shop.Item(id: 1, price: 5))
    cache.insert(Depot.Item(id: 1, shelf: "a"))
    #expect(cache.value(Shop.Item.self, id: 1) == Shop.Item(id: 1, price: 5))
    #expect(cache.value(Depot.Item.self, id: 1) == Depot.Item(id: 1, shelf: "a"))
    let keys = (ModelKey(Shop.Item.self, id: 1), ModelKey(Depot.Item.self, id: 1))
    #expect(keys.0 != keys.1)
    #expect(keys.0.description.contains("Shop.Item(1)"))
  }

  @Test("P9 a handle shows what is stored now, and nil after remove-all")
  func handleFollows() {
    let handle = cache.cached(Book.self, id: "dune")
    #expect(handle.value == nil)
    cache.insert(dune)
    #expect(handle.value == dune)
    cache.insert(Book(id: "dune", title: "Der Wüstenplanet"))
    #expect(handle.value?.title == "Der Wüstenplanet")
    #expect(cache.cached(dune).value?.title == "Der Wüstenplanet")
    cache.removeAll()
    #expect(handle.value == nil)
  }

  @Test("P10 storing through a handle stores in the cache")
  func handleStores() {
    let handle = cache.cached(dune)
    handle.value = dune
    handle.value?.title = "Dune Messiah"
    #expect(cache.value(Book.self, id: "dune")?.title == "Dune Messiah")
  }

  @Test("P11 storing nil through a handle is ignored")
  func handleIgnoresNil() {
    cache.insert(dune)
    cache.cached(dune).value = nil
    #expect(cache.value(Book.self, id: "dune") == dune)
  }

  @Test("P12 storing a merging model through a handle merges")
  func handleMerges() {
    cache.insert(herbert)
    cache.cached(herbert).value = Author(id: "herbert", born: 1920)
    #expect(cache.value(Author.self, id: "herbert") == Author(id: "herbert", name: "Frank Herbert", born: 1920))
  }

  @Test("P13 a handle that outlives its cache reads nil, stores nothing and observes nothing")
  func handleOutlives() async {
    var shortLived: ModelCache? = ModelCache()
    shortLived?.insert(dune)
    let handle = shortLived?.cached(dune)
    #expect(handle?.value == dune)
    shortLived = nil
    #expect(handle?.value == nil)
    handle?.value = dune
    #expect(handle?.value == nil)
    handle?.observe { _ in Issue.record("nobody is there to be observed") }.cancel()
    if let handle {
      for await _ in handle.updates() { Issue.record("nobody is there to be observed") }
    }
  }

  @Test("P33 a relation is made from an identifier or from a model, with equal results")
  func relations() {
    let (byID, byModel) = (Related<Author>(id: "herbert"), Related(herbert))
    #expect(byID == byModel)
    #expect(Set([byID, byModel]).count == 1)
    #expect(byID.cacheKey == ModelKey(of: herbert))
    #expect(byID != Related(id: "austen"))
  }

  @Test("P34 a relation survives JSON, as its identifier")
  func relationsAreCodable() throws {
    let book = Book(id: "dune", title: "Dune", author: Related(herbert), sequels: [Related(id: "messiah")])
    let json = try JSONEncoder().encode(book)
    #expect(try JSONDecoder().decode(Book.self, from: json) == book)
    #expect(String(decoding: json, as: UTF8.self).contains(#""author":"herbert""#))
  }

  @Test("P33 a model may point to its own type")
  func relationToOwnType() {
    cache.insert(Person(id: 1, friend: Related(id: 2)))
    cache.insert(Person(id: 2, friend: Related(id: 1)))
    #expect(cache.value(Person.self, id: 1)?.friend.value(in: cache)?.friend.value(in: cache)?.id == 1)
  }

  @Test("P35 a relation leads to a live handle of its target")
  func relationsResolve() throws {
    let relation = Related(herbert)
    let handle = relation.cached(in: cache)
    #expect(handle.value == nil && relation.value(in: cache) == nil)
    cache.insert(herbert)
    #expect(handle.value == herbert)
    #expect(relation.value(in: cache) == herbert)
  }
}

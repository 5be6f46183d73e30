import CacheEngine
@testable import CacheEngineModels
import CacheEngineTesting
import Foundation
import Synchronization
import TestSupport
import Testing

@Suite struct ModelRemovalTests {
  let cache = ModelCache()

  /// A chain: the book "0" points to "1", "1" to "2", and so on.
  private func insertChain(_ count: Int) {
    for index in 0..<count {
      cache.insert(Book(id: "\(index)", title: "", sequels: index + 1 < count ? [Related(id: "\(index + 1)")] : []))
    }
  }

  private func has(_ id: String, in cache: ModelCache? = nil) -> Bool {
    (cache ?? self.cache).value(Book.self, id: id) != nil
  }

  @Test("P28 P31 pruning drops what nobody observes and keeps what is observed, until its token is gone")
  func prunes() {
    cache.insert(Book(id: "a", title: ""))
    cache.insert(Book(id: "b", title: ""))
    let observation = cache.observe(Book.self, id: "a") { _ in Issue.record("it did not change") }
    #expect(cache.pruneUnobservedValues().map(\.kind) == [.removed(.pruned)])
    #expect(has("a") && !has("b"))
    observation.cancel()
    cache.pruneUnobservedValues()
    #expect(!has("a"))
  }

  @Test("P29 P30 pruning keeps what an observed model reaches over any number of relations, and drops the rest")
  func prunesOverRelations() {
    insertChain(50)
    let observation = cache.observe(Book.self, id: "10") { _ in }
    let pruned = cache.pruneUnobservedValues()
    #expect(pruned.count == 10)
    #expect((0..<50).allSatisfy { has("\($0)") == ($0 >= 10) })
    observation.cancel()
  }

  @Test("P30 pruning goes around rings")
  func prunesRings() {
    for id in ["a", "b"] { cache.insert(Book(id: id, title: "", sequels: [Related(id: id == "a" ? "b" : "a")])) }
    for id in ["c", "d"] { cache.insert(Book(id: id, title: "", sequels: [Related(id: id == "c" ? "d" : "c")])) }
    let observation = cache.observe(Book.self, id: "a") { _ in }
    cache.pruneUnobservedValues()
    #expect(has("a") && has("b") && !has("c") && !has("d"))
    observation.cancel()
  }

  @Test("P32 what was pruned, removed or let go of leaves nothing behind in the index")
  func leavesNothing() {
    insertChain(20)
    cache.insert(Shelf(id: 1, books: [Related(id: "0"), Related(id: "nowhere")]))
    #expect(cache.nodeCount == 22)
    cache.insert(Shelf(id: 1, books: []))
    #expect(cache.nodeCount == 21)
    cache.remove(Book.self, id: "5")
    #expect(cache.nodeCount == 21)  // "4" still points to it
    cache.remove(Book.self, id: "4")
    #expect(cache.nodeCount == 20)  // "3" still points to "4", nothing to "5"
    let observation = cache.observe(Author.self, id: "nobody") { _ in }
    #expect(cache.nodeCount == 21)
    observation.cancel()
    cache.pruneUnobservedValues()
    #expect(cache.nodeCount == 0 && cache.count == 0)
    insertChain(20)
    cache.removeAll()
    #expect(cache.nodeCount == 0)
  }

  @Test("removing with its dependents takes along whatever points there, at any depth, and tells them")
  func cascadesToDependents() {
    insertChain(4)
    cache.insert(Shelf(id: 1, books: [Related(id: "1")]))
    cache.insert(Shelf(id: 2, books: [Related(id: "3")]))
    let calls = Calls<Shelf?>()
    let observations = [1, 2].map { cache.observe(Shelf.self, id: $0) { calls.append($0) } }
    let changes = cache.remove(Book.self, id: "2", cascade: .dependents)
    #expect(changes.first?.kind == .removed(.removed))
    #expect(changes.dropFirst().allSatisfy { $0.kind == .removed(.cascaded) })
    let books = (0...2).map { ModelKey(Book.self, id: "\($0)") }
    #expect(Set(changes.map(\.key)) == Set(books + [ModelKey(Shelf.self, id: 1)]))
    #expect(has("3") && cache.value(Shelf.self, id: 2) != nil)
    #expect(calls.all == [nil])
    for observation in observations { observation.cancel() }
  }

  @Test("removing with its orphans takes along what only it led to, rings too, and nothing else")
  func cascadesToOrphans() {
    insertChain(6)
    // "4" is led to from elsewhere, so "4" and "5" stay; "2" and "3" form a ring with "1" and go.
    cache.insert(Book(id: "3", title: "", sequels: [Related(id: "1"), Related(id: "4")]))
    cache.insert(Book(id: "other", title: "", sequels: [Related(id: "4")]))
    cache.insert(Book(id: "5", title: "", sequels: [Related(id: "0")]))
    let changes = cache.remove(Book.self, id: "0", cascade: .orphans)
    #expect(Set(changes.map { $0.key.description }).count == 4)
    #expect(["0", "1", "2", "3"].allSatisfy { !has($0) })
    #expect(["4", "5", "other"].allSatisfy { has($0) })
    #expect(cache.remove(Book.self, id: "0", cascade: .orphans).isEmpty)
  }

  @Test("without a cascade what points to a removed model stays")
  func noCascade() {
    insertChain(3)
    cache.remove(Book.self, id: "1")
    #expect(has("0") && !has("1") && has("2"))
  }

  @Test("models leave for want of room, least recently used first; reading and storing are use")
  func evicts() {
    let cache = ModelCache(countLimit: 3)
    let evicted = Calls<ModelKey>()
    let observation = cache.observeChanges { changes in
      for change in changes where change.kind == .removed(.evicted) { evicted.append(change.key) }
    }
    for id in ["a", "b", "c"] { cache.insert(Book(id: id, title: "")) }
    #expect(has("a", in: cache))
    cache.insert(Book(id: "b", title: "again"))
    cache.insert(Book(id: "d", title: ""))
    cache.insert(Book(id: "e", title: ""))
    #expect(evicted.all == ["c", "a"].map { ModelKey(Book.self, id: $0) })
    #expect(cache.usage == LevelUsage(count: 3, cost: 3, capacity: nil, countLimit: 3))
    observation.cancel()
  }

  @Test("what is observed, or reached from it, never leaves for want of room, until it is let go")
  func shields() {
    let cache = ModelCache(countLimit: 2)
    cache.insert(Book(id: "a", title: "", sequels: [Related(id: "b")]))
    let observation = cache.observe(Book.self, id: "a") { _ in }
    cache.insert(Book(id: "b", title: "", sequels: [Related(id: "c")]))
    cache.insert(Book(id: "c", title: ""))
    #expect(cache.count == 3)
    cache.insert(Book(id: "d", title: ""))
    #expect(["a", "b", "c"].allSatisfy { has($0, in: cache) } && !has("d", in: cache))
    // "b" points to "c" no more, so "c" may go.
    cache.insert(Book(id: "b", title: ""))
    #expect(!has("c", in: cache) && cache.count == 2)
    observation.cancel()
    cache.insert(Book(id: "e", title: ""))
    #expect(cache.count == 2 && has("e", in: cache))
  }

  @Test("a change of relations among observed models beyond the limit takes steps in proportion to their number")
  func shieldedChain() {
    let count = 1_000
    let cache = ModelCache(countLimit: 10)
    func book(_ id: Int, _ next: Int) -> Book { Book(id: "\(id)", title: "", sequels: [Related(id: "\(next)")]) }
    let observation = cache.observe(Book.self, id: "0") { _ in }
    cache.performBatchUpdates { batch in for id in 0..<count { batch.insert(book(id, id + 1)) } }
    #expect(cache.count == count)
    func steps() -> Int { cache.state.withLock { $0.graph.stepCount } }
    let before = steps()
    cache.insert(book(count - 1, count + 1))
    #expect(cache.count == count)
    #expect(steps() - before < 5 * count)
    // What is no longer led to leaves, and nothing else.
    cache.insert(book(499, count))
    #expect(cache.count == 500)
    #expect((0..<500).allSatisfy { cache.value(Book.self, id: "\($0)") != nil })
    observation.cancel()
  }

  @Test("costs whose sum is beyond every whole number are added up, and what leaves takes its own away")
  func hugeCosts() {
    struct Photo: Identifiable, CostRepresentable {
      let id: Int
      let cost: Int
    }
    let cache = ModelCache()
    for id in 0..<3 { cache.insert(Photo(id: id, cost: .max)) }
    cache.insert(Photo(id: 3, cost: 5))
    #expect(cache.usage.cost == .max)
    for id in 0..<3 { cache.remove(Photo.self, id: id) }
    #expect(cache.usage.cost == 5)
    let bounded = ModelCache(capacity: .max)
    for id in 0..<3 { bounded.insert(Photo(id: id, cost: .max)) }
    #expect(bounded.count == 1)
  }

  @Test("the capacity counts what models say they cost; one that is too heavy does not stay")
  func costs() {
    struct Photo: Identifiable, CostRepresentable {
      let id: Int
      var cost: Int
    }
    let cache = ModelCache(capacity: 100)
    cache.insert(Photo(id: 1, cost: 60))
    cache.insert(Photo(id: 2, cost: 40))
    #expect(cache.usage.cost == 100)
    cache.insert(Photo(id: 1, cost: 50))
    #expect(cache.usage == LevelUsage(count: 2, cost: 90, capacity: 100))
    let handle = cache.cached(Photo.self, id: 3)
    handle.value = Photo(id: 3, cost: 101)
    #expect(handle.value == nil && cache.usage == LevelUsage(count: 0, cost: 0, capacity: 100))
    cache.insert(Photo(id: 4, cost: -5))
    #expect(cache.usage.cost == 0)
  }

  @Test("an expired model is seen by nobody: not by readers, batches, merges or observers of what points to it")
  func expires() {
    let clock = ManualClock()
    let cache = ModelCache(expiry: .after(.seconds(60)), clock: clock)
    let dune = Book(id: "dune", title: "Dune", author: Related(id: "herbert"))
    let calls = Calls<Book?>()
    let observation = cache.observe(dune) { calls.append($0) }
    cache.insert(dune)
    cache.insert(Author(id: "herbert", name: "Frank"), expiry: .never)
    clock.advance(by: .seconds(59))
    #expect(cache.value(Book.self, id: "dune") == dune)
    cache.insert(Author(id: "herbert", name: "Frank"), expiry: .after(.seconds(1)))
    #expect(calls.take() == [dune, dune, dune])
    clock.advance(by: .seconds(1))
    cache.performBatchUpdates { batch in
      #expect(batch.value(Author.self, id: "herbert") == nil)
      #expect(batch.changes.isEmpty)
      batch.insert(Author(id: "herbert", born: 1920))
      #expect(batch.value(Author.self, id: "herbert")?.name == nil)
    }
    #expect(cache.value(Author.self, id: "herbert") == Author(id: "herbert", born: 1920))
    #expect(calls.take() == [nil])
    #expect(cache.count == 1)
    observation.cancel()
  }

  @Test("an expired model leaves when it is asked for, and its observers are told once")
  func expiresOnReading() {
    let clock = ManualClock()
    let cache = ModelCache(clock: clock)
    let calls = Calls<Book?>()
    let book = Book(id: "dune", title: "Dune")
    let observation = cache.observe(book) { calls.append($0) }
    cache.insert(book, expiry: .after(.seconds(1)))
    clock.advance(by: .seconds(1))
    #expect(calls.take() == [book])
    #expect(cache.cached(book).value == nil)
    #expect(cache.cached(book).value == nil)
    #expect(calls.take() == [nil])
    cache.insert(book, expiry: .after(.zero))
    #expect(calls.take() == [nil])
    #expect(cache.removeExpired().map(\.kind) == [.removed(.expired)])
    observation.cancel()
  }

  @Test("what a commit tells of an expired model is that it is gone: it is never an old value or a new one")
  func expiredInChanges() {
    let clock = ManualClock()
    let cache = ModelCache(clock: clock)
    let told = Calls<[ModelChanges.Change]>()
    let observation = cache.observeChanges { told.append(Array($0)) }
    let book = Book(id: "dune", title: "Dune")
    func expired() {
      cache.insert(book, expiry: .after(.seconds(1)))
      clock.advance(by: .seconds(1))
      _ = told.take()
    }
    expired()
    cache.performBatchUpdates { batch in
      batch.insert(book)
      #expect(batch.changes.map(\.kind) == [.inserted])
    }
    #expect(told.all.joined().map(\.kind) == [.inserted])
    #expect(told.take().joined().first?.old(Book.self) == nil)
    expired()
    cache.remove(Book.self, id: "dune")
    #expect(told.take().joined().map(\.kind) == [.removed(.expired)])
    expired()
    cache.removeAll()
    #expect(told.take().joined().map(\.kind) == [.removed(.expired)])
    cache.insert(book, expiry: .after(.zero))
    #expect(told.take().joined().map { $0.new(Book.self) } == [nil])
    observation.cancel()
  }

  @Test("an expired model that leaves for want of room, or is pruned, leaves the archive too")
  func expiredAndEvicted() async throws {
    let clock = ManualClock()
    let cache = ModelCache(countLimit: 1, clock: clock)
    let level = MemoryCacheLevel<String, Data>(clock: clock)
    let archive = ModelArchive(of: cache, in: level, models: [.json(Book.self, as: "book")])
    cache.insert(Book(id: "a", title: ""), expiry: .after(.seconds(1)))
    try await archive.save()
    clock.advance(by: .seconds(1))
    cache.insert(Book(id: "b", title: ""))
    try await archive.save()
    #expect(try await archive.restore() == ModelArchive.Restoration(loaded: 1))
  }

  @Test("a sweep tells of expiries in time, and ends with its task")
  func sweeps() async {
    let clock = ManualClock()
    let cache = ModelCache(expiry: .after(.seconds(5)), clock: clock)
    let updates = cache.updates(of: Book.self, id: "dune")
    cache.insert(Book(id: "dune", title: "Dune"))
    let sweep = Task { try await cache.sweep(every: .seconds(10)) }
    await clock.waitForSleepers()
    clock.advance(by: .seconds(10))
    var states: [String?] = []
    for await state in updates {
      states.append(state?.title)
      if state == nil { break }
    }
    #expect(states == ["Dune", nil])
    sweep.cancel()
    await #expect(throws: CancellationError.self) { try await sweep.value }
  }

  @Test("an interval of no time is refused, and nobody sweeps or saves without a pause", arguments: [0, -5])
  func intervals(seconds: Int) async {
    let cache = ModelCache(clock: ManualClock())
    let level = MemoryCacheLevel<String, Data>()
    let archive = ModelArchive(of: cache, in: level, models: [.json(Book.self, as: "book")])
    for repeats in [cache.sweep(every:), archive.save(every:)] as [@Sendable (Duration) async throws -> Void] {
      let task = Task { try await repeats(.seconds(seconds)) }
      // Ends it in any case.
      task.cancel()
      let error = await #expect(throws: CacheError.self) { try await task.value }
      #expect(error?.code == .invalidSetting)
    }
  }
}

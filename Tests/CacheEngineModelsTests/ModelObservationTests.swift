import CacheEngine
@testable import CacheEngineModels
import CacheEngineTesting
import Dispatch
import Synchronization
import TestSupport
import Testing

@Suite struct ModelObservationTests {
  let cache = ModelCache()
  let herbert = Author(id: "herbert", name: "Frank Herbert")
  let dune = Book(id: "dune", title: "Dune", author: Related(id: "herbert"))
  let shelf = Shelf(id: 1, books: [Related(id: "dune")])

  @Test("P14 observing calls nothing yet")
  func silentAtFirst() {
    cache.insert(dune)
    let calls = Calls<Book?>()
    let observation = cache.observe(dune) { calls.append($0) }
    #expect(calls.all.isEmpty)
    observation.cancel()
  }

  @Test("P15 P26 each later store calls the observer with the new model, an equal one too")
  func callsForStores() {
    let calls = Calls<Book?>()
    let observation = cache.observe(dune) { calls.append($0) }
    cache.insert(dune)
    cache.insert(dune)
    cache.insert(Book(id: "emma", title: "Emma"))
    #expect(calls.all == [dune, dune])
    observation.cancel()
  }

  @Test("P16 the observer of a merging model gets what the merge made")
  func callsWithMerged() {
    cache.insert(herbert)
    let calls = Calls<Author?>()
    let observation = cache.observe(herbert) { calls.append($0) }
    cache.insert(Author(id: "herbert", born: 1920))
    #expect(calls.all == [Author(id: "herbert", name: "Frank Herbert", born: 1920)])
    observation.cancel()
  }

  @Test("P17 a change two relations away calls the observer with its own model")
  func callsForRelated() {
    cache.insert(shelf)
    cache.insert(dune)
    cache.insert(herbert)
    let calls = Calls<Shelf?>()
    let observation = cache.observe(shelf) { calls.append($0) }
    cache.insert(Author(id: "herbert", born: 1920))
    #expect(calls.take() == [shelf])
    cache.remove(Author.self, id: "herbert")
    #expect(calls.take() == [shelf])
    cache.insert(Author(id: "austen"))
    #expect(calls.take().isEmpty)
    observation.cancel()
  }

  @Test("P17 a relation counts however its two ends were stored")
  func relationBeforeTarget() {
    let calls = Calls<Shelf?>()
    let observation = cache.observe(shelf) { calls.append($0) }
    cache.insert(herbert)
    cache.insert(shelf)
    #expect(calls.take() == [shelf])
    cache.insert(herbert)
    #expect(calls.take().isEmpty)
    cache.insert(dune)
    #expect(calls.take() == [shelf])
    cache.insert(herbert)
    #expect(calls.take() == [shelf])
    observation.cancel()
  }

  @Test("P18 a ring of relations calls each observer once for each change")
  func rings() {
    let ring = (0..<3).map {
      Book(id: "\($0)", title: "", sequels: [Related(id: "\(($0 + 1) % 3)"), Related(id: "\($0)")])
    }
    for book in ring { cache.insert(book) }
    let calls = Calls<String?>()
    let observations = ring.map { book in cache.observe(book) { calls.append($0?.id) } }
    cache.insert(ring[1])
    #expect(calls.take().compactMap(\.self).sorted() == ["0", "1", "2"])
    cache.remove(Book.self, id: "1")
    // It has left; the first one pointed to it, and the third one points to the first.
    #expect(Set(calls.take()) == [nil, "0", "2"])
    for observation in observations { observation.cancel() }
  }

  @Test("P19 an observer reads the live handle and sees the new model")
  func readsInside() {
    let handle = cache.cached(herbert)
    let seen = Calls<Author?>()
    cache.insert(dune)
    let observation = cache.observe(dune) { _ in seen.append(handle.value) }
    cache.insert(herbert)
    #expect(seen.all == [herbert])
    observation.cancel()
  }

  @Test("P20 after its token is cancelled or let go, an observer is not called")
  func ends() {
    let calls = Calls<Book?>()
    let cancelled = cache.observe(dune) { calls.append($0) }
    var released: ModelObservation? = cache.observe(dune) { calls.append($0) }
    cache.insert(dune)
    #expect(calls.take().count == 2)
    cancelled.cancel()
    cancelled.cancel()
    _ = released
    released = nil
    cache.insert(dune)
    #expect(calls.all.isEmpty)
  }

  @Test("P20 what was still to be told when the token was let go is not told")
  func endsBeforeTheCall() {
    let calls = Calls<String>()
    let second = Mutex<ModelObservation?>(nil)
    let first = cache.observe(dune) { [cache] book in
      // The store below waits in the line behind this call; its observer is gone before its turn.
      guard book?.title == "Dune" else { return }
      cache.insert(Author(id: "austen"))
      second.withLock { $0 }?.cancel()
    }
    second.withLock { $0 = cache.observe(Author.self, id: "austen") { _ in calls.append("late") } }
    cache.insert(dune)
    #expect(calls.all.isEmpty)
    first.cancel()
  }

  @Test("P21 an observer may store, remove, observe and cancel; what it stores is told after it returned")
  func storesInside() {
    let calls = Calls<String>()
    let inner = Mutex<ModelObservation?>(nil)
    let first = cache.observe(dune) { [cache] book in
      calls.append("begin \(book?.title ?? "-")")
      if book?.title == "Dune" {
        let observation = cache.observe(Author.self, id: "herbert") { calls.append("author \($0?.name ?? "-")") }
        inner.withLock { $0 = observation }
        cache.insert(Author(id: "herbert", name: "Frank"))
        cache.insert(Book(id: "dune", title: "Messiah"))
        cache.remove(Book.self, id: "dune")
      }
      calls.append("end")
    }
    cache.insert(Book(id: "dune", title: "Dune"))
    #expect(calls.all == ["begin Dune", "end", "author Frank", "begin Messiah", "end", "begin -", "end"])
    first.cancel()
    inner.withLock { $0 }?.cancel()
  }

  @Test("P21 an observer may wait for a store of another thread")
  func waitsInside() async throws {
    let calls = Calls<String>()
    let isTold = Gate()
    let author = cache.observe(Author.self, id: "herbert") { _ in
      calls.append("author")
      isTold.open()
    }
    let book = cache.observe(dune) { [cache, herbert] _ in
      let isStored = DispatchSemaphore(value: 0)
      DispatchQueue.global().async {
        cache.insert(herbert)
        isStored.signal()
      }
      if calls.count == 0 {
        isStored.wait()
        calls.append("book")
      }
    }
    cache.insert(Book(id: "dune", title: "Dune"))
    // Nobody tells of what another thread stored.
    try await isTold.pass()
    #expect(calls.all == ["book", "author"])
    author.cancel()
    book.cancel()
  }

  @Test("P22 what is not stored yet can be observed; its first store calls the observer")
  func observesAbsent() {
    let calls = Calls<Book?>()
    let observation = cache.cached(Book.self, id: "dune").observe { calls.append($0) }
    cache.insert(dune)
    #expect(calls.all == [dune])
    observation.cancel()
  }

  @Test("P23 all observers of a model are called")
  func several() {
    let calls = Calls<Int>()
    let observations = (0..<5).map { number in cache.observe(dune) { _ in calls.append(number) } }
    cache.insert(dune)
    #expect(calls.all.sorted() == [0, 1, 2, 3, 4])
    for observation in observations { observation.cancel() }
  }

  @Test("P24 calls come in the order of the stores, from several threads too")
  func ordered() async {
    struct Sum: Identifiable, Mergeable {
      let id = 1
      var total = 1

      func merged(with new: Sum) -> Sum { Sum(total: total + new.total) }
    }
    let calls = Calls<Int>()
    let done = Gate()
    let observation = cache.observe(Sum.self, id: 1) { sum in
      calls.append(sum?.total ?? 0)
      if sum?.total == 400 { done.open() }
    }
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<4 {
        group.addTask { for _ in 0..<100 { cache.insert(Sum()) } }
      }
    }
    // A thread that stored may have left the telling to another one, which is still at it.
    try? await done.pass()
    #expect(calls.all == Array(1...400))
    observation.cancel()
  }

  @Test("P25 after a model has changed its relations, only the new ones call its observer")
  func relationsChange() {
    cache.insert(dune)
    let calls = Calls<Book?>()
    let moved = Book(id: "dune", title: "Dune", author: Related(id: "austen"))
    let observation = cache.observe(dune) { calls.append($0) }
    cache.insert(moved)
    #expect(calls.take() == [moved])
    cache.insert(herbert)
    #expect(calls.take().isEmpty)
    cache.insert(Author(id: "austen"))
    #expect(calls.take() == [moved])
    observation.cancel()
  }

  @Test("P27 a removal calls the observer with nil; removing what is absent calls nobody")
  func removal() {
    cache.insert(dune)
    let calls = Calls<Book?>()
    let observation = cache.observe(dune) { calls.append($0) }
    #expect(cache.remove(Book.self, id: "dune").map(\.kind) == [.removed(.removed)])
    #expect(calls.all == [nil])
    #expect(cache.remove(Book.self, id: "dune").isEmpty)
    #expect(calls.count == 1)
    observation.cancel()
  }

  @Test("P15 P27 the states of a model come as a sequence, from the moment it is asked for")
  func sequence() async {
    let updates = cache.updates(of: Book.self, id: "dune")
    cache.insert(dune)
    cache.insert(herbert)
    cache.remove(Book.self, id: "dune")
    var states: [Book?] = []
    for await state in updates {
      states.append(state)
      if state == nil { break }
    }
    #expect(states == [dune, dune, nil])
  }

  @Test("P15 a sequence that keeps the newest state gives that one")
  func newestOnly() async {
    let updates = cache.updates(of: Book.self, id: "dune", bufferingPolicy: .bufferingNewest(1))
    cache.insert(Book(id: "dune", title: "Dune"))
    cache.insert(Book(id: "dune", title: "Messiah"))
    for await state in updates {
      #expect(state?.title == "Messiah")
      break
    }
  }

  @Test("P15 a sequence that nobody reads keeps the newest 16 states, or 256 commits")
  func boundedSequences() async {
    var shortLived: ModelCache? = ModelCache()
    let updates = shortLived?.updates(of: Book.self, id: "dune")
    let changes = shortLived?.changes()
    for number in 0..<300 { shortLived?.insert(Book(id: "dune", title: "\(number)")) }
    shortLived = nil
    var (states, commits): ([String?], [String?]) = ([], [])
    if let updates { for await state in updates { states.append(state?.title) } }
    if let changes { for await commit in changes { commits += commit.map { $0.new(Book.self)?.title } } }
    #expect(states == (284..<300).map { "\($0)" })
    #expect(commits == (44..<300).map { "\($0)" })
  }

  @Test("P20 a sequence ends with its cache, and a sequence let go ends its observation")
  func sequenceEnds() async {
    var shortLived: ModelCache? = ModelCache()
    let updates = shortLived?.updates(of: Book.self, id: "dune")
    shortLived?.insert(dune)
    shortLived = nil
    var states: [Book?] = []
    if let updates { for await state in updates { states.append(state) } }
    #expect(states == [dune])

    var stream: AsyncStream<Book?>? = cache.updates(of: Book.self, id: "dune")
    _ = stream
    #expect(cache.nodeCount == 1)
    stream = nil
    #expect(cache.nodeCount == 0)
  }

  @Test("P15 P27 listeners are told what each commit changed, with the model before and after")
  func changeSets() async throws {
    let changes = cache.changes()
    let heard = Calls<[ModelKey]>()
    let observation = cache.observeChanges { heard.append($0.map(\.key)) }
    cache.insert(herbert)
    cache.insert(Author(id: "herbert", born: 1920))
    cache.remove(Author.self, id: "herbert")
    cache.remove(Author.self, id: "herbert")
    let whole = Author(id: "herbert", name: "Frank Herbert", born: 1920)
    let expected: [(ModelChanges.Change.Kind, Author?, Author?)] = [
      (.inserted, nil, herbert), (.updated, herbert, whole), (.removed(.removed), whole, nil),
    ]
    var iterator = changes.makeAsyncIterator()
    for (kind, old, new) in expected {
      let set = try #require(await iterator.next())
      #expect(set.count == 1)
      #expect(set.first?.kind == kind)
      #expect(set.first?.old(Author.self) == old && set.first?.new(Author.self) == new)
    }
    #expect(heard.all == Array(repeating: [ModelKey(of: herbert)], count: 3))
    observation.cancel()
    cache.insert(herbert)
    #expect(heard.count == 3)
  }

  @Test("P20 a token and a model may die with what they hold, under no lock")
  func deathsUseTheCache() {
    final class Farewell: Identifiable, Sendable {
      let id = 1
      let onDeath: @Sendable () -> Void
      init(onDeath: @escaping @Sendable () -> Void) { self.onDeath = onDeath }
      deinit { onDeath() }
    }
    let deaths = Calls<Int>()
    cache.insert(
      Farewell { [weak cache] in
        cache?.insert(Book(id: "epitaph", title: "Epitaph"))
        deaths.append(1)
      })
    var held: Farewell? = Farewell { [weak cache] in
      cache?.insert(Book(id: "epilogue", title: "Epilogue"))
      deaths.append(2)
    }
    var observation: ModelObservation? = cache.observe(dune) { [held] _ in _ = held }
    held = nil
    cache.remove(Farewell.self, id: 1)
    #expect(deaths.all == [1])
    _ = observation
    observation = nil
    #expect(deaths.all == [1, 2])
    #expect(cache.value(Book.self, id: "epitaph") != nil && cache.value(Book.self, id: "epilogue") != nil)
  }
}

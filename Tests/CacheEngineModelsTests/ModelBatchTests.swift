import CacheEngine
import CacheEngineModels
import CacheEngineTesting
import Synchronization
import TestSupport
import Testing

@Suite struct ModelBatchTests {
  let cache = ModelCache()
  let herbert = Author(id: "herbert", name: "Frank Herbert")
  let dune = Book(id: "dune", title: "Dune", author: Related(id: "herbert"))

  private func dune(_ title: String) -> Book { Book(id: "dune", title: title, author: Related(id: "herbert")) }

  @Test("P36 several stores of one model in a batch are told once, with the last model")
  func coalesces() {
    let calls = Calls<Book?>()
    let observation = cache.observe(dune) { calls.append($0) }
    cache.performBatchUpdates { batch in
      for title in ["a", "b", "c"] { batch.insert(dune(title)) }
    }
    #expect(calls.all == [dune("c")])
    observation.cancel()
  }

  @Test("P37 several stores of a related model in a batch call the dependent's observer once")
  func coalescesRelated() {
    cache.insert(dune)
    let calls = Calls<Book?>()
    let observation = cache.observe(dune) { calls.append($0) }
    cache.performBatchUpdates { batch in
      batch.insert(herbert)
      batch.insert(Author(id: "herbert", born: 1920))
    }
    #expect(calls.all == [dune])
    observation.cancel()
  }

  @Test("P38 P40 during the action the cache shows the old state, afterwards the new one")
  func isolated() {
    cache.insert(dune)
    let changes = cache.performBatchUpdates { batch in
      batch.insert(dune("new"))
      batch.insert(herbert)
      batch.remove(Shelf.self, id: 1)
      #expect(cache.value(Book.self, id: "dune") == dune)
      #expect(cache.cached(herbert).value == nil)
    }
    #expect(cache.value(Book.self, id: "dune") == dune("new"))
    #expect(cache.value(Author.self, id: "herbert") == herbert)
    #expect(changes.map(\.kind) == [.updated, .inserted])
  }

  @Test("P39 live handles are read in the action and in the observers that it calls")
  func readsHandles() {
    let handle = cache.cached(dune)
    let seen = Calls<String?>()
    let observation = cache.observe(dune) { _ in seen.append(handle.value?.title) }
    cache.performBatchUpdates { batch in
      seen.append(handle.value?.title)
      batch.insert(dune)
      seen.append(handle.value?.title)
    }
    #expect(seen.all == [nil, nil, "Dune"])
    observation.cancel()
  }

  @Test("P41 the completion runs after the observers and sees the new state")
  func completes() {
    let order = Calls<String>()
    let observation = cache.observe(dune) { _ in order.append("observer") }
    cache.performBatchUpdates { batch in
      batch.insert(dune)
      order.append("action")
    } completion: { [cache, dune] in
      order.append(cache.value(Book.self, id: "dune") == dune ? "completion" : "too early")
    }
    #expect(order.all == ["action", "observer", "completion"])
    observation.cancel()
  }

  @Test("P41 the completion of a batch inside an observer waits until that observer has returned")
  func completesInOrder() {
    let order = Calls<String>()
    let observation = cache.observe(dune) { [cache, herbert] _ in
      cache.performBatchUpdates {
        $0.insert(herbert)
      } completion: {
        order.append("completion")
      }
      if order.count == 0 { order.append("observer") }
    }
    cache.insert(Book(id: "dune", title: "Dune"))
    #expect(order.all == ["observer", "completion"])
    observation.cancel()
  }

  @Test("P42 reads in the action see the batch's own changes, merged with what is stored")
  func readsItsOwnWrites() {
    cache.insert(herbert)
    cache.insert(dune)
    cache.performBatchUpdates { batch in
      #expect(batch.value(Book.self, id: "dune") == dune)
      batch.insert(dune("new"))
      #expect(batch.value(Book.self, id: "dune") == dune("new"))
      batch.insert(Author(id: "herbert", born: 1920))
      #expect(batch.value(Author.self, id: "herbert") == Author(id: "herbert", name: "Frank Herbert", born: 1920))
      batch.insert(Author(id: "herbert", name: "Frank"))
      #expect(batch.value(Author.self, id: "herbert") == Author(id: "herbert", name: "Frank", born: 1920))
      batch.remove(Author.self, id: "herbert")
      #expect(batch.value(Author.self, id: "herbert") == nil)
      batch.insert(Author(id: "herbert", born: 1))
      #expect(batch.value(Author.self, id: "herbert") == Author(id: "herbert", born: 1))
    }
    #expect(cache.value(Author.self, id: "herbert") == Author(id: "herbert", born: 1))
  }

  @Test("P43 relations of models that were stored in a batch call their observers afterwards")
  func registersRelations() {
    cache.insert(Book(id: "dune", title: "Dune", author: Related(id: "nobody")))
    let calls = Calls<Book?>()
    let observation = cache.observe(dune) { calls.append($0) }
    cache.performBatchUpdates { $0.insert(dune) }
    #expect(calls.take() == [dune])
    cache.insert(herbert)
    #expect(calls.take() == [dune])
    cache.insert(Author(id: "nobody"))
    #expect(calls.take().isEmpty)
    observation.cancel()
  }

  @Test("P44 what others store meanwhile stays, but for models of the batch that do not merge")
  func outsideWrites() {
    cache.insert(herbert)
    cache.insert(dune)
    let changes = cache.performBatchUpdates { batch in
      batch.insert(dune("batch"))
      batch.insert(Author(id: "herbert", born: 1920))
      cache.insert(dune("outside"))
      cache.insert(Author(id: "herbert", name: "F. Herbert"))
      cache.insert(Book(id: "emma", title: "Emma"))
    }
    #expect(cache.value(Book.self, id: "dune") == dune("batch"))
    #expect(cache.value(Author.self, id: "herbert") == Author(id: "herbert", name: "F. Herbert", born: 1920))
    #expect(cache.value(Book.self, id: "emma") != nil)
    #expect(changes.first?.old(Book.self) == dune("outside"))
  }

  @Test("P44 merges of a batch lose nothing while other threads merge")
  func concurrentMerges() async {
    struct Sum: Identifiable, Mergeable {
      let id: Int
      var total = 1

      func merged(with new: Sum) -> Sum { Sum(id: id, total: total + new.total) }
    }
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<4 {
        group.addTask {
          for _ in 0..<50 {
            cache.performBatchUpdates { batch in
              for id in 0..<4 {
                batch.insert(Sum(id: id))
                batch.insert(Sum(id: id))
              }
            }
            cache.insert(Sum(id: 0))
          }
        }
      }
    }
    #expect((0..<4).map { cache.value(Sum.self, id: $0)?.total } == [600, 400, 400, 400])
  }

  @Test("P45 an empty batch calls nobody and still completes")
  func empty() {
    let calls = Calls<String>()
    let observations = (
      cache.observe(dune) { _ in calls.append("observer") }, cache.observeChanges { _ in calls.append("listener") }
    )
    let changes = cache.performBatchUpdates { _ in
    } completion: {
      calls.append("completion")
    }
    #expect(changes.isEmpty)
    cache.performBatchUpdates { batch in
      batch.insert(dune)
      batch.remove(Book.self, id: "dune")
    }
    #expect(calls.all == ["completion"])
    withExtendedLifetime(observations) {}
  }

  @Test("P46 a view kept after the action changes nothing")
  func viewEnds() {
    let kept = Mutex<ModelBatch?>(nil)
    cache.performBatchUpdates { batch in kept.withLock { $0 = batch } }
    let view = kept.withLock { $0 }
    view?.insert(dune)
    view?.remove(Book.self, id: "dune")
    #expect(cache.count == 0)
    #expect(view?.undo() == false)
    cache.insert(herbert)
    #expect(view?.value(Author.self, id: "herbert") == herbert)
    #expect(view?.value(Book.self, id: "dune") == nil)
  }

  @Test("an action that throws changes nothing and calls nobody")
  func throwing() {
    struct Refused: Error {}
    let calls = Calls<Book?>()
    let observation = cache.observe(dune) { calls.append($0) }
    #expect(throws: Refused.self) {
      try cache.performBatchUpdates { batch in
        batch.insert(dune)
        throw Refused()
      } completion: {
        Issue.record("the batch did not complete")
      }
    }
    #expect(cache.count == 0 && calls.all.isEmpty)
    observation.cancel()
  }

  @Test("changes of a batch can be looked at and undone, one by one and to a savepoint")
  func undoes() {
    cache.insert(herbert)
    cache.performBatchUpdates { batch in
      #expect(batch.undo() == false)
      batch.insert(dune)
      let savepoint = batch.savepoint
      batch.insert(dune("second"))
      batch.insert(Author(id: "herbert", born: 1920))
      batch.remove(Author.self, id: "herbert")
      #expect(batch.changes.map(\.kind) == [.inserted, .removed(.removed)])
      #expect(batch.undo())
      #expect(batch.value(Author.self, id: "herbert")?.born == 1920)
      #expect(batch.changes.last?.new(Author.self)?.name == "Frank Herbert")
      batch.undo(to: savepoint)
      #expect(batch.value(Book.self, id: "dune") == dune)
      #expect(batch.value(Author.self, id: "herbert") == herbert)
      #expect(batch.changes.map(\.key) == [ModelKey(of: dune)])
    }
    #expect(cache.value(Book.self, id: "dune") == dune)
    #expect(cache.value(Author.self, id: "herbert") == herbert)
  }

  @Test("a batch removes everything but what it stores afterwards, as one change that can be undone")
  func removesAll() {
    cache.insert(herbert)
    cache.insert(dune)
    let calls = Calls<Author?>()
    let observation = cache.observe(herbert) { calls.append($0) }
    let changes = cache.performBatchUpdates { batch in
      batch.insert(Shelf(id: 1, books: []))
      batch.removeAll()
      #expect(batch.value(Shelf.self, id: 1) == nil)
      #expect(batch.value(Book.self, id: "dune") == nil)
      #expect(batch.undo())
      #expect(batch.value(Book.self, id: "dune") == dune)
      batch.removeAll()
      batch.insert(Author(id: "herbert", born: 1920))
      #expect(batch.value(Author.self, id: "herbert") == Author(id: "herbert", born: 1920))
      #expect(batch.changes.map(\.kind) == [.removed(.cleared), .updated])
      #expect(cache.value(Book.self, id: "dune") == dune)
    }
    #expect(changes.map(\.kind) == [.removed(.cleared), .updated])
    #expect(changes.map(\.key) == [ModelKey(of: dune), ModelKey(of: herbert)])
    #expect(calls.all == [Author(id: "herbert", born: 1920)])
    #expect(cache.count == 1)
    observation.cancel()
  }

  @Test("P38 batches of several threads are committed whole, one after the other")
  func atomic() async {
    struct Half: Identifiable {
      let id: Int
      let number: Int
    }
    let calls = Calls<Int>()
    let done = Gate()
    let observations = (0..<2).map { id in cache.observe(Half.self, id: id) { calls.append($0?.number ?? -1) } }
    await withTaskGroup(of: Void.self) { group in
      for thread in 0..<2 {
        group.addTask {
          for number in 0..<100 {
            cache.performBatchUpdates { batch in
              for id in 0..<2 { batch.insert(Half(id: id, number: number * 2 + thread)) }
            }
          }
        }
      }
    }
    cache.performBatchUpdates { _ in
    } completion: {
      done.open()
    }
    try? await done.pass()
    let all = calls.all
    #expect(all.count == 400)
    #expect(stride(from: 0, to: all.count - 1, by: 2).allSatisfy { all[$0] == all[$0 + 1] })
    #expect(cache.value(Half.self, id: 0)?.number == cache.value(Half.self, id: 1)?.number)
    for observation in observations { observation.cancel() }
  }
}

import CacheEngine
import CacheEngineModels
import Observation
import Testing

/// Models as views observe them.
@MainActor @Suite(.timeLimit(.minutes(10)))
struct ObservedModelTests {
  private let cache = ModelCache()
  private let herbert = Author(id: "herbert", name: "Frank Herbert")
  private let dune = Book(id: "dune", title: "Dune", author: Related(id: "herbert"))

  /// Waits until what was read has changed, as a view does before it draws anew.
  private func change<Value>(of read: () -> Value, after act: @escaping @Sendable () -> Void) async {
    await withCheckedContinuation { continuation in
      _ = withObservationTracking(read) { continuation.resume() }
      // On a thread of its own, as a download would.
      Task.detached { act() }
    }
  }

  @Test("Whoever reads a model hears of its change, of the change of what it points to, and of its end")
  func changes() async {
    let (cache, dune, herbert) = (cache, dune, herbert)
    let book = ObservedModel(Book.self, id: "dune", in: cache)
    #expect(book.value == nil)
    await change(of: { book.value }) { cache.insert(dune) }
    #expect(book.value == dune)
    await change(of: { book.value }) { cache.insert(herbert) }
    #expect(book.value == dune)
    await change(of: { book.value }) { _ = cache.remove(Book.self, id: "dune") }
    #expect(book.value == nil)
  }

  @Test("It is observed while somebody holds it, and let go with it")
  func ends() async {
    cache.insert(dune)
    var book: ObservedModel<Book>? = ObservedModel(id: "dune", in: cache)
    weak var held: ObservedModel<Book>?
    held = book
    cache.pruneUnobservedValues()
    #expect(book?.value == dune)
    book = nil
    #expect(held == nil)
    cache.pruneUnobservedValues()
    #expect(cache.value(Book.self, id: "dune") == nil)
  }
}

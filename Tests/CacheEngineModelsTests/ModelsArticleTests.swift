import CacheEngine
import CacheEngineModels
import Foundation
import TestSupport
import Testing

/// The code of the article about models, compiled and run.
@Suite struct ModelsArticleTests {
  private struct Screen: Sendable {
    let shown = Calls<String>()
    func show(_ title: String, _ detail: String) { shown.append("\(title): \(detail)") }
  }

  @Test("the running example of the article does what the article says")
  func example() async throws {
    let screen = Screen()
    let folder = DiskFolder()
    let directory = folder.path
    // Article
    struct Author: Identifiable, Codable, Mergeable {
      let id: String
      var name: String?
      var biography: String?

      func merged(with new: Author) -> Author {
        Author(id: id, name: new.name ?? name, biography: new.biography ?? biography)
      }
    }

    struct Book: Identifiable, Codable, HasCachedRelationships {
      let id: String
      var title: String
      var author: Related<Author>
    }
    // end
    // Article
    let cache = ModelCache()
    cache.insert(Author(id: "herbert", name: "Frank Herbert"))
    cache.insert(Book(id: "dune", title: "Dune", author: Related(id: "herbert")))

    let dune = cache.value(Book.self, id: "dune")
    let author = dune?.author.value(in: cache)  // Frank Herbert
    // end
    #expect(author?.name == "Frank Herbert")
    // Article
    let herbert = cache.cached(Author.self, id: "herbert")
    let observation = cache.observe(Book.self, id: "dune") { book in
      screen.show(book?.title ?? "gone", herbert.value?.biography ?? "")
    }
    cache.insert(Author(id: "herbert", biography: "Born in Tacoma."))  // calls the closure with the same book
    // end
    #expect(screen.shown.take() == ["Dune: Born in Tacoma."])
    #expect(herbert.value?.name == "Frank Herbert")
    // Article
    let updates = cache.updates(of: Book.self, id: "dune", bufferingPolicy: .bufferingNewest(1))
    let follower = Task {
      for await book in updates { screen.show(book?.title ?? "gone", herbert.value?.biography ?? "") }
    }
    // end
    follower.cancel()
    await follower.value
    // Article
    cache.performBatchUpdates { batch in
      batch.insert(Author(id: "austen", name: "Jane Austen"))
      let savepoint = batch.savepoint
      batch.insert(Book(id: "emma", title: "Ema", author: Related(id: "austen")))
      batch.undo(to: savepoint)
      batch.insert(Book(id: "emma", title: "Emma", author: Related(id: "austen")))
    } completion: {
      screen.show("two more", "")
    }
    // end
    #expect(screen.shown.take() == ["two more: "])
    #expect(cache.value(Book.self, id: "emma")?.title == "Emma")
    // Article
    cache.remove(Author.self, id: "austen", cascade: .dependents)  // with everything that points there
    cache.pruneUnobservedValues()  // "dune" is observed, so its author stays as well
    // end
    #expect(cache.count == 2 && herbert.value != nil)
    observation.cancel()
    // Article
    let bounded = ModelCache(countLimit: 1_000, expiry: .after(.seconds(3_600)))
    bounded.insert(Author(id: "herbert"), expiry: .after(.seconds(60)))
    // end
    #expect(bounded.usage.countLimit == 1_000 && bounded.count == 1)
    // Article
    let listening = MemoryWarningSubscription { [weak cache] in cache?.pruneUnobservedValues() }
    // end
    listening.cancel()
    // Article
    let disk = try DiskCacheLevel<String, Data>(directory: directory, capacity: 64 << 20)
    let archive = ModelArchive(
      of: cache, in: disk, models: [.json(Author.self, as: "author"), .json(Book.self, as: "book")])

    try await archive.restore()  // everything that was saved, relations included
    cache.cached(Book.self, id: "dune").value?.title = "Dune, second edition"
    try await archive.save()  // that one book
    // end
    #expect(archive.isSaved)
    let again = ModelCache()
    try await disk.close()
    let reopened = try DiskCacheLevel<String, Data>(directory: directory, capacity: 64 << 20)
    try await ModelArchive(
      of: again, in: reopened, models: [.json(Author.self, as: "author"), .json(Book.self, as: "book")]
    ).restore()
    #expect(again.value(Book.self, id: "dune")?.title == "Dune, second edition")
    try await reopened.close()
  }
}

import CacheEngine
import CacheEngineModels
import Floor

struct Author: Identifiable, Sendable {
  let id: Int
  var name: String
}

struct Book: Identifiable, Sendable, HasCachedRelationships {
  let id: Int
  var author: Related<Author>

  var relatedCacheKeys: [ModelKey] { [author.cacheKey] }
}

/// Authors of ten books each; the first book of every author is observed.
private struct Library {
  let authors: Int

  init(models: Int) { authors = models / 11 }

  func fill(_ cache: ModelCache) -> [ModelObservation] {
    for author in 0..<authors {
      cache.insert(Author(id: author, name: "author \(author)"))
      for book in author * 10..<author * 10 + 10 { cache.insert(Book(id: book, author: Related(id: author))) }
    }
    return (0..<authors).map { cache.observe(Book.self, id: $0 * 10) { blackHole($0) } }
  }

  func fill(_ scanned: ScannedModels) {
    for author in 0..<authors {
      scanned.set("author \(author)", forKey: "author/\(author)")
      for book in author * 10..<author * 10 + 10 {
        scanned.set("book \(book)", forKey: "book/\(book)", relations: ["author/\(author)"])
      }
    }
    // Only now: with an observer every store is a search.
    for author in 0..<authors { scanned.observe("book/\(author * 10)") { blackHole($0) } }
  }
}

/// What one change costs that concerns eleven models, however many there are.
func modelChange(models: Int, rounds: Int) async throws -> Comparison {
  let library = Library(models: models)
  let floor = LockedDictionary<Int, Author>()
  let silent = ModelCache()
  let cache = ModelCache()
  let observations = library.fill(cache)
  for observation in library.fill(silent) { observation.cancel() }
  var comparison = Comparison(
    title: "store a model that 10 others point to, \(models) models", operations: 20_000, rounds: rounds)
  comparison.add("Dictionary behind Mutex (tells nobody)") {
    for index in 0..<$0 { floor.set(Author(id: index % library.authors, name: "new"), forKey: index % library.authors) }
  }
  comparison.add("ModelCache.value") {
    for index in 0..<$0 { blackHole(cache.value(Author.self, id: index % library.authors)) }
  }
  comparison.add("ModelCache.insert, nobody observes") {
    for index in 0..<$0 { silent.insert(Author(id: index % library.authors, name: "new")) }
  }
  comparison.add("ModelCache.insert, 10 dependents, one of them observed") {
    for index in 0..<$0 { cache.insert(Author(id: index % library.authors, name: "new")) }
    withExtendedLifetime(observations) {}
  }
  return comparison
}

/// The same change beside a store that looks for dependents in every model.
func modelScan(models: Int, rounds: Int) async throws -> Comparison {
  let library = Library(models: models)
  let cache = ModelCache()
  let scanned = ScannedModels()
  let observations = library.fill(cache)
  library.fill(scanned)
  var comparison = Comparison(
    title: "store a model that 10 others point to, \(models) models, against full scans", operations: 20,
    rounds: rounds)
  comparison.add("ModelCache.insert") {
    for index in 0..<$0 { cache.insert(Author(id: index * 97 % library.authors, name: "new")) }
    withExtendedLifetime(observations) {}
  }
  comparison.add("Dictionary searched once for each step of relations") {
    for index in 0..<$0 { scanned.set("new", forKey: "author/\(index * 97 % library.authors)") }
  }
  return comparison
}

import CacheEngine
import CacheEngineModels
import Synchronization

/// The models that the tests store.
struct Author: Identifiable, Hashable, Codable, Sendable, Mergeable {
  let id: String
  var name: String?
  var born: Int?

  func merged(with new: Author) -> Author {
    Author(id: id, name: new.name ?? name, born: new.born ?? born)
  }
}

struct Book: Identifiable, Hashable, Codable, Sendable, HasCachedRelationships {
  let id: String
  var title: String
  var author: Related<Author>?
  var sequels: [Related<Book>] = []
}

struct Shelf: Identifiable, Hashable, Codable, Sendable, HasCachedRelationships {
  let id: Int
  var books: [Related<Book>]

  var relatedCacheKeys: [ModelKey] { books.map(\.cacheKey) }
}

/// Points to its own type.
struct Person: Identifiable {
  let id: Int
  var friend: Related<Person>
}

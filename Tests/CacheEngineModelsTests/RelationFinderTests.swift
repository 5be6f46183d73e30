import CacheEngine
import CacheEngineModels
import Testing

@Suite struct RelationFinderTests {
  private class Base: @unchecked Sendable {  // never changes
    let author: Related<Author>? = Related(id: "base")
  }

  private final class Derived: Base, Identifiable, HasCachedRelationships, @unchecked Sendable {  // never changes
    let id = 1
    let editor = Related<Author>(id: "derived")
  }

  @Test("a relation is printed as the model that it points to")
  func printed() {
    let book = Book(id: "dune", title: "Dune", author: Related(id: "herbert"), sequels: [Related(id: "messiah")])
    #expect("\(book.sequels)" == "[Book(messiah)]")
    #expect("\(book)".contains("author: Optional(Author(herbert))"))
  }

  @Test("relations are found in optionals, collections, enumerations and nested structures")
  func findsNested() {
    enum Source {
      case original
      case translation(of: Related<Book>, by: [Related<Author>])
    }
    struct Credits {
      var cover: Related<Author>?
      var byRole: [String: Related<Author>]
    }
    struct Edition: Identifiable, HasCachedRelationships {
      let id = 1
      var pages = 412
      var source = Source.translation(of: Related(id: "dune"), by: [Related(id: "hahn"), Related(id: "schmidt")])
      var credits: Credits? = Credits(cover: nil, byRole: ["maps": Related(id: "dorothy")])
      var reviews: Set<Related<Book>> = [Related(id: "review")]
    }
    let expected: Set<ModelKey> = [
      ModelKey(Book.self, id: "dune"), ModelKey(Author.self, id: "hahn"), ModelKey(Author.self, id: "schmidt"),
      ModelKey(Author.self, id: "dorothy"), ModelKey(Book.self, id: "review"),
    ]
    let found = Edition().relatedCacheKeys
    #expect(Set(found) == expected)
    #expect(found.count == expected.count)
    var original = Edition()
    original.source = .original
    original.reviews = []
    #expect(original.relatedCacheKeys == [ModelKey(Author.self, id: "dorothy")])
  }

  @Test("the properties of an object are searched with those it inherits")
  func findsInherited() {
    #expect(
      Set(Derived().relatedCacheKeys) == [ModelKey(Author.self, id: "base"), ModelKey(Author.self, id: "derived")])
  }
}

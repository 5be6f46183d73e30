import CacheEngine
import CacheEngineCashier
import CacheEngineTesting
import Foundation
import Testing

/// The code of the article about named caches, compiled and run.
@Suite struct CashierArticleTests {
  /// What the article calls `Cashier`: the same, in a directory of the test and on its clock.
  private struct Opener: Sendable {
    let bench = CashierBench()

    func open(
      _ id: String, persistsCacheAcrossVersions: Bool? = nil, appVersion: String? = nil
    ) async throws -> CacheEngineCashier.Cashier {
      try await bench.open(id, persistsCacheAcrossVersions: persistsCacheAcrossVersions, version: appVersion)
    }
  }

  @Test("the running example of the article does what the article says")
  func example() async throws {
    let Cashier = Opener()
    let clock = Cashier.bench.clock
    let bytes = Data([1, 2, 3])
    struct Reader: Sendable {
      var name: String
    }
    // Article
    let news = try await Cashier.open("news", appVersion: "1.9")
    try await news.changeSettings { $0.lifespan = .seconds(600) }
    // end
    // Article
    struct Article: Codable, Equatable {
      let title: String
      let words: Int
    }

    try await news.set(Article(title: "Rain until noon", words: 120), forKey: "front")
    try await news.set("In the second paragraph", forKey: "place")
    try await news.set(CashierMedia(bytes, type: "image/png", metadata: ["scale": "2"]), forKey: "picture")

    let front = try await news.value(Article.self, forKey: "front")
    let place = try await news.string(forKey: "place")
    let picture = try await news.media(forKey: "picture")
    let mistaken = try await news.string(forKey: "front")  // nil: there is something, but no text
    // end
    #expect(front == Article(title: "Rain until noon", words: 120))
    #expect(place == "In the second paragraph")
    #expect(picture?.bytes == bytes)
    #expect(mistaken == nil)
    // Article
    try await news.setInMemory(Reader(name: "Ada"), forKey: "reader")
    let reader = try await news.valueInMemory(Reader.self, forKey: "reader")
    // end
    #expect(reader?.name == "Ada")
    // Article
    clock.advance(by: .seconds(600))
    let old = try await news.entry(Article.self, forKey: "front")  // the article, and isValid is false

    try await news.refreshValidation(forKey: "front")  // the server says that it has not changed
    let isValid = try await news.isValid(forKey: "front")  // true
    // end
    #expect(old?.value == front)
    #expect(old?.isValid == false)
    #expect(isValid)
    // Article
    try await news.changeSettings { $0.returnsExpiredData = false }
    let place2 = try await news.string(forKey: "place")  // nil: it was not refreshed
    // end
    #expect(place2 == nil)
    // Article
    try await news.close()
    let upgraded = try await Cashier.open("news", persistsCacheAcrossVersions: true, appVersion: "1.10")
    let kept = try await upgraded.value(Article.self, forKey: "front")  // still there
    // end
    #expect(kept == front)
    let server = ScriptedLevel<String, Article> { key in .hit(Entry(Article(title: key, words: 1))) }
    // Article
    let articles = upgraded.level(of: Article.self).compose(server)
    let today = try await articles.get("today")  // from the server, and in the cache from now on
    // end
    #expect(today == Article(title: "today", words: 1))
    #expect(try await upgraded.value(Article.self, forKey: "today") == today)
  }
}

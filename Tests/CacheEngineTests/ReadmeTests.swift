import CacheEngine
import CacheEngineCashier
import CacheEngineModels
import CacheEngineNetwork
import CacheEngineStorage
import CacheEngineTesting
import Foundation
import TestSupport
import Testing

/// The Swift code of the README, of the pages that it led to and of the products' first pages, compiled and run.
///
/// Each function holds a block between two marker lines; `PagesTests` compares them.
@Suite struct ReadmeTests {
  private func temporaryDirectory() -> String {
    FileManager.default.temporaryDirectory.appending(path: "readme-\(UUID().uuidString)").path()
  }

  @Test("the stack of the README stores in every level and reads from the top")
  func stack() async throws {
    let directory = temporaryDirectory()
    defer { try? FileManager.default.removeItem(atPath: directory) }
    let data = Data("hello".utf8)
    // README
    let memory = MemoryCacheLevel<String, Data>(capacity: 8 << 20, expiry: .after(.seconds(60)))
    let disk = try DiskCacheLevel<String, Data>(directory: directory, capacity: 64 << 20)
    let network = try NetworkFetcher<String>(template: "https://example.org/photos/{key}").pooled()
    let photos = memory.compose(disk).compose(network)

    try await photos.set(data, forKey: "42.jpg")
    let photo = try await photos.get("42.jpg")  // from memory; nil would be a miss
    // end
    #expect(photo == data)
    try await disk.close()
  }

  @Test("a level of one's own is four methods")
  func customLevel() async throws {
    // README
    struct Uppercase: Fetcher {
      func get(_ key: String) async throws -> String? { key.uppercased() }
    }
    let names = MemoryCacheLevel<String, String>().compose(Uppercase())
    let name = try await names.require("ada")  // "ADA", and in memory from now on
    // end
    #expect(name == "ADA")
  }

  private struct User: Codable, Sendable, Equatable {
    var name: String
  }

  @Test("a stack that withstands a bad day reads JSON, and goes on with old values when its source fails")
  func resilientStack() async throws {
    let api = ScriptedLevel<String, Data> { key in .hit(Entry(Data("{\"name\":\"\(key)\"}".utf8))) }
    // README
    let source =
      api
      .capRequests(4)
      .timeout(after: .seconds(2))
      .retry(RetryPolicy(attempts: 3, initialDelay: .milliseconds(100)))
      .circuitBreaker(failures: 5, reset: .seconds(30))
      .negativeCaching(for: .seconds(5)) { ($0 as? CacheError)?.status == 404 }
      .pooled()
    let users = MemoryCacheLevel<String, Data>(expiry: .after(.seconds(60)), keepsExpired: .seconds(3_600))
      .compose(source, revalidating: RevalidationPolicy(whileRevalidate: .seconds(60), ifError: .seconds(3_600)))
      .transformValues(JSONTransformer<User>())
    let user = try await users.get("ada")
    // end
    #expect(user == User(name: "ada"))
    #expect(try await users.get("ada") == user)
    #expect(api.calls.count == 1)
  }

  @Test("a value has a lifetime of its own, and is removed by its tags, in a whole stack")
  func ownTerms() async throws {
    let clock = ManualClock()
    let upper = MemoryCacheLevel<String, String>(clock: clock)
    let lower = MemoryCacheLevel<String, String>(expiry: .after(.seconds(60)), clock: clock)
    let pages = upper.compose(lower)
    let (front, weather) = ("front", "weather")
    // README
    try await pages.set(front, forKey: "/", expiry: .after(.seconds(5)))
    try await pages.set(weather, forKey: "/weather", tags: ["paris", "today"], expiry: .after(.seconds(600)))
    let count = try await pages.removeAll(tagged: "today")  // 2: the entry of each level
    // end
    #expect(count == 2)
    #expect(try await pages.get("/weather") == nil)
    #expect(try await pages.get("/") == "front")
    clock.advance(by: .seconds(5))
    #expect(try await pages.get("/") == nil)
  }

  @Test("an observed stack counts its hits")
  func observed() async throws {
    let source = ScriptedLevel<String, Int> { key in .hit(Entry(key.count)) }
    // README
    let statistics = CacheStatistics()
    let memory = MemoryCacheLevel<String, Int>(removalListener: statistics.removals(from: "memory"))
    let cache = memory.observed(as: "memory", by: statistics)
      .compose(source.observed(as: "source", by: statistics))
      .traced(by: statistics)

    for _ in 0..<4 { _ = try await cache.get("abc") }
    let served = statistics.snapshot.served  // ["memory": 3, "source": 1]
    let counts = memory.counts  // what the level counts itself, observed or not: 3 hits, 1 miss, 1 value stored
    // end
    #expect(served == ["memory": 3, "source": 1])
    #expect(counts == MemoryCounts(hits: 3, misses: 1, stored: 1))
  }

  @Test("tests turn the clock instead of waiting")
  func clock() async throws {
    // README
    let clock = ManualClock()
    let level = MemoryCacheLevel<String, Int>(expiry: .after(.seconds(60)), clock: clock)
    try await level.set(1, forKey: "avatar")
    clock.advance(by: .seconds(60))
    let answer = try await level.lookup("avatar")  // .miss(.expired)
    // end
    #expect(answer.missReason == .expired)
  }

  @Test("a scripted source counts what it is asked")
  func loads() async throws {
    let clock = ManualClock()
    // README
    let source = ScriptedLevel<String, Int> { key in .hit(Entry(key.count)) }
    let lengths = MemoryCacheLevel<String, Int>(expiry: .after(.seconds(60)), clock: clock).compose(source)
    for _ in 0..<2 { _ = try await lengths.get("avatar") }
    let loads = source.count(of: .get("avatar"))  // 1
    // end
    #expect(loads == 1)
    clock.advance(by: .seconds(60))
    #expect(try await lengths.get("avatar") == 6)
    #expect(source.count(of: .get("avatar")) == 2)
  }

  @Test("a level of one's own is run through the contract")
  func contract() async throws {
    typealias MyLevel = MemoryCacheLevel<String, Int>
    // README
    let contract = LevelContract("my level", values: [1, 2]) { LevelUnderTest(MyLevel()) }
    let violations = await contract.violations()  // []
    // end
    #expect(violations == [])
  }

  @Test("models of the README are stored once, and observers are told through relations")
  func models() {
    let shown = Calls<String>()
    let show: @Sendable (String) -> Void = { shown.append($0) }
    // README
    struct Author: Identifiable {
      let id: String
      var name: String
    }
    struct Book: Identifiable, HasCachedRelationships {
      let id: String
      var title: String
      var author: Related<Author>
    }
    let cache = ModelCache()
    cache.insert(Book(id: "dune", title: "Dune", author: Related(id: "herbert")))

    let observation = cache.observe(Book.self, id: "dune") { book in
      show(book?.title ?? "gone")
    }
    cache.insert(Author(id: "herbert", name: "Frank Herbert"))  // shows "Dune": its author has changed
    cache.remove(Book.self, id: "dune")  // shows "gone"
    // end
    #expect(shown.all == ["Dune", "gone"])
    observation.cancel()
  }

  @Test("a cache by name keeps values of every type, and says how old they are")
  func cashier() async throws {
    let directory = temporaryDirectory()
    defer { try? FileManager.default.removeItem(atPath: directory) }
    let photo = Data([1, 2, 3])
    // README
    let news = try await Cashier.open("news", in: .durable(in: directory))  // the same cache for everyone
    try await news.changeSettings { $0.lifespan = .seconds(600) }  // also for what is stored already

    try await news.set(["Rain until noon", "Sun"], forKey: "headlines")
    try await news.set(CashierMedia(photo, type: "image/png"), forKey: "photo")

    let headlines = try await news.entry([String].self, forKey: "headlines")  // the value, isValid, lastUpdate
    try await news.refreshValidation(forKey: "headlines")  // the server says that they have not changed
    let text = try await news.string(forKey: "headlines")  // nil: there is something, but no text
    // end
    #expect(headlines?.value == ["Rain until noon", "Sun"])
    #expect(headlines?.isValid == true)
    #expect(text == nil)
    try await news.close()
  }

  @Test("a storage of the README keeps users, is watched, and is read by type")
  func storage() async throws {
    let directory = temporaryDirectory()
    defer { try? FileManager.default.removeItem(atPath: directory) }
    let shown = Calls<String>()
    let show: @Sendable (String) -> Void = { shown.append($0) }
    final class Screen: Sendable {}
    let screen = Screen()
    let ada = User(name: "Ada")
    // README
    let users = try Storage(
      diskConfig: DiskConfig(name: "users", expiry: .seconds(86_400), maxSize: 64 << 20, directory: directory),
      memoryConfig: MemoryConfig(expiry: .seconds(600), countLimit: 500),
      transformer: TransformerFactory.forCodable(ofType: User.self))

    users.addObserver(screen, forKey: "ada") { _, change in
      if case .edit(_, let after?) = change { show(after.name) }
    }
    try users.setObject(ada, forKey: "ada", expiry: .seconds(60))
    let blocking = try users.object(forKey: "ada")  // nil would be a miss
    let awaited = try await users.async.object(forKey: "ada")
    users.async.object(forKey: "ada") { result in show("\(result)") }

    let counts = users.transform(to: Int.self)  // the same store, for values of another type
    try counts.setObject(1, forKey: "number of users")
    // end
    #expect(blocking == ada)
    #expect(awaited == ada)
    #expect(shown.all.first == "Ada")
    #expect(try counts.object(forKey: "number of users") == 1)
    try await users.async.close()
  }
}

import CacheEngine
import CacheEngineHitRatio
import CacheEngineNetwork
import CacheEngineProviders
import CacheEngineTesting
import CacheEngineTransformers
import Foundation
import Synchronization
import Testing

/// Code of the articles and of the products' first pages, compiled and, where no network is needed, run; `PagesTests` finds it here.
struct PageSnippetTests {
  @Test("a level with a limit of a hundred pages lets go of the one that was used least recently")
  func policies() async throws {
    struct Page: Sendable {}
    // Article
    let memory = MemoryCacheLevel<String, Data>(capacity: 8 << 20)  // adaptive
    let pages = MemoryCacheLevel<Int, Page>(countLimit: 100, eviction: .lru)  // strictly by use
    // end
    try await memory.set(Data([1]), forKey: "a")
    #expect(memory.peek("a") == Data([1]))
    for number in 0...100 { try await pages.set(Page(), forKey: number) }
    #expect(pages.peek(0) == nil)
    #expect(pages.peek(1) != nil)
  }

  @Test("sessions that nobody reads are forgotten")
  func idle() async throws {
    struct Session: Sendable {}
    // Article
    let sessions = MemoryCacheLevel<String, Session>(expiry: .after(.seconds(28_800)), timeToIdle: .seconds(900))
    // end
    #expect(sessions.timeToIdle == .seconds(900))
  }

  @Test("a memory level is written without waiting")
  func atOnce() {
    func store(_ value: Int, in memory: MemoryCacheLevel<String, Int>, counters: MemoryCacheLevel<String, Int>) -> Int?
    {
      // Article
      memory["a"] = value  // at once: no await, no error
      let value = memory["a"]
      counters.update("visits") { ($0 ?? 0) + 1 }  // with no write in between
      // end
      return value
    }
    let (memory, counters) = (MemoryCacheLevel<String, Int>(), MemoryCacheLevel<String, Int>())
    #expect(store(1, in: memory, counters: counters) == 1)
    #expect(store(2, in: memory, counters: counters) == 2)
    #expect(counters["visits"] == 2)
  }

  @Test("a process begins with what the one before it held")
  func warm() async throws {
    let path = FileManager.default.temporaryDirectory.appending(path: "snapshot-\(UUID().uuidString)").path()
    defer { try? FileManager.default.removeItem(atPath: path) }
    let memory = MemoryCacheLevel<String, Data>()
    memory["a"] = Data([1])
    // Article
    try await memory.snapshot(to: path, keys: .utf8, values: .data)  // at the end of one process
    try await memory.restore(from: path, keys: .utf8, values: .data)  // at the start of the next
    // end
    let next = MemoryCacheLevel<String, Data>()
    try await next.restore(from: path, keys: .utf8, values: .data)
    #expect(next["a"] == Data([1]))
  }

  @Test("a level of which no more is known than that it is one is composed", arguments: [false, true])
  func existential(isPersistent: Bool) async throws {
    let path = FileManager.default.temporaryDirectory.appending(path: "any-\(UUID().uuidString)").path()
    defer { try? FileManager.default.removeItem(atPath: path) }
    let disk = try DiskCacheLevel<String, Data>(directory: path, capacity: 4 << 20)
    let memory = MemoryCacheLevel<String, Data>()
    let source = BasicFetcher<String, Data> { Data($0.utf8) }
    // Article
    let chosen: any CacheLevel<String, Data> = isPersistent ? disk : memory
    let cache = chosen.normalize().compose(source)
    // end
    #expect(try await cache.get("a") == Data("a".utf8))
    #expect(try await chosen.get("a") == Data("a".utf8))
    #expect(memory.contains("a") == !isPersistent)
    try await disk.close()
  }

  @Test("an observer tells what another policy would bring, once it has seen enough")
  func whatIf() async throws {
    // Article
    let whatIf = HitRatioObserver(levels: [.init(name: "memory", capacity: 8 << 20)])
    let memory = MemoryCacheLevel<String, Data>(capacity: 8 << 20).observed(as: "memory", by: whatIf)
    if let change = whatIf.reports.first?.cheapestImprovement {
      print("use \(change.eviction) with \(change.capacity)")
    }
    // end
    try await memory.set(Data([1]), forKey: "a")
    #expect(try await memory.get("a") == Data([1]))
    #expect(whatIf.reports.map(\.level.name) == ["memory"])
  }

  @Test("a composition of transformers unpacks and decodes")
  func transformers() async throws {
    struct User: Codable, Sendable, Equatable {
      var name: String
    }
    let gzippedJSON = try await CompressionTransformer(.gzip).inverseTransform(Data("{\"name\":\"ada\"}".utf8))
    // Article
    let users = CompressionTransformer(.gzip).compose(JSONTransformer<User>())
    let user = try await users.transform(gzippedJSON)
    // end
    #expect(user == User(name: "ada"))
  }

  @Test("a template makes a source that takes keys")
  func network() throws {
    // Article
    let network = try NetworkFetcher<String>(template: "https://example.org/photos/{key}").pooled()
    // end
    #expect(type(of: network) == PooledLevel<NetworkFetcher<String>>.self)
  }

  @Test("a disk level is looked into while it is open, and what is written later is seen after a refresh")
  func inspection() async throws {
    let path = FileManager.default.temporaryDirectory.appending(path: "page-\(UUID().uuidString)").path()
    defer { try? FileManager.default.removeItem(atPath: path) }
    let disk = try DiskCacheLevel<String, Data>(directory: path, capacity: 4 << 20)
    try await disk.set(Data("hello".utf8), forKey: "greeting")
    // Article
    let look = try await DiskCacheInspection.open(path)
    let greeting = try await look.value(forKey: "greeting")
    for try await entry in look.entries() { print(entry.text ?? "(bytes)", entry.size, entry.deadline as Any) }
    try await look.refresh()  // what was written since
    // end
    #expect(greeting == Data("hello".utf8))
    try await disk.set(Data("bye".utf8), forKey: "farewell")
    try await look.refresh()
    #expect(try await look.value(forKey: "farewell") == Data("bye".utf8))
    try await disk.close()
  }

  private struct User: Codable, Sendable, Equatable {
    var name: String
  }

  @Test("a disk level keeps bytes, values in JSON, or whatever it has codings for")
  func disks() async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "page-\(UUID().uuidString)").path()
    defer { try? FileManager.default.removeItem(atPath: folder) }
    // Article
    let pages = try DiskCacheLevel<String, Data>(directory: "\(folder)/pages")
    let users = try DiskCacheLevel<String, User>(jsonIn: "\(folder)/users")
    let scores = try DiskCacheLevel<URL, [Int]>(
      directory: "\(folder)/scores", keyCoding: .url, valueCoding: .propertyList)
    // end
    try await pages.set(Data("front".utf8), forKey: "/")
    try await users.set(User(name: "Ada"), forKey: "ada")
    try await scores.set([3, 1], forKey: URL(filePath: "/a"))
    #expect(try await pages.get("/") == Data("front".utf8))
    #expect(try await users.get("ada") == User(name: "Ada"))
    #expect(try await scores.get(URL(filePath: "/a")) == [3, 1])
    for close in [pages.close, users.close, scores.close] { try await close() }
  }

  @Test("what was read once over a disk is there past its lifetime while the source fails")
  func offline() async throws {
    let directory = FileManager.default.temporaryDirectory.appending(path: "page-\(UUID().uuidString)").path()
    defer { try? FileManager.default.removeItem(atPath: directory) }
    let isDown = Atomic(false)
    let source = ScriptedLevel<String, Data> { key in
      guard !isDown.load(ordering: .relaxed) else { throw CacheError(.simulated, "no network") }
      return .hit(Entry(Data("{\"name\":\"\(key)\"}".utf8)))
    }
    // Article
    let disk = try DiskCacheLevel<String, Data>(
      directory: directory, capacity: 64 << 20, expiry: .after(.seconds(60)), keepsExpired: .seconds(30 * 86_400))
    let articles = disk.compose(source, revalidating: RevalidationPolicy(ifError: .seconds(30 * 86_400)))
      .transformValues(JSONTransformer<User>())
    // end
    #expect(try await articles.get("ada") == User(name: "ada"))
    try await disk.expire("ada")
    isDown.store(true, ordering: .relaxed)
    #expect(try await articles.get("ada") == User(name: "ada"))
    try await disk.close()
  }

  /// Only compiled: it would make a directory among the user's caches and ask the network.
  private func providers(url: URL) async throws -> Data? {
    // Article
    let data = try CacheProvider.dataCache()
    let bytes = try await data.get(url)
    // end
    return bytes
  }
}

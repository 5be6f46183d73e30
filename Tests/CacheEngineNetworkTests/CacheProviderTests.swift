import CacheEngine
@testable import CacheEngineProviders
import CacheEngineTesting
import Foundation
import LoopbackServer
import Synchronization
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10))) final class CacheProviderTests {
  private struct User: Codable, Equatable {
    var name: String
  }

  private let folder = DiskFolder()
  private let server: LoopbackServer
  private let clock = ManualClock()

  init() throws { server = try LoopbackServer() }

  deinit { server.stop() }

  private func configuration(expiry: Expiry = .never) -> CacheProvider.Configuration {
    CacheProvider.Configuration(directory: folder.path, diskCapacity: 4 << 20, expiry: expiry, clock: clock)
  }

  private func data(_ text: String) -> Data { Data(text.utf8) }

  @Test("a directory without a path is refused, and its folders are not looked for at the root")
  func noPath() {
    #expect { try CacheProvider.dataCache(.init(directory: folder.path + "\0")) } throws: {
      ($0 as? CacheError)?.code == .invalidSetting
    }
  }

  @Test("C153 the functions give a new cache each time, on the same disk")
  func newEachTime() async throws {
    let (first, second) = (
      try CacheProvider.dataCache(configuration()), try CacheProvider.dataCache(configuration())
    )
    #expect(first !== second)
    #expect(
      try CacheProvider.JSONCache(of: User.self, configuration())
        !== CacheProvider.JSONCache(of: User.self, configuration()))
    server.setValue(data("hello"), forPath: "/a")
    #expect(try await first.get(server.url("/a")) == data("hello"))
    #expect(second.peek(server.url("/a")) == nil)
    #expect(try await second.get(server.url("/a")) == data("hello"))
    #expect(server.requestCount() == 1)
  }

  @Test("C153 the shared accessors give the same cache, which can be configured until then")
  func sharedOnes() async throws {
    // The only test that touches them: they are the process's own.
    let unusable = CacheProvider.Configuration(directory: "/proc/nothing")
    try CacheProvider.configureShared(unusable)
    #expect(throws: CacheError.self) { try CacheProvider.sharedDataCache }
    try CacheProvider.configureShared(configuration())
    let shared = try CacheProvider.sharedDataCache
    #expect(try CacheProvider.sharedDataCache === shared)
    #expect(try CacheProvider.dataCache(configuration()) !== shared)
    #expect(folder.names == ["data"])
    let users = try CacheProvider.sharedJSONCache(of: User.self)
    #expect(try CacheProvider.sharedJSONCache(of: User.self) === users)
    let lists = try CacheProvider.sharedJSONCache(of: [User].self)
    #expect(try CacheProvider.sharedJSONCache(of: [User].self) === lists, "one for each type")
    let error = #expect(throws: CacheError.self) { try CacheProvider.configureShared(unusable) }
    #expect(error?.code == .tooLate)
    server.setValue(data("shared"), forPath: "/a")
    #expect(try await shared.get(server.url("/a")) == data("shared"))
  }

  @Test("C153 of many who ask for a shared cache at once, all get the same one")
  func sharedAtOnce() async throws {
    let caches = SharedCaches()
    let gate = Gate()
    let given = await withTaskGroup(of: BasicCache<String, Int>?.self) { group in
      for _ in 0..<20 {
        group.addTask {
          do {
            try await gate.pass()
            return try caches.cache(named: "a") { _ in MemoryCacheLevel<String, Int>().normalize() }
          } catch {
            return nil
          }
        }
      }
      await gate.arrivals(20)
      gate.open()
      return await group.reduce(into: []) { $0.append($1) }
    }
    let later = try caches.cache(named: "a") { _ in MemoryCacheLevel<String, Int>().normalize() }
    #expect(given.count == 20)
    #expect(given.allSatisfy { $0 === later })
    #expect(try caches.cache(named: "b") { _ in MemoryCacheLevel<String, Int>().normalize() } !== later)
  }

  @Test("C154 parallel gets of one address make one request, and memory serves from then on")
  func fetchesOnce() async throws {
    let cache = try CacheProvider.dataCache(configuration())
    let url = server.url("/photo")
    server.setValue(data("photo"), forPath: "/photo")
    server.hold()
    try await withThrowingTaskGroup(of: Data?.self) { group in
      for _ in 0..<10 { group.addTask { try await cache.get(url) } }
      try await server.waitForRequests(1)
      server.release()
      for try await value in group { #expect(value == data("photo")) }
    }
    #expect(cache.peek(url) == data("photo"))
    #expect(try await cache.lookup(url).entry?.level == "memory")
    #expect(server.requestCount() == 1)
  }

  @Test("After a memory warning the disk serves, and after the lifetime the network")
  func levels() async throws {
    let cache = try CacheProvider.dataCache(configuration(expiry: .after(.seconds(60))))
    let url = server.url("/photo")
    server.setValue(data("old"), forPath: "/photo")
    #expect(try await cache.get(url) == data("old"))
    server.setValue(data("new"), forPath: "/photo")
    await cache.onMemoryWarning()
    let entry = try await cache.lookup(url).entry
    #expect(entry?.value == data("old"))
    #expect(entry?.level == "disk")
    clock.advance(by: .seconds(60))
    #expect(try await cache.get(url) == data("new"))
  }

  @Test("Errors are not kept: the next get asks again")
  func errors() async throws {
    let cache = try CacheProvider.dataCache(configuration())
    let error = await #expect(throws: CacheError.self) { try await cache.get(server.url("/late")) }
    #expect(error?.status == 404)
    server.setValue(data("here"), forPath: "/late")
    #expect(try await cache.get(server.url("/late")) == data("here"))
  }

  @Test("JSON is decoded once, and comes back from the disk as the bytes that were fetched")
  func json() async throws {
    let bytes = data(#"{ "name": "Ada", "unknown": [1, 2] }"#)
    server.setValue(bytes, forPath: "/ada")
    let decoded = Mutex(0)
    let json = ByteCoding<User>.json
    let counting = TwoWayTransformationBox<Data, User>(
      transform: { bytes in
        decoded.withLock { $0 += 1 }
        return try json.decode(bytes)
      }, inverseTransform: { try json.encode($0) })
    let cache = try CacheProvider.cache(named: "json", transforming: counting, configuration())
    for _ in 0..<3 { #expect(try await cache.get(server.url("/ada")) == User(name: "Ada")) }
    #expect(decoded.withLock { $0 } == 1)
    let other = try CacheProvider.JSONCache(of: User.self, configuration())
    #expect(try await other.get(server.url("/ada")) == User(name: "Ada"))
    let disk = try configuration().disk("json")
    #expect(try await disk.get(server.url("/ada")) == bytes)
    #expect(server.requestCount() == 1)
  }

  @Test("What is no JSON of the type is an error and is stored nowhere")
  func badJSON() async throws {
    let cache = try CacheProvider.JSONCache(of: User.self, configuration())
    server.setValue(data("<html>"), forPath: "/ada")
    let error = await #expect(throws: CacheError.self) { try await cache.get(server.url("/ada")) }
    #expect(error?.code == .invalidCachedData)
    #expect(try await configuration().disk("json").contents().isEmpty)
    server.setValue(data(#"{"name":"Ada"}"#), forPath: "/ada")
    #expect(try await cache.get(server.url("/ada")) == User(name: "Ada"))
  }

  @Test("Where the disk holds what can no longer be decoded, the network is asked and the disk mended")
  func staleJSON() async throws {
    let disk = try configuration().disk("json")
    try await disk.set(data(#"{"nom":"Ada"}"#), forKey: server.url("/ada"))
    server.setValue(data(#"{"name":"Ada"}"#), forPath: "/ada")
    let cache = try CacheProvider.JSONCache(of: User.self, configuration())
    #expect(try await cache.get(server.url("/ada")) == User(name: "Ada"))
    #expect(try await disk.get(server.url("/ada")) == data(#"{"name":"Ada"}"#))
  }

  @Test("A value that is set is there without the network, also from the disk; a removed one is fetched again")
  func sets() async throws {
    let cache = try CacheProvider.JSONCache(of: User.self, configuration())
    let url = server.url("/ada")
    try await cache.set(User(name: "Set"), forKey: url)
    await cache.onMemoryWarning()
    #expect(try await cache.get(url) == User(name: "Set"))
    #expect(server.requestCount() == 0)
    try await cache.remove(url)
    server.setValue(data(#"{"name":"Fetched"}"#), forPath: "/ada")
    #expect(try await cache.get(url) == User(name: "Fetched"))
  }

  @Test("Keys of different templates never answer for each other, though they share a disk")
  func templates() async throws {
    server.setValue(data("photo"), forPath: "/photos/1")
    server.setValue(data("text"), forPath: "/texts/1")
    let photos = try CacheProvider.dataCache(template: "\(server.address)/photos/{key}", configuration())
    let texts = try CacheProvider.dataCache(template: "\(server.address)/texts/{key}", configuration())
    #expect(try await photos.get("1") == data("photo"))
    #expect(try await texts.get("1") == data("text"))
    #expect(photos.peek("1") == data("photo"))
    let refused = await #expect(throws: CacheError.self) { try await photos.get("..") }
    #expect(refused?.code == .invalidAddress)
    #expect(throws: CacheError.self) { try CacheProvider.dataCache(template: "no address", configuration()) }
    let users = try CacheProvider.JSONCache(of: User.self, template: "\(server.address)/users/{key}", configuration())
    server.setValue(data(#"{"name":"Ada"}"#), forPath: "/users/1")
    #expect(try await users.get("1") == User(name: "Ada"))
  }

  @Test("Memory is limited by bytes where the cost is known, and by the number of values where it is not")
  func limits() async throws {
    var configuration = configuration()
    configuration.memoryCapacity = 10
    configuration.memoryCount = 2
    let identity = TwoWayTransformationBox<Data, Data>(transform: { $0 }, inverseTransform: { $0 })
    let urls = ["/1", "/2", "/3"].map { server.url($0) }
    let weighed = try CacheProvider.cache(named: "a", transforming: identity, configuration, cost: { $0.count })
    let counted = try CacheProvider.cache(named: "b", transforming: identity, configuration)
    for cache in [weighed, counted] {
      for url in urls { try await cache.set(data("123456"), forKey: url) }
    }
    #expect(urls.map { weighed.peek($0) != nil } == [false, false, true])
    #expect(urls.map { counted.peek($0) != nil } == [false, true, true])
  }

  @Test("A directory that cannot be made is an error that names it, and not a crash")
  func noDirectory() {
    let error = #expect(throws: CacheError.self) {
      try CacheProvider.dataCache(CacheProvider.Configuration(directory: "/proc/nothing"))
    }
    #expect(error?.code == .diskWriteFailed)
    #expect(error?.description.contains("/proc/nothing/data") == true)
  }

  @Test("By default the directory is the program's among the user's caches")
  func standardDirectory() {
    let directory = CacheProvider.Configuration().directory
    #expect(directory.hasPrefix("/"))
    #expect(directory.hasSuffix("/\(ProcessInfo.processInfo.processName)"))
  }
}

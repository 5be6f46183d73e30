import CacheEngine
import CacheEngineTesting
import Foundation
import Hummingbird
import HummingbirdSessions
import ServiceLifecycle
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

struct CachePersistDriverTests {
  private struct Session: Codable, Equatable { var user: String }

  private let clock = ManualClock()

  private func driver() -> CachePersistDriver<MemoryCacheLevel<String, Data>> {
    CachePersistDriver(MemoryCacheLevel(clock: clock), clock: clock)
  }

  @Test("A value is created once, replaced, read back and removed")
  func values() async throws {
    let driver = driver()
    try await driver.create(key: "a", value: Session(user: "ada"))
    await #expect(throws: PersistError.duplicate) { try await driver.create(key: "a", value: Session(user: "eve")) }
    #expect(try await driver.get(key: "a", as: Session.self) == Session(user: "ada"))
    try await driver.set(key: "a", value: Session(user: "bob"))
    #expect(try await driver.get(key: "a", as: Session.self) == Session(user: "bob"))
    await #expect(throws: PersistError.invalidConversion) { try await driver.get(key: "a", as: Int.self) }
    try await driver.remove(key: "a")
    #expect(try await driver.get(key: "a", as: Session.self) == nil)
    try await driver.create(key: "a", value: 1)
    #expect(try await driver.get(key: "a", as: Int.self) == 1)
  }

  @Test("A value lives as long as told; one that takes its place without a lifetime keeps the deadline")
  func lifetimes() async throws {
    let driver = driver()
    try await driver.create(key: "a", value: 1, expires: .seconds(10))
    clock.advance(by: .seconds(4))
    try await driver.set(key: "a", value: 2)
    #expect(try await driver.getWithTTL(key: "a", as: Int.self)?.ttl == .seconds(6))
    clock.advance(by: .seconds(6))
    #expect(try await driver.get(key: "a", as: Int.self) == nil)
    try await driver.create(key: "a", value: 3)
    #expect(try await driver.getWithTTL(key: "a", as: Int.self)?.ttl == nil)
  }

  @Test(
    "An application counts a visitor's visits, and a disk has them after the application has ended",
    .timeLimit(.minutes(1)))
  func application() async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "sessions-\(UUID().uuidString)").path
    defer { try? FileManager.default.removeItem(atPath: folder) }
    for expected in [["1", "2"], ["3", "4"]] {
      let (ports, started) = AsyncStream.makeStream(of: Int.self)
      let disk = try DiskCacheLevel<String, Data>(directory: folder)
      let sessions = CachePersistDriver(MemoryCacheLevel<String, Data>().compose(disk)) { try await disk.close() }
      let router = Router()
      router.get("visits/:name") { _, context -> String in
        let name = try context.parameters.require("name")
        let visits = (try await sessions.get(key: name, as: Int.self) ?? 0) + 1
        try await sessions.set(key: name, value: visits, expires: .seconds(60))
        return "\(visits)"
      }
      var app = Application(
        router: router, configuration: .init(address: .hostname("127.0.0.1", port: 0)),
        onServerRunning: { started.yield($0.localAddress?.port ?? 0) })
      app.addServices(sessions)
      let group = ServiceGroup(services: [app], logger: app.logger)
      try await withThrowingTaskGroup(of: Void.self) { tasks in
        tasks.addTask {
          defer { started.finish() }
          try await group.run()
        }
        // None if it could not start, which its task says.
        for await port in ports.prefix(1) {
          let visits = try #require(URL(string: "http://127.0.0.1:\(port)/visits/ada"))
          for count in expected {
            let (answer, _) = try await URLSession.shared.data(from: visits)
            #expect(String(decoding: answer, as: UTF8.self) == count)
          }
          await group.triggerGracefulShutdown()
        }
        try await tasks.waitForAll()
      }
      await #expect { try await disk.get("ada") } throws: { ($0 as? CacheError)?.code == .closed }
    }
  }
}

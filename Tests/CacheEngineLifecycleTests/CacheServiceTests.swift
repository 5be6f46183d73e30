#if Lifecycle
import CacheEngine
import CacheEngineLifecycle
import CacheEngineTesting
import Foundation
import ServiceLifecycle
import ServiceLifecycleTestKit
import TestSupport
import Testing

/// Levels that are closed when the program ends.
///
/// `PagesTests` finds the code of the product's first page here.
struct CacheServiceTests {
  private struct Broken: ClosableLevel {
    var name: String { "broken" }
    let closed: Calls<String>

    func close() async throws {
      closed.append(name)
      throw CacheError(.diskWriteFailed, "full", level: name)
    }
  }

  private struct Closing: ClosableLevel {
    let name: String
    let closed: Calls<String>

    func close() async throws {
      try Task.checkCancellation()
      closed.append(name)
    }
  }

  /// Uses a level until the group shuts down, and once more then.
  private struct User: Service {
    let level: DiskCacheLevel<String, Data>
    let started: Gate
    let errors: Calls<String>

    func run() async throws {
      started.open()
      try? await gracefulShutdown()
      do { try await level.set(Data([2]), forKey: "last") } catch { errors.append("\(error)") }
    }
  }

  @Test(
    "A disk level is closed at a graceful shutdown and not before, after those who use it, and opens with all it had")
  func group() async throws {
    let (folder, started, errors) = (DiskFolder(), Gate(), Calls<String>())
    let disk = try DiskCacheLevel<String, Data>(directory: folder.path)
    try await disk.set(Data([1]), forKey: "first")
    let server = User(level: disk, started: started, errors: errors)
    // Article
    let group = ServiceGroup(services: [CacheService(closing: [disk]), server])
    // end
    async let end: Void = group.run()
    try await started.pass()
    #expect(try await disk.get("first") == Data([1]))
    await group.triggerGracefulShutdown()
    try await end
    #expect(errors.all == [])
    await #expect { try await disk.get("first") } throws: { ($0 as? CacheError)?.code == .closed }
    let again = try DiskCacheLevel<String, Data>(directory: folder.path)
    #expect(try await again.get("last") == Data([2]))
    try await again.close()
  }

  @Test("Levels are closed one after the other, and one that fails keeps none open and is told")
  func failure() async {
    let closed = Calls<String>()
    let service = CacheService(closing: [
      Closing(name: "a", closed: closed), Broken(closed: closed), Closing(name: "b", closed: closed),
    ])
    await #expect {
      try await testGracefulShutdown { trigger in
        trigger.triggerGracefulShutdown()
        try await service.run()
      }
    } throws: { ($0 as? CacheError)?.code == .diskWriteFailed }
    #expect(closed.all == ["a", "broken", "b"])
  }

  @Test("A cancelled service closes its levels, too, and they do not see that it was cancelled")
  func cancelled() async {
    let closed = Calls<String>()
    let service = CacheService(closing: [Closing(name: "a", closed: closed)])
    let task = Task { try await service.run() }
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(closed.all == ["a"])
  }

  @Test("Nothing is closed while the program runs")
  func runs() async throws {
    let closed = Calls<String>()
    let service = CacheService(closing: [Closing(name: "a", closed: closed)])
    try await testGracefulShutdown { trigger in
      async let end: Void = service.run()
      for _ in 0..<100 { await Task.yield() }
      #expect(closed.all == [])
      trigger.triggerGracefulShutdown()
      try await end
    }
    #expect(closed.all == ["a"])
  }
}
#endif

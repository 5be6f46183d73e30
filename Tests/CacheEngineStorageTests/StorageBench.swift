import CacheEngine
import CacheEngineStorage
import CacheEngineTesting
import Foundation
import TestSupport

/// A folder and a clock for the storages of one test.
struct StorageBench: Sendable {
  let folder = DiskFolder()
  let clock = ManualClock()

  struct User: Codable, Sendable, Equatable {
    var name: String
    var age = 36
  }

  let ada = User(name: "Ada")
  let grace = User(name: "Grace")

  var path: String { folder.path + "/store" }
  var diskConfig: DiskConfig { DiskConfig(name: "store", maxSize: 16 << 20, directory: folder.path) }

  func open<Value: Codable & Sendable>(
    _ type: Value.Type = User.self, disk: DiskConfig? = nil, memory: MemoryConfig? = MemoryConfig()
  ) throws -> Storage<String, Value> {
    try Storage(
      diskConfig: disk ?? diskConfig, memoryConfig: memory, transformer: TransformerFactory.forCodable(ofType: type),
      sweepInterval: nil, clock: clock)
  }

  func inMemory<Value: Codable & Sendable>(
    _ type: Value.Type = User.self, _ config: MemoryConfig = MemoryConfig()
  ) throws -> Storage<String, Value> {
    Storage(
      memoryConfig: config, transformer: TransformerFactory.forCodable(ofType: type), sweepInterval: nil, clock: clock)
  }

  /// One storage for each way to put tiers together.
  enum Tiers: CaseIterable { case memory, disk, both }

  func open<Value: Codable & Sendable>(_ tiers: Tiers, _ type: Value.Type = User.self) throws -> Storage<String, Value>
  {
    switch tiers {
    case .memory: try inMemory(type)
    case .disk: try open(type, memory: nil)
    case .both: try open(type)
    }
  }
}

/// Observes storages for as long as it is there, and notes what it is told.
final class Witness<Event: Sendable>: Sendable {
  private let calls = Calls<Event>()

  func see(_ event: Event) { calls.append(event) }
  var seen: [Event] { calls.all }
  func take() -> [Event] { calls.take() }
}

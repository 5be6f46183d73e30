import CacheEngine
import Foundation

/// Something that keeps bytes on the disk.
protocol Subject: Sendable {
  func set(_ value: Data, _ key: String) async throws
  /// The value's bytes, in memory of the caller's own.
  func get(_ key: String) async throws -> Data?
  func close() async throws
}

/// How a subject is opened; what it is called in the table.
struct Contender: Sendable {
  let name: String
  let open: @Sendable (_ directory: String) async throws -> any Subject
}

/// The engine, through the interface that everybody uses.
struct Engine: Subject {
  let level: DiskCacheLevel<String, Data>

  init(_ directory: String, capacity: Int = 1 << 30, durability: Durability = .buffered) throws {
    level = try DiskCacheLevel(directory: directory, capacity: capacity, durability: durability)
  }

  func set(_ value: Data, _ key: String) async throws { try await level.set(value, forKey: key) }
  func get(_ key: String) async throws -> Data? { try await level.get(key) }
  func close() async throws { try await level.close() }
}

struct Failure: Error, CustomStringConvertible {
  let description: String
  init(_ description: String) { self.description = description }
}

/// How each of them runs without waiting for the disk.
let buffered: [Contender] = [
  Contender(name: "CacheEngine") { try Engine($0) },
  Contender(name: "append to a log (the floor)") { try LogFloor($0) },
  Contender(name: "file per entry, rename") { try FilePerEntry($0) },
  Contender(name: "LMDB, no sync") { try LMDB($0, isSynced: false) },
  Contender(name: "LevelDB") { try MergeTree(.levelDB, $0, isSynced: false) },
  Contender(name: "RocksDB") { try MergeTree(.rocksDB, $0, isSynced: false) },
  Contender(name: "SQLite, WAL, NORMAL") { try SQLite($0, isSynced: false) },
]

/// How each of them runs when an answer means that the disk has it.
let synced: [Contender] = [
  Contender(name: "CacheEngine, synced") { try Engine($0, durability: .synced) },
  Contender(name: "file per entry, all synced") { try FilePerEntry($0, isSynced: true) },
  Contender(name: "LMDB, synced") { try LMDB($0, isSynced: true) },
  Contender(name: "RocksDB, synced") { try MergeTree(.rocksDB, $0, isSynced: true) },
  Contender(name: "SQLite, WAL, FULL") { try SQLite($0, isSynced: true) },
]

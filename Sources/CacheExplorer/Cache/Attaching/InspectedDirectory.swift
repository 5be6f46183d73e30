import CacheEngine
import Synchronization

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The folder of a disk level, as a level that can only be read.
final class InspectedDirectory: StorageLevel, PagedStorage {
  private static let refused = CacheError(
    .readOnly, "the folder was opened for reading only; the program that it belongs to changes it", level: "disk")

  let inspection: DiskCacheInspection
  let name = "disk"
  private let known: Mutex<LevelUsage>

  init(_ inspection: DiskCacheInspection) async throws {
    self.inspection = inspection
    known = Mutex(try await Self.usage(of: inspection))
  }

  var usage: LevelUsage { known.withLock { $0 } }

  /// Reads what was written since, and gives how the folder stands.
  ///
  /// - Returns: `nil` if nothing was written.
  func refresh() async throws -> DiskCacheInspection.Health? {
    guard try await !inspection.health().isCurrent else { return nil }
    try await inspection.refresh()
    let usage = try await Self.usage(of: inspection)
    known.withLock { $0 = usage }
    return try await inspection.health()
  }

  private static func usage(of inspection: DiskCacheInspection) async throws -> LevelUsage {
    let health = try await inspection.health()
    return LevelUsage(count: health.entries, cost: health.allocatedBytes)
  }

  func get(_ key: String) async throws -> Data? {
    guard !inspection.isSealed else {
      throw CacheError(.wrongKey, "the values of this folder are encrypted; \(Self.howToSee)", level: name)
    }
    return try await inspection.value(forKey: key)
  }

  /// How keys and values of an encrypted folder can be seen: the explorer has no cipher.
  static let howToSee = "attach to an app that shows its cache with CacheInspector.serve, which has the key"

  func lookup(_ key: String) async throws -> Lookup<Data> {
    guard let value = try await get(key) else { return .miss(.absent) }
    return .hit(Entry(value, cost: value.count, level: name))
  }

  func contents() async throws -> [EntrySummary<String>] {
    var summaries: [EntrySummary<String>] = []
    try await forEachEntry { entry in
      summaries.append(entry)
      return true
    }
    return summaries
  }

  func forEachEntry(_ body: (EntrySummary<String>) -> Bool) async throws {
    for try await entry in inspection.entries() {
      let cost = inspection.isSealed ? entry.cost : entry.size
      let summary = EntrySummary(key: shown(entry), cost: cost, created: entry.created, deadline: entry.deadline)
      guard body(summary) else { return }
    }
  }

  private func shown(_ entry: DiskEntry<Data>) -> String {
    // A name tells nothing; show enough of it that all differ.
    if inspection.isSealed { return "name hidden (encrypted) " + entry.key.prefix(6).map { Self.hex($0) }.joined() }
    return entry.text ?? "0x" + entry.key.prefix(64).map { Self.hex($0) }.joined()
  }

  private static func hex(_ byte: UInt8) -> String { (byte < 16 ? "0" : "") + String(byte, radix: 16) }

  func set(_ value: Data, forKey key: String) async throws { throw Self.refused }
  func remove(_ key: String) async throws { throw Self.refused }
  func clear() async throws { throw Self.refused }
  func expire(_ key: String) async throws { throw Self.refused }
  func removeExpired() async throws -> Int { throw Self.refused }
}

import CacheEngine
import CacheEngineCashier
import CacheEngineTesting
import Foundation
import TestSupport

/// A directory and a clock for the caches of one test.
struct CashierBench: Sendable {
  let folder = DiskFolder()
  let clock = ManualClock()
  let observer = RecordingObserver()
  /// Kept as long as the test, or the caches there would lose their files.
  private let copies = Calls<DiskFolder>()

  func open(
    _ id: String = "news", durable: Bool = false, persistsCacheAcrossVersions: Bool? = nil, version: String? = nil,
    memoryCapacity: Int = 1 << 20, in other: DiskFolder? = nil
  ) async throws -> Cashier {
    let directory = (other ?? folder).path
    return try await Cashier.open(
      id, in: durable ? .durable(in: directory) : .purgeable(in: directory),
      persistsCacheAcrossVersions: persistsCacheAcrossVersions, appVersion: version, capacity: 8 << 20,
      memoryCapacity: memoryCapacity, clock: clock, observer: observer)
  }

  /// Opens a cache as the next process would after a kill at this moment.
  func openAfterKill(
    _ id: String = "news", durable: Bool = false, persistsCacheAcrossVersions: Bool? = nil, version: String? = nil
  ) async throws -> Cashier {
    try await open(
      id, durable: durable, persistsCacheAcrossVersions: persistsCacheAcrossVersions, version: version,
      in: try copy())
  }

  /// A copy of the directory as a kill at this moment would leave it.
  func copy(of other: DiskFolder? = nil) throws -> DiskFolder {
    let copy = try (other ?? folder).copy()
    copies.append(copy)
    return copy
  }

  /// All files of all caches.
  var files: [String] {
    get throws {
      try FileManager.default.subpathsOfDirectory(atPath: folder.path).filter { name in
        var isDirectory: ObjCBool = false
        return unsafe FileManager.default.fileExists(atPath: folder.path + "/" + name, isDirectory: &isDirectory)
          && !isDirectory.boolValue
      }
    }
  }

  /// Whether bytes stand in any file.
  func isOnDisk(_ text: String) throws -> Bool {
    try files.contains { name in
      try Data(contentsOf: URL(filePath: folder.path).appending(path: name)).range(of: Data(text.utf8)) != nil
    }
  }
}

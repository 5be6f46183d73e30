#if Explorer
import CacheEngine

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A look into a store that another process writes at this moment.
struct Look {
  let directory: String

  /// Reads everything there is to see, and gives how many values that were.
  ///
  /// - Throws: ``Failure`` if a value is torn, or not one that was set for its key.
  func check() async throws -> Int {
    // The other process may not have come so far.
    guard FileManager.default.fileExists(atPath: directory) else { return 0 }
    let look = try await DiskCacheInspection.open(directory)
    var seen = 0
    for _ in 0..<3 {
      for try await entry in look.entries() {
        guard let key = entry.text else { throw Failure("a key is no text") }
        guard let found = try await look.value(for: entry.key) else { continue }
        if let problem = History.objection(toSeen: found, for: key) { throw Failure("seen from outside: \(problem)") }
        seen += 1
      }
      do { try await look.refresh() } catch let error as CacheError where error.code == .diskReadFailed {
        return seen  // the store is not there any more, or not yet
      }
    }
    return seen
  }
}
#endif

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Removes the folder of a store, which may have been let go of just now.
///
/// The last thing that such a store writes may come between listing and removing what is there; then everything starts over.
package func removeFolder(_ path: String) {
  // Where it may not be removed it stays.
  for _ in 0..<100 where FileManager.default.fileExists(atPath: path) {
    try? FileManager.default.removeItem(atPath: path)
  }
}

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Copies the folder of a store as a crash at this moment would leave it.
///
/// A file may go between listing and copying it, a segment or what is to become a checkpoint; then everything starts over.
package func copyFolder(_ path: String, to copy: String) throws {
  while true {
    do {
      return try FileManager.default.copyItem(atPath: path, toPath: copy)
    } catch let error as CocoaError where [.fileReadNoSuchFile, .fileNoSuchFile].contains(error.code) {
      // Nothing to wait for if it is the folder itself that is not there.
      guard FileManager.default.fileExists(atPath: path) else { throw error }
      try? FileManager.default.removeItem(atPath: copy)
    }
  }
}

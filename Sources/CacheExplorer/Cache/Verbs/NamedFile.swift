import ExplorerCommands
import ExplorerState

#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

/// A file that somebody named to be written.
package enum NamedFile {
  /// What to call a file that is about to be written: a file that is lost by it is told.
  package static func target(_ path: String) -> String {
    FoundFile.kind(of: path) == .ordinary ? "\(path), in place of the file that was there" : path
  }

  /// - Throws: ``CommandFailure`` that says why the file cannot be written.
  package static func write(_ text: String, to path: String, options: Data.WritingOptions = .atomic) throws {
    do { try Data(text.utf8).write(to: URL(filePath: path), options: options) } catch {
      var reason = FoundFile.reason(of: error)
      do throws(FoundFile.Failure) { _ = try FoundFile(path) } catch {
        // Foundation takes a folder that it may not look into for one that is not there.
        if !error.isMissing { reason = " (\(error.reason))" }
      }
      throw CommandFailure(
        message: "\(path) cannot be written\(reason); name a file in a directory that you may write to")
    }
  }
}

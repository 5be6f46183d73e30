package import ExplorerCommands
import ExplorerState

#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
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
      throw failure(path, reason)
    }
  }

  /// Sees whether a file can be written that will be much later, and leaves it as it is.
  ///
  /// - Throws: ``CommandFailure`` that says why not.
  package static func check(_ path: String) throws(CommandFailure) {
    var isMissing = false
    do throws(FoundFile.Failure) {
      // To open a pipe and close it again is the end for whoever reads it.
      guard try FoundFile(path).kind != nil else { return }
    } catch { isMissing = error.isMissing }
    // Not what a link leads to, nor what somebody else makes meanwhile, which would be removed again.
    let file = unsafe open(path, O_WRONLY | O_CLOEXEC | O_NONBLOCK | (isMissing ? O_CREAT | O_EXCL : 0), 0o666)
    if file < 0, isMissing, errno == EEXIST { return }
    guard file >= 0 else { throw unsafe failure(path, " (\(String(cString: strerror(errno))))") }
    close(file)
    if isMissing { unsafe unlink(path) }
  }

  private static func failure(_ path: String, _ reason: String) -> CommandFailure {
    CommandFailure(message: "\(path) cannot be written\(reason); name a file in a directory that you may write to")
  }
}

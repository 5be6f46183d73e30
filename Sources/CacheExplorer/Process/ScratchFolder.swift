#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A folder that is there for as long as the program needs it.
enum ScratchFolder {
  private static var parent: URL { FileManager.default.temporaryDirectory }

  /// Why it cannot be made, or nothing be written into it.
  static var failure: ProgramFailure {
    ProgramFailure(
      .usage, "error: nothing can be written in \(parent.path); free some room there, or name another folder in TMPDIR")
  }

  /// Makes one that only its owner may look into, and that the caller removes.
  ///
  /// - Throws: ``ProgramFailure`` if there can be none.
  static func make(_ name: String) throws(ProgramFailure) -> URL {
    let folder = parent.appending(path: name)
    do {
      try FileManager.default.createDirectory(
        at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    } catch { throw failure }
    return folder
  }
}

import CacheCore
#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

/// Where programs of this platform keep their files.
package enum StandardDirectory {
  /// This program's own folder below one of the user's directories.
  ///
  /// On Linux these follow the XDG base directory specification.
  package static func path(_ directory: FileManager.SearchPathDirectory) -> String {
    base(directory).appending(path: ProcessInfo.processInfo.processName).path
  }

  /// One of the user's directories.
  package static func base(_ directory: FileManager.SearchPathDirectory) -> URL {
    FileManager.default.urls(for: directory, in: .userDomainMask).first ?? FileManager.default.temporaryDirectory
  }
}

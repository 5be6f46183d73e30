#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// Where programs of this platform keep their files.
enum StandardDirectory {
  /// This program's own folder below one of the user's directories.
  ///
  /// On Linux these follow the XDG base directory specification.
  static func path(_ directory: FileManager.SearchPathDirectory) -> String {
    base(directory).appending(path: ProcessInfo.processInfo.processName).path
  }

  /// One of the user's directories.
  static func base(_ directory: FileManager.SearchPathDirectory) -> URL {
    FileManager.default.urls(for: directory, in: .userDomainMask).first ?? FileManager.default.temporaryDirectory
  }
}

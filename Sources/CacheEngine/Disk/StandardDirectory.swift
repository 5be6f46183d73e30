import CacheCore
#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// Where programs of this platform keep their files, as levels do that are told no directory.
public enum StandardDirectory {
  /// This program's own folder below one of the user's directories.
  ///
  /// On Linux these follow the XDG base directory specification.
  ///
  /// - Parameter directory: Which one: `.cachesDirectory` for what may go at any time, `.applicationSupportDirectory` for what
  ///   should stay.
  /// - Returns: The path, whether or not something stands there.
  public static func path(_ directory: FileManager.SearchPathDirectory) -> String {
    base(directory).appending(path: ProcessInfo.processInfo.processName).path
  }

  /// One of the user's directories.
  ///
  /// - Parameter directory: Which one.
  /// - Returns: The directory; that for temporary files where there is no such one.
  public static func base(_ directory: FileManager.SearchPathDirectory) -> URL {
    FileManager.default.urls(for: directory, in: .userDomainMask).first ?? FileManager.default.temporaryDirectory
  }
}

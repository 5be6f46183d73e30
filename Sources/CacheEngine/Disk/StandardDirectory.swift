import CacheCore
#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// Where programs keep their files on this platform, as do levels that are given no directory.
public enum StandardDirectory {
  /// This program's own folder below one of the user's directories.
  ///
  /// On Linux these follow the XDG base directory specification.
  ///
  /// - Parameter directory: Which one: `.cachesDirectory` for what may go at any time, `.applicationSupportDirectory` for what
  ///   should stay.
  /// - Returns: The path, whether or not anything is there.
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

  /// Refuses a path of a directory that is most likely a missing setting: with the name of a folder behind it, an empty one would
  /// lead to the root.
  ///
  /// - Parameter path: The path of a directory.
  /// - Throws: ``CacheError`` with code ``CacheError/Code/invalidSetting`` if it is empty, or contains NUL, at which the system
  ///   would end it.
  public static func check(_ path: String) throws {
    guard path.isEmpty || path.utf8.contains(0) else { return }
    let fault = path.isEmpty ? "is empty" : "contains NUL"
    throw CacheError(.invalidSetting, "the path of the directory \(fault); give one like /var/cache/app")
  }
}

import ExplorerCache

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// Completes the names of files, and compares them.
enum FileNames {
  private static let most = 100

  /// The paths that begin like this one; directories end with a slash.
  static func beginning(with path: String) async -> [String] {
    let names = try? await BlockingWork.run {
      let folder = path.lastIndex(of: "/").map { String(path[...$0]) } ?? ""
      let start = path.dropFirst(folder.count)
      return try FileManager.default.contentsOfDirectory(atPath: folder.isEmpty ? "." : folder)
        // Hidden files only for those who ask for them.
        .filter { $0.hasPrefix(start) && ($0.first != "." || start.first == ".") }
        .sorted().prefix(most)
        .map { name in
          var isDirectory = false
          _ = FileManager.default.fileExists(atPath: folder + name, isDirectory: &isDirectory)
          return folder + name + (isDirectory ? "/" : "")
        }
    }
    return names ?? []
  }

  /// Whether two paths lead to one file, however they are written.
  static func areSame(_ one: String, _ other: String) -> Bool { real(one) == real(other) }

  private static func real(_ path: String) -> String {
    if let found = resolved(path) { return found }
    // A file that is not there yet will be one of its folder.
    let name = path.lastIndex(of: "/").map { path[path.index(after: $0)...] } ?? path[...]
    let folder = path.dropLast(name.count)
    return resolved(folder.isEmpty ? "." : String(folder)).map { "\($0)/\(name)" } ?? path
  }

  /// `nil` for what is not there.
  private static func resolved(_ path: String) -> String? {
    guard let found = unsafe realpath(path, nil) else { return nil }
    defer { unsafe free(found) }
    return unsafe String(cString: found)
  }
}

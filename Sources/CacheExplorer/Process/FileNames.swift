import ExplorerCache

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Completes the names of files.
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
}

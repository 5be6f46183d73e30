import CacheDisk
#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// One spelling for each place in the file system, whether or not something stands there yet.
enum ResolvedPath {
  /// The path from the root, without links, repeated slashes and dots; what does not exist yet has no links.
  static func of(_ path: String) -> String {
    // By bytes: to `String`, an accent may belong to the slash before it.
    let slash = UInt8(ascii: "/")
    let start = path.utf8.first == slash ? "" : FileManager.default.currentDirectoryPath
    let components = "\(start)/\(path)".utf8.split(separator: slash).map { Substring($0) }.filter { $0 != "." }
    for count in (0...components.count).reversed() {
      let known = "/" + components[..<count].joined(separator: "/")
      guard let real = FileCalls().realPath(known) else { continue }
      var rest: [Substring] = []
      for component in components[count...] {
        if component == "..", !rest.isEmpty { rest.removeLast() } else { rest.append(component) }
      }
      return rest.reduce(real == "/" ? "" : real) { "\($0)/\($1)" }
    }
    return path
  }
}

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

/// What stands at a path, at the end of all links.
package struct FoundFile: Sendable {
  package enum Kind: Equatable, Sendable {
    case ordinary, directory
  }

  /// Why nothing is found, which need not mean that nothing is there.
  package struct Failure: Error {
    /// As the system says it: `Permission denied`.
    package let reason: String
    package let isMissing: Bool
  }

  /// `nil` for a device, a pipe or a socket, which have no size, and perhaps no end.
  package let kind: Kind?
  package let bytes: Int

  package init(_ path: String) throws(Failure) {
    var status = stat()
    guard unsafe stat(path, &status) == 0 else {
      let number = errno
      throw unsafe Failure(reason: String(cString: strerror(number)), isMissing: number == ENOENT)
    }
    kind =
      switch status.st_mode & S_IFMT {
      case S_IFREG: .ordinary
      case S_IFDIR: .directory
      default: nil
      }
    bytes = Int(status.st_size)
  }

  /// The kind of what is found, if something is.
  package static func kind(of path: String) -> Kind? { (try? FoundFile(path))?.kind }

  /// What is in an ordinary file of at most so many bytes, if it can be read.
  package static func contents(of path: String, atMost limit: Int) -> Data? {
    guard let found = try? FoundFile(path), found.kind == .ordinary, found.bytes <= limit else { return nil }
    return try? Data(contentsOf: URL(filePath: path))
  }

  /// Whether two paths lead to one file, however they are written.
  package static func areSame(_ one: String, _ other: String) -> Bool { real(one) == real(other) }

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

  /// Why Foundation could not read or write a file, as the system says it, in brackets; nothing if that is not known.
  package static func reason(of error: any Error) -> String {
    let cause = (error as? CocoaError)?.underlying as? POSIXError
    return cause.map { unsafe " (\(String(cString: strerror($0.code.rawValue))))" } ?? ""
  }
}

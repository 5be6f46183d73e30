#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Tells those who open the screen for the first time where to begin, and never again.
enum FirstStart {
  static let line =
    "new here? ^P finds everything by its name, ? explains it, w shows what a memory warning does, q leaves"

  /// The line, if nobody was told it yet, which is noted in an empty file.
  ///
  /// - Returns: `nil` also where nothing can be noted: it would be told each time.
  static func greeting(notedIn file: String?) -> String? {
    guard let file else { return nil }
    let folder = String(file[..<(file.lastIndex(of: "/") ?? file.startIndex)])
    try? FileManager.default.createDirectory(
      atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    let descriptor = unsafe open(file, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard descriptor >= 0 else { return nil }
    close(descriptor)
    return line
  }
}

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

/// A folder that is there for as long as the program needs it.
///
/// The process that made it holds a lock on it until it ends. One that nobody holds was left behind by a process that could not
/// remove it, and the next one does.
enum ScratchFolder: String, CaseIterable {
  case demo = "cache-explorer-demo-"
  case compare = "cache-explorer-compare-"
  /// Short, as the path of a socket is.
  case fleet = "cx-fleet-"

  private static var parent: URL { FileManager.default.temporaryDirectory }

  /// Why it cannot be made, or nothing be written into it.
  static var failure: ProgramFailure {
    ProgramFailure(
      .usage, "error: nothing can be written in \(parent.path); free some room there, or name another folder in TMPDIR")
  }

  /// Makes one that only its owner may look into, and that the caller removes.
  ///
  /// - Throws: ``ProgramFailure`` if there can be none.
  func make() throws(ProgramFailure) -> URL {
    do { try FileManager.default.createDirectory(at: Self.parent, withIntermediateDirectories: true) } catch {
      throw Self.failure
    }
    Self.removeAbandoned()
    // Another one may take it for abandoned before it is locked.
    for _ in 0..<8 {
      let folder = Self.parent.appending(path: rawValue + UUID().uuidString.prefix(8).lowercased())
      if unsafe mkdir(folder.path, 0o700) == 0, Self.hold(folder.path) { return folder }
    }
    throw Self.failure
  }

  /// What is locked; sockets lock their folder themselves.
  private static let lock = "held"

  /// Locks a folder until the process ends, and says whether it is still there then.
  private static func hold(_ folder: String) -> Bool {
    let path = "\(folder)/\(lock)"
    let descriptor = unsafe open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { return false }
    // Where nothing can be locked, nobody removes anything.
    _ = flock(descriptor, LOCK_EX)
    if FileManager.default.fileExists(atPath: path) { return true }
    close(descriptor)
    return false
  }

  /// Removes those whose process is gone: folders of this user, and no links to any.
  private static func removeAbandoned() {
    for name in (try? FileManager.default.contentsOfDirectory(atPath: parent.path)) ?? [] where isOurs(name) {
      let path = parent.appending(path: name).path
      let folder = unsafe open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
      guard folder >= 0 else { continue }
      defer { close(folder) }
      var found = stat()
      guard unsafe fstat(folder, &found) == 0, found.st_uid == geteuid() else { continue }
      let held = unsafe openat(folder, lock, O_RDWR | O_NOFOLLOW | O_CLOEXEC)
      guard held >= 0 else { continue }
      defer { close(held) }
      if flock(held, LOCK_EX | LOCK_NB) == 0 { try? FileManager.default.removeItem(atPath: path) }
    }
  }

  /// Whether a folder is called as those that are made here.
  static func isOurs(_ name: String) -> Bool {
    allCases.contains { kind in
      let rest = name.dropFirst(kind.rawValue.count)
      return name.hasPrefix(kind.rawValue) && rest.utf8.count == 8 && rest.allSatisfy(\.isHexDigit)
    }
  }
}

import ExplorerCache
import ExplorerCommands
import ExplorerState
import ExplorerText

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

/// The commands of earlier sessions, in a file that only its owner may read.
///
/// It is bounded, and a `set` is left out unless its value comes from a file: values may be nobody's business. So is what is not
/// understood, such as a `set` with a misspelt verb.
struct CommandHistory: Sendable {
  static let most = CommandLineState.historyCapacity
  /// A file that is longer is cut when it is read.
  private static let mostBytes = 256 << 10
  /// One that is longer than that is neither read nor made longer still.
  private static let mostBytesRead = 16 << 20

  let path: String
  /// Oldest first.
  let lines: [String]

  /// Reads what is there; a file that cannot be read or written is done without.
  init(path: String) {
    self.path = path
    let bytes = FoundFile.contents(of: path, atMost: Self.mostBytesRead)
    let text = bytes.map { String(decoding: $0, as: UTF8.self) } ?? ""
    let all = text.lines.map(String.init).filter { Self.mayKeep($0) }
    lines = Array(all.suffix(Self.most))
    // A link, or a file of somebody else, is not ours to shorten.
    if text.utf8.count > Self.mostBytes || all.count > Self.most * 2 { rewrite() }
  }

  /// Adds a line to the file at once, so that a session that ends badly loses nothing and two do not undo each other.
  func append(_ line: String) {
    guard Self.mayKeep(line) else { return }
    if let found = try? FoundFile(path), found.bytes > Self.mostBytesRead { return }
    let folder = String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)])
    try? FileManager.default.createDirectory(
      atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    let file = unsafe open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0o600)
    guard file >= 0 else { return }
    let bytes = Array((line + "\n").utf8)
    _ = unsafe write(file, bytes, bytes.count)
    close(file)
  }

  /// Writes the newest lines beside the file and puts them in its place, so that a full disk loses none.
  private func rewrite() {
    var status = stat()
    guard unsafe lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_uid == geteuid() else {
      return
    }
    let beside = "\(path).\(getpid())"
    unsafe unlink(beside)
    let file = unsafe open(beside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard file >= 0 else { return }
    let bytes = Array(lines.map { $0 + "\n" }.joined().utf8)
    let isWritten = unsafe write(file, bytes, bytes.count) == bytes.count
    let isWhole = close(file) == 0 && isWritten
    if isWhole, unsafe rename(beside, path) == 0 { return }
    unsafe unlink(beside)
  }

  static func mayKeep(_ line: String) -> Bool {
    guard line.utf8.count <= 4_096, line.contains(where: { $0 != " " }), !line.contains(where: \.isNewline) else {
      return false
    }
    // Only a line that is understood tells what of it is a value.
    guard let verb = try? Verbs.parse(line) else { return false }
    if let set = verb as? SetVerb, case .text = set.value { return false }
    return true
  }
}

import ExplorerCommands
import ExplorerModel
import ExplorerText

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Remembers from one session to the next which panels are hidden and where the others stand, in a file of one line of JSON.
///
/// A file that is damaged, or of a newer program, is left alone; ``problem`` says so, and nothing is remembered then.
struct PanelMemory: Sendable {
  static let format = "cache-explorer panels"
  static let version = 1
  private static let mostBytes = 4_096

  let path: String
  /// What was remembered; `nil` if nothing was, or it cannot be read.
  private(set) var arrangement: PanelArrangement?
  /// Why nothing is remembered.
  private(set) var problem: String?

  private struct Kept: Codable {
    var format: String
    var version: Int
    var panels: PanelArrangement?
  }

  init(path: String) {
    self.path = path
    guard FileManager.default.fileExists(atPath: path) else { return }
    guard let data = FoundFile.contents(of: path, atMost: Self.mostBytes) else {
      problem = "remembered panels cannot be read, and are left alone: \(path)"
      return
    }
    do {
      let head = try JSONDecoder().decode(Head.self, from: data)
      guard head.format == Self.format else { throw Unusable() }
      guard head.version <= Self.version else {
        problem = "remembered panels are of a newer cache-explorer, and are left alone: \(path)"
        return
      }
      arrangement = try JSONDecoder().decode(Kept.self, from: data).panels
      guard arrangement != nil, head.version >= 1 else { throw Unusable() }
    } catch {
      arrangement = nil
      problem = "remembered panels are damaged, and left alone; delete this to start afresh: \(path)"
    }
  }

  private struct Head: Decodable {
    var format: String
    var version: Int
  }

  private struct Unusable: Error {}

  /// Writes the file again.
  ///
  /// - Returns: Why it could not be written; `nil` if it was, or is to be left alone.
  func keep(_ arrangement: PanelArrangement) -> String? {
    guard problem == nil else { return nil }
    let folder = String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)])
    do {
      try FileManager.default.createDirectory(
        atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
      let kept = Kept(format: Self.format, version: Self.version, panels: arrangement)
      try (JSONEncoder().encode(kept) + Data("\n".utf8)).write(to: URL(filePath: path), options: .atomic)
      return nil
    } catch {
      return "\(path) cannot be written: panels are not remembered"
    }
  }
}

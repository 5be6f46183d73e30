import CacheEngine
package import ExplorerCommands
import ExplorerState
import ExplorerText

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

package struct SetVerb: Verb {
  package static let syntax = VerbSyntax(
    "set KEY VALUE|@FILE [--ttl 30s] [--level L]", "store a value in every level, or in one", [.key, .value],
    [VerbSyntax.Option("--ttl", "30s"), VerbSyntax.Option("--level", "L", .level)], otherNames: ["put", "store"])

  package enum Source: Equatable, Sendable {
    case text(String)
    case file(String)
  }

  package var key: String?
  package var value: Source
  package var timeToLive: Duration?
  package var level: String?

  package init(key: String, value: Source, timeToLive: Duration?, level: String?) {
    self.key = key
    self.value = value
    self.timeToLive = timeToLive
    self.level = level
  }

  package init(_ words: ParsedWords) throws(CommandError) {
    let value = words.arguments[1]
    let isFile = value.text.hasPrefix("@") && !value.isQuoted
    guard !isFile || value.text != "@" else {
      throw CommandError(
        column: value.column, message: "there is no name of a file behind @", remedy: "write one, or '@' for that value"
      )
    }
    self.init(
      key: words.arguments[0].text, value: isFile ? .file(String(value.text.dropFirst())) : .text(value.text),
      timeToLive: try words.read("--ttl", Quantity.timeLimit), level: words.text("--level"))
  }

  package var touched: Touched { .contents }
  package var canBeUndone: Bool { true }

  package var secrets: [String] {
    guard case .text(let value) = value else { return [key].compactMap(\.self) }
    return [key, value].compactMap(\.self)
  }

  package func run(in session: Interpreter) async -> CommandResult {
    let live = session.live
    let key = key ?? ""
    return await session.timed(name) { result in
      let bytes = try await value.bytes()
      let terms = StoreTerms(expiry: timeToLive.map(Expiry.after))
      try await live.target(level).store(bytes, forKey: key, terms: terms)
    } note: { events in
      let stored = events.levels { if case .stored(.set, _, _, _) = $0 { true } else { false } }
      let unfit = events.compactMap { $0.isUnfit ? $0.level : nil }
      let kept = stored.filter { !unfit.contains($0) }
      let rest = unfit.isEmpty ? "" : "larger than \(unfit.joined(separator: ", ")), which keeps nothing of it"
      guard kept.isEmpty else {
        return "stored in \(kept.joined(separator: ", "))" + (rest.isEmpty ? "" : "; " + rest)
      }
      return "stored nowhere: " + (rest.isEmpty ? "every level is read-only" : rest)
    }
  }
}

extension SetVerb.Source {
  /// The most that a value given as a file may hold.
  private static let mostBytes = 64 << 20

  fileprivate func bytes() async throws -> Data {
    switch self {
    case .text(let text): return Data(text.utf8)
    case .file(let path):
      return try await BlockingWork.run {
        let found: FoundFile
        do throws(FoundFile.Failure) { found = try FoundFile(path) } catch {
          throw CommandFailure(
            message: error.isMissing
              ? "there is no file \(path); check the path, or write the value itself"
              : "\(path) cannot be read (\(error.reason)); name a file that you may read")
        }
        guard found.kind == .ordinary else {
          let kind = found.kind == .directory ? "a directory" : "a device, a pipe or a socket"
          throw CommandFailure(message: "\(path) is \(kind); name a file that holds the value")
        }
        guard found.bytes <= Self.mostBytes else {
          throw CommandFailure(
            message:
              "\(path) has \(Format.bytes(found.bytes)), and a value may have \(Format.bytes(Self.mostBytes)); name a smaller file"
          )
        }
        do { return try Data(contentsOf: URL(filePath: path)) } catch {
          throw CommandFailure(
            message: "\(path) cannot be read\(FoundFile.reason(of: error)); name a file that you may read")
        }
      }
    }
  }
}

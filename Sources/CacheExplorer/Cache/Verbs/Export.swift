import CacheEngine
package import ExplorerCommands
package import ExplorerState
import ExplorerText

/// What the levels hold, without values: they may be large, and nobody's business.
package struct Export: Sendable {
  package struct Entry: Sendable {
    package var key: String
    package var level: String
    package var bytes: Int
    /// `nil` in a level that does not know.
    var age: Duration?
    /// Negative for what has expired.
    var timeLeft: Duration?
  }

  package let entries: [Entry]
  package let statistics: String
  package let summary: String

  /// `mask`: Gives keys other names.
  package init(_ live: LiveCache, mask: KeyMask? = nil) async throws {
    let now = live.clock.now
    var entries: [Entry] = []
    for level in live.levels {
      guard let contents = try await level.contents() else { continue }
      entries += contents.map { entry in
        Entry(
          key: mask?.name(of: entry.key) ?? entry.key, level: level.name, bytes: entry.cost,
          age: entry.created.map { $0.duration(to: now) },
          timeLeft: entry.deadline.map { now.duration(to: $0) })
      }
      .sorted { $0.key < $1.key }
    }
    self.entries = entries
    statistics = live.statisticsJSON
    summary = live.summary
  }

  package func text(_ format: ExportFormat) -> String {
    switch format {
    case .json:
      let rows = JSONText.array(
        entries.map { entry in
          .object([
            ("key", .text(entry.key)), ("level", .text(entry.level)), ("bytes", .number(entry.bytes)),
            ("ageMilliseconds", entry.age.map { .number(Self.milliseconds($0)) }),
            ("timeLeftMilliseconds", entry.timeLeft.map { .number(Self.milliseconds($0)) }),
          ])
        })
      return "{\"entries\":\(rows.line),\"statistics\":\(statistics)}\n"
    case .csv:
      let rows = entries.map { entry in
        [
          Self.quoted(entry.key), Self.quoted(entry.level), "\(entry.bytes)",
          entry.age.map { "\(Self.milliseconds($0))" } ?? "", entry.timeLeft.map { "\(Self.milliseconds($0))" } ?? "",
        ].joined(separator: ",")
      }
      return (["key,level,bytes,ageMilliseconds,timeLeftMilliseconds"] + rows).joined(separator: "\r\n") + "\r\n"
    // Neither is about what the levels hold.
    case .cast, .svg: return ""
    case .txt:
      let rows = entries.map { entry in
        let left = entry.timeLeft.map { $0 < .zero ? "expired" : "\(Self.milliseconds($0)) ms left" } ?? "no expiry"
        let age = entry.age.map { "\(Self.milliseconds($0)) ms old, " } ?? ""
        return "\(entry.level)  \(harmless(entry.key))  \(entry.bytes) bytes, \(age)\(left)"
      }
      return ([summary, ""] + rows).joined(separator: "\n") + "\n"
    }
  }

  package static func write(_ text: String, to file: String) async throws {
    try await BlockingWork.run { try NamedFile.write(text, to: file) }
  }

  private static func milliseconds(_ duration: Duration) -> Int { Int(duration.clampedNanoseconds / 1_000_000) }

  /// As RFC 4180 quotes, and never the beginning of a formula in a spreadsheet.
  ///
  /// By scalars, as those see it who read the file.
  package static func quoted(_ text: String) -> String {
    let isFormula = text.unicodeScalars.first.map { "=+-@\t\r".unicodeScalars.contains($0) } ?? false
    let text = isFormula ? "'" + text : text
    guard text.unicodeScalars.contains(where: { "\",".unicodeScalars.contains($0) || Character($0).isNewline }) else {
      return text
    }
    return "\"" + text.replacingScalars("\"", with: "\"\"") + "\""
  }
}

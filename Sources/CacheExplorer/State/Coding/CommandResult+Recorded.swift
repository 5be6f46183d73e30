import ExplorerCommands

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A value may be large, and is nobody's business: only how long it is goes on the screen.
extension CommandResult: Codable {
  private enum CodingKeys: CodingKey { case command, outcome, level, isStale, reason, size, microseconds, error, note }

  private static let longest = 1 << 30

  package init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: CodingKeys.self)
    let size = try fields.decodeIfPresent(Int.self, forKey: .size)
    guard (0...Self.longest).contains(size ?? 0) else { throw RecordedFault("no value is that long") }
    self.init(
      command: try fields.decode(String.self, forKey: .command),
      outcome: try fields.decode(Outcome.self, forKey: .outcome),
      level: try fields.decodeIfPresent(String.self, forKey: .level),
      isStale: try fields.decode(Bool.self, forKey: .isStale),
      reason: try fields.decodeIfPresent(String.self, forKey: .reason), value: size.map { Data(count: $0) },
      microseconds: try fields.decode(Double.self, forKey: .microseconds),
      error: try fields.decodeIfPresent(String.self, forKey: .error))
    note = try fields.decodeIfPresent(String.self, forKey: .note)
  }

  package func encode(to encoder: any Encoder) throws {
    var fields = encoder.container(keyedBy: CodingKeys.self)
    try fields.encode(command, forKey: .command)
    try fields.encode(outcome, forKey: .outcome)
    try fields.encodeIfPresent(level, forKey: .level)
    try fields.encode(isStale, forKey: .isStale)
    try fields.encodeIfPresent(reason, forKey: .reason)
    try fields.encodeIfPresent(size ?? value?.count, forKey: .size)
    try fields.encode(microseconds, forKey: .microseconds)
    try fields.encodeIfPresent(error, forKey: .error)
    try fields.encodeIfPresent(note, forKey: .note)
  }
}

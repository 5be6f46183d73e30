package import ExplorerCommands
import ExplorerState
package import ExplorerText

package struct RecordVerb: Verb {
  package static let syntax = VerbSyntax(
    "record FILE|off [--limit 256MiB]",
    "record the session into a file, which grows to the limit at most; it counts from here on", [.file],
    [VerbSyntax.Option("--limit", "256MiB")])

  /// `nil` ends the recording.
  package var file: String?
  /// In bytes.
  package var limit: Int?

  package init(_ words: ParsedWords) throws(CommandError) {
    let file = words.arguments[0]
    self.file = file.text == "off" && !file.isQuoted ? nil : file.text
    limit = try words.read("--limit", Self.limit)
  }

  /// How far a recording may grow.
  package static func limit(_ text: String) throws(QuantityError) -> Int {
    let limit = try Quantity.bytes(text)
    guard limit >= RecordingStatus.leastLimit else {
      throw QuantityError("\(text) is too little for a recording", "give at least 64 KiB")
    }
    return limit
  }

  package var output: String? { file }
  package var request: ScreenRequest? { .record(file: file, limit: limit) }

  package func run(in session: Interpreter) async -> CommandResult {
    failure("there is no screen to record; open the configuration with --record FILE")
  }
}

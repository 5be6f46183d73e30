package import ExplorerCommands
import ExplorerState

package struct ExportVerb: Verb {
  package static let syntax = VerbSyntax(
    "export FILE.(json|csv|txt|svg|cast) [--view]",
    "write what the levels hold, and their statistics, into a file; or what the screen shows, as .svg always; as .cast what was recorded",
    [.file], [VerbSyntax.Option("--view")])

  package enum Subject: Equatable, Sendable {
    case levels
    /// What the screen shows.
    case view
  }

  package var file: String
  package var subject: Subject

  package init(file: String, _ subject: Subject = .levels) {
    self.file = file
    self.subject = subject
  }

  package init(_ words: ParsedWords) throws(CommandError) {
    let file = words.arguments[0]
    guard ExportFormat(file: file.text) != nil else {
      throw CommandError(
        column: file.column, message: "“\(file.text)” does not say in which format",
        remedy: "end it with .json, .csv, .txt, .svg or .cast")
    }
    let isView = words.text("--view") != nil || ExportFormat(file: file.text) == .svg
    self.init(file: file.text, isView ? .view : .levels)
  }

  package var output: String? { file }

  /// What is wanted is what was recorded.
  package var isRecording: Bool { subject == .levels && ExportFormat(file: file) == .cast }

  package var request: ScreenRequest? {
    if subject == .view { return .exportView(file: file) }
    return isRecording ? .exportRecording(file: file) : nil
  }

  package func run(in session: Interpreter) async -> CommandResult {
    guard subject == .levels else { return failure("there is no view without a screen; leave out --view") }
    let (live, mask) = (session.live, session.mask)
    return await session.timed(name) { result in
      guard let format = ExportFormat(file: file) else {
        throw CommandFailure(
          message: "\(file) does not say in which format; end it with .json, .csv, .txt, .svg or .cast")
      }
      guard format != .cast else {
        throw CommandFailure(message: "nothing is recorded here; open a session on the screen with --record FILE")
      }
      let export = try await Export(live, mask: mask)
      let target = NamedFile.target(file)
      try await Export.write(export.text(format), to: file)
      result.note = "\(export.entries.count) \(export.entries.count == 1 ? "entry" : "entries") written to \(target)"
    }
  }
}

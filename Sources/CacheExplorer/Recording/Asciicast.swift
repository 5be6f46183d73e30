import ExplorerCache
import ExplorerCommands
import ExplorerModel
import ExplorerState
import ExplorerTerminal
import ExplorerText

/// Writes a recording as an asciicast, version 2, which asciinema and its player show.
///
/// https://docs.asciinema.org/manual/asciicast/v2/
enum Asciicast {
  struct Report: Sendable, Equatable {
    var pictures = 0
    /// Pictures that are not those that were shown.
    var differences = 0
    /// Pictures of which the recording does not tell what they were.
    var unchecked = 0
    /// What the recording tells is what was on the screen, and not what is left of it under a mask or without a beginning.
    var isOfScreen = true
    var seconds = 0.0
    /// Why it goes no further.
    var failure: RecordingFailure?

    var sentence: String {
      var text = "\(Format.count(pictures)) \(pictures == 1 ? "picture" : "pictures") of "
      text += Format.behind(nanoseconds: Int64(min(seconds * 1e9, 9e18)))
      let word = isOfScreen ? "shown" : "recorded"
      if differences > 0 { text += ", \(Format.count(differences)) of them not as they were \(word)" }
      if unchecked == 0, differences == 0, pictures > 0 { text += ", every one as it was \(word)" }
      if unchecked > 0 { text += ", \(unchecked == pictures ? "none" : "not all") of which can be checked" }
      return text
    }
  }

  /// - Throws: ``CommandFailure`` if the file cannot be written, or is the recording itself.
  static func write(_ recording: Recording, to path: String, theme: Theme = .standard) throws -> Report {
    guard !FoundFile.areSame(path, recording.file) else {
      throw CommandFailure(message: "\(path) is the recording itself; name another file")
    }
    var report = Report()
    report.isOfScreen = recording.isWhole && !recording.isMasked
    var playback = Playback(recording)
    var writer = ANSIWriter(palette: Palette(depth: .many, theme: theme))
    var size = playback.model.size
    var text =
      JSONText.object([
        ("version", .number(2)), ("width", .number(size.width)), ("height", .number(size.height)),
        ("timestamp", .number(recording.started)), ("title", .text("cache-explorer: \(recording.start.title)")),
        ("env", .object([("TERM", .text("xterm-256color"))])),
      ]).line + "\n"
    for place in recording.pictures.indices {
      playback.go(to: place)
      guard playback.failure == nil else { break }
      let canvas = playback.canvas
      report.pictures += 1
      switch playback.isAsShown(canvas) {
      case true?: break
      case false?: report.differences += 1
      case nil: report.unchecked += 1
      }
      let time = Double(playback.time) / 1e9
      report.seconds = time
      if canvas.size != size {
        size = canvas.size
        text += line(time, "r", "\(size.width)x\(size.height)")
      }
      let frame = writer.frame(canvas)
      if !frame.isEmpty { text += line(time, "o", frame) }
    }
    report.failure = playback.failure
    try NamedFile.write(text, to: path)
    return report
  }

  private static func line(_ time: Double, _ kind: String, _ data: String) -> String {
    let millionths = Int((time * 1e6).rounded())
    let fraction = String(1_000_000 + millionths % 1_000_000).dropFirst()
    return "[\(millionths / 1_000_000).\(fraction), \(JSONText.text(kind).line), \(JSONText.text(data).line)]\n"
  }
}

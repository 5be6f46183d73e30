import CacheEngineHitRatio
import CacheEngine
import ExplorerConfiguration
import ExplorerState
import ExplorerText

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A recorded session that was opened: where its pictures are in the file, and how it began.
///
/// Messages are read when a picture is wanted; opening looks only at where lines begin and end.
struct Recording: Sendable {
  /// What was shown at one moment.
  struct Picture: Sendable {
    /// Nanoseconds since the beginning.
    var at: Int64
    /// Its messages, between the picture before and this one.
    var lines: Range<Int>
    /// Warnings and errors that came with it.
    var troubles: Int
    /// The checksum of what was shown, if the file has it.
    var checksum: UInt64?
  }

  let file: String
  let start: SessionStart
  /// When it began, in seconds since 1970-01-01 00:00 UTC.
  let started: Int
  /// It tells the session from its start.
  let isWhole: Bool
  let isMasked: Bool
  private(set) var pictures: [Picture] = []
  /// What is to be said about its end; `nil` if it was closed in good order.
  private(set) var note: String?
  /// Events that could not be written.
  private(set) var lost = 0

  private let bytes: [UInt8]
  /// Where each line is.
  private var lines: [Range<Int>] = []

  /// How long it is, in nanoseconds.
  var length: Int64 { pictures.last?.at ?? 0 }

  /// - Throws: ``RecordingFailure`` if the file is no recording, of a newer program, or damaged before its end.
  init(opening path: String) throws(RecordingFailure) {
    func failure(_ why: String) -> RecordingFailure {
      RecordingFailure(path, nil, "the recording cannot be read (\(why))", "give the path of a file that can be read")
    }
    var isDirectory = false
    let isThere = FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory)
    // A pipe may never begin, and a device never end.
    guard !isThere || isDirectory || ConfigurationFile.isOrdinary(path) else { throw failure("it is no ordinary file") }
    var data: Data
    do {
      data = try StandardStreams.readFile(path, atMost: 1)
      // Another file may have any size, and is not read; spaces may have been put between the words.
      let words = data.prefix(100).filter { $0 != 0x20 }
      let isRecording = words.starts(with: RecordingFormat.beginning.utf8.filter { $0 != 0x20 })
      data = isRecording ? try StandardStreams.readFile(path, atMost: .max) : Data()
    } catch { throw failure("\(error)") }
    try self.init([UInt8](data), file: path)
  }

  init(_ bytes: [UInt8], file: String) throws(RecordingFailure) {
    self.bytes = bytes
    self.file = file
    let end = bytes.firstIndex(of: 0x0a) ?? bytes.count
    let header = try Self.header(bytes[..<end], file)
    isWhole = Self.flag(header["whole"])
    isMasked = Self.flag(header["masked"])
    if case .number(let seconds)? = header["started"] { started = seconds } else { started = 0 }
    do { start = try SessionStart(recorded: header["session"] ?? .null) } catch {
      throw RecordingFailure(
        file, 1, "the beginning of the session cannot be read: \(error.inField("session").message)",
        "record the session again")
    }
    try index(from: end + 1)
  }

  private static func flag(_ json: JSONText?) -> Bool {
    if case .flag(true)? = json { return true }
    return false
  }

  private static func header(_ line: ArraySlice<UInt8>, _ file: String) throws(RecordingFailure) -> JSONText {
    let foreign = RecordingFailure(
      file, 1, "this is not a recording of cache-explorer",
      "make one with --record FILE, or with the command record FILE")
    guard line.first == UInt8(ascii: "{"), let header = try? JSONText(reading: line),
      case .text(RecordingFormat.name)? = header["format"], case .number(let version)? = header["version"]
    else {
      // A crash may have torn the very first line.
      if line.starts(with: RecordingFormat.beginning.utf8) {
        throw RecordingFailure(file, 1, "the recording ends within its first line", "record the session again")
      }
      throw foreign
    }
    guard version == RecordingFormat.version else {
      var program = ""
      if case .text(let text)? = header["program"] { program = " (cache-explorer \(text))" }
      throw RecordingFailure(
        file, 1,
        "the recording has format \(version)\(program), and this program reads format \(RecordingFormat.version)",
        version > RecordingFormat.version
          ? "open it with the program that made it, or with a newer one"
          : "open it with the program that made it, or record the session again")
    }
    return header
  }

  // MARK: The lines

  private mutating func index(from first: Int) throws(RecordingFailure) {
    var place = first
    var firstOfPicture = 0
    var isEnded = false
    while place < bytes.count {
      guard let end = bytes[place...].firstIndex(of: 0x0a) else {
        note = "the recording broke off within line \(lines.count + 2); everything before it is shown"
        break
      }
      let line = place..<end
      guard Self.isLine(bytes[line]) else {
        throw RecordingFailure(
          file, lines.count + 2, "this is no line of a recording",
          "delete this line and all after it to open what is before, or record the session again")
      }
      lines.append(line)
      place = end + 1
      guard !Self.isMessage(bytes[line]) else { continue }
      let json = try parse(lines.count - 1)
      if case .text(let reason)? = json["end"] {
        isEnded = true
        if reason == RecordingFormat.End.full.rawValue { note = "the recording reached its limit and ends here" }
        if case .number(let lost)? = json["lost"] { self.lost = lost }
        break
      }
      guard case .number(let at)? = json["at"], case .number? = json["picture"] else { continue }
      var picture = Picture(
        at: max(Int64(at), length), lines: firstOfPicture..<lines.count - 1, troubles: 0, checksum: nil)
      if case .number(let troubles)? = json["trouble"] { picture.troubles = troubles }
      if case .text(let sum)? = json["grid"] { picture.checksum = UInt64(sum, radix: 16) }
      pictures.append(picture)
      firstOfPicture = lines.count
    }
    if lost > 0 {
      let missing = "\(Format.count(lost)) \(lost == 1 ? "event" : "events") came too fast to be recorded"
      note = note.map { "\($0); \(missing)" } ?? missing
    }
    if !isEnded, note == nil { note = "the recording was not closed; the session may have crashed" }
    guard !pictures.isEmpty else {
      throw RecordingFailure(file, nil, "the recording has no picture", "record a session for longer")
    }
  }

  private static let beginning = Array("{\"at\":".utf8)
  private static let message = Array("\"message\":".utf8)

  private static func isLine(_ line: ArraySlice<UInt8>) -> Bool {
    line.starts(with: beginning) && line.last == UInt8(ascii: "}")
  }

  /// The word follows the time, which has few digits.
  private static func isMessage(_ line: ArraySlice<UInt8>) -> Bool {
    guard let comma = line.prefix(40).firstIndex(of: UInt8(ascii: ",")) else { return false }
    return line[(comma + 1)...].starts(with: message)
  }

  private func parse(_ index: Int) throws(RecordingFailure) -> JSONText {
    do { return try JSONText(reading: bytes[lines[index]]) } catch {
      throw RecordingFailure(file, index + 2, "this line cannot be read: \(error.message)", Self.remedy)
    }
  }

  private static let remedy =
    "the file was changed or damaged; delete this line and all after it to open what is before"

  /// What happened between the picture before and this one.
  func messages(of picture: Int) throws(RecordingFailure) -> [Message] {
    var messages: [Message] = []
    for index in pictures[picture].lines {
      let json = try parse(index)
      do { messages.append(try Message(recorded: json["message"] ?? .null)) } catch {
        throw RecordingFailure(
          file, index + 2, "this line cannot be understood: \(error.inField("message").message)", Self.remedy)
      }
    }
    return messages
  }

  /// The last picture that was shown by a time.
  func picture(at time: Int64) -> Int {
    var (low, high) = (0, pictures.count)
    while low < high {
      let middle = (low + high) / 2
      if pictures[middle].at <= time { low = middle + 1 } else { high = middle }
    }
    return max(0, low - 1)
  }

  /// The nearest picture after or before another with which a warning or an error came.
  func trouble(from picture: Int, forwards: Bool) -> Int? {
    forwards
      ? pictures.indices.first { $0 > picture && pictures[$0].troubles > 0 }
      : pictures.indices.last { $0 < picture && pictures[$0].troubles > 0 }
  }
}

/// A recording that cannot be opened or read, with the place and what to do.
struct RecordingFailure: Error, Equatable, CustomStringConvertible {
  let file: String
  let line: Int?
  let message: String
  let remedy: String

  init(_ file: String, _ line: Int?, _ message: String, _ remedy: String) {
    self.file = file
    self.line = line
    self.message = message
    self.remedy = remedy
  }

  var description: String { "\(file)\(line.map { ":\($0)" } ?? ""): error: \(message); \(remedy)" }
}

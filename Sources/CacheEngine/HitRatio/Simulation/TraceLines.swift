import CacheDisk
import CacheMemory
import CacheCore

/// The requests of a trace of any format; in those with lines, `#` begins a comment line, and empty lines are passed over.
///
/// However long the trace, little of it is in memory at a time.
package struct TraceLines: ~Copyable {
  package struct Request: Sendable {
    package let key: String
    /// What the trace says; digits, but in a text, where it is whatever stands after the tab.
    package let size: String?
    /// The line or the record, from 1.
    package let line: Int
    /// When it came, since the moment that the trace counts from; `nil` if it does not say.
    package var time: Duration?
  }

  /// Servers write a byte of a request as four, and what they write has many fields.
  package static let longestLine = 1 << 20

  /// How the source is called in a message.
  package var name: String { bytes.name }

  /// `nil` until the beginning has told it.
  package private(set) var format: TraceFormat?
  /// How many requests were passed over because they are no reads.
  package var skipped: Int { parser?.skipped ?? 0 }

  private var bytes: TraceBytes
  private var parser: TraceLineParser?
  /// What the last line stands for beyond what was given out.
  private var run: (request: Request, block: UInt64?, left: Int)?
  /// Grows with the longest line.
  private var buffer = [UInt8](repeating: 0, count: 2 * TraceBytes.pieceSize)
  /// What was read and not yet given out.
  private var rest = 0..<0
  private var line = 0
  private var isAtEnd = false
  /// Whoever opened it has said the format.
  private let isNamed: Bool

  /// Opens a trace.
  ///
  /// `path`: `-` for standard input.
  /// `format`: `nil` to go by the name and then by the beginning.
  package init(
    path: String, format: TraceFormat? = nil, packings: [TracePacking] = TracePacking.all
  ) throws(TraceProblem) {
    bytes = try TraceBytes(path: path, packings: packings)
    isNamed = format != nil
    self.format = format ?? TraceFormat(path: path)
  }

  /// Gives the next request; `nil` at the end.
  package mutating func next() throws(TraceProblem) -> Request? {
    if let request = nextOfRun() { return request }
    if parser == nil { parser = try begin() }
    guard var parser else { return nil }
    defer { self.parser = parser }
    guard parser.format.width == nil else { return try nextRecord(of: parser.format) }
    while let range = try nextLine() {
      let line = buffer[range]
      guard !line.isEmpty, !parser.isComment(line) else { continue }
      let entry: TraceEntry?
      do throws(TraceLineParser.Problem) { entry = try parser.entry(of: line) } catch {
        throw problem(error.message, error.remedy)
      }
      guard let entry else { continue }
      run = (
        Request(key: entry.key, size: entry.size, line: self.line, time: entry.time), entry.block, entry.count
      )
      return nextOfRun()
    }
    return nil
  }

  private mutating func nextOfRun() -> Request? {
    guard let (request, block, left) = run else { return nil }
    run = left > 1 ? (request, block.map { $0 + 1 }, left - 1) : nil
    return block.map { Request(key: String($0), size: nil, line: request.line) } ?? request
  }

  /// Looks at the beginning.
  private mutating func begin() throws(TraceProblem) -> TraceLineParser {
    repeat {
      try fill()
    } while !isAtEnd && rest.count <= Self.longestLine && !buffer[rest].contains(UInt8(ascii: "\n"))
    let isWhole = rest.count < buffer.count
    // Some editors and spreadsheets begin UTF-8 with a mark.
    let text = buffer[rest].starts(with: [0xef, 0xbb, 0xbf]) ? rest.dropFirst(3) : rest
    let format = self.format ?? TraceFormat(beginning: buffer[text], isWhole: isWhole, path: bytes.name)
    try format.refuseText(buffer[rest], of: name, isNamed: isNamed)
    if format.width == nil { rest = text }
    self.format = format
    return TraceLineParser(format: format)
  }

  private mutating func nextRecord(of format: TraceFormat) throws(TraceProblem) -> Request? {
    let width = format.width ?? 1
    while rest.count < width, !isAtEnd { try fill() }
    guard !rest.isEmpty else { return nil }
    guard rest.count >= width else {
      throw TraceProblem(
        file: name,
        message:
          "ends in the middle of a \(format == .oracleGeneral ? "record of 24 bytes" : "number of \(width * 8) bits")",
        remedy: "it was cut off, or is of another format")
    }
    let record = buffer[rest.prefix(width)]
    rest = rest.dropFirst(width)
    line += 1
    guard format == .oracleGeneral else {
      return Request(key: String(TraceFormat.littleEndian(record)), size: nil, line: line)
    }
    guard Int64(bitPattern: TraceFormat.littleEndian(record.suffix(8))) >= -1 else {
      throw TraceProblem(
        file: name, message: "has a next access before the beginning in record \(line)",
        remedy: "it is damaged, or of another format")
    }
    return Request(
      key: String(TraceFormat.littleEndian(record.dropFirst(4).prefix(8))),
      size: String(TraceFormat.littleEndian(record.dropFirst(12).prefix(4))), line: line,
      time: .seconds(Int64(TraceFormat.littleEndian(record.prefix(4)))))
  }

  /// Where the next line lies in the buffer, without what ends it.
  private mutating func nextLine() throws(TraceProblem) -> Range<Int>? {
    // What has been searched is not searched again when more has come.
    var searched = rest.lowerBound
    while true {
      let end = buffer[searched..<rest.upperBound].firstIndex(of: UInt8(ascii: "\n"))
      guard (end ?? rest.upperBound) - rest.lowerBound <= Self.longestLine else {
        line += 1
        throw problem("is longer than \(Self.longestLine) bytes", "end each line with a line feed, or leave it out")
      }
      if let end { return taken(to: end, next: end + 1) }
      guard !isAtEnd else { return rest.isEmpty ? nil : taken(to: rest.upperBound, next: rest.upperBound) }
      searched = rest.count
      try fill()
    }
  }

  private mutating func taken(to end: Int, next: Int) -> Range<Int> {
    let begin = rest.lowerBound
    rest = next..<rest.upperBound
    line += 1
    return begin..<(end > begin && buffer[end - 1] == UInt8(ascii: "\r") ? end - 1 : end)
  }

  /// Moves what is left to the front and reads on behind it.
  private mutating func fill() throws(TraceProblem) {
    let count = rest.count
    for (place, position) in rest.enumerated() { buffer[place] = buffer[position] }
    rest = 0..<count
    if count == buffer.count { buffer += Array(repeating: 0, count: count) }
    let read = try bytes.read(into: &buffer, from: count)
    isAtEnd = read == 0
    rest = 0..<(count + read)
  }

  private func problem(_ message: String, _ remedy: String) -> TraceProblem {
    TraceProblem(file: name, line: line, message: message, remedy: remedy)
  }
}

import CacheDisk
import CacheMemory
import CacheCore

/// The requests of a text, `KEY` or `KEY<TAB>SIZE` a line; `#` begins a comment line, and empty lines are passed over.
///
/// However long the text, little of it is in memory at a time.
package struct TraceLines: ~Copyable {
  package struct Request: Sendable {
    package let key: String
    /// What stands after the tab, if there is one.
    package let size: String?
    /// From 1.
    package let line: Int
  }

  package static let longestLine = 64 << 10

  /// How the source is called in a message.
  package var name: String { bytes.name }

  private let bytes: TraceBytes
  private var buffer = [UInt8](repeating: 0, count: longestLine + TraceBytes.pieceSize)
  /// What was read and not yet given out.
  private var rest = 0..<0
  private var line = 0
  private var isAtEnd = false

  /// `path`: `-` for standard input.
  package init(path: String) throws(TraceProblem) { bytes = try TraceBytes(path: path) }

  /// Gives the next request; `nil` at the end.
  package mutating func next() throws(TraceProblem) -> Request? {
    while let line = try nextLine() {
      guard let first = buffer[line].first, first != UInt8(ascii: "#") else { continue }
      return try request(line)
    }
    return nil
  }

  private func request(_ line: Range<Int>) throws(TraceProblem) -> Request {
    let tab = buffer[line].firstIndex(of: UInt8(ascii: "\t"))
    guard tab != line.lowerBound else { throw problem("has no key before the tab", "write a key first") }
    guard let key = String(validating: buffer[line.lowerBound..<(tab ?? line.upperBound)], as: UTF8.self) else {
      throw problem("is not UTF-8", "write keys in UTF-8")
    }
    let size = tab.map { String(decoding: buffer[($0 + 1)..<line.upperBound], as: UTF8.self) }
    return Request(key: key, size: size, line: self.line)
  }

  /// Where the next line lies in the buffer, without what ends it.
  private mutating func nextLine() throws(TraceProblem) -> Range<Int>? {
    // What was searched already is not searched again when more has come.
    var searched = rest.lowerBound
    while true {
      if let end = buffer[searched..<rest.upperBound].firstIndex(of: UInt8(ascii: "\n")) {
        return taken(to: end, next: end + 1)
      }
      guard rest.count <= Self.longestLine else {
        line += 1
        throw problem("is longer than \(Self.longestLine) bytes", "write a key on each line")
      }
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
    let read = try bytes.read(into: &buffer, from: count)
    isAtEnd = read == 0
    rest = 0..<(count + read)
  }

  private func problem(_ message: String, _ remedy: String) -> TraceProblem {
    TraceProblem(file: name, line: line, message: message, remedy: remedy)
  }
}

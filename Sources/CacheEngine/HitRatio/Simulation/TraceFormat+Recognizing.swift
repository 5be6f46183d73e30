import CacheCore

extension TraceFormat {
  private static let sampledLines = 20

  /// Goes by the beginning of a file: what most of its first lines can be read as.
  ///
  /// Text is whatever nothing else fits.
  ///
  /// `isWhole`: There is nothing behind the beginning.
  init(beginning bytes: ArraySlice<UInt8>, isWhole: Bool, path: String) {
    guard !Self.isOracleGeneral(bytes) else {
      self = .oracleGeneral
      return
    }
    var lines = bytes.split(separator: UInt8(ascii: "\n"))
    // The last one may be cut.
    if !isWhole, lines.count > 1 { lines.removeLast() }
    // A comment tells nothing, unless it names columns.
    let columns = TraceLineParser(format: .csv)
    lines = lines.map { $0.last == UInt8(ascii: "\r") ? $0.dropLast() : $0 }
      .filter { !$0.isEmpty && !columns.isComment($0) }
    let sample = Array(lines.prefix(Self.sampledLines))
    self = [.json, .log, .twitter, .csv, .arc, .lirs].first { $0.fits(sample, path: path) } ?? .text
  }

  private func fits(_ lines: [ArraySlice<UInt8>], path: String) -> Bool {
    var parser = TraceLineParser(format: self)
    var (good, bad) = (0, 0)
    for line in lines where !parser.isComment(line) {
      do {
        if try parser.entry(of: line) != nil || parser.skipped > good { good += 1 }
      } catch { bad += 1 }
    }
    // Names of columns are no accident, whatever follows them, and neither is an object on each line.
    guard good > bad || parser.hasHeader || (self == .json && Self.areObjects(lines)) else { return false }
    switch self {
    case .csv: return parser.hasHeader || Self.unpacked(path).hasSuffix(".csv")
    // Lines of four numbers may be keys; only the authors' own files count them.
    case .arc: return Self.countsUp(lines)
    // Without a mark they are read alike.
    case .lirs: return bad == 0 && lines.contains { $0.elementsEqual("*".utf8) }
    default: return true
    }
  }

  /// Whether most are objects, even if some of those are cut off; a brace alone may begin a key.
  ///
  /// An array of objects is meant as JSON too, and not as keys.
  private static func areObjects(_ lines: [ArraySlice<UInt8>]) -> Bool {
    if lines.first?.first == UInt8(ascii: "["),
      lines.joined().dropFirst().first(where: { ![0x20, 0x09].contains($0) }) == UInt8(ascii: "{")
    {
      return true
    }
    let count = lines.count { line in
      guard line.first == UInt8(ascii: "{") else { return false }
      return line.last == UInt8(ascii: "}")
        || line.dropFirst().first { $0 != UInt8(ascii: " ") } == UInt8(ascii: "\"")
    }
    return count * 2 > lines.count
  }

  private static func countsUp(_ lines: [ArraySlice<UInt8>]) -> Bool {
    let numbers = lines.compactMap { line in
      line.split(separator: UInt8(ascii: " ")).last.flatMap { Int(String(decoding: $0, as: UTF8.self)) }
    }
    let steps = zip(numbers, numbers.dropFirst()).count { $0 < .max && $0 + 1 == $1 }
    return steps > 0 && steps * 2 >= numbers.count - 1
  }

  /// Times that never go back, and next accesses that lie ahead or are missing: other bytes do not look like that by chance.
  private static func isOracleGeneral(_ bytes: ArraySlice<UInt8>) -> Bool {
    let count = min(bytes.count / 24, 64)
    guard count > 0, bytes.prefix(count * 24).contains(0) else { return false }
    var time: UInt64 = 0
    for index in 0..<count {
      let record = bytes.dropFirst(index * 24).prefix(24)
      let next = Int64(bitPattern: littleEndian(record.dropFirst(16)))
      let now = littleEndian(record.prefix(4))
      guard now >= time, next == -1 || next > index else { return false }
      time = now
    }
    return true
  }

  /// Refuses text where records or numbers should be, of which it would make some.
  ///
  /// Numbers alone may look like lines, so there a name is believed that somebody gave.
  func refuseText(_ beginning: ArraySlice<UInt8>, of name: String, isNamed: Bool) throws(TraceProblem) {
    let units: String
    switch self {
    case .oracleGeneral: units = "records of 24 bytes"
    case .u16 where !isNamed, .u32 where !isNamed:
      guard beginning.prefix(1_536).contains(0x0a), beginning.prefix(1_536).allSatisfy({ $0 < 0x7f }) else { return }
      units = self == .u16 ? "numbers of 16 bits" : "numbers of 32 bits"
    default: return
    }
    guard Self.isText(beginning) else { return }
    throw TraceProblem(
      file: name, message: "is text, and not \(units)",
      remedy: "name the format that it has, or give it a name that does not end in .\(rawValue)")
  }

  /// Whether there are no control characters but those of text; a record of numbers has bytes that are zero, if only in its size.
  private static func isText(_ bytes: ArraySlice<UInt8>) -> Bool {
    !bytes.isEmpty && bytes.prefix(1_536).allSatisfy { $0 == 0x09 || $0 == 0x0a || $0 == 0x0d || $0 >= 0x20 }
  }

  static func littleEndian(_ bytes: ArraySlice<UInt8>) -> UInt64 {
    bytes.reversed().reduce(0) { $0 << 8 | UInt64($1) }
  }
}

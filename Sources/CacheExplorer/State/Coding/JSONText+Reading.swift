package import ExplorerText

/// Why a line of a recording cannot be read.
package struct RecordedFault: Error, Equatable {
  /// Where it is, as in `events._0[3].cost`; empty for the whole.
  private var place = ""
  private let fault: String

  package init(_ fault: String) { self.fault = fault }

  /// What is wrong, with its place.
  package var message: String { place.isEmpty ? fault : "\(place): \(fault)" }

  /// The same, as the field with a name has it.
  package func inField(_ name: String) -> RecordedFault { behind(name) }

  /// The same, as an item of an array has it.
  func inItem(_ index: Int) -> RecordedFault { behind("[\(index)]") }

  private func behind(_ part: String) -> RecordedFault {
    var fault = self
    fault.place = part + (place.isEmpty || place.hasPrefix("[") ? "" : ".") + place
    return fault
  }
}

extension JSONText {
  /// Reads one value that fills the bytes.
  package init(reading bytes: ArraySlice<UInt8>) throws(RecordedFault) {
    var reader = JSONReader(bytes)
    self = try reader.value(depth: 0)
    reader.skipSpace()
    guard reader.isAtEnd else { throw RecordedFault("there is more behind the value") }
  }

  /// A field of an object; `nil` for what is absent.
  package subscript(name: String) -> JSONText? {
    guard case .object(let fields) = self else { return nil }
    return fields.first { $0.0 == name }?.1
  }
}

/// Reads JSON as RFC 8259 has it.
///
/// A recording has a line for everything that happened, so this is to be quick.
private struct JSONReader {
  private static let deepest = 128

  private let bytes: ArraySlice<UInt8>
  private var place: Int

  init(_ bytes: ArraySlice<UInt8>) {
    self.bytes = bytes
    place = bytes.startIndex
  }

  var isAtEnd: Bool { place >= bytes.endIndex }
  private var next: UInt8? { place < bytes.endIndex ? bytes[place] : nil }

  mutating func skipSpace() {
    while let byte = next, byte == 0x20 || byte == 0x09 || byte == 0x0d || byte == 0x0a { place += 1 }
  }

  private func fault(_ message: String) -> RecordedFault {
    RecordedFault("\(message) at column \(place - bytes.startIndex + 1)")
  }

  mutating func value(depth: Int) throws(RecordedFault) -> JSONText {
    guard depth < Self.deepest else { throw fault("too many brackets") }
    skipSpace()
    switch next {
    case UInt8(ascii: "{"): return try object(depth)
    case UInt8(ascii: "["): return try array(depth)
    case UInt8(ascii: "\""): return .text(try string())
    case UInt8(ascii: "t"): return try word("true", .flag(true))
    case UInt8(ascii: "f"): return try word("false", .flag(false))
    case UInt8(ascii: "n"): return try word("null", .null)
    default: return try number()
    }
  }

  private mutating func word(_ text: StaticString, _ value: JSONText) throws(RecordedFault) -> JSONText {
    let wanted = Array(text.description.utf8)
    guard bytes[place...].starts(with: wanted) else { throw fault("there is no value") }
    place += wanted.count
    return value
  }

  private mutating func number() throws(RecordedFault) -> JSONText {
    let start = place
    while let byte = next, (0x2b...0x39).contains(byte) && byte != 0x2c && byte != 0x2f || byte == 0x65 || byte == 0x45
    {
      place += 1
    }
    let text = String(decoding: bytes[start..<place], as: UTF8.self)
    if let whole = Int(text) { return .number(whole) }
    guard let number = Double(text) else {
      place = start
      throw fault("there is no value")
    }
    return .decimal(number)
  }

  private mutating func array(_ depth: Int) throws(RecordedFault) -> JSONText {
    place += 1
    var items: [JSONText] = []
    skipSpace()
    if next == UInt8(ascii: "]") {
      place += 1
      return .array([])
    }
    while true {
      items.append(try value(depth: depth + 1))
      if try isLast(UInt8(ascii: "]")) { return .array(items) }
    }
  }

  private mutating func object(_ depth: Int) throws(RecordedFault) -> JSONText {
    place += 1
    var fields: [(String, JSONText?)] = []
    skipSpace()
    if next == UInt8(ascii: "}") {
      place += 1
      return .object([])
    }
    while true {
      skipSpace()
      guard next == UInt8(ascii: "\"") else { throw fault("a name is missing") }
      let name = try string()
      skipSpace()
      guard next == UInt8(ascii: ":") else { throw fault("a colon is missing") }
      place += 1
      fields.append((name, try value(depth: depth + 1)))
      if try isLast(UInt8(ascii: "}")) { return .object(fields) }
    }
  }

  private mutating func isLast(_ end: UInt8) throws(RecordedFault) -> Bool {
    skipSpace()
    guard let byte = next, byte == end || byte == UInt8(ascii: ",") else { throw fault("a comma is missing") }
    place += 1
    return byte == end
  }

  private mutating func string() throws(RecordedFault) -> String {
    place += 1
    let start = place
    while let byte = next, byte != UInt8(ascii: "\""), byte != UInt8(ascii: "\\"), byte >= 0x20 { place += 1 }
    if next == UInt8(ascii: "\"") {
      defer { place += 1 }
      return try text(bytes[start..<place])
    }
    var units = Array(bytes[start..<place])
    while let byte = next, byte != UInt8(ascii: "\"") {
      guard byte >= 0x20 else { throw fault("a quote is not closed") }
      place += 1
      if byte == UInt8(ascii: "\\") { try escape(into: &units) } else { units.append(byte) }
    }
    guard next == UInt8(ascii: "\"") else { throw fault("a quote is not closed") }
    place += 1
    return try text(units[...])
  }

  private func text(_ units: ArraySlice<UInt8>) throws(RecordedFault) -> String {
    guard let text = String(validating: units, as: UTF8.self) else { throw fault("this is not UTF-8") }
    return text
  }

  private mutating func escape(into units: inout [UInt8]) throws(RecordedFault) {
    guard let letter = next else { throw fault("a quote is not closed") }
    place += 1
    switch letter {
    case UInt8(ascii: "n"): units.append(0x0a)
    case UInt8(ascii: "r"): units.append(0x0d)
    case UInt8(ascii: "t"): units.append(0x09)
    case UInt8(ascii: "b"): units.append(0x08)
    case UInt8(ascii: "f"): units.append(0x0c)
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): units.append(letter)
    case UInt8(ascii: "u"):
      var value = UInt32(try unit())
      if (0xd800..<0xdc00).contains(value), bytes[place...].starts(with: [0x5c, 0x75]) {
        place += 2
        let low = UInt32(try unit())
        guard (0xdc00..<0xe000).contains(low) else { throw fault("there is half a character") }
        value = 0x10000 + (value - 0xd800) << 10 + (low - 0xdc00)
      }
      guard let scalar = Unicode.Scalar(value) else { throw fault("there is half a character") }
      units += Array(String(scalar).utf8)
    default: throw fault("there is no such escape")
    }
  }

  private mutating func unit() throws(RecordedFault) -> UInt16 {
    let digits = bytes[place...].prefix(4)
    guard digits.count == 4, let value = UInt16(String(decoding: digits, as: UTF8.self), radix: 16) else {
      throw fault("\\u needs four hexadecimal digits")
    }
    place += 4
    return value
  }
}

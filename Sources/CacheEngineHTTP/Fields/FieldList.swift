#if HTTP
package import HTTPTypes

/// How field values fall into parts: RFC 9110, section 5.6.
package enum FieldList {
  /// The members of a comma-separated list.
  ///
  /// Commas in quoted strings do not separate, blanks around a member are cut off, and empty members are left out. From a
  /// quotation mark on that is never closed every comma separates, so that nothing hides behind it.
  package static func members(of text: String) -> [Substring] {
    var members: [Substring] = []
    let bytes = text.utf8
    var start = bytes.startIndex
    var index = start
    // After one that is never closed, no later one is: looking again from each would take the square of the length.
    var mayClose = true
    func add(upTo end: String.Index) {
      let member = trimmed(text[start..<end])
      if !member.isEmpty { members.append(member) }
    }
    while index < bytes.endIndex {
      let byte = bytes[index]
      if byte == UInt8(ascii: "\""), mayClose, let closing = closingQuote(in: bytes[index...]) {
        index = bytes.index(after: closing)
      } else {
        if byte == UInt8(ascii: "\"") { mayClose = false }
        let next = bytes.index(after: index)
        if byte == UInt8(ascii: ",") {
          add(upTo: index)
          start = next
        }
        index = next
      }
    }
    add(upTo: bytes.endIndex)
    return members
  }

  /// Without spaces and tabs at the ends.
  package static func trimmed(_ text: Substring) -> Substring {
    var bytes = text.utf8
    while let first = bytes.first, isBlank(first) { bytes = bytes.dropFirst() }
    while let last = bytes.last, isBlank(last) { bytes = bytes.dropLast() }
    return Substring(bytes)
  }

  /// What a quoted string says, or `nil` if this is not one, or not all of one.
  package static func unquoted(_ text: Substring) -> String? {
    let bytes = text.utf8
    guard bytes.count >= 2, bytes.first == UInt8(ascii: "\""), closingQuote(in: bytes) == bytes.indices.last else {
      return nil
    }
    var result: [UInt8] = []
    var escaped = false
    for byte in bytes.dropFirst().dropLast() {
      if byte == UInt8(ascii: "\\"), !escaped {
        escaped = true
      } else {
        result.append(byte)
        escaped = false
      }
    }
    return String(decoding: result, as: UTF8.self)
  }

  /// A number of seconds or bytes: digits and nothing else, held at 2^31, which RFC 9111, section 1.2.2, calls enough.
  package static func number(_ text: Substring) -> Int? {
    guard !text.isEmpty else { return nil }
    var number: Int64 = 0
    for byte in text.utf8 {
      guard byte >= 0x30, byte <= 0x39 else { return nil }
      number = min(number * 10 + Int64(byte - 0x30), 1 << 31)
    }
    return Int(clamping: number)
  }

  /// Whether two texts have the same bytes; `==` also calls those equal that only look the same.
  package static func areSame(_ left: some StringProtocol, _ right: some StringProtocol) -> Bool {
    left.utf8.elementsEqual(right.utf8)
  }

  private static func closingQuote(in bytes: Substring.UTF8View) -> String.Index? {
    var index = bytes.index(after: bytes.startIndex)
    while index < bytes.endIndex {
      if bytes[index] == UInt8(ascii: "\"") { return index }
      if bytes[index] == UInt8(ascii: "\\") {
        index = bytes.index(after: index)
        guard index < bytes.endIndex else { return nil }
      }
      index = bytes.index(after: index)
    }
    return nil
  }

  private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }
}

extension HTTPFields {
  /// The names that lists in all lines of a field give; `nil` where something is no name.
  package func names(in field: HTTPField.Name) -> Set<HTTPField.Name>? {
    var names: Set<HTTPField.Name> = []
    for line in self[values: field] {
      for member in FieldList.members(of: line) {
        guard let name = HTTPField.Name(String(member)) else { return nil }
        names.insert(name)
      }
    }
    return names
  }

  /// The lines of a field as one; `nil` where there is none, which differs from an empty one.
  package func combined(_ field: HTTPField.Name) -> String? {
    let lines = self[values: field]
    return lines.isEmpty ? nil : lines.joined(separator: ", ")
  }

  /// Takes fields out.
  package mutating func remove(_ names: Set<HTTPField.Name>) {
    if contains(where: { names.contains($0.name) }) { removeAll { names.contains($0.name) } }
  }
}
#endif

#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

/// Refuses property lists that are nested so deep, or refer to themselves, that Foundation's parser overflows the stack,
/// and those that would unfold to many times their size.
///
/// Only that is looked at; everything else the parser checks itself. What two parsers may read differently is refused,
/// so that nothing hides from this one: Foundation has several, and one of them ends `<?>` where it stands in one place and
/// not in another.
package enum PropertyListNesting {
  static let maximumDepth = 64
  /// What a small list may unfold to; a large one, to so many times its size.
  static let unfoldedBytes = 64 << 20
  private static let unfoldedTimes = 16

  struct Refused: Error, CustomStringConvertible {
    var description: String
  }

  // The limit is for what texts and data of a small list may become.
  package static func check(_ data: Data, limit: Int = unfoldedBytes) throws {
    let bytes = [UInt8](data)
    if bytes.starts(with: Array("bplist0".utf8)) {
      try checkBinary(bytes, limit: max(limit, unfoldedTimes * bytes.count))
    } else {
      try checkXML(bytes)
    }
  }

  private static let tooDeep = Refused(description: "it is nested more than \(maximumDepth) deep")
  private static let damaged = Refused(description: "its table of objects is damaged")
  private static let notUTF8 = Refused(description: "it is neither binary nor XML in UTF-8")

  // MARK: Binary

  /// The trailer tells how wide offsets and references are, how many objects there are, which is the outermost, and where
  /// their offsets are.
  private static func checkBinary(_ bytes: [UInt8], limit: Int) throws {
    guard bytes.count >= 40 else { throw damaged }
    func number(at place: Int, width: Int) throws -> Int {
      guard (1...8).contains(width), place >= 0, place <= bytes.count - width,
        let value = Int(exactly: bytes[place..<(place + width)].reduce(UInt64(0)) { $0 << 8 | UInt64($1) })
      else { throw damaged }
      return value
    }
    let trailer = bytes.count - 32
    let offsetWidth = Int(bytes[trailer + 6])
    let referenceWidth = Int(bytes[trailer + 7])
    let count = try number(at: trailer + 8, width: 8)
    let offsets = try number(at: trailer + 24, width: 8)
    guard count <= bytes.count, offsets <= bytes.count else { throw damaged }

    var seen: Set<Int> = []
    var references = 0
    var unfolded = 0
    var pending = [(object: try number(at: trailer + 16, width: 8), depth: 1)]
    while let (object, depth) = pending.popLast() {
      guard object < count else { throw damaged }
      var place = try number(at: offsets + object * offsetWidth, width: offsetWidth)
      guard place < bytes.count else { throw damaged }
      let kind = bytes[place] >> 4
      guard [0x4, 0x5, 0x6, 0xa, 0xb, 0xc, 0xd].contains(kind) else { continue }
      var elements = Int(bytes[place] & 0xf)
      place += 1
      if elements == 0xf {
        let width = 1 << Int(try number(at: place, width: 1) & 0xf)
        elements = try number(at: place + 1, width: width)
        place += 1 + width
      }
      guard elements <= bytes.count else { throw damaged }
      // Bytes and texts may lie in many places, and each of them becomes a value.
      guard kind >= 0xa else {
        unfolded += kind == 0x6 ? 2 * elements : elements
        guard unfolded <= limit else { throw Refused(description: "it unfolds to more than \(limit) bytes") }
        continue
      }
      // A container in two places would make the list grow with each of them, or hold itself.
      guard seen.insert(object).inserted else { throw Refused(description: "two places hold the same container") }
      guard depth <= maximumDepth else { throw tooDeep }
      if kind == 0xd { elements *= 2 }
      references += elements
      // Each reference takes a place of its own.
      guard references <= bytes.count else { throw damaged }
      for element in 0..<elements {
        pending.append((try number(at: place + element * referenceWidth, width: referenceWidth), depth + 1))
      }
    }
  }

  // MARK: XML

  /// Counts opening and closing tags; what may hide one (comments, CDATA, other encodings) is skipped or refused.
  private static func checkXML(_ bytes: [UInt8]) throws {
    var text = bytes[...]
    if text.starts(with: [0xef, 0xbb, 0xbf]) { text = text.dropFirst(3) }
    text = text.drop { [0x20, 0x09, 0x0a, 0x0d].contains($0) }
    guard text.first == UInt8(ascii: "<"), !text.contains(0) else { throw notUTF8 }
    var depth = 0
    while let tag = text.firstIndex(of: UInt8(ascii: "<")) {
      text = text[tag...]
      guard !begins(text, "<?>") && !begins(text, "<!-->") && !begins(text, "<!--->") else {
        throw Refused(description: "a comment or an instruction ends where it begins")
      }
      if begins(text, "<!--") {
        text = try hidden(in: text, from: "<!--", to: "-->").rest
      } else if begins(text, "<![CDATA[") {
        text = try hidden(in: text, from: "<![CDATA[", to: "]]>").rest
      } else if begins(text, "<?") {
        let (instruction, rest) = try hidden(in: text, from: "<?", to: "?>")
        try checkEncoding(instruction)
        text = rest
      } else {
        let end = text.firstIndex(of: UInt8(ascii: ">")) ?? text.endIndex
        let content = text[..<end]
        // A document type with declarations of its own, or anything else that begins like that.
        guard !begins(content, "<!") || (begins(content, "<!DOCTYPE") && !content.contains(UInt8(ascii: "["))) else {
          throw Refused(description: "it has declarations of its own")
        }
        if begins(content, "</array") || begins(content, "</dict") {
          depth -= 1
        } else if begins(content, "<array") || begins(content, "<dict") {
          guard depth < maximumDepth else { throw tooDeep }
          depth += content.last == UInt8(ascii: "/") ? 0 : 1
        }
        text = text[end...]
      }
      guard depth >= 0 else { throw Refused(description: "it closes what it has not opened") }
    }
  }

  /// Every word on the encoding must say UTF-8, in whatever instruction it stands.
  private static func checkEncoding(_ instruction: ArraySlice<UInt8>) throws {
    let words = String(decoding: instruction, as: UTF8.self).lowercased()
      .split(separator: "encoding", omittingEmptySubsequences: false).dropFirst()
    guard words.allSatisfy({ $0.hasPrefix("=\"utf-8\"") || $0.hasPrefix("='utf-8'") }) else { throw notUTF8 }
  }

  private static func begins(_ text: ArraySlice<UInt8>, _ beginning: StaticString) -> Bool {
    beginning.withUTF8Buffer { unsafe text.starts(with: $0) }
  }

  /// What stands between two marks, of which the first begins the text, and what comes after them.
  private static func hidden(
    in text: ArraySlice<UInt8>, from start: StaticString, to end: StaticString
  ) throws -> (content: ArraySlice<UInt8>, rest: ArraySlice<UInt8>) {
    let content = text.dropFirst(start.utf8CodeUnitCount)
    for place in content.indices where begins(text[place...], end) {
      return (content[..<place], content[(place + end.utf8CodeUnitCount)...])
    }
    throw Refused(description: "a comment, an instruction or a text does not end")
  }
}

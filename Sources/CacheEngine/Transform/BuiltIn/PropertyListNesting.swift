#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Refuses property lists that are nested so deep, or refer to themselves, that Foundation's parser overflows the stack.
///
/// Only what nests is looked at; everything else the parser checks itself.
enum PropertyListNesting {
  static let maximumDepth = 64

  struct Refused: Error, CustomStringConvertible {
    var description: String
  }

  static func check(_ data: Data) throws {
    let bytes = [UInt8](data)
    if bytes.starts(with: Array("bplist".utf8)) { try checkBinary(bytes) } else { try checkXML(bytes) }
  }

  private static let tooDeep = Refused(description: "it is nested more than \(maximumDepth) deep")
  private static let damaged = Refused(description: "its table of objects is damaged")

  // MARK: Binary

  /// The trailer tells how wide offsets and references are, how many objects there are, which is the outermost, and where
  /// their offsets are.
  private static func checkBinary(_ bytes: [UInt8]) throws {
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
    var pending = [(object: try number(at: trailer + 16, width: 8), depth: 1)]
    while let (object, depth) = pending.popLast() {
      guard object < count else { throw damaged }
      var place = try number(at: offsets + object * offsetWidth, width: offsetWidth)
      guard place < bytes.count else { throw damaged }
      let kind = bytes[place] >> 4
      // Arrays, ordered sets, sets and dictionaries.
      guard (0xa...0xd).contains(kind) else { continue }
      // A container in two places would make the list grow with each of them, or hold itself.
      guard seen.insert(object).inserted else { throw Refused(description: "two places hold the same container") }
      guard depth <= maximumDepth else { throw tooDeep }
      var elements = Int(bytes[place] & 0xf)
      place += 1
      if elements == 0xf {
        let width = 1 << Int(try number(at: place, width: 1) & 0xf)
        elements = try number(at: place + 1, width: width)
        place += 1 + width
      }
      guard elements <= bytes.count else { throw damaged }
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
    guard text.first == UInt8(ascii: "<"), !text.contains(0) else {
      throw Refused(description: "it is neither binary nor XML in UTF-8")
    }
    var depth = 0
    while let tag = text.firstIndex(of: UInt8(ascii: "<")) {
      text = text[tag...]
      if begins(text, "<?xml") { try checkDeclaration(text) }
      if begins(text, "<!--") {
        text = rest(of: text, after: "-->")
      } else if begins(text, "<![CDATA[") {
        text = rest(of: text, after: "]]>")
      } else if begins(text, "<?") {
        text = rest(of: text, after: "?>")
      } else {
        let end = text.firstIndex(of: UInt8(ascii: ">")) ?? text.endIndex
        if begins(text, "</array") || begins(text, "</dict") {
          depth -= 1
        } else if begins(text, "<array") || begins(text, "<dict") {
          guard depth < maximumDepth else { throw tooDeep }
          let isEmpty = text[..<end].last == UInt8(ascii: "/")
          depth += isEmpty ? 0 : 1
        }
        text = text[end...]
      }
      guard depth >= 0 else { throw Refused(description: "it closes what it has not opened") }
    }
  }

  private static func checkDeclaration(_ text: ArraySlice<UInt8>) throws {
    let declaration = String(decoding: text.prefix { $0 != UInt8(ascii: ">") }, as: UTF8.self).lowercased()
    guard !declaration.contains("encoding") || declaration.contains("utf-8") else {
      throw Refused(description: "it is neither binary nor XML in UTF-8")
    }
  }

  private static func begins(_ text: ArraySlice<UInt8>, _ beginning: String) -> Bool {
    text.starts(with: beginning.utf8)
  }

  private static func rest(of text: ArraySlice<UInt8>, after end: String) -> ArraySlice<UInt8> {
    let end = Array(end.utf8)
    var place = text.startIndex
    while place + end.count <= text.endIndex {
      if text[place..<(place + end.count)].elementsEqual(end) { return text[(place + end.count)...] }
      place += 1
    }
    return []
  }
}

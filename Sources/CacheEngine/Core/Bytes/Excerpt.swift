#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

/// The beginning of something, for an error message: short whatever the length of the whole, and on one line.
package enum Excerpt {
  private static let characters = 40
  private static let bytes = 16

  package static func of(_ text: String) -> String {
    let head = text.unicodeScalars.prefix(characters)
    let quoted = String(reflecting: String(String.UnicodeScalarView(head)))
    return head.endIndex == text.endIndex ? quoted : "\(quoted)… (\(text.utf8.count) bytes)"
  }

  package static func of(_ data: Data) -> String {
    guard !data.isEmpty else { return "no bytes" }
    // Four bytes are the most that one character takes; the cut may have split the last one.
    let head = String(decoding: data.prefix(4 * characters), as: UTF8.self).unicodeScalars.prefix(characters)
    let isText = !head.dropLast().contains {
      $0 == "\u{fffd}" || ($0.value < 0x20 && !"\t\n\r".unicodeScalars.contains($0))
    }
    let beginning = isText ? of(String(String.UnicodeScalarView(head))) : hexadecimal(data)
    return "\(data.count) bytes beginning with \(beginning)"
  }

  private static func hexadecimal(_ data: Data) -> String {
    data.prefix(bytes).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined(separator: " ")
  }
}

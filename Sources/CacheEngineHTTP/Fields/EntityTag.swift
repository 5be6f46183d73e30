#if HTTP
/// An entity tag as it was sent: RFC 9110, section 8.8.3.
///
/// One without its quotation marks, which some servers send, is compared and sent back as it came.
package struct EntityTag: Hashable, Sendable {
  package let text: String

  package init(_ text: some StringProtocol) { self.text = String(text) }

  /// Whether no bytes were lost because they are no UTF-8.
  package var isReadable: Bool { !text.unicodeScalars.contains("\u{FFFD}") }

  package var isWeak: Bool { text.utf8.starts(with: "W/".utf8) }

  private var opaque: Substring { isWeak ? Substring(text.utf8.dropFirst(2)) : text[...] }

  /// Whether two tags mean the same to the byte.
  package func matchesStrongly(_ other: EntityTag) -> Bool { !isWeak && self == other }

  /// Whether two tags mean the same to a reader.
  package func matchesWeakly(_ other: EntityTag) -> Bool { FieldList.areSame(opaque, other.opaque) }

  package static func == (left: Self, right: Self) -> Bool { FieldList.areSame(left.text, right.text) }

  /// The tags of an `If-None-Match` field.
  ///
  /// In a tag, unlike in a quoted string, a backslash stands for itself.
  package static func list(_ text: String) -> [EntityTag] {
    var tags: [EntityTag] = []
    var isQuoted = false
    for piece in text.utf8.split(
      omittingEmptySubsequences: true,
      whereSeparator: { byte in
        if byte == UInt8(ascii: "\"") { isQuoted.toggle() }
        return byte == UInt8(ascii: ",") && !isQuoted
      })
    {
      let tag = FieldList.trimmed(Substring(piece))
      if !tag.isEmpty { tags.append(EntityTag(tag)) }
    }
    return tags
  }
}
#endif

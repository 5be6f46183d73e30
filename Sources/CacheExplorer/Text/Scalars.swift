extension String {
  /// With another text in place of one, also where that combines with a sign before or behind it to one character.
  package func replacingScalars(_ text: String, with other: String) -> String {
    String(unicodeScalars.replacing(text.unicodeScalars, with: other.unicodeScalars))
  }

  /// As a message that quotes something of any length: its ends say what is wrong.
  package var shortenedMessage: String {
    // A scalar has at least a byte.
    guard utf8.count > 1_000, unicodeScalars.count > 1_000 else { return self }
    return "\(UnicodeScalarView(unicodeScalars.prefix(200)))…\(UnicodeScalarView(unicodeScalars.suffix(200)))"
  }

  /// As the text of an element or an attribute of XML.
  package var escapedForXML: String {
    replacingScalars("&", with: "&amp;").replacingScalars("<", with: "&lt;").replacingScalars(">", with: "&gt;")
      .replacingScalars("\"", with: "&quot;")
  }
}

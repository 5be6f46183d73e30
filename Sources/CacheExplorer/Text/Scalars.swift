extension String {
  /// With another text in place of one, also where that combines with a sign before or behind it to one character.
  package func replacingScalars(_ text: String, with other: String) -> String {
    String(unicodeScalars.replacing(text.unicodeScalars, with: other.unicodeScalars))
  }

  /// As the text of an element or an attribute of XML.
  package var escapedForXML: String {
    replacingScalars("&", with: "&amp;").replacingScalars("<", with: "&lt;").replacingScalars(">", with: "&gt;")
      .replacingScalars("\"", with: "&quot;")
  }
}

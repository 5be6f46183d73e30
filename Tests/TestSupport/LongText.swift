/// Text that is an argument of a test and may be long: what a test's log shows of it is its beginning.
package struct LongText: Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
  package let text: String

  package init(stringLiteral text: String) { self.text = text }
  package init(_ text: String) { self.text = text }
  package init(repeating text: String, count: Int) { self.text = String(repeating: text, count: count) }

  package var description: String {
    text.count > 60 ? "\"\(text.prefix(40))…\" (\(text.count))" : text.debugDescription
  }
}

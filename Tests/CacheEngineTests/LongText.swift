import Testing

/// Text that is an argument of a test and may be long: what a test's log shows of it is its beginning.
struct LongText: Sendable, ExpressibleByStringLiteral, CustomTestStringConvertible {
  let text: String

  init(stringLiteral text: String) { self.text = text }
  init(_ text: String) { self.text = text }
  init(repeating text: String, count: Int) { self.text = String(repeating: text, count: count) }

  var testDescription: String { text.count > 60 ? "\"\(text.prefix(40))…\" (\(text.count))" : text.debugDescription }
}

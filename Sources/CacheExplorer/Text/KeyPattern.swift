import Synchronization

/// A regular expression that a key is searched with.
package final class KeyPattern: Equatable, Sendable {
  package let text: String
  /// A compiled expression may not be used by two threads at once.
  private let regex: Mutex<Regex<AnyRegexOutput>>

  /// - Throws: If the text is no regular expression.
  package init(_ text: String) throws {
    self.text = text
    regex = Mutex(try Regex(text))
  }

  /// Whether it matches anywhere in the key; `^` and `$` tie it to the ends.
  package func matches(_ key: String) -> Bool {
    regex.withLock { (try? $0.firstMatch(in: key)) != nil }
  }

  package static func == (left: KeyPattern, right: KeyPattern) -> Bool { left.text == right.text }
}

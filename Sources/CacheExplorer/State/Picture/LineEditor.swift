/// A line of text with a cursor, edited as in a shell.
package struct LineEditor: Sendable, Equatable {
  /// Longer lines are cut: nobody types them, and a paste must not stop the screen.
  package static let longest = 4_096

  package private(set) var characters: [Character] = []
  /// Before which character the cursor stands.
  package private(set) var cursor = 0

  package init(_ text: String = "") { replace(with: text) }

  package var text: String { String(characters) }
  package var beforeCursor: String { String(characters[..<cursor]) }

  package mutating func replace(with text: String) {
    characters = Array(text.prefix(Self.longest))
    cursor = characters.count
  }

  /// Inserts typed or pasted text.
  ///
  /// Line ends become spaces: what is pasted never runs by itself.
  package mutating func insert(_ text: String) {
    let room = max(0, Self.longest - characters.count)
    let added = text.prefix(room).map { $0.isNewline ? " " : $0 }
    characters.insert(contentsOf: added, at: cursor)
    cursor += added.count
  }

  package mutating func backspace() {
    guard cursor > 0 else { return }
    cursor -= 1
    characters.remove(at: cursor)
  }

  package mutating func delete() {
    guard cursor < characters.count else { return }
    characters.remove(at: cursor)
  }

  package mutating func deleteWord() {
    var start = cursor
    while start > 0, characters[start - 1] == " " { start -= 1 }
    while start > 0, characters[start - 1] != " " { start -= 1 }
    characters.removeSubrange(start..<cursor)
    cursor = start
  }

  package mutating func deleteToStart() {
    characters.removeSubrange(..<cursor)
    cursor = 0
  }

  package mutating func move(by distance: Int) { cursor = min(max(0, cursor + distance), characters.count) }
  package mutating func moveToStart() { cursor = 0 }
  package mutating func moveToEnd() { cursor = characters.count }
}

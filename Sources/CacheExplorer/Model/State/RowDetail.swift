import ExplorerText

/// A row of a panel told in full: what Enter opens where no request does.
package struct RowDetail: Sendable, Equatable {
  package struct Line: Sendable, Equatable {
    /// What the text is about; empty for a sentence of its own.
    var name: DisplayText
    var text: DisplayText
    var style: Style
  }

  package let title: String
  package private(set) var lines: [Line] = []

  init(_ title: String) { self.title = title }

  mutating func add(_ name: DisplayText, _ text: DisplayText, _ style: Style = .plain) {
    lines.append(Line(name: name, text: text, style: style))
  }

  mutating func add(_ name: DisplayText, _ text: String, _ style: Style = .plain) {
    add(name, DisplayText(text), style)
  }
}

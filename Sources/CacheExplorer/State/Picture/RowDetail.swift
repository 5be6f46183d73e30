package import ExplorerText

/// A row of a panel told in full: what Enter opens where no request does.
package struct RowDetail: Sendable, Equatable {
  package struct Line: Sendable, Equatable {
    /// What the text is about; empty for a sentence of its own.
    package var name: DisplayText
    package var text: DisplayText
    package var style: Style
  }

  package let title: String
  package private(set) var lines: [Line] = []

  package init(_ title: String) { self.title = title }

  package mutating func add(_ name: DisplayText, _ text: DisplayText, _ style: Style = .plain) {
    lines.append(Line(name: name, text: text, style: style))
  }

  package mutating func add(_ name: DisplayText, _ text: String, _ style: Style = .plain) {
    add(name, DisplayText(text), style)
  }
}

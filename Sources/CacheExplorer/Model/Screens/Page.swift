import ExplorerState

/// A screen: what one key shows whole.
package struct Page: Sendable {
  package let title: String
  /// The key that shows it.
  package let key: Character
  /// A sentence for the help, without a full stop.
  let does: String
  /// What can have the focus on it, in the order of Tab; the first one has it at first.
  package let panels: [PanelID]

  init(_ title: String, key: Character, does: String? = nil, panels: [any Panel.Type]) {
    self.title = title
    self.key = key
    self.does = does ?? title
    self.panels = panels.map { PanelID($0) }
  }

  /// Its name where it is typed: `what-if`.
  package var word: String { title.lowercased().replacing(" ", with: "-") }

  /// The screen of that name.
  package init?(word: String) {
    guard let page = Self.allCases.first(where: { $0.word == word }) else { return nil }
    self = page
  }

  var action: Action { .own("screen \(title)") }

  /// Two panels stand beside each other; of more, the layout says where each stands.
  var isPair: Bool { panels.count == 2 }

  /// What is asked once a second while it is shown and something happens in the cache.
  var questions: [Effect] { panels.flatMap { $0.panel.questions } }
}

extension Page: CaseIterable {
  /// All screens, in the order of their keys.
  ///
  /// This is the one list in which a new one takes its place: keys, help, manual, focus and drawing follow.
  package static let allCases: [Page] = [
    .overview, .entries, .requests, .latency, .config, .log, .models, .whatIf, .http, .keyspace, .fleet,
  ]
}

extension Page: Hashable {
  package static func == (left: Page, right: Page) -> Bool { left.key == right.key }
  package func hash(into hasher: inout Hasher) { hasher.combine(key) }
}

/// In a recording a screen is its place in the list, from 1.
extension Page: Codable {
  package init(from decoder: any Decoder) throws {
    let number = try decoder.singleValueContainer().decode(Int.self)
    guard Self.allCases.indices.contains(number - 1) else {
      throw DecodingError.dataCorrupted(
        .init(codingPath: decoder.codingPath, debugDescription: "there is no screen \(number)"))
    }
    self = Self.allCases[number - 1]
  }

  package func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode((Self.allCases.firstIndex(of: self) ?? 0) + 1)
  }
}

extension PanelID {
  /// Every panel once, in the order of the screens.
  static let all: [PanelID] = Page.allCases.flatMap(\.panels).reduce(into: []) { all, panel in
    if !all.contains(panel) { all.append(panel) }
  }
}

extension KeyTable {
  package static let bindings = bindings(
    pages: Page.allCases.map { page in
      // One word in the key bar stands for all of them.
      let isFirst = page == Page.allCases.first
      let range = "\(page.key)-\(Page.allCases.last { $0.key.isNumber }?.key ?? page.key)"
      return bind(
        [.character(page.key)], String(page.key), page.action, page.does, .look, label: isFirst ? "Screen" : nil,
        bar: isFirst ? range : nil)
    },
    panels: PanelID.all.flatMap { $0.panel.keys })
}

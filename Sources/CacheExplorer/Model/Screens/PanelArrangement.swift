/// Which panels the overview has below the levels, and in which order they take their places: at the left, at the right above
/// and below, and at the foot.
package struct PanelArrangement: Sendable, Equatable {
  package enum Name: String, CaseIterable, Sendable, Codable {
    case entries, inFlight, latency, log

    var panel: PanelID {
      switch self {
      case .entries: .entries
      case .inFlight: .inFlight
      case .latency: .latency
      case .log: .log
      }
    }

    package var title: String {
      self == .inFlight ? "In flight" : rawValue.prefix(1).uppercased() + rawValue.dropFirst()
    }

    init?(_ panel: PanelID) {
      guard let name = Self.allCases.first(where: { $0.panel == panel }) else { return nil }
      self = name
    }
  }

  package private(set) var order = Name.allCases
  package private(set) var hidden: Set<Name> = []

  package init() {}

  /// `nil` unless each panel has one place, and one at least is shown.
  package init?(order: [Name], hidden: [Name]) {
    guard order.count == Name.allCases.count, Set(order).count == order.count, hidden.count == Set(hidden).count,
      hidden.count < order.count
    else { return nil }
    (self.order, self.hidden) = (order, Set(hidden))
  }

  /// What is shown, in the order of the places.
  var shown: [PanelID] { order.filter { !hidden.contains($0) }.map(\.panel) }

  /// What is shown at a place of the four, counted as in ``order``.
  func panel(at place: Int) -> PanelID? { hidden.contains(order[place]) ? nil : order[place].panel }

  /// Where panels share a place, what they are, from the left: the one at the foot is the first to be seen.
  var tabs: [PanelID] {
    let others = Array(shown.dropFirst())
    return others.suffix(1) + others.dropLast()
  }

  /// Hides a panel; whether another is left.
  mutating func hide(_ name: Name) -> Bool {
    guard hidden.count + 1 < order.count else { return false }
    return hidden.insert(name).inserted
  }

  /// Changes places with the next panel that is shown, after the last one with the first.
  mutating func move(_ name: Name) -> Name? {
    let places = order.indices.filter { !hidden.contains(order[$0]) }
    guard places.count > 1, let place = places.firstIndex(where: { order[$0] == name }) else { return nil }
    let next = places[(place + 1) % places.count]
    order.swapAt(places[place], next)
    return order[places[place]]
  }
}

extension PanelArrangement: Codable {
  private enum CodingKeys: CodingKey { case order, hidden }

  package init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    let order = try container.decode([Name].self, forKey: .order)
    let hidden = try container.decode([Name].self, forKey: .hidden)
    guard let read = Self(order: order, hidden: hidden) else {
      throw DecodingError.dataCorrupted(
        .init(codingPath: decoder.codingPath, debugDescription: "each panel has one place, and one at least is shown"))
    }
    self = read
  }

  package func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(order, forKey: .order)
    try container.encode(order.filter { hidden.contains($0) }, forKey: .hidden)
  }
}

/// A part of the composition as it is drawn: a level, or an operator with what it holds.
package indirect enum ChainPart: Sendable, Equatable, Codable {
  /// The index of a level.
  case level(Int)
  /// The index of an operator, and what it holds.
  case around(Int, [ChainPart])
  /// Keys that meet the operator's condition take one lane, all others the other.
  case lanes(Int, then: [ChainPart], otherwise: [ChainPart])
  /// What holds values, and the source that they are refreshed from.
  case stale(Int, level: [ChainPart], from: [ChainPart])

  /// The levels in it, from the top.
  package var levels: [Int] {
    switch self {
    case .level(let index): [index]
    case .around(_, let parts): parts.flatMap(\.levels)
    case .lanes(_, let then, let otherwise): (then + otherwise).flatMap(\.levels)
    case .stale(_, let level, let from): (level + from).flatMap(\.levels)
    }
  }

  /// The levels that stand within an operator of a kind.
  package func levels(inside isWanted: (Int) -> Bool) -> [Int] {
    switch self {
    case .level: []
    case .around(let index, let parts):
      isWanted(index) ? parts.flatMap(\.levels) : parts.flatMap { $0.levels(inside: isWanted) }
    case .lanes(_, let then, let otherwise): (then + otherwise).flatMap { $0.levels(inside: isWanted) }
    case .stale(_, let level, let from): (level + from).flatMap { $0.levels(inside: isWanted) }
    }
  }

  /// The levels that are asked first.
  package var first: [Int] {
    switch self {
    case .level(let index): [index]
    case .around(_, let parts), .stale(_, let parts, _): parts.first?.first ?? []
    case .lanes(_, let then, let otherwise): (then.first?.first ?? []) + (otherwise.first?.first ?? [])
    }
  }

  /// The levels that are asked last.
  package var last: [Int] {
    switch self {
    case .level(let index): [index]
    case .around(_, let parts), .stale(_, _, let parts): parts.last?.last ?? []
    case .lanes(_, let then, let otherwise): (then.last?.last ?? []) + (otherwise.last?.last ?? [])
    }
  }
}

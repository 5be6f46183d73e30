import ExplorerState

/// The composition as rows under one another: what an operator holds is indented below it.
enum ChainTree {
  struct Row: Equatable {
    enum Content: Equatable {
      case level(Int)
      /// One operator, or several that hold one another, outer ones first.
      case operators([Held])
      /// One of two lanes, and the levels in it.
      case lane(Int, isFirst: Bool, [Int])
    }

    /// What joins the row to those above.
    var branch: String
    var content: Content
  }

  /// An operator, and the levels whose stale answers are its doing.
  struct Held: Equatable {
    var index: Int
    var levels: [Int] = []
  }

  /// `isCompact`: Operators that hold one another share a row.
  static func rows(_ chain: [ChainPart], isCompact: Bool) -> [Row] {
    var rows: [Row] = []
    for part in chain { append(part, branch: "", below: "", isCompact, to: &rows) }
    return rows
  }

  private static func append(_ parts: [ChainPart], below: String, _ isCompact: Bool, to rows: inout [Row]) {
    for (index, part) in parts.enumerated() {
      let isLast = index + 1 == parts.count
      append(part, branch: below + (isLast ? "└ " : "├ "), below: below + (isLast ? "  " : "│ "), isCompact, to: &rows)
    }
  }

  private static func append(
    _ part: ChainPart, branch: String, below: String, _ isCompact: Bool, to rows: inout [Row]
  ) {
    switch part {
    case .level(let index): rows.append(Row(branch: branch, content: .level(index)))
    case .lanes(let index, let then, let otherwise):
      let isTop = branch.isEmpty
      let first = isTop ? "" : String(branch.dropLast(2)) + "├ "
      rows.append(Row(branch: first, content: .lane(index, isFirst: true, then.flatMap(\.levels))))
      append(then, below: isTop ? "" : String(branch.dropLast(2)) + "│ ", isCompact, to: &rows)
      rows.append(Row(branch: branch, content: .lane(index, isFirst: false, otherwise.flatMap(\.levels))))
      append(otherwise, below: below, isCompact, to: &rows)
    case .around, .stale:
      var (held, inner) = part.run
      if !isCompact, held.count > 1, case .around(let index, let parts) = part {
        (held, inner) = ([Held(index: index)], parts)
      }
      rows.append(Row(branch: branch, content: .operators(held)))
      append(inner, below: below, isCompact, to: &rows)
    }
  }
}

extension ChainPart {
  /// The operators that hold one another and nothing beside, and what the innermost of them holds.
  var run: (held: [ChainTree.Held], inner: [ChainPart]) {
    switch self {
    case .around(let index, let parts):
      guard parts.count == 1, let only = parts.first else { return ([ChainTree.Held(index: index)], parts) }
      let (held, inner) = only.run
      return ([ChainTree.Held(index: index)] + held, held.isEmpty ? parts : inner)
    case .stale(let index, let level, let from):
      return ([ChainTree.Held(index: index, levels: level.flatMap(\.levels))], level + from)
    case .level, .lanes: return ([], [self])
    }
  }
}

import ExplorerState
import ExplorerText

/// Boxes from left to right: levels, the operators before what they hold, and lanes above one another.
struct BoxRow {
  /// The least width of the box of a level, of an origin's, and the width of the arrow between two.
  static let levelBox = 29
  static let originBox = 13
  static let arrow = 5
  static let gateBox = 30
  static let boxHeight = 7
  /// With lanes above one another.
  static let smallBoxHeight = 5

  private enum Item {
    case level(Int, pool: Int?)
    /// Operators that hold what stands to the right.
    case gate([ChainTree.Held])
    case lanes(Int, BoxRow, BoxRow, isEntered: Bool)
    case arrow(from: [Int], to: [Int])
    /// From a gate to what it holds.
    case joint
    /// Where what a gate holds ends.
    case end
  }

  /// Before a lane: where it forks, and the arrow into it.
  private static let fork = 3
  /// How wide boxes grow, in turns: a level's numbers first, then the rest, then longer histories.
  private static let growth = [
    (kind: Kind.storage, widest: 44), (.origin, 22), (.gate, 44), (.storage, 64), (.origin, 64),
  ]

  private enum Kind { case storage, origin, gate }
  /// A box that has more to say is cut, and says that it is.
  private static let mostNeeded = 64

  private var items: [Item] = []

  init(_ picture: Picture) { append(picture.chain, picture, isLast: true) }

  private init(_ parts: [ChainPart], _ picture: Picture) { append(parts, picture, isLast: true) }

  private mutating func append(_ parts: [ChainPart], _ picture: Picture, isLast: Bool) {
    for (index, part) in parts.enumerated() {
      if index > 0 { items.append(.arrow(from: parts[index - 1].last, to: part.first)) }
      append(part, picture, isLast: isLast && index + 1 == parts.count)
    }
  }

  private mutating func append(_ part: ChainPart, _ picture: Picture, isLast: Bool) {
    switch part {
    case .level(let index): items.append(.level(index, pool: nil))
    case .lanes(let index, let then, let otherwise):
      items.append(
        .lanes(index, BoxRow(then, picture), BoxRow(otherwise, picture), isEntered: !items.isEmpty))
    case .around(let pool, let parts) where picture.operators[pool].kind == "pooled" && parts.isLevel:
      items += parts.flatMap(\.levels).map { .level($0, pool: pool) }
    case .around, .stale:
      let (held, inner) = part.run
      items += [.gate(held), .joint]
      append(inner, picture, isLast: isLast)
      if !isLast { items.append(.end) }
    }
  }

  // MARK: Measures

  /// The least width.
  func width(_ picture: Picture) -> Int { items.reduce(0) { $0 + Self.least($1, picture) } }

  /// `box`: The height of one box.
  func height(box: Int) -> Int {
    items.reduce(box) { height, item in
      guard case .lanes(_, let then, let otherwise, _) = item else { return height }
      return max(height, 2 + then.height(box: box) + otherwise.height(box: box))
    }
  }

  private static func least(_ item: Item, _ picture: Picture) -> Int {
    switch item {
    case .level(let index, _): picture.levels[index].isOrigin ? Self.originBox : Self.levelBox
    case .gate: Self.gateBox
    case .lanes(_, let then, let otherwise, _): fork + max(then.width(picture), otherwise.width(picture))
    case .arrow: Self.arrow
    case .joint: 2
    case .end: 2
    }
  }

  /// The width in which a box says everything whole.
  private static func needed(_ item: Item, _ picture: Picture) -> Int {
    switch item {
    case .level(let index, let pool): LevelBoxes.neededWidth(picture, index, pool: pool)
    case .gate(let held): 4 + held.reduce(0) { max($0, OperatorText(picture, $1).width) }
    case .lanes(_, let then, let otherwise, _):
      fork + [then, otherwise].reduce(0) { max($0, $1.items.reduce(0) { $0 + needed($1, picture) }) }
    case .arrow, .joint, .end: least(item, picture)
    }
  }

  private static func kind(_ item: Item, _ picture: Picture) -> Kind? {
    switch item {
    case .level(let index, _): picture.levels[index].isOrigin ? .origin : .storage
    case .gate: .gate
    // What is in them grows like storage.
    case .lanes: .storage
    case .arrow, .joint, .end: nil
    }
  }

  private func widths(_ picture: Picture, in width: Int) -> [Int] {
    let least = items.map { Self.least($0, picture) }
    var widths = least
    var left = width - widths.reduce(0, +)
    // What boxes have to say comes first: each gets what it lacks, or as much as the others (max-min fair sharing).
    let needed = items.map { min(Self.needed($0, picture), Self.mostNeeded) }
    while left > 0 {
      let growing = items.indices.filter { widths[$0] < needed[$0] }
      guard !growing.isEmpty else { break }
      for index in growing.prefix(left) {
        widths[index] += 1
        left -= 1
      }
    }
    for (kind, widest) in Self.growth {
      let most = items.indices.map { index in
        if case .lanes(_, let then, let otherwise, _) = items[index] {
          return least[index] + (widest - Self.levelBox) * max(then.boxes, otherwise.boxes)
        }
        return widest
      }
      while left > 0 {
        let growing = items.indices.filter { Self.kind(items[$0], picture) == kind && widths[$0] < most[$0] }
        guard !growing.isEmpty else { break }
        for index in growing where left > 0 {
          widths[index] += 1
          left -= 1
        }
      }
    }
    return widths
  }

  private var boxes: Int {
    items.count {
      switch $0 {
      case .level, .gate, .lanes: true
      case .arrow, .joint, .end: false
      }
    }
  }

  /// Where each level's box stands.
  func places(_ picture: Picture, in rect: Rect, box: Int) -> [(level: Int, box: Rect)] {
    var found: [(level: Int, box: Rect)] = []
    var x = rect.x
    for (item, width) in zip(items, widths(picture, in: rect.width)) {
      switch item {
      case .level(let index, _): found.append((index, Rect(x: x, y: rect.y, width: width, height: box)))
      case .lanes(_, let then, let otherwise, _):
        let lanes = Rect(x: x, y: rect.y, width: width, height: rect.height)
        for (lane, place) in Self.lanes([then, otherwise], in: lanes, box: box) {
          found += lane.places(picture, in: place, box: box)
        }
      case .gate, .arrow, .joint, .end: break
      }
      x += width
    }
    return found
  }

  /// Where the boxes of each lane stand, below its label.
  private static func lanes(_ lanes: [BoxRow], in rect: Rect, box: Int) -> [(lane: BoxRow, place: Rect)] {
    var y = rect.y
    return lanes.map { lane in
      let height = lane.height(box: box)
      defer { y += 1 + height }
      return (lane, Rect(x: rect.x + fork, y: y + 1, width: rect.width - fork, height: height))
    }
  }

  // MARK: Drawing

  func draw(_ picture: Picture, in rect: Rect, box: Int, on canvas: inout Canvas) {
    var x = rect.x
    for (item, width) in zip(items, widths(picture, in: rect.width)) {
      let place = Rect(x: x, y: rect.y, width: width, height: box)
      switch item {
      case .level(let index, let pool): LevelBoxes.drawBox(picture, index, pool: pool, in: place, on: &canvas)
      case .gate(let held): Self.drawGate(held, picture, in: place, on: &canvas)
      case .lanes(let index, let then, let otherwise, let isEntered):
        let lanes = Rect(x: x, y: rect.y, width: width, height: rect.height)
        Self.drawLanes(picture, index, [then, otherwise], isEntered, in: lanes, box: box, on: &canvas)
      case .arrow(let from, let to):
        LevelBoxes.drawArrow(picture, from: from, to: to, x: x, y: rect.y, box: box, on: &canvas)
      case .joint:
        canvas.write("═▶", x: x, y: rect.y + 1, style: .miss)
        canvas.write("◀─", x: x, y: rect.y + (box >= Self.boxHeight ? 4 : 3), style: .fill)
      case .end: Self.drawEnd(in: place, on: &canvas)
      }
      x += width
    }
  }

  /// One operator a line, the outermost on top.
  private static func drawGate(
    _ held: [ChainTree.Held], _ picture: Picture, in place: Rect, on canvas: inout Canvas
  ) {
    canvas.box(place, isRound: true)
    let texts = held.map { OperatorText(picture, $0) }
    let lines = place.height - 2
    let room = place.width - 4
    for (line, text) in texts.prefix(lines).enumerated() {
      let y = place.y + 1 + line
      // Those that have no line of their own share the last one.
      let spans =
        line == lines - 1 && texts.count > lines
        ? OperatorText.line(Array(texts[line...]), in: room) : text.row(newsAt: room, in: room)
      canvas.write(spans, x: place.x + 2, y: y, limit: room)
    }
  }

  private static func drawEnd(in place: Rect, on canvas: inout Canvas) {
    for y in place.y..<place.bottom {
      let glyph: DisplayText = y == place.y ? "╮" : y == place.bottom - 1 ? "╯" : "│"
      canvas.write(glyph, x: place.x + 1, y: y, style: .border)
    }
  }

  private static func drawLanes(
    _ picture: Picture, _ index: Int, _ lanes: [BoxRow], _ isEntered: Bool, in rect: Rect, box: Int,
    on canvas: inout Canvas
  ) {
    let operation = picture.operators[index]
    let second = rect.y + 1 + lanes[0].height(box: box)
    for y in rect.y...second {
      let glyph: DisplayText = y == rect.y ? "╭" : y == second ? "╰" : y == rect.y + 1 && isEntered ? "┤" : "│"
      canvas.write(glyph, x: rect.x, y: y, style: .miss)
    }
    for (place, (lane, inner)) in Self.lanes(lanes, in: rect, box: box).enumerated() {
      let y = inner.y - 1
      let label = DisplayText(place == 0 ? operation.setting : "else").clipped(to: rect.width - fork - 12)
      let name = operation.isNamed && place == 0 ? DisplayText(operation.name) + ": " : ""
      let asked = lane.first.flatMap { picture.traffic[$0].seconds.rate(at: picture.now) { $0.asked } }
      canvas.write(
        [Span("─▶ ", .miss), Span("◇ " + name + label, .key), Span("  \(Format.perSecond(asked))", .faint)],
        x: rect.x + 1, y: y, limit: rect.width - 1)
      lane.draw(picture, in: inner, box: box, on: &canvas)
    }
  }

  /// The level that is asked first.
  private var first: Int? {
    for item in items {
      switch item {
      case .level(let index, _): return index
      case .lanes(_, let then, _, _): return then.first
      case .gate, .arrow, .joint, .end: continue
      }
    }
    return nil
  }
}

extension [ChainPart] {
  /// One level and nothing else.
  fileprivate var isLevel: Bool {
    if count == 1, case .level? = first { return true }
    return false
  }
}

import ExplorerState
import ExplorerText

/// Where the parts of the screen are.
///
/// Both drawing and scrolling ask it.
struct Layout: Equatable, Sendable {
  /// The smallest screen that says anything useful.
  static let smallest = Size(width: 40, height: 10)
  private static let rightColumn = 44
  /// Wider screens have the inspector beside the panels.
  private static let dockedFrom = 160

  enum Levels: Equatable, Sendable {
    case boxes(Rect)
    case table(Rect)
  }

  var isTooSmall = false
  var header = Rect(x: 0, y: 0, width: 0, height: 0)
  var levels = Levels.table(Rect(x: 0, y: 0, width: 0, height: 0))
  var servedBy: Rect?
  var panels: [PanelID: Rect] = [:]
  /// The panels that share one place, of which the focus says which is shown.
  var tabs: [PanelID] = []
  /// Where a request or a value is inspected: beside the panels on wide screens, else over them.
  var inspector = Rect(x: 0, y: 0, width: 0, height: 0)
  /// The inspector has a place of its own and is always there.
  var isDocked = false
  var banner: Rect?
  var commandLine = Rect(x: 0, y: 0, width: 0, height: 0)
  /// `nil`: the command line's own row shows the answer.
  var answer: Rect?
  var keyBar: Rect?

  /// The part in the middle, for a panel that is zoomed and for the help.
  private(set) var middle = Rect(x: 0, y: 0, width: 0, height: 0)

  init(_ model: Model) {
    let size = model.size
    guard size.width >= Self.smallest.width, size.height >= Self.smallest.height else {
      isTooSmall = true
      return
    }
    let shown = model.shown
    arrange(size, shown, hasWarning: shown.warning != nil, model)
  }

  private mutating func arrange(
    _ size: Size, _ picture: Picture, hasWarning: Bool, _ model: Model
  ) {
    let (focus, isZoomed) = (model.focus, model.isZoomed)
    let (width, height) = (size.width, size.height)
    func row(_ y: Int, height: Int = 1) -> Rect { Rect(x: 0, y: y, width: width, height: height) }
    header = row(0)

    // From the bottom up: keys, answer, command line, banner.
    var bottom = height
    func takeBottom() -> Rect {
      bottom -= 1
      return row(bottom)
    }
    if height >= 12 { keyBar = takeBottom() }
    if height >= 30 { answer = takeBottom() }
    commandLine = takeBottom()
    if hasWarning, height >= 12 { banner = takeBottom() }

    // From the top down: levels, served by.
    var top = 1
    middle = row(1, height: bottom - 1)
    if !isZoomed, model.page == .overview {
      if let boxes = Self.boxesHeight(picture, in: size) {
        self.levels = .boxes(row(top, height: boxes))
        top += boxes
      } else {
        let rows = Self.tableHeight(picture.chain, height: height, room: bottom - top)
        self.levels = .table(row(top, height: rows))
        top += rows
      }
      if bottom - top >= 1 {
        servedBy = row(top)
        top += 1
      }
    }
    var rest = row(top, height: max(0, bottom - top))
    inspector = middle
    if width > Self.dockedFrom, rest.height >= 16, !model.page.isPair {
      isDocked = true
      let docked = min(96, max(48, width - 112))
      rest.width -= docked
      inspector = Rect(x: rest.right, y: rest.y, width: docked, height: rest.height)
    }
    if isZoomed || model.page != .overview {
      arrangePage(rest, model)
    } else if rest.width >= 110, rest.height >= 20 {
      arrangeWide(rest, model.arrangement)
    } else {
      arrangeNarrow(rest, model.arrangement, focus: focus)
    }
  }

  /// How high the boxes are, if they have room beside each other and leave the panels theirs.
  private static func boxesHeight(_ picture: Picture, in size: Size) -> Int? {
    guard size.height >= 30 else { return nil }
    let boxes = BoxRow(picture)
    guard boxes.width(picture) <= size.width else { return nil }
    return [BoxRow.boxHeight, BoxRow.smallBoxHeight].map { boxes.height(box: $0) }.first {
      $0 == BoxRow.boxHeight || size.height - $0 >= 28
    }
  }

  /// Every operator in a row of its own if the panels keep enough, else in as few as can be.
  private static func tableHeight(_ chain: [ChainPart], height: Int, room: Int) -> Int {
    if LevelTable.height(chain, isCompact: false) <= room - (height >= 30 ? 19 : height >= 20 ? 7 : 1) {
      return LevelTable.height(chain, isCompact: false)
    }
    return min(LevelTable.height(chain, isCompact: true), max(2, height >= 20 ? room - 7 : room))
  }

  /// One panel has everything, but for two that stand beside each other.
  private mutating func arrangePage(_ rest: Rect, _ model: Model) {
    guard model.page.isPair, !model.isZoomed else {
      return panels = [model.focus == .levels ? .entries : model.focus: rest]
    }
    let (first, second) = (model.page.panels[0], model.page.panels[1])
    if rest.width >= 90 {
      let left = rest.width * 11 / 20
      panels[first] = Rect(x: 0, y: rest.y, width: left, height: rest.height)
      panels[second] = Rect(x: left, y: rest.y, width: rest.width - left, height: rest.height)
    } else if rest.height >= 12 {
      let upper = rest.height / 2
      panels[first] = Rect(x: 0, y: rest.y, width: rest.width, height: upper)
      panels[second] = Rect(x: 0, y: rest.y + upper, width: rest.width, height: rest.height - upper)
    } else {
      panels = [model.focus: rest]
    }
  }

  private mutating func arrangeWide(_ rest: Rect, _ arrangement: PanelArrangement) {
    let (main, foot) = (arrangement.panel(at: 0), arrangement.panel(at: 3))
    let side = [arrangement.panel(at: 1), arrangement.panel(at: 2)].compactMap(\.self)
    // What is hidden leaves its room to those beside it.
    let footHeight = foot == nil ? 0 : main == nil && side.isEmpty ? rest.height : max(5, rest.height * 11 / 26)
    let upper = rest.height - footHeight
    let right =
      side.isEmpty ? 0 : main == nil ? rest.width : max(Self.rightColumn, rest.width * Self.rightColumn / 120)
    let left = rest.width - right
    let first = side.count > 1 ? max(4, upper * 6 / 15) : upper
    if let main { panels[main] = Rect(x: 0, y: rest.y, width: left, height: upper) }
    for (place, panel) in side.enumerated() {
      panels[panel] = Rect(
        x: left, y: rest.y + (place == 0 ? 0 : first), width: right, height: place == 0 ? first : upper - first)
    }
    if let foot { panels[foot] = Rect(x: 0, y: rest.y + upper, width: rest.width, height: footHeight) }
  }

  /// The first panel has a place of its own, the others share one; where there is room for one place, all do.
  private mutating func arrangeNarrow(_ rest: Rect, _ arrangement: PanelArrangement, focus: PanelID) {
    guard rest.height >= 4 else { return }
    let shown = arrangement.shown
    tabs = arrangement.tabs
    // The levels have a place of their own above.
    let focus = shown.contains(focus) ? focus : shown[0]
    guard rest.height >= 10, let usual = tabs.first else {
      // Room for one: whichever has the focus, which Tab changes.
      panels[focus] = rest
      return
    }
    let upper = rest.height - max(4, min(rest.height * 6 / 14, 16))
    panels[shown[0]] = Rect(x: 0, y: rest.y, width: rest.width, height: upper)
    panels[focus == shown[0] ? usual : focus] = Rect(
      x: 0, y: rest.y + upper, width: rest.width, height: rest.height - upper)
  }

  /// How many rows of a panel scroll.
  func rows(_ panel: PanelID) -> Int { panels[panel].map { max(0, $0.height - panel.panel.fixedRows) } ?? 0 }
}

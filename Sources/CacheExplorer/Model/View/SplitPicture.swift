import ExplorerState
package import ExplorerText

/// Two pictures on one: beside each other where it is wide, one above the other where it is high.
package struct SplitPicture: Equatable, Sendable {
  /// Whom keys go to.
  package enum Focus: Sendable, Equatable {
    case both, first, second

    package func includes(_ side: Int) -> Bool { self == .both || (self == .first) == (side == 0) }
  }

  /// Wider screens have columns; each is as wide as the smallest screen at least.
  static let columnsFrom = 100
  private static let rowsFrom = 2 * Layout.smallest.height + 1

  package let size: Size
  /// Where each of the two is; `nil` for the one that has no room.
  package let places: [Rect?]
  private let isBeside: Bool
  /// Where the pictures begin: below the title, unless that takes the row which they need.
  private let top: Int

  package init(_ size: Size, focus: Focus) {
    self.size = size
    top = size.height > Layout.smallest.height ? 1 : 0
    let (width, rest) = (size.width, max(0, size.height - top))
    isBeside = width >= Self.columnsFrom
    if isBeside {
      let left = (width - 1) / 2
      places = [
        Rect(x: 0, y: top, width: left, height: rest),
        Rect(x: left + 1, y: top, width: width - left - 1, height: rest),
      ]
    } else if size.height >= Self.rowsFrom {
      let upper = rest / 2
      places = [
        Rect(x: 0, y: top, width: width, height: upper), Rect(x: 0, y: top + upper, width: width, height: rest - upper),
      ]
    } else {
      let all = Rect(x: 0, y: top, width: width, height: rest)
      places = focus == .second ? [nil, all] : [all, nil]
    }
  }

  /// Whose picture a cell belongs to; `nil` for the title and for what divides them.
  package func side(at point: Point) -> Int? {
    places.firstIndex { place in
      guard let place else { return false }
      return (place.x..<place.x + place.width).contains(point.x) && (place.y..<place.y + place.height).contains(point.y)
    }
  }

  /// How large the picture of each is, also of one that is not seen.
  package func size(of side: Int) -> Size {
    let rect =
      places[side] ?? places[1 - side] ?? Rect(x: 0, y: top, width: size.width, height: max(0, size.height - top))
    return Size(width: rect.width, height: rect.height)
  }

  /// Puts the two together.
  ///
  /// `titles`: What the caches are called.
  /// `hits`: What share of the reads each answered without its source; `nil` if there were none.
  package func canvas(_ panes: [Canvas?], titles: [String], hits: [Double?], focus: Focus) -> Canvas {
    var canvas = Canvas(size)
    for (side, place) in places.enumerated() {
      guard let place, let pane = panes[side] else { continue }
      for y in 0..<min(place.height, pane.size.height) {
        for x in 0..<min(place.width, pane.size.width) { canvas[place.x + x, place.y + y] = pane[x, y] }
      }
      if focus.includes(side), canvas.cursor == nil, let cursor = pane.cursor {
        canvas.cursor = Point(x: place.x + cursor.x, y: place.y + cursor.y)
      }
    }
    if isBeside, let left = places[0] {
      for y in top..<max(top, size.height) { canvas.write("│", x: left.right, y: y, style: .border) }
    }
    if top > 0 { drawTitle(titles, hits, focus, on: &canvas) }
    return canvas
  }

  private func drawTitle(_ titles: [String], _ hits: [Double?], _ focus: Focus, on canvas: inout Canvas) {
    let room = max(4, (size.width - 40) / 4)
    var spans: [Span] = [Span(" ")]
    for side in 0...1 {
      let style: Style = focus.includes(side) ? .title : .faint
      spans.append(Span(side == 0 ? "A " : "B ", focus.includes(side) ? .key : .faint))
      spans.append(Span(DisplayText(titles[side]).shortened(to: room), style))
      spans.append(Span(" hit " + DisplayText(WhatIfText.percent(hits[side])) + "  ", .hit))
    }
    if let first = hits[0], let second = hits[1], size.width >= 70 {
      let gain = WhatIfText.points(from: first, to: second)
      let text = gain == 0 ? "no difference" : "\(gain > 0 ? "B" : "A") +\(WhatIfText.tenths(abs(gain))) points"
      spans.append(Span(DisplayText(text), gain == 0 ? .faint : .accent))
    }
    let end = canvas.write(spans, x: 0, y: 0, limit: size.width)
    let name = focus == .both ? "both" : focus == .first ? "A" : "B"
    let named = "keys: " + DisplayText(name)
    let hints = [named + " · F2 A · F3 B · F4 both", named + " F2-4", DisplayText(name)]
    if let hint = hints.first(where: { end + $0.width + 2 <= size.width }) {
      canvas.write(hint, endingAt: size.width - 1, y: 0, style: .faint)
    }
  }
}

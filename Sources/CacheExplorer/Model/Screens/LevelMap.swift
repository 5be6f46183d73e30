import ExplorerState
import ExplorerText

/// Where the levels and their histories stand on the overview.
struct LevelMap {
  private(set) var places: [LevelPlace] = []

  init(_ model: Model) {
    let layout = Layout(model)
    guard !layout.isTooSmall, !model.isZoomed, model.page == .overview else { return }
    let picture = model.shown
    switch layout.levels {
    case .boxes(let rect):
      places = LevelBoxes.places(picture, in: rect).map { level, box in
        LevelPlace(level: level, frame: box, history: LevelBoxes.history(picture, level, in: box))
      }
    case .table(let rect): places = LevelTable.places(picture, in: rect)
    }
  }

  /// Shows which level and which second is chosen.
  static func drawCursor(_ model: Model, _ picture: Picture, on canvas: inout Canvas) {
    guard let place = model.historyPlace else { return }
    if place.frame.height > 1 {
      canvas.accentuate(place.frame)
    } else {
      canvas.write("▸", x: place.frame.x, y: place.frame.y, style: .accent)
    }
    guard let history = place.history else { return }
    let column = model.history.column(at: picture.now, columns: history.width)
    canvas.reverse(Rect(x: history.x + column, y: history.y, width: 1, height: history.height))
  }

  /// What the chosen second was like.
  static func sentence(_ model: Model) -> String? {
    let picture = model.shown
    guard model.focus == .levels, picture.levels.indices.contains(model.history.level),
      model.historyPlace?.history != nil
    else { return nil }
    let number = model.chosenSecond
    let back = Int(SecondRing.number(of: picture.now) &- number)
    let seconds = picture.traffic[model.history.level].seconds.last(back + 1, at: picture.now)
    let second = seconds.first ?? SecondRing.Second()
    let name = picture.levels[model.history.level].name.uppercased()
    var parts = ["\(Format.count(Int(second.asked))) asked"]
    if !picture.levels[model.history.level].isOrigin {
      parts += [Format.counted(Int(second.hits), "hit"), Format.counted(Int(second.misses), "miss", "misses")]
    }
    if second.hasWarning { parts.append("memory warning") }
    return "\(name) at \(model.time(ofSecond: number)): \(parts.joined(separator: ", "))"
  }
}

extension Canvas {
  /// Gives the frame of a part the look of what has the focus.
  fileprivate mutating func accentuate(_ rect: Rect) {
    for y in rect.y..<rect.bottom {
      for x in rect.x..<rect.right where y == rect.y || y == rect.bottom - 1 || x == rect.x || x == rect.right - 1 {
        if self[x, y].style.role == .border { self[x, y].style = .accent }
      }
    }
  }
}

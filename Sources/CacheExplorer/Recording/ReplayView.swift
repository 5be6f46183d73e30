import CacheEngine
import ExplorerCommands
import ExplorerModel
import ExplorerState
import ExplorerText

/// Draws a replay: the picture as it was, and a row of the replay's own.
///
/// The row stands below the picture where the window has room, else over the last row, which names the keys of a live session.
func view(_ state: ReplayState, on canvas: inout Canvas) {
  canvas.fill(Rect(x: 0, y: 0, width: canvas.size.width, height: canvas.size.height))
  canvas.cursor = nil
  if let look = state.shown {
    var picture = Canvas(look.size)
    view(look, on: &picture)
    canvas.copy(picture)
    canvas.cursor = picture.cursor
  } else {
    canvas.copy(state.playback.canvas)
  }
  let row = Rect(x: 0, y: canvas.size.height - 1, width: canvas.size.width, height: 1)
  canvas.fill(row)
  if let editor = state.editor {
    ReplayBar.draw(editor, state.fault, in: row, on: &canvas)
  } else {
    ReplayBar.draw(state, in: row, on: &canvas)
  }
  if state.isHelping { ReplayHelp.draw(on: &canvas) }
  if let palette = state.palette {
    let place = Rect(x: 0, y: 0, width: canvas.size.width, height: max(0, canvas.size.height - 1))
    ActionPaletteOverlay.draw(palette, isReadOnly: false, in: place, on: &canvas)
  }
}

extension Canvas {
  /// Takes over what another canvas shows, as far as there is room.
  mutating func copy(_ other: Canvas) {
    for y in 0..<min(size.height, other.size.height) {
      for x in 0..<min(size.width, other.size.width) {
        var cell = other[x, y]
        // The other half of a wide glyph would be beyond the edge.
        if x + 1 == size.width, x + 1 < other.size.width, other[x + 1, y].glyph.isEmpty { cell.glyph = " " }
        self[x, y] = cell
      }
    }
  }
}

enum ReplayBar {
  static func draw(_ state: ReplayState, in rect: Rect, on canvas: inout Canvas) {
    let playback = state.playback
    let sign = playback.isAtEnd ? "■" : playback.isPlaying ? "▶" : "‖"
    let time = Format.behind(nanoseconds: playback.head)
    let length = Format.behind(nanoseconds: playback.recording.length)
    let speed = Format.number(playback.speed)
    let isWide = rect.width >= 100
    var text =
      " \(sign) REPLAY \(time) of \(length)  ×\(speed) \(state.shown == nil ? "" : "· looking, Esc: the film ")"
    if isWide {
      text += " picture \(Format.count(playback.place + 1)) of \(Format.count(playback.recording.pictures.count)) "
    }
    let style = Style(role: .accent, isBold: true, isReversed: true)
    let x = canvas.write(DisplayText(text), x: rect.x, y: rect.y, style: style, limit: rect.width)
    let room = max(0, rect.right - x - 2)
    let need = state.shown?.size ?? playback.model.size
    // A question goes first.
    if let failure = playback.failure, !state.isWarned || state.answer == nil {
      canvas.write("✕ " + DisplayText(failure.description), x: x + 1, y: rect.y, style: .error, limit: room)
    } else if let answer = state.answer {
      let sign = Span(answer.isGood ? "✓ " : "✕ ", answer.isGood ? .hit : .error)
      canvas.write([sign, Span(DisplayText(answer.text))], x: x + 1, y: rect.y, limit: room)
    } else if need.width > canvas.size.width || need.height > canvas.size.height {
      let size: DisplayText = "recorded at \(need.width)x\(need.height); enlarge the window"
      canvas.write(size, x: x + 1, y: rect.y, style: .warning, limit: room)
    } else {
      drawKeys(from: x + 1, in: rect, on: &canvas)
    }
  }

  /// As many keys as there is room for.
  private static func drawKeys(from start: Int, in rect: Rect, on canvas: inout Canvas) {
    var bindings = KeyTable.bindings.filter { $0.scope == .replaying && $0.label != nil }
    func key(_ binding: KeyTable.Binding) -> DisplayText { DisplayText(binding.barName ?? binding.name) }
    func word(_ binding: KeyTable.Binding) -> DisplayText {
      DisplayText((key(binding).width > 1 ? " " : "") + (binding.label ?? ""))
    }
    func width() -> Int { bindings.reduce(0) { $0 + key($1).width + word($1).width + 1 } }
    // Help and leaving stay the longest.
    for actions in [
      [.live], [.command], [.nextTrouble], [.playSlower, .playFaster], [.stepBack, .stepForward], [.freeze],
    ]
      as [[Action]] where start + width() > rect.right
    {
      bindings.removeAll { actions.contains($0.action) }
    }
    var x = start
    for binding in bindings where x + key(binding).width + word(binding).width < rect.right {
      x = canvas.write(key(binding), x: x, y: rect.y, style: .key)
      x = canvas.write(word(binding), x: x, y: rect.y) + 1
    }
  }

  static func draw(_ editor: LineEditor, _ fault: CommandError?, in rect: Rect, on canvas: inout Canvas) {
    let x = canvas.write(" :", x: rect.x, y: rect.y, style: .key)
    var before = DisplayText(editor.beforeCursor, atMost: LineEditor.longest * 2)
    let room = max(1, rect.width - x - 2)
    if before.width > room { before = before.dropping(cells: before.width - room) }
    let cursor = canvas.write(before, x: x, y: rect.y)
    canvas.cursor = Point(x: min(cursor, rect.right - 1), y: rect.y)
    let rest = String(editor.characters[editor.cursor...])
    let end = canvas.write(DisplayText(rest), x: cursor, y: rect.y, limit: max(0, rect.right - cursor))
    if let fault {
      if fault.column < editor.characters.count {
        let width = DisplayText(String(editor.characters.prefix(fault.column))).width
        canvas.reverse(Rect(x: x + width, y: rect.y, width: 1, height: 1))
      }
      let text = "✕ " + DisplayText(fault.description)
      canvas.write(text, x: end + 2, y: rect.y, style: .error, limit: max(0, rect.right - end - 3))
    } else {
      let hint: DisplayText = "jump 12.3s · jump next warning · speed 0.25 · export FILE.cast"
      canvas.write(hint, x: end + 4, y: rect.y, style: .faint, limit: max(0, rect.right - end - 5))
    }
  }
}

enum ReplayHelp {
  static func draw(on canvas: inout Canvas) {
    let bindings = KeyTable.bindings.filter { $0.scope == .replaying }
    let names = bindings.map { DisplayText($0.name) } + ["1–9 Tab ↵ / i …"]
    let does = bindings.map { DisplayText($0.does) } + ["look for yourself: screens, rows, filters, at this size"]
    let column = (names.map(\.width).max() ?? 0) + 2
    let width = min(canvas.size.width, column + 4 + (does.map(\.width).max() ?? 0))
    let height = min(canvas.size.height - 1, does.count + 2)
    guard width > 4, height > 2 else { return }
    let rect = Rect(
      x: (canvas.size.width - width) / 2, y: max(0, (canvas.size.height - 1 - height) / 2), width: width, height: height
    )
    canvas.fill(rect)
    canvas.box(rect, title: "Help · Replay", right: "any key: back", isFocused: true)
    for (index, does) in does.prefix(height - 2).enumerated() {
      let y = rect.y + 1 + index
      canvas.write(names[index], x: rect.x + 2, y: y, style: .key)
      canvas.write(
        does, x: rect.x + 2 + column, y: y, limit: max(0, rect.right - rect.x - column - 3))
    }
  }
}

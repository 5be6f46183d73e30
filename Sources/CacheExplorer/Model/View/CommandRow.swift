import ExplorerCommands
import ExplorerState
import ExplorerText

/// The row in which commands and filters are typed and questions asked, and the row of the last answer.
enum CommandRow {
  static func draw(_ model: Model, _ layout: Layout, on canvas: inout Canvas) {
    let rect = layout.commandLine
    var fault: Int?
    switch model.mode {
    case .command:
      let line = model.command.editor.text
      let parts = CommandHighlight.parts(
        of: line, in: model.command.grammar, levels: model.shown.levels.map(\.name))
      let prompt =
        model.command.search.map { " search older commands ‘" + DisplayText($0).clipped(to: 20) + "’ :" } ?? " :"
      // What is wrong can be read even where the line alone would take all the room.
      var part = rect
      if layout.answer == nil, let fault = model.command.fault {
        part.width -= min(DisplayText(fault.text).width + 6, rect.width / 2)
      }
      let drawn = drawEditor(model.command.editor, prompt: prompt, styles: parts.map(\.style), in: part, on: &canvas)
      var x = drawn.end
      // What is suggested is a key that was in use.
      if !model.isMasked, let ghost = model.command.ghost(in: model.shown) {
        x = canvas.write(DisplayText(ghost), x: x, y: rect.y, style: .faint, limit: max(0, rect.right - x - 1))
      }
      fault = place(ofFaultIn: model.command, from: drawn.start).flatMap { $0 < rect.x + prompt.width ? nil : $0 }
      if layout.answer == nil, let fault { canvas.reverse(Rect(x: fault, y: rect.y, width: 1, height: 1)) }
      // The row of the answer tells it, under its place if there is room.
      let isTold = layout.answer != nil && model.command.running.isEmpty && model.command.fault != nil
      if !isTold { drawHint(model.command, from: x, in: rect, on: &canvas) }
    case .filter:
      let problem = filterFault(model)
      var part = rect
      // As above.
      if let problem { part.width -= min(DisplayText(problem).width + 6, rect.width / 2) }
      let x = drawEditor(model.filter, prompt: model.focus.panel.prompt, in: part, on: &canvas).end
      let hint: DisplayText =
        model.focus == .entries
        ? "/re/ level:disk ttl:<10s size:>1M !not · Enter keeps · Esc clears" : "Enter keeps · Esc clears"
      if let problem {
        canvas.write("✕ " + DisplayText(problem), x: x + 2, y: rect.y, style: .error, limit: max(0, rect.right - x - 3))
        break
      }
      if x + 2 + hint.width < rect.right { canvas.write(hint, endingAt: rect.right - 1, y: rect.y, style: .faint) }
    case .helpSearch:
      let x = drawEditor(model.filter, prompt: " search the help /", in: rect, on: &canvas).end
      let hint: DisplayText = "Enter keeps · Esc shows all"
      if x + 2 + hint.width < rect.right { canvas.write(hint, endingAt: rect.right - 1, y: rect.y, style: .faint) }
    case .confirming(let confirmation):
      drawQuestion(confirmation, in: rect, on: &canvas)
    case .normal, .help, .explaining, .palette:
      // Where both share a row, the answer goes first; the next arrow brings the sentence back.
      if layout.answer != nil || model.command.answer == nil, let sentence = LevelMap.sentence(model) {
        let keys: DisplayText = "↵ its requests · ←→ second · ↑↓ level"
        let x = canvas.write(DisplayText(sentence), x: rect.x + 1, y: rect.y, style: .accent, limit: rect.width - 2)
        if x + 2 + keys.width < rect.right { canvas.write(keys, endingAt: rect.right - 1, y: rect.y, style: .faint) }
        break
      }
      let hasNews = model.command.answer != nil || !model.command.running.isEmpty
      if layout.answer == nil, hasNews {
        drawAnswer(model, in: rect, on: &canvas)
      } else if let caption = model.caption {
        canvas.write(
          [Span(" ▸ ", .key), Span(DisplayText(caption), .accent)], x: rect.x, y: rect.y, limit: rect.width)
      } else {
        let text = DisplayText(" : types a command   " + commands(model))
        canvas.write(text, x: rect.x, y: rect.y, style: .faint, limit: rect.width)
      }
    }
    if let row = layout.answer { drawAnswer(model, under: fault, in: row, on: &canvas) }
    drawReason(model, layout, on: &canvas)
  }

  /// What was wrong in full, over what stands above, where its row is too narrow: nobody can mend what they cannot read.
  private static func drawReason(_ model: Model, _ layout: Layout, on canvas: inout Canvas) {
    let state = model.command
    var typed: DisplayText?
    let reason: String
    if model.mode == .command, let fault = state.fault {
      (reason, typed) = (fault.text, " :" + DisplayText(state.editor.text))
    } else if model.mode == .filter, let fault = filterFault(model) {
      (reason, typed) = (fault, model.focus.panel.prompt + DisplayText(model.filter.text))
    } else if model.mode == .normal, state.running.isEmpty, let answer = state.answer, !answer.isGood {
      reason = model.shown(answer.reason ?? answer.text, keys: answer.secrets)
    } else {
      return
    }
    let rect = layout.commandLine
    let text = "✕ " + DisplayText(reason)
    // An answer's row, where there is one, has the fault of a command.
    let isBeside = typed != nil && (model.mode == .filter || layout.answer == nil)
    let room = isBeside ? rect.width - 4 - (typed?.width ?? 0) : rect.width - 1
    guard text.width > room else { return }
    let lines = text.wrapped(to: max(8, rect.width - 2)).prefix(max(1, canvas.size.height / 3))
    // Beneath the last line stands what is typed, or nothing.
    let last = typed != nil ? rect.y - 1 : (layout.answer ?? rect).y
    for (place, line) in lines.enumerated() {
      let y = last - lines.count + 1 + place
      canvas.fill(Rect(x: rect.x, y: y, width: rect.width, height: 1))
      canvas.write(line, x: rect.x + 1, y: y, style: .error, limit: rect.width - 1)
    }
  }

  private static func filterFault(_ model: Model) -> String? {
    guard model.focus == .entries, let error = model.list.filter.problem?.error else { return nil }
    return "\(error.message); \(error.remedy)"
  }

  /// A few that are carried out here.
  private static func commands(_ model: Model) -> String {
    if model.whyReadOnly != nil { return "filter TEXT · sort COLUMN · stats · help" }
    // Clients make the requests of a proxy, and its server the values.
    if ServedPanel.whyNot(model) == nil { return "get KEY · del KEY · warn · stats · help" }
    return "get KEY · set KEY VALUE · run WORKLOAD · warn · help"
  }

  /// Draws the line, scrolled so that the cursor is seen; returns where it would start unscrolled, and where it ends.
  ///
  /// `styles`: One for each character; those that are missing are plain.
  private static func drawEditor(
    _ editor: LineEditor, prompt: DisplayText, styles: [Style] = [], in rect: Rect, on canvas: inout Canvas
  ) -> (start: Int, end: Int) {
    let x = canvas.write(prompt, x: rect.x, y: rect.y, style: .key)
    let room = max(1, rect.right - x - 1)
    let before = spans(editor, ..<editor.cursor, styles)
    let end = min(editor.characters.count, editor.cursor + room)
    let after = spans(editor, editor.cursor..<end, styles)
    let width = before.reduce(0) { $0 + $1.text.width }
    var skipped = max(0, width - room)
    var head = dropping(skipped, from: before)
    while head.reduce(0, { $0 + $1.text.width }) > room, skipped < width {
      skipped += 1
      head = dropping(skipped, from: before)
    }
    let cursor = canvas.write(head, x: x, y: rect.y)
    canvas.cursor = Point(x: min(cursor, rect.right - 1), y: rect.y)
    let limit = max(0, rect.right - cursor)
    return (start: cursor - width, end: canvas.write(after, x: cursor, y: rect.y, limit: limit))
  }

  /// A part of the line in pieces of one style.
  private static func spans(
    _ editor: LineEditor, _ range: some RangeExpression<Int>, _ styles: [Style]
  ) -> [Span] {
    var spans: [Span] = []
    var run: (text: String, style: Style)?
    func style(_ place: Int) -> Style { styles.indices.contains(place) ? styles[place] : .plain }
    for place in range.relative(to: editor.characters) {
      if run?.style == style(place) {
        run?.text.append(editor.characters[place])
      } else {
        if let run { spans.append(Span(DisplayText(run.text, atMost: LineEditor.longest * 2), run.style)) }
        run = (String(editor.characters[place]), style(place))
      }
    }
    if let run { spans.append(Span(DisplayText(run.text, atMost: LineEditor.longest * 2), run.style)) }
    return spans
  }

  private static func dropping(_ cells: Int, from spans: [Span]) -> [Span] {
    var left = cells
    return spans.compactMap { span in
      guard left > 0 else { return span }
      let width = span.text.width
      defer { left = max(0, left - width) }
      return left >= width ? nil : Span(span.text.dropping(cells: left), span.style)
    }
  }

  /// In a line that starts at `start`; `nil` without a fault that has a place.
  private static func place(ofFaultIn state: CommandLineState, from start: Int) -> Int? {
    state.fault?.column.map { start + DisplayText(String(state.editor.characters.prefix(max(0, $0)))).width }
  }

  private static func drawHint(
    _ state: CommandLineState, from x: Int, in rect: Rect, on canvas: inout Canvas
  ) {
    let room = rect.right - x - 4
    guard room > 8 else { return }
    if let fault = state.fault {
      canvas.write("✕ " + DisplayText(fault.text), x: x + 2, y: rect.y, style: .error, limit: room)
      return
    }
    let usage = state.grammar.usage(for: state.editor.text)
    let keys: DisplayText = "Tab complete · ↑ history"
    let hint = DisplayText(usage ?? "get set del clear expire warn run stop log stats help quit")
    let end = canvas.write(hint, x: x + 4, y: rect.y, style: .faint, limit: room)
    if end + 3 + keys.width < rect.right { canvas.write(keys, endingAt: rect.right - 1, y: rect.y, style: .faint) }
  }

  private static func drawQuestion(_ confirmation: Confirmation, in rect: Rect, on canvas: inout Canvas) {
    let end: DisplayText = " y/N "
    let room = rect.width - end.width - 1
    let whole = DisplayText(confirmation.question)
    // The ends of a key tell most. With levels, the name of one would stand before the figures of another.
    let question =
      switch confirmation.command {
      case .delete, .expire: whole.shortened(to: room)
      default: whole.clipped(to: room)
      }
    let x = canvas.write(" " + question, x: rect.x, y: rect.y, style: .warning)
    let after = canvas.write(end, x: x, y: rect.y, style: Style.warning.reversed)
    canvas.cursor = Point(x: min(after, rect.right - 1), y: rect.y)
  }

  /// `place`: Of the fault in the line above.
  private static func drawAnswer(
    _ model: Model, under place: Int? = nil, in rect: Rect, on canvas: inout Canvas
  ) {
    let state = model.command
    if let x = place, let fault = state.fault {
      // Under the fault if there is room; else only in words.
      let text = DisplayText("^ ") + DisplayText(fault.text)
      if x + text.width < rect.right {
        canvas.write(text, x: x, y: rect.y, style: .error)
        return
      }
    }
    if let running = state.running.last {
      let text = model.isMasked ? model.shown(running, keys: state.grammar.secrets(running)) : running
      canvas.write(" … " + DisplayText(text), x: rect.x, y: rect.y, style: .faint, limit: rect.width)
    } else if let answer = state.answer {
      let sign = Span(answer.isGood ? " ✓ " : " ✕ ", answer.isGood ? .hit : .error)
      let line = DisplayText(model.shown(String(answer.text.prefix(answer.lineLength)), keys: answer.secrets))
      let rest = DisplayText(model.shown(String(answer.text.dropFirst(answer.lineLength)), keys: answer.secrets))
      // Why it failed, and what to do about it, says more than what was typed.
      if let reason = answer.reason, sign.text.width + line.width + rest.width > rect.width {
        let text = DisplayText(model.shown(reason, keys: answer.secrets))
        canvas.write([sign, Span(text)], x: rect.x, y: rect.y, limit: rect.width)
        return
      }
      // A line with a long key in it leaves room for what became of it.
      let room = max(rect.width / 2, rect.width - sign.text.width - rest.width)
      canvas.write([sign, Span(line.shortened(to: room) + rest)], x: rect.x, y: rect.y, limit: rect.width)
    }
  }
}

extension CommandHighlight.Part {
  fileprivate var style: Style {
    switch self {
    case .plain: .plain
    case .verb: .key
    case .option: .accent
    case .level: .hit
    case .quantity: .join
    case .quoted: .fill
    case .wrong: .error
    }
  }
}

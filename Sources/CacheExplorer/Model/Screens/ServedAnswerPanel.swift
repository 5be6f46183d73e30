import CacheEngine
package import ExplorerState
package import ExplorerText

/// One request of a client in sentences, and what is stored for its address.
package enum ServedAnswerPanel: Panel {
  /// How far it is scrolled, which counts for one request only.
  package struct State: Sendable {
    fileprivate var top = 0
    fileprivate var number: Int?
  }

  package static let initial = State()

  package static func update(_ model: inout Model, _ message: Message) -> [Effect] {
    // Whoever moves to another row wants to know what is stored for that.
    if case .input = message { return ServedPanel.asked(model, isNew: false) }
    return []
  }

  package static func key(_ model: Model) -> String? { ServedPanel.key(model) }

  package static func move(_ model: inout Model, by distance: Int) {
    let rows = Layout(model).panels[PanelID(Self.self)]?.height ?? 0
    let width = Layout(model).panels[PanelID(Self.self)]?.width ?? 40
    let most = max(0, lines(model, width: width - 4).count - max(0, rows - 2))
    model[Self.self] = State(
      top: min(max(0, top(model) + max(-1_000_000, min(distance, 1_000_000))), most),
      number: model[ServedPanel.self].current?.number)
  }

  private static func top(_ model: Model) -> Int {
    model[Self.self].number == model[ServedPanel.self].current?.number ? model[Self.self].top : 0
  }

  package static func inspect(_ model: inout Model) -> [Effect] { model.showValue() }

  package static func back(_ model: inout Model) -> Bool {
    guard model.focus == PanelID(Self.self) else { return false }
    model.focus = .served
    return true
  }

  package static func figures(_ model: Model) -> FigureTable { ServedPanel.figures(model) }

  package static func draw(_ model: Model, _ picture: Picture, in frame: PanelFrame, on canvas: inout Canvas) {
    let rect = frame.rect
    let lines = lines(model, width: rect.width - 4)
    let rows = max(0, rect.height - 2)
    let top = min(top(model), max(0, lines.count - rows))
    let more: DisplayText = top + rows < lines.count ? "↓ more · " : ""
    canvas.box(rect, title: "Answer", right: more + "↵ shows the content", isFocused: frame.isFocused)
    for (row, line) in lines.dropFirst(top).prefix(rows).enumerated() {
      canvas.write([line], x: rect.x + 2, y: rect.y + 1 + row, limit: rect.width - 3)
    }
  }

  static func span(_ seconds: Int) -> String {
    seconds < 0 ? "-" + Format.span(seconds: Int64(-seconds)) : Format.span(seconds: Int64(seconds))
  }

  private static let addressRows = 3

  private static func lines(_ model: Model, width: Int) -> [Span] {
    let list = model[ServedPanel.self]
    guard let exchange = list.current else {
      return DisplayText(ServedPanel.nothing(list)).wrapped(to: max(8, width)).map { Span($0, .faint) }
    }
    var lines: [Span] = []
    func add(_ text: String, _ style: Style = .plain, indent: Int = 0) {
      for line in DisplayText(text).wrapped(to: max(8, width - indent)) {
        lines.append(Span(DisplayText(repeating: " ", count: indent) + line, style))
      }
    }
    // What is known of an address matters more than its end.
    let address = DisplayText("\(exchange.method) \(model.shown(exchange))")
    for line in address.shortened(to: max(8, width) * (addressRows - 1)).wrapped(to: max(8, width)).prefix(addressRows)
    {
      lines.append(Span(line, .title))
    }
    add("\(exchange.status) \(exchange.outcome.rawValue)", exchange.style.bold)
    add(exchange.sentence)
    if let text = exchange.cacheStatus { add("Cache-Status: \(text)", .faint) }
    var parts = [Format.bytes(exchange.bytes), Format.latency(nanoseconds: exchange.duration.clampedNanoseconds)]
    if let age = exchange.age { parts.append("age \(Format.span(seconds: Int64(age)))") }
    if let left = exchange.left { parts.append("left \(span(left))") }
    if !exchange.isWhole { parts.append("broke off") }
    add(parts.joined(separator: " · "))
    lines.append(Span(""))
    guard let (key, variants) = list.variants, key == exchange.key else { return lines }
    add(
      variants.isEmpty
        ? "nothing is stored for it" : Format.counted(variants.count, "response") + " stored for it", .title)
    for variant in variants {
      let fields = variant.selecting.isEmpty ? "every request" : variant.selecting.joined(separator: ", ")
      add("for \(model.isMasked && !variant.selecting.isEmpty ? "some requests" : fields)", .key)
      var parts = ["\(variant.status)", Format.bytes(variant.bytes)]
      if let age = variant.age { parts.append("age \(Format.span(seconds: Int64(age)))") }
      parts.append(variant.left.map { $0 >= 0 ? "fresh for \(span($0))" : "stale since \(span(-$0))" } ?? "to be asked")
      if let validator = variant.validator { parts.append(validator) }
      add(parts.joined(separator: " · "), variant.left ?? -1 < 0 ? .warning : .plain, indent: 2)
    }
    return lines
  }
}

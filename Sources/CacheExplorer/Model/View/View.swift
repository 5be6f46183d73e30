package import ExplorerText

/// Draws the model.
///
/// Pure: the same model makes the same picture.
package func view(_ model: Model, on canvas: inout Canvas) {
  var model = model
  model.size = canvas.size
  canvas.cursor = nil
  canvas.fill(Rect(x: 0, y: 0, width: canvas.size.width, height: canvas.size.height))
  let layout = Layout(model)
  guard !layout.isTooSmall else { return TooSmall.draw(on: &canvas) }

  let picture = model.shown
  Header.draw(model, picture, in: layout.header, on: &canvas)
  if !model.isZoomed, model.page == .overview {
    switch layout.levels {
    case .boxes(let rect): LevelBoxes.draw(picture, in: rect, on: &canvas)
    case .table(let rect): LevelTable.draw(picture, in: rect, on: &canvas)
    }
    if let rect = layout.servedBy { ServedBy.draw(picture, in: rect, on: &canvas) }
  }
  model.list.keepVisible(rows: layout.rows(.entries))
  model.requestList.keepVisible(rows: layout.rows(.requests))
  for (panel, rect) in layout.panels {
    let frame = PanelFrame(
      rect: rect, isFocused: model.focus == panel && (model.inspection == nil || layout.isDocked),
      hasTabs: layout.hasTabs && panel != .entries)
    switch panel {
    case .entries: EntriesPanel.draw(model, picture, in: frame, on: &canvas)
    case .inFlight: InFlightPanel.draw(model, picture, in: frame, on: &canvas)
    case .latency:
      if model.page == .latency || model.isZoomed {
        LatencyScreen.draw(model, picture, in: frame, on: &canvas)
      } else {
        LatencyPanel.draw(model, picture, in: frame, on: &canvas)
      }
    case .log: LogPanel.draw(model, picture, in: frame, on: &canvas)
    case .requests: RequestsPanel.draw(model, picture, in: frame, on: &canvas)
    case .config: ConfigPanel.draw(model, in: frame, on: &canvas)
    case .models: ModelsPanel.draw(model, picture, in: frame, on: &canvas)
    case .relations: RelationsPanel.draw(model, picture, in: frame, on: &canvas)
    case .levels: break
    case .whatIf: WhatIfPanel.draw(model, in: frame, on: &canvas)
    }
  }
  if model.focus == .levels, model.inspection == nil { LevelMap.drawCursor(model, picture, on: &canvas) }
  InspectorPanel.draw(model, picture, layout, on: &canvas)
  if let rect = layout.banner { Banner.draw(model, picture, in: rect, on: &canvas) }
  CommandRow.draw(model, layout, on: &canvas)
  if let rect = layout.keyBar { KeyBar.draw(model, in: rect, on: &canvas) }
  if [.help, .helpSearch, .explaining].contains(model.mode) { HelpOverlay.draw(model, in: layout.middle, on: &canvas) }
}

/// Where a panel is, and how its frame looks.
struct PanelFrame {
  var rect: Rect
  var isFocused: Bool
  /// The title names the panels that share this place.
  var hasTabs: Bool

  /// The title, or the tabs with the shown one in brackets.
  func title(_ text: DisplayText, as panel: Panel) -> DisplayText {
    guard hasTabs else { return text }
    func tab(_ other: Panel, _ name: DisplayText) -> DisplayText { other == panel ? "[" + text + "]" : name }
    return tab(.log, "Log") + " " + tab(.inFlight, "In flight") + " " + tab(.latency, "Latency")
  }

  /// The panels that a click on the title's cells chooses, from its left.
  static func tab(at column: Int, shown: Panel, in flights: Int) -> Panel? {
    var start = 2
    for (panel, name) in [(Panel.log, "Log"), (.inFlight, "In flight"), (.latency, "Latency")] {
      let count = panel == .inFlight && panel == shown ? " \(flights)".count : 0
      let width = name.count + count + (panel == shown ? 2 : 0)
      if (start..<start + width).contains(column) { return panel }
      start += width + 1
    }
    return nil
  }
}

enum TooSmall {
  static func draw(on canvas: inout Canvas) {
    let need = Layout.smallest
    let texts: [DisplayText] = [
      "cache-explorer needs \(need.width)x\(need.height); this is \(canvas.size.width)x\(canvas.size.height). q quits",
      "needs \(need.width)x\(need.height), q quits", "needs \(need.width)x\(need.height)", "small",
    ]
    let text = texts.first { $0.width <= canvas.size.width } ?? "…"
    canvas.write(text, x: 0, y: canvas.size.height / 2, style: .warning)
  }
}

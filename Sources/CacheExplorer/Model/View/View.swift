import ExplorerState
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
  guard !layout.isTooSmall else { return TooSmall.draw(model.mode, on: &canvas) }

  let picture = model.shown
  Header.draw(model, picture, in: layout.header, on: &canvas)
  if !model.isZoomed, model.page == .overview {
    switch layout.levels {
    case .boxes(let rect): LevelBoxes.draw(picture, in: rect, on: &canvas)
    case .table(let rect): LevelTable.draw(picture, in: rect, on: &canvas)
    }
    if let rect = layout.servedBy { ServedBy.draw(picture, in: rect, on: &canvas) }
  }
  for panel in PanelID.all { panel.panel.keepVisible(&model, rows: layout.rows(panel)) }
  for (panel, rect) in layout.panels {
    let frame = PanelFrame(
      rect: rect, isFocused: model.focus == panel && (model.inspection == nil || layout.isDocked),
      tabs: layout.tabs.contains(panel) ? layout.tabs : [])
    panel.panel.draw(model, picture, in: frame, on: &canvas)
  }
  if model.focus == .levels, model.inspection == nil { LevelMap.drawCursor(model, picture, on: &canvas) }
  InspectorPanel.draw(model, picture, layout, on: &canvas)
  if let rect = layout.banner { Banner.draw(model, picture, in: rect, on: &canvas) }
  CommandRow.draw(model, layout, on: &canvas)
  if let rect = layout.keyBar { KeyBar.draw(model, in: rect, on: &canvas) }
  if [.help, .helpSearch, .explaining].contains(model.mode) { HelpOverlay.draw(model, in: layout.middle, on: &canvas) }
  if model.mode == .palette {
    ActionPaletteOverlay.draw(
      model.palette, isReadOnly: model.whyReadOnly != nil, in: layout.middle, on: &canvas)
  }
}

enum TooSmall {
  /// `mode`: What keys are for: q quits only while it neither answers a question nor is typed.
  static func draw(_ mode: Model.Mode, on canvas: inout Canvas) {
    let needs = DisplayText("needs \(Layout.smallest.width)x\(Layout.smallest.height)")
    let whole = "cache-explorer " + needs + DisplayText("; this is \(canvas.size.width)x\(canvas.size.height)")
    let texts: [DisplayText] =
      switch mode {
      case .normal: [whole + ". q quits", needs + ", q quits"]
      case .confirming(let confirmation):
        [DisplayText(confirmation.question) + " y/N"] + (confirmation.command == .quit ? ["quit? y/N"] : [])
      default: [whole]
      }
    let text = (texts + [needs, "small"]).first { $0.width <= canvas.size.width } ?? "…"
    canvas.write(text, x: 0, y: canvas.size.height / 2, style: .warning)
  }
}

import CacheEngineHitRatio
import CacheEngine
import ExplorerCache
import ExplorerCommands
import ExplorerModel
import ExplorerState
import ExplorerText

/// What the screen shows, for a file: the picture as text, or the rows of the focused panel as a table.
///
/// Keys are hidden in it if they are hidden on the screen.
struct ViewExport {
  let text: String
  /// What was written, in a few words.
  let summary: String

  /// `nil` if the focused panel has no rows to write in this format.
  init?(_ model: Model, as format: ExportFormat) {
    guard format != .txt, format != .svg else {
      var canvas = Canvas(model.size)
      var model = model
      if model.mode == .command { model.mode = .normal }
      view(model, on: &canvas)
      text =
        format == .svg
        ? SVGPicture(canvas, title: "cache-explorer: \(model.title)", theme: model.theme).text
        : canvas.lines.joined(separator: "\n") + "\n"
      summary = "the picture"
      return
    }
    guard let table = model.focus.rows(model) else { return nil }
    text = format == .json ? Self.json(table) : Self.csv(table)
    summary = "\(Format.count(table.rows.count)) \(table.rows.count == 1 ? "row" : "rows")"
  }

  private static func json(_ table: RowTable) -> String {
    let rows = table.rows.map { row in JSONText.object(Array(zip(table.columns, row))) }
    return JSONText.array(rows).line + "\n"
  }

  private static func csv(_ table: RowTable) -> String {
    let rows = table.rows.map { row in
      row.map { cell in
        switch cell {
        case .text(let text)?: Export.quoted(text)
        case let cell?: cell.line
        case nil: ""
        }
      }
      .joined(separator: ",")
    }
    return ([table.columns.joined(separator: ",")] + rows).joined(separator: "\r\n") + "\r\n"
  }
}

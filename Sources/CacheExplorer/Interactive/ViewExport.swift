import CacheEngineHitRatio
import CacheEngine
import ExplorerCache
import ExplorerModel
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
    guard format != .txt else {
      var canvas = Canvas(model.size)
      var model = model
      if model.mode == .command { model.mode = .normal }
      view(model, on: &canvas)
      text = canvas.lines.joined(separator: "\n") + "\n"
      summary = "the picture"
      return
    }
    guard let table = Self.table(model) else { return nil }
    text = format == .json ? Self.json(table) : Self.csv(table)
    summary = "\(Format.count(table.rows.count)) \(table.rows.count == 1 ? "row" : "rows")"
  }

  private typealias Table = (columns: [String], rows: [[JSONText?]])

  private static func table(_ model: Model) -> Table? {
    switch model.focus {
    case .entries, .levels: entries(model)
    case .requests: requests(model)
    case .log: log(model)
    case .whatIf: whatIf(model)
    case .inFlight, .latency, .config, .models, .relations: nil
    }
  }

  private static func entries(_ model: Model) -> Table {
    let picture = model.shown
    func milliseconds(_ duration: Duration) -> JSONText { .number(Int(duration.clampedNanoseconds / 1_000_000)) }
    let rows = model.list.order.indices.map { place -> [JSONText?] in
      let row = picture.entries.rows[model.list.order[place]]
      let levels = zip(picture.levels, row.presence).filter { $1 != nil }.map(\.0.name).joined(separator: " ")
      return [
        .text(model.shown(row.key)), .text(levels), row.size.map { .number($0) },
        row.created.map { milliseconds($0.duration(to: picture.now)) },
        row.topmost?.deadline.map { milliseconds(picture.now.duration(to: $0)) }, .number(row.hits),
      ]
    }
    return (["key", "levels", "bytes", "ageMilliseconds", "timeLeftMilliseconds", "hits"], rows)
  }

  private static func requests(_ model: Model) -> Table {
    let rows = model.requestList.ids.compactMap { model.shown.calls[$0] }.map { call -> [JSONText?] in
      [
        .text(call.id.description), .text(Format.clock(milliseconds: model.timeOfDay(call.began))),
        .text(call.operation.rawValue), call.key.map { .text(model.shown($0)) }, .text(call.outcomeText),
        call.duration.map { .number(Int($0.clampedNanoseconds / 1_000)) }, .number(call.callers),
      ]
    }
    return (["request", "began", "operation", "key", "outcome", "microseconds", "callers"], rows)
  }

  private static func whatIf(_ model: Model) -> Table {
    let rows = model.whatIf.reports.flatMap { report in
      report.estimates.map { estimate -> [JSONText?] in
        [
          .text(report.level.name), .text(estimate.eviction.name), .number(estimate.capacity),
          .text(report.level.unit.rawValue), .fraction(estimate.value), .fraction(estimate.margin),
        ]
      }
    }
    return (["level", "policy", "capacity", "unit", "hitRatio", "margin"], rows)
  }

  private static func log(_ model: Model) -> Table {
    let ring = model.shown.log
    let rows = ring.numbers.compactMap { ring[$0] }.filter { model.log.shows($0) }.map { line -> [JSONText?] in
      [
        .text(Format.clock(milliseconds: model.timeOfDay(sinceEpoch: line.time))), .text(line.level.name),
        .text(line.source), .text(model.shown(line.text, keys: line.keys)), line.request.map { .text($0.description) },
      ]
    }
    return (["time", "level", "source", "text", "request"], rows)
  }

  private static func json(_ table: Table) -> String {
    let rows = table.rows.map { row in JSONText.object(Array(zip(table.columns, row))) }
    return JSONText.array(rows).line + "\n"
  }

  private static func csv(_ table: Table) -> String {
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

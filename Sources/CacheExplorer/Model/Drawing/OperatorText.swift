import CacheEngine
import ExplorerCommands
import ExplorerState
import ExplorerText

/// What is said of an operator: what it is, and what it does at the moment.
struct OperatorText {
  /// What it is, in one or two words: `cap`, `breaker`.
  let word: String
  /// What it was told.
  private(set) var setting: String
  /// What it does, the most telling first; empty as long as nothing happened.
  private(set) var news: [String] = []
  /// The same in a few cells: `×12`, `2/2 +4`; empty for what is as usual.
  private(set) var brief = ""
  private(set) var style = Style.faint

  init(_ picture: Picture, _ held: ChainTree.Held) {
    let row = picture.operators[held.index]
    let traffic = picture.operations[held.index]
    word = row.isNamed ? "\(row.name): \(Self.word(row.kind))" : Self.word(row.kind)
    setting = row.setting
    switch row.kind {
    case "pooled": pool(picture, row, traffic)
    case "capped": cap(row, traffic)
    case "breaker": breaker(row, traffic, picture.now)
    case "stale": stale(picture, traffic, held.levels)
    case "conditioned": note(traffic.refused, "refused", .plain)
    case "negative": note(traffic.rememberedMisses, "remembered", .plain)
    case "timeout": note(traffic.timeouts, "timed out", .warning)
    case "retry": note(traffic.retries, "tried again", .warning)
    case "fallback": note(traffic.fallbacks, "stepped in", .warning)
    default: break
    }
  }

  private static func word(_ kind: String) -> String {
    switch kind {
    case "pooled": "pool"
    case "capped": "cap"
    case "conditioned": "when"
    case "transformKeys": "keys"
    case "transformValues": "values"
    case "postProcess": "read as"
    case "expiry": "expires"
    default: kind
    }
  }

  private mutating func note(_ count: Int, _ what: String, _ style: Style) {
    guard count > 0 else { return }
    news.append("\(Format.count(count)) \(what)")
    brief = "×\(Format.short(count))"
    self.style = style
  }

  private mutating func pool(_ picture: Picture, _ row: OperatorRow, _ traffic: OperatorTraffic) {
    let flights = picture.flights.flights.filter { $0.key.pool == row.name }.values
    let callers = flights.reduce(0) { $0 + $1.callers }
    if callers > 0 {
      news.append(
        "\(Format.count(callers)) \(callers == 1 ? "caller" : "callers") on "
          + "\(flights.count) \(flights.count == 1 ? "load" : "loads")")
      brief = "×\(Format.short(callers))"
      style = .join
    }
    if traffic.joined > 0 { news.append("\(Format.count(traffic.joined)) joined") }
  }

  private mutating func cap(_ row: OperatorRow, _ traffic: OperatorTraffic) {
    setting = ""
    let running = "\(Format.count(traffic.running))/\(Format.count(row.limit ?? 0)) run"
    news.append(traffic.waiting > 0 ? "\(running), \(Format.count(traffic.waiting)) wait" : running)
    brief = "\(Format.short(traffic.running))/\(Format.short(row.limit ?? 0))"
    if traffic.waiting > 0 { brief += " +\(Format.short(traffic.waiting))" }
    style = traffic.waiting > 0 ? .warning : traffic.running > 0 ? .accent : .faint
    if traffic.queued > 0 { news.append("\(Format.count(traffic.queued)) had to wait") }
  }

  private mutating func breaker(_ row: OperatorRow, _ traffic: OperatorTraffic, _ now: CacheInstant) {
    switch traffic.circuit {
    case nil, .closed?:
      news.append("● closed")
      brief = "●"
      style = .hit
    case .open?:
      let passed = max(0, traffic.circuitSince.map { $0.duration(to: now).clampedNanoseconds } ?? 0)
      let left = max(0, row.reset?.clampedNanoseconds ?? 0) - passed
      let trial = left > 0 ? Format.span(seconds: (left - 1) / 1_000_000_000 + 1) : "next"
      news.append("✕ OPEN, trial \(trial)")
      brief = "✕ OPEN \(trial)"
      style = .error
    case .halfOpen?:
      news.append("◐ half-open")
      brief = "◐"
      style = .warning
    }
    if traffic.timesOpened > 0 { news.append("opened ×\(Format.count(traffic.timesOpened))") }
  }

  private mutating func stale(_ picture: Picture, _ traffic: OperatorTraffic, _ levels: [Int]) {
    let served = levels.reduce(0) { $0 + picture.traffic[$1].stale }
    if served > 0 {
      news.append("≈ \(Format.count(served)) stale")
      brief = "≈\(Format.short(served))"
      style = .warning
    }
    if traffic.refreshing > 0 { news.append("⟳ \(Format.count(traffic.refreshing)) refreshing") }
    if traffic.refreshes > 0 { news.append("\(Format.count(traffic.refreshes)) refreshed") }
    if traffic.failedRefreshes > 0 { news.append("\(Format.count(traffic.failedRefreshes)) failed") }
    if served == 0, traffic.refreshes > 0 { style = .plain }
  }
}

extension OperatorText {
  /// How much is said.
  private enum Detail: CaseIterable { case all, first, brief, words }

  /// Operators one after the other as a read meets them, in at most so many cells.
  static func line(_ texts: [OperatorText], in room: Int) -> [Span] {
    var spans: [Span] = []
    for detail in Detail.allCases {
      spans = texts.enumerated().flatMap { index, text in
        (index == 0 ? [] : [Span(" › ", .faint)]) + text.spans(detail)
      }
      if spans.reduce(0, { $0 + $1.text.width }) <= room { return spans }
    }
    let text = spans.reduce(DisplayText()) { $0 + $1.text }
    return [Span(text.clipped(to: max(0, room)), .accent)]
  }

  private func spans(_ detail: Detail) -> [Span] {
    var spans = [Span(DisplayText(word), .accent)]
    if detail == .all || detail == .first, !setting.isEmpty { spans.append(Span(" " + DisplayText(setting))) }
    let shown: String =
      switch detail {
      case .all: news.joined(separator: " · ")
      case .first: news.first ?? ""
      case .brief: brief
      case .words: style == .error ? brief : ""
      }
    if !shown.isEmpty { spans.append(Span(" " + DisplayText(shown), style)) }
    return spans
  }

  /// How much room a row has that says it all.
  var width: Int {
    let told = setting.isEmpty ? 0 : DisplayText(setting).width + 1
    return news.reduce(DisplayText(word).width + told) { $0 + 2 + DisplayText($1).width }
  }

  /// What it is and was told, then what it does, from a column on if that is free.
  func row(newsAt column: Int, in room: Int) -> [Span] {
    let name = DisplayText(word).clipped(to: room)
    let first = news.first.map { DisplayText($0).width + 2 } ?? 0
    let left = room - name.width - first
    let told = setting.isEmpty || left < 4 ? DisplayText() : (" " + DisplayText(setting)).clipped(to: left)
    let used = name.width + told.width
    let start = max(used + 2, min(column, room - first + 2))
    let text = LevelBoxes.fitting(news, in: room - start)
    guard text.width > 0 else { return [Span(name, .accent), Span(told)] }
    return [Span(name, .accent), Span(told), Span(DisplayText(repeating: " ", count: start - used)), Span(text, style)]
  }
}

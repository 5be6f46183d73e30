import CacheEngine
package import ExplorerState
package import ExplorerText

extension PanelID {
  package static let levels = PanelID(LevelsPanel.self)
}

extension Model {
  /// The second of a level's history that is chosen.
  package var history: HistoryCursor {
    get { self[LevelsPanel.self] }
    _modify { yield &self[LevelsPanel.self] }
  }
}

/// The levels on the overview, each with its history: moving in them, and from a second to what happened in it.
///
/// They are drawn with the screen, as boxes or as a table, and have a place even where nothing has the focus.
package enum LevelsPanel: Panel {
  package static let initial = HistoryCursor()

  package static func draw(
    _ model: Model, _ picture: Picture, in frame: PanelFrame, on canvas: inout Canvas
  ) {}

  package static func move(_ model: inout Model, by distance: Int) {
    model.chooseLevel(model.history.level + min(max(distance, -1_000), 1_000))
  }

  package static func moveToEnd(_ model: inout Model, isFirst: Bool) {
    model.moveHistory(by: isFirst ? -Int(SecondRing.length) : Int(SecondRing.length))
  }

  package static func inspect(_ model: inout Model) -> [Effect] {
    model.drill()
    return []
  }

  /// The level itself: opened where nothing is known of the chosen second.
  package static func detail(_ model: Model) -> RowDetail? {
    let (picture, index) = (model.shown, model.history.level)
    guard picture.levels.indices.contains(index) else { return nil }
    let (level, traffic) = (picture.levels[index], picture.traffic[index])
    let lately = traffic.recent(at: picture.now)
    var detail = RowDetail("Level \(level.name)")
    if let meaning = SettingMeaning.of(word: level.kind) { detail.add("\(level.kind)", meaning) }
    for state in LevelState.all(picture, level: index) {
      detail.add(state.sign + " " + state.word, state.kind.meaning, state.style)
    }
    if let fault = level.fault { detail.add("fault", "\(fault), on purpose", .warning) }
    if let usage = level.usage {
      let most = usage.capacity.map { " of \(Format.bytes($0))" } ?? ""
      detail.add("holds", "\(Format.counted(usage.count, "entry", "entries")), \(Format.bytes(usage.cost))\(most)")
    }
    if let shared = level.shared { detail.add("shared", shared.sentence) }
    if let owner = level.owner { detail.add("files", owner) }
    func share(_ counts: CacheStatistics.Level) -> String {
      "\(FigureTable.percent(counts.hits, counts.answered)) of \(Format.counted(counts.answered, "look-up"))"
    }
    detail.add("hit rate", "\(share(traffic.count)); \(FigureTable.last) \(share(lately))")
    detail.add(
      "errors", ErrorShare(picture, level: index).items(isRecent: false).joined(separator: ", "),
      ErrorShare(picture, level: index).style)
    if let median = traffic.latency.nanoseconds(0.5), let high = traffic.latency.nanoseconds(0.99) {
      detail.add("answers", "p50 \(Format.latency(nanoseconds: median)), p99 \(Format.latency(nanoseconds: high))")
    }
    detail.add("", "nothing is known of \(model.time(ofSecond: model.chosenSecond)), which is chosen", .faint)
    return detail
  }

  package static func rows(_ model: Model) -> RowTable? { EntriesPanel.rows(model) }

  package static func figures(_ model: Model) -> FigureTable { FigureTable("Levels", figures(of: model.shown)) }

  /// What the levels do, and what is asked of all of them.
  static func figures(of picture: Picture) -> [Figure] {
    var figures: [Figure] = []
    for (index, level) in picture.levels.enumerated() {
      let (traffic, lately) = (picture.traffic[index], picture.traffic[index].recent(at: picture.now))
      let name = level.name.uppercased()
      func served(_ counts: CacheStatistics.Snapshot) -> (of: Int, by: Int) {
        (picture.levels.reduce(0) { $0 + (counts.served[$1.name] ?? 0) }, counts.served[level.name] ?? 0)
      }
      let (all, recent) = (served(picture.requests.count), served(picture.requests.recent(at: picture.now)))
      if !level.isOrigin {
        figures.append(
          Figure(
            name: "\(name) hit rate (conditional)",
            value:
              "\(FigureTable.percent(traffic.hits, traffic.answered)) = \(Format.count(traffic.hits)) / \(Format.count(traffic.answered)); \(FigureTable.last) \(FigureTable.percent(lately.hits, lately.answered))",
            definition:
              "hits of this level ÷ look-ups that reached this level and were answered; each look-up weighs the same",
            unit: "percent", window: FigureTable.windows, source: "the engine's counts hits ÷ answered of \(level.name)"
          ))
      }
      let errors = ErrorShare(picture, level: index)
      figures.append(
        Figure(
          name: "\(name) err", value: errors.items(isRecent: false).joined(separator: ", "),
          definition: "look-ups of this level that failed ÷ look-ups that were answered; in colour while there are any",
          unit: "percent", window: "\(FigureTable.session); \(FigureTable.last)",
          source: "the engine's counts errors ÷ answered of \(level.name)"))
      figures.append(
        Figure(
          name: "\(name) served by (global share)",
          value:
            "\(FigureTable.percent(all.by, all.of)) = \(Format.count(all.by)) / \(Format.count(all.of)); \(FigureTable.last) \(FigureTable.percent(recent.by, recent.of))",
          definition:
            "reads answered by this level ÷ reads answered by any level; callers that joined a load are not in it",
          unit: "percent", window: FigureTable.windows, source: "the engine's count served of \(level.name)"))
    }
    figures.append(
      Figure(
        name: "look-ups = hits + misses + refused + errors",
        value: picture.traffic.map { "\(Format.count($0.lookups))" }.joined(separator: " · "),
        definition: "every look-up ends as one of these, is cancelled or still pending",
        unit: "look-ups", window: FigureTable.session, source: "the engine's counts"))
    figures.append(
      Figure(
        name: "req/s", value: Format.perSecond(picture.requests.seconds.rate(at: picture.now) { $0.asked }),
        definition: "calls to the whole cache, joined ones included", unit: "calls a second",
        window: "mean of the last \(SecondRing.rateWindow) whole seconds", source: "the engine's count of calls"))
    figures.append(
      Figure(
        name: "joined", value: Format.count(picture.requests.count.joined),
        definition: "reads answered by a load that another caller had begun: neither a hit nor a miss of their own",
        unit: "reads", window: FigureTable.session, source: "the engine's count joined"))
    return figures
  }
}

/// Moving in the histories of the levels, and from a second of one to what happened in it.
extension Model {
  mutating func moveSideways(by distance: Int) {
    guard focus == .levels, inspection == nil, mode == .normal else { return focus(by: distance) }
    moveHistory(by: distance)
  }

  mutating func moveHistory(by distance: Int) {
    guard let place = historyPlace?.history else {
      return refuse("there is no room for the history here; enlarge the window")
    }
    command.answer = nil
    history.move(by: distance, at: shown.now, columns: place.width)
  }

  mutating func chooseLevel(_ level: Int) {
    command.answer = nil
    history.level = min(max(0, level), max(0, shown.levels.count - 1))
  }

  /// Where the chosen level stands, with its history if that is drawn.
  var historyPlace: LevelPlace? { LevelMap(self).places.first { $0.level == history.level } }

  /// The chosen second.
  var chosenSecond: Int64 { history.number(at: shown.now, columns: historyPlace?.history?.width ?? 1) }

  /// Goes to the requests of the chosen second, or to its lines in the log.
  mutating func drill() {
    guard shown.levels.indices.contains(history.level) else { return }
    let moment = RequestList.Moment(level: history.level, second: chosenSecond)
    let line = firstLine(of: moment.second)
    let rows = max(1, Layout(self).rows(.log))
    if let line { log.go(to: line, in: shown.log, rows: rows) }
    if shown.calls.listed({ moment.matches($0) }).isEmpty {
      return line == nil ? inspection = Inspection(.row(.levels)) : show(.log)
    }
    requestList.search = TextSearch("")
    requestList.moment = moment
    requestList.move(to: 0)
    show(.requests)
  }

  /// When a second was: `12:04:31`, or `12:04:31.4–32.4`, since the cache's seconds need not begin with those of the day.
  package func time(ofSecond number: Int64) -> String {
    let begin = beginning(ofSecond: number)
    guard (begin % 1_000 + 1_000) % 1_000 >= 50 else { return Format.clock(seconds: begin / 1_000) }
    let texts = [begin, begin + 1_000].map { String(Format.clock(milliseconds: $0).dropLast(2)) }
    return "\(texts[0])–\(texts[1].suffix(4))"
  }

  /// In milliseconds of the day.
  private func beginning(ofSecond number: Int64) -> Int64 {
    timeOfDay(CacheInstant(nanoseconds: number.multipliedReportingOverflow(by: 1_000_000_000).partialValue))
  }

  /// The first line of the log in a second.
  private func firstLine(of second: Int64) -> Int? {
    let ring = shown.log
    let time = beginning(ofSecond: second)
    return ring.numbers.first { number in
      guard let line = ring[number] else { return false }
      return (0..<1_000).contains(timeOfDay(sinceEpoch: line.time) &- time)
    }
  }
}

import CacheEngine
import ExplorerText

extension Model {
  /// Carries out what a key stands for while nothing is typed.
  mutating func act(_ action: Action) -> [Effect] {
    switch action {
    case .help:
      mode = .help
      helpTop = 0
      helpSearch = TextSearch("")
    case .explain:
      mode = .explaining
      helpTop = 0
    case .command:
      mode = .command
      command.open()
    case .filter:
      mode = .filter
      filter.replace(with: searched)
    case .nextMatch: jump(forwards: true) { log, _, line in log.isMatch(line) }
    case .previousMatch: jump(forwards: false) { log, _, line in log.isMatch(line) }
    case .nextTrouble: jump(forwards: true) { log, number, line in log.isTrouble(number, line) }
    case .previousTrouble: jump(forwards: false) { log, number, line in log.isTrouble(number, line) }
    case .mark: if let line = logLine { log.toggleMark(line) }
    case .wrap: log.isWrapped.toggle()
    case .back: goBack()
    case .overview, .entries, .requests, .latency, .config, .log, .models: turn(to: action)
    case .whatIf:
      turn(to: action)
      return [.refreshWhatIf]
    case .inspect: return inspect()
    case .showValue: return showValue()
    case .mask: isMasked.toggle()
    case .copyKey: return copyKey()
    case .copyValue: return copyValue()
    case .exportView: proposeExport()
    case .resetFigures: resetFigures()
    case .undo: return undo()
    case .slower: return [.perform(.speed(max(Quantity.speeds.lowerBound, speed / 2)))]
    case .faster: return [.perform(.speed(min(Quantity.speeds.upperBound, speed * 2)))]
    case .mouse: return toggleMouse()
    case .theme:
      theme = theme.next
      say("the theme is \(theme.rawValue); --theme \(theme.rawValue) begins with it")
      return [.theme(theme)]
    case .columnLeft: moveSideways(by: -1)
    case .columnRight: moveSideways(by: 1)
    case .recent: isRecent.toggle()
    case .latencyPart: latencyPart = latencyPart.next
    case .reload: return [.reload]
    case .stepBack: step(forwards: false)
    case .stepForward: step(forwards: true)
    case .nextPanel: focus(by: 1)
    case .previousPanel: focus(by: -1)
    case .up: move(by: -1)
    case .down: move(by: 1)
    case .pageUp: move(by: -pageLength)
    case .pageDown: move(by: pageLength)
    case .first: moveToStart()
    case .last: moveToEnd()
    case .sort:
      list.sort = list.sort.next
      list.isReversed = false
      list.refresh(shown, isForced: true)
    case .reverseSort:
      list.isReversed.toggle()
      list.refresh(shown, isForced: true)
    case .zoom: focus == .levels ? refuse("the levels have no larger picture; Tab focuses a panel") : isZoomed.toggle()
    case .freeze: freeze(frozen == nil)
    case .live:
      freeze(false)
      log.follow()
    case .lessLog: log.minimum = LogLevel(rawValue: log.minimum.rawValue + 1) ?? log.minimum
    case .moreLog: log.minimum = LogLevel(rawValue: log.minimum.rawValue - 1) ?? log.minimum
    case .delete, .expire, .clear, .warn: ask(action)
    case .redraw: return [.redraw]
    case .suspend: return [.suspend]
    case .interrupt: return command.running.isEmpty ? [.quit] : [.interrupt]
    case .quit: return quit()
    case .firstCache, .secondCache, .bothCaches:
      refuse("there is one cache here; cache-explorer compare A B shows two")
    case .accept, .cancel, .complete, .cursorLeft, .cursorRight, .lineStart, .lineEnd, .deleteBack, .deleteForwards,
      .deleteWord, .deleteToStart, .older, .newer, .searchHistory, .confirm, .playSlower, .playFaster, .earlier, .later:
      break
    }
    return []
  }

  /// Asks first where leaving would end something that takes its time.
  private mutating func quit() -> [Effect] {
    var reasons: [String] = []
    if let workload { reasons.append("the workload \(workload) runs") }
    if recording?.phase == .going { reasons.append("the session is recorded") }
    guard !reasons.isEmpty else { return [.quit] }
    mode = .confirming(Confirmation(command: .quit, question: "\(reasons.joined(separator: ", and ")): quit?"))
    return []
  }

  private mutating func freeze(_ isFreezing: Bool) {
    frozen = isFreezing ? live : nil
    travel = isFreezing ? TimeTravel(live) : nil
    list.refresh(shown, isForced: true)
    refreshRequests()
  }

  /// Goes one event on or back within what was captured while the picture stands.
  private mutating func step(forwards: Bool) {
    if frozen == nil { freeze(true) }
    guard let shown = frozen else { return }
    guard let picture = travel?.step(forwards: forwards, from: shown, log: live.log) else {
      return refuse(forwards ? "nothing has happened since" : "this is where the picture was frozen")
    }
    frozen = picture
    list.refresh(picture, isForced: true)
    refreshRequests()
  }

  private mutating func turn(to action: Action) {
    let pages: [Action: Page] = [
      .overview: .overview, .entries: .entries, .requests: .requests, .latency: .latency, .config: .config, .log: .log,
      .models: .models, .whatIf: .whatIf,
    ]
    guard let next = pages[action] else { return }
    guard next != .models || models.content != nil else {
      return refuse("there are no models here; “cache-explorer demo models” has some")
    }
    show(next)
    isZoomed = false
  }

  package mutating func show(_ next: Page) {
    page = next
    inspection = nil
    if let first = next.panels.first { focus = first }
    refreshRequests()
  }

  mutating func refreshRequests() {
    guard page == .requests else { return }
    requestList.refresh(shown.calls)
  }

  /// The number of the log line under the cursor.
  var logLine: Int? { log.current(in: shown.log, rows: max(1, Layout(self).rows(.log))) }

  private mutating func jump(forwards: Bool, to isWanted: (LogView, Int, LogLine) -> Bool) {
    let rows = max(1, Layout(self).rows(.log))
    let view = log
    let isFound = log.jump(forwards: forwards, in: shown.log, rows: rows) { isWanted(view, $0, $1) }
    if !isFound { refuse("no more \(forwards ? "below" : "above")") }
  }

  private var searched: String {
    switch focus {
    case .log: log.search.text
    case .requests: requestList.search.text
    case .models, .relations: models.search.text
    default: list.filter.text
    }
  }

  private var pageLength: Int {
    if inspection != nil { return max(1, Layout(self).middle.height - 3) }
    return max(1, Layout(self).rows(focus) - 1)
  }

  private mutating func goBack() {
    if let earlier = inspection?.path.popLast() {
      let path = inspection?.path ?? []
      inspection = Inspection(.request(earlier))
      inspection?.path = path
    } else if inspection != nil {
      inspection = nil
    } else if isZoomed {
      isZoomed = false
    } else if !searched.isEmpty {
      filter.replace(with: "")
      applyFilter()
    } else if focus == .requests, requestList.moment != nil {
      requestList.moment = nil
      refreshRequests()
    } else if config.plan != nil {
      config.plan = nil
    } else {
      live.warning = nil
      frozen?.warning = nil
    }
  }

  package mutating func focus(by step: Int) {
    // A zoomed panel hides the levels.
    let all = page.panels.filter { !isZoomed || $0 != .levels }
    let place = (all.firstIndex(of: focus) ?? 0) + step
    focus = all[(place + all.count) % all.count]
  }

  private mutating func move(by distance: Int) {
    if inspection != nil { return moveInspection(by: distance) }
    move(focus, by: distance)
  }

  package mutating func move(_ panel: Panel, by distance: Int) {
    let rows = Layout(self).rows(panel)
    switch panel {
    case .levels: chooseLevel(history.level + min(max(distance, -1_000), 1_000))
    case .entries: list.move(by: distance, in: shown)
    case .inFlight: moveInFlight(to: inFlightCursor.addingReportingOverflow(distance).partialValue)
    case .latency: break
    case .log: log.move(by: distance, in: shown.log, rows: rows)
    case .requests: requestList.move(by: distance)
    case .config: config.top = min(max(0, config.top + distance), ConfigPanel.lastTop(self))
    case .models: models.move(by: distance)
    case .relations: models.moveRelation(by: distance)
    case .whatIf: whatIf.top = min(max(0, whatIf.top + distance), WhatIfPanel.lastTop(self))
    }
  }

  mutating func moveInFlight(to place: Int) {
    let rows = max(1, Layout(self).rows(.inFlight))
    let count = shown.inFlightCount
    inFlightCursor = min(max(0, place), max(0, count - 1))
    inFlightTop = min(max(inFlightTop, inFlightCursor - rows + 1), inFlightCursor)
  }

  private mutating func moveToStart() {
    if inspection != nil { return moveInspection(by: -1_000_000) }
    switch focus {
    case .entries: list.move(to: 0, in: shown)
    case .inFlight: moveInFlight(to: 0)
    case .latency: break
    case .levels: moveHistory(by: -Int(SecondRing.length))
    case .log: log.scrollToStart(in: shown.log, rows: Layout(self).rows(.log))
    case .requests: requestList.move(to: 0)
    case .config: config.top = 0
    case .models: models.move(by: -.max)
    case .relations: models.moveRelation(by: -.max)
    case .whatIf: whatIf.top = 0
    }
  }

  private mutating func moveToEnd() {
    if inspection != nil { return moveInspection(by: 1_000_000) }
    switch focus {
    case .entries: list.move(to: list.order.count - 1, in: shown)
    case .inFlight: moveInFlight(to: .max)
    case .latency: break
    case .levels: moveHistory(by: Int(SecondRing.length))
    case .log: log.follow()
    case .requests: requestList.move(to: .max)
    case .config: config.top = ConfigPanel.lastTop(self)
    case .models: models.move(by: .max)
    case .relations: models.moveRelation(by: .max)
    case .whatIf: whatIf.top = WhatIfPanel.lastTop(self)
    }
  }

  /// Asks before anything goes, and says what will.
  private mutating func ask(_ action: Action) {
    if let whyReadOnly { return refuse(whyReadOnly) }
    switch action {
    case .clear: mode = .confirming(Confirmation(command: .clear, question: clearQuestion))
    case .warn: mode = .confirming(Confirmation(command: .warn, question: warnQuestion))
    default:
      // The key that is marked on this screen, which need not be that of the list of entries.
      guard let key = chosenKey ?? list.current(in: shown)?.key else { return refuse("there is no entry to choose") }
      let presence = shown.entries.row(key)?.presence ?? []
      let places = zip(shown.levels, presence).filter { $1 != nil }.map(\.0.name).joined(separator: ", ")
      let command = action == .delete ? KeyCommand.delete(key: key) : .expire(key: key)
      let verb = action == .delete ? "delete" : "expire"
      mode = .confirming(
        Confirmation(command: command, question: "\(verb) \(shown(key))\(places.isEmpty ? "" : " in \(places)")?"))
    }
  }

  package mutating func say(_ text: String) { command.answer = CommandLineState.Answer(isGood: true, text: text) }

  mutating func refuse(_ text: String) {
    command.answer = CommandLineState.Answer(isGood: false, text: text)
  }

  private var clearQuestion: String {
    let parts = live.levels.filter { !$0.isOrigin }.map { describe($0) }
    return "clear \(parts.joined(separator: "; "))?"
  }

  private var warnQuestion: String {
    let parts = live.levels.filter { $0.kind == "memory" }.map { describe($0) }
    return parts.isEmpty
      ? "send a memory warning? No level here holds memory"
      : "send a memory warning? It may empty \(parts.joined(separator: "; "))"
  }

  private func describe(_ level: LevelRow) -> String {
    guard let usage = level.usage else { return level.name.uppercased() }
    let noun = usage.count == 1 ? "entry" : "entries"
    return "\(level.name.uppercased()): \(Format.count(usage.count)) \(noun), \(Format.bytes(usage.cost))"
  }
}

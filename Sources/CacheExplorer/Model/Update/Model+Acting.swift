import CacheEngine
import ExplorerState
import ExplorerText

extension Model {
  /// Carries out what a key stands for while nothing is typed.
  mutating func act(_ action: Action) -> [Effect] { carryOut(action) ?? [] }

  /// `nil` if the action means nothing here.
  mutating func carryOut(_ action: Action) -> [Effect]? {
    for panel in PanelID.all { if let effects = panel.panel.act(&self, action) { return effects } }
    if let page = Page.allCases.first(where: { $0.action == action }) { return turn(to: page) }
    switch action {
    case .help: openHelp()
    case .explain:
      mode = .explaining
      helpTop = 0
    case .command:
      mode = .command
      command.open()
    case .palette: openPalette()
    case .filter:
      mode = .filter
      filter.replace(with: searched)
    case .back: goBack()
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
    case .theme: return use(theme.next)
    case .columnLeft: moveSideways(by: -1)
    case .columnRight: moveSideways(by: 1)
    case .recent: isRecent.toggle()
    case .stepBack: step(forwards: false)
    case .stepForward: step(forwards: true)
    case .nextPanel: focus(by: 1)
    case .previousPanel: focus(by: -1)
    case .up: move(by: -1)
    case .down: move(by: 1)
    case .pageUp: move(by: -pageLength)
    case .pageDown: move(by: pageLength)
    case .first: moveToEnd(isFirst: true)
    case .last: moveToEnd(isFirst: false)
    case .zoom: focus == .levels ? refuse("the levels have no larger picture; Tab focuses a panel") : isZoomed.toggle()
    case .hidePanel: return hidePanel()
    case .movePanel: return movePanel()
    case .usualPanels: return usualPanels()
    case .freeze: freeze(!isFrozen)
    case .live:
      freeze(false)
      log.follow()
    case .delete, .expire, .clear, .warn: ask(action)
    case .redraw: return [.redraw]
    case .suspend: return [.suspend]
    case .interrupt: return command.running.isEmpty ? [.quit] : [.interrupt]
    case .quit: return quit()
    case .firstCache, .secondCache, .bothCaches:
      refuse("F2, F3, F4 choose between two caches; cache-explorer compare A B shows them")
    case .accept, .cancel, .complete, .cursorLeft, .cursorRight, .lineStart, .lineEnd, .deleteBack, .deleteForwards,
      .deleteWord, .deleteToStart, .older, .newer, .searchHistory, .confirm, .playSlower, .playFaster, .earlier, .later,
      .nextTrouble, .previousTrouble, .own:
      return nil
    }
    return []
  }

  /// `verb`: What it is about; `nil` for all keys and verbs.
  mutating func openHelp(about verb: String? = nil) {
    mode = .help
    helpTop = 0
    helpTopic = verb
    helpSearch = TextSearch("")
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
    travel = isFreezing ? TimeTravel(live, past: past) : nil
    list.refresh(shown, isForced: true)
    RequestsPanel.refresh(&self)
  }

  /// Goes one event on or back: within what is known from before the picture was frozen, and what happened since.
  private mutating func step(forwards: Bool) {
    if !isFrozen { freeze(true) }
    guard let shown = frozen else { return }
    guard let picture = travel?.step(forwards: forwards, from: shown, log: live.log) else {
      return refuse(forwards ? "nothing has happened since" : "nothing that happened before is known")
    }
    frozen = picture
    list.refresh(picture, isForced: true)
    RequestsPanel.refresh(&self)
  }

  /// Shows a screen from the start, if it has something to show.
  package mutating func begin(on page: Page) { _ = turn(to: page) }

  private mutating func turn(to next: Page) -> [Effect] {
    if let whyNot = next.panels.lazy.compactMap({ [self] in $0.panel.whyNot(self) }).first {
      refuse(whyNot)
      return []
    }
    show(next)
    isZoomed = false
    // It was about the screen before.
    command.answer = nil
    return next.questions
  }

  package mutating func show(_ next: Page) {
    page = next
    inspection = nil
    if let first = focusable(on: next).first { focus = first }
    RequestsPanel.refresh(&self)
  }

  private var searched: String { focus.panel.search(self) }

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
    } else if !PanelID.all.contains(where: { $0.panel.back(&self) }) {
      live.warning = nil
      frozen?.warning = nil
    }
  }

  package mutating func focus(by step: Int) {
    // A zoomed panel hides the levels.
    let all = focusable(on: page).filter { !isZoomed || $0 != .levels }
    let place = (all.firstIndex(of: focus) ?? 0) + step
    focus = all[(place + all.count) % all.count]
  }

  private mutating func move(by distance: Int) {
    inspection == nil ? focus.panel.move(&self, by: distance) : moveInspection(by: distance)
  }

  private mutating func moveToEnd(isFirst: Bool) {
    guard inspection == nil else { return moveInspection(by: isFirst ? -1_000_000 : 1_000_000) }
    focus.panel.moveToEnd(&self, isFirst: isFirst)
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

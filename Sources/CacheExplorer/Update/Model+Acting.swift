import CacheEngine

extension Model {
  /// Carries out what a key stands for while nothing is typed.
  mutating func act(_ action: Action) -> [Effect] {
    switch action {
    case .help:
      mode = .help
      helpTop = 0
    case .command:
      mode = .command
      command.open()
    case .filter:
      mode = .filter
      filter.replace(with: focus == .log ? log.search.text : list.search.text)
    case .nextMatch: log.jump(forwards: true, in: shown.log)
    case .previousMatch: log.jump(forwards: false, in: shown.log)
    case .back: goBack()
    case .overview:
      isZoomed = false
      focus = .entries
    case .nextPanel: focus(by: 1)
    case .previousPanel: focus(by: -1)
    case .up: move(by: -1)
    case .down: move(by: 1)
    case .pageUp: move(by: -max(1, Layout(self).rows(focus) - 1))
    case .pageDown: move(by: max(1, Layout(self).rows(focus) - 1))
    case .first: moveToStart()
    case .last: moveToEnd()
    case .sort:
      list.sort = list.sort.next
      list.isReversed = false
      list.refresh(shown, isForced: true)
    case .reverseSort:
      list.isReversed.toggle()
      list.refresh(shown, isForced: true)
    case .zoom: isZoomed.toggle()
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
    case .quit: return [.quit]
    case .accept, .cancel, .complete, .cursorLeft, .cursorRight, .lineStart, .lineEnd, .deleteBack, .deleteForwards,
      .deleteWord, .deleteToStart, .older, .newer, .searchHistory, .confirm:
      break
    }
    return []
  }

  private mutating func freeze(_ isFreezing: Bool) {
    frozen = isFreezing ? live : nil
    list.refresh(shown, isForced: true)
  }

  private mutating func goBack() {
    if isZoomed {
      isZoomed = false
    } else if focus == .log, !log.search.isEmpty {
      log.search = TextSearch("")
    } else if !list.search.isEmpty {
      list.search = TextSearch("")
      list.refresh(shown, isForced: true)
    } else {
      live.warning = nil
      frozen?.warning = nil
    }
  }

  private mutating func focus(by step: Int) {
    let all = Panel.allCases
    let place = (all.firstIndex(of: focus) ?? 0) + step
    focus = all[(place + all.count) % all.count]
  }

  private mutating func move(by distance: Int) {
    let rows = Layout(self).rows(focus)
    switch focus {
    case .entries: list.move(by: distance, in: shown)
    case .inFlight: inFlightTop = min(max(0, inFlightTop + distance), max(0, shown.inFlightCount - rows))
    case .latency: break
    case .log: log.scroll(by: distance, in: shown.log, rows: rows)
    }
  }

  private mutating func moveToStart() {
    switch focus {
    case .entries: list.move(to: 0, in: shown)
    case .inFlight: inFlightTop = 0
    case .latency: break
    case .log: log.scrollToStart(in: shown.log, rows: Layout(self).rows(.log))
    }
  }

  private mutating func moveToEnd() {
    switch focus {
    case .entries: list.move(to: list.order.count - 1, in: shown)
    case .inFlight: inFlightTop = max(0, shown.inFlightCount - Layout(self).rows(.inFlight))
    case .latency: break
    case .log: log.follow()
    }
  }

  /// Asks before anything goes, and says what will.
  private mutating func ask(_ action: Action) {
    guard !isReadOnly else {
      return refuse("this cache was opened for reading only; open it without --read-only to change it")
    }
    switch action {
    case .clear: mode = .confirming(Confirmation(command: .clear(level: nil), question: clearQuestion))
    case .warn: mode = .confirming(Confirmation(command: .warn, question: warnQuestion))
    default:
      guard let row = list.current(in: shown) else { return refuse("there is no entry to choose") }
      let places = zip(shown.levels, row.presence).filter { $1 != nil }.map(\.0.name).joined(separator: ", ")
      let command = action == .delete ? Command.delete(key: row.key) : Command.expire(key: row.key)
      let verb = action == .delete ? "delete" : "expire"
      mode = .confirming(Confirmation(command: command, question: "\(verb) \(row.key) in \(places)?"))
    }
  }

  private mutating func refuse(_ text: String) {
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

import CacheEngine
import ExplorerCommands
package import ExplorerState

/// Changes the model by what happened, and tells what is to be done about it.
///
/// The only way in which a model changes.
package func update(_ model: inout Model, _ message: Message) -> [Effect] {
  let effects: [Effect]
  switch message {
  case .input(let event): effects = model.handle(event)
  case .tick(let now, let wall):
    let isNewSecond = model.second(of: now) != model.second(of: model.live.now)
    model.live.advance(to: now)
    model.wall = wall
    let isDue = isNewSecond && model.hasNews && !model.isFrozen
    effects = model.questions(isNewSecond: isNewSecond) + (isDue ? model.page.questions : [])
  case .events(let events, let lost, let counted):
    model.hasNews = true
    model.travel?.capture(events, lost: lost)
    model.past.note(events, lost: lost, before: model.live)
    if model.live.fold(events, lost: lost, counted: counted) { model.isUncertain = true }
    effects = model.questions(isNewSecond: false)
  case .log(let lines, let lost):
    model.live.log.append(lines, lost: lost)
    effects = []
  case .help:
    model.openHelp()
    effects = []
  case .helpAbout(let verb):
    model.openHelp(about: verb)
    effects = []
  case .caption(let text):
    model.caption = text
    // Where both share a row, the older one gives way.
    if model.command.fault == nil { model.command.answer = nil }
    effects = []
  case .undoable(let what):
    model.undoable = what
    effects = []
  case .speed(let speed):
    model.speed = speed
    effects = []
  case .unlisted(let counts):
    for index in model.live.levels.indices {
      model.live.levels[index].unlisted = counts[model.live.levels[index].name] ?? 0
    }
    effects = []
  case .found(let level, let contents):
    model.found(contents, in: level)
    effects = []
  case .faults(let faults):
    for index in model.live.levels.indices { model.live.levels[index].fault = faults[model.live.levels[index].name] }
    effects = []
  case .usage(let usages):
    for index in model.live.levels.indices {
      if let usage = usages[model.live.levels[index].name] { model.live.levels[index].usage = usage }
    }
    effects = []
  case .shared(let statuses):
    for index in model.live.levels.indices { model.live.levels[index].shared = statuses[model.live.levels[index].name] }
    effects = []
  case .owners(let owners):
    for index in model.live.levels.indices { model.live.levels[index].owner = owners[model.live.levels[index].name] }
    effects = []
  case .snapshot(let level, let contents):
    if let index = model.live.index(ofLevel: level) {
      var contents = contents
      for place in contents.indices {
        contents[place].key = model.live.displayed(contents[place].key, level: index)
      }
      model.live.entries.corrected(level: index, by: contents, askedAt: model.askedAt ?? model.live.now)
    }
    effects = []
  case .files(let word, let names):
    model.command.complete(word, among: names)
    effects = []
  case .finished(let result, let line):
    // Nobody typed it, and a caption says more.
    if line != "" || model.caption == nil || result.outcome == .error {
      model.command.finished(result, line: line)
    }
    model.hasNews = true
    effects = []
  case .value(let sight):
    if case .value(let shown)? = model.inspection?.subject, shown.key == sight.key {
      model.inspection?.subject = .value(sight)
    }
    effects = []
  case .replaced(let replacement):
    model.replace(by: replacement)
    effects = [.refreshEntries, .refreshUsage] + model.page.questions
  case .attachment(let attachment):
    model.attachment = attachment
    effects = []
  case .attachedAgain(let attachment, let replacement):
    model.attachedAgain(attachment, replacement)
    effects = [.refreshEntries, .refreshUsage] + model.page.questions
  case .workload(let name):
    model.workload = name
    effects = []
  case .recording(let status):
    model.recording = status
    effects = []
  case .rejected(let line, let reason, let column):
    model.command.rejected(line, reason: reason, column: column)
    if model.mode == .normal || model.mode == .help { model.mode = .command }
    effects = []
  // For the panels alone.
  case .showLog, .filter, .sort, .showConfig, .planned, .settings, .whatIf, .showWhatIf, .models, .served, .variants,
    .keyspace, .fleet:
    effects = []
  }
  let asked = PanelID.all.flatMap { $0.panel.update(&model, message) }
  let layout = Layout(model)
  for panel in PanelID.all { panel.panel.keepVisible(&model, rows: layout.rows(panel)) }
  return effects + asked
}

extension Model {
  /// Counts seconds as they pass for the reader, however fast the cache's time passes.
  fileprivate func second(of instant: CacheInstant) -> Int64 {
    Int64((Double(instant.nanoseconds) / 1e9 / speed).rounded(.down))
  }

  /// What the levels should be asked: a list costs time, and is asked for once a second at most.
  fileprivate mutating func questions(isNewSecond: Bool) -> [Effect] {
    if isUncertain, askedAt.map({ $0.duration(to: live.now) >= .seconds(1) * speed }) ?? true {
      isUncertain = false
      hasNews = false
      askedAt = live.now
      return [.refreshEntries, .refreshUsage]
    }
    // A shared store has news of its own.
    guard isNewSecond, hasNews || live.levels.contains(where: { $0.shared != nil || $0.owner != nil }) else {
      return []
    }
    hasNews = false
    return [.refreshUsage]
  }

  fileprivate mutating func handle(_ event: InputEvent) -> [Effect] {
    switch event {
    case .key(let key):
      ignoresClick = false
      return handle(key)
    case .mouse(let mouse): return point(mouse)
    case .focus(let isFocused):
      (ignoresClick, isWatched) = (isFocused, isFocused)
      return []
    case .paste(let text):
      switch mode {
      case .command: command.edit { $0.insert(text) }
      case .filter:
        filter.insert(text)
        applyFilter()
      case .palette: palette.edit { $0.insert(text) }
      case .normal, .help, .helpSearch, .explaining, .confirming: break
      }
      return []
    case .resized(let size):
      self.size = size
      return [.redraw]
    case .terminate: return [.quit]
    case .suspend: return [.suspend]
    case .resumed: return [.redraw]
    }
  }

  private mutating func handle(_ key: InputEvent.Key) -> [Effect] {
    switch mode {
    case .helpSearch:
      searchHelp(key)
      return []
    case .palette: return choose(key)
    case .command, .filter:
      if let action = KeyTable.action(for: key, in: .typing) { return type(action) }
      guard case .character(let character) = key else { return [] }
      if mode == .command {
        command.type(String(character))
      } else {
        filter.insert(String(character))
        applyFilter()
      }
      return []
    case .confirming(let confirmation):
      switch KeyTable.action(for: key, in: .confirming) {
      case .redraw: return [.redraw]
      case .suspend: return [.suspend]
      case .confirm:
        mode = .normal
        guard let asked = confirmation.command else { return [.applyReload] }
        guard asked != .quit else { return [.quit] }
        command.running.append(asked.summary)
        return [.perform(asked)]
      // Pressing it twice means it.
      case nil where confirmation.command == .quit && KeyTable.action(for: key, in: .normal) == .interrupt:
        return [.quit]
      default:
        mode = .normal
        guard confirmation.command != .quit else {
          say("the session goes on")
          return []
        }
        config.plan = nil
        command.answer = CommandLineState.Answer(isGood: true, text: "nothing was changed")
        return []
      }
    case .help, .explaining: return KeyTable.action(for: key, in: .normal).map { helpAction($0) } ?? []
    case .normal:
      guard let action = KeyTable.action(for: key, in: .normal) else { return [] }
      // It was about the key before.
      if command.answer?.isRefusal == true { command.answer = nil }
      return act(action)
    }
  }

  /// What is typed is searched for at once; Enter keeps it, and Esc shows everything again.
  private mutating func searchHelp(_ key: InputEvent.Key) {
    helpTop = 0
    switch KeyTable.action(for: key, in: .typing) {
    case .accept?: mode = .help
    case .cancel?:
      filter.replace(with: "")
      mode = .help
    case let action?: filter.apply(action)
    case nil: if case .character(let character) = key { filter.insert(String(character)) }
    }
    helpSearch = TextSearch(filter.text, canInvert: false)
  }

  private mutating func helpAction(_ action: Action) -> [Effect] {
    switch action {
    case .up: helpTop = max(0, helpTop - 1)
    case .down: helpTop = min(HelpOverlay.lastTop(self), helpTop + 1)
    case .pageUp: helpTop = max(0, helpTop - HelpOverlay.rows(self))
    case .pageDown: helpTop = min(HelpOverlay.lastTop(self), helpTop + HelpOverlay.rows(self))
    case .first: helpTop = 0
    case .last: helpTop = HelpOverlay.lastTop(self)
    case .filter where mode == .help:
      mode = .helpSearch
      filter.replace(with: helpSearch.text)
    case .back where mode == .help && !helpSearch.isEmpty: helpSearch = TextSearch("")
    case .help, .explain, .back, .quit, .interrupt, Page.overview.action: mode = .normal
    case .redraw, .suspend: return act(action)
    default: break
    }
    return []
  }

  /// What is typed filters at once.
  mutating func applyFilter() { focus.panel.search(&self, for: filter.text) }
}

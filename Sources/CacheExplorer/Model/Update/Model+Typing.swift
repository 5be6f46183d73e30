package import ExplorerState

extension Model {
  /// Carries out an editing key in the command line or in the filter.
  package mutating func type(_ action: Action) -> [Effect] {
    switch action {
    case .redraw: return [.redraw]
    case .suspend: return [.suspend]
    default: break
    }
    if mode == .filter {
      typeFilter(action)
      let isForEntries = action == .accept && focus == .entries && !filter.text.isEmpty
      return isForEntries && live.levels.contains { $0.unlisted > 0 } ? [.find(filter.text)] : []
    }
    return typeCommand(action)
  }

  private mutating func typeFilter(_ action: Action) {
    switch action {
    case .accept: mode = .normal
    case .cancel:
      filter.replace(with: "")
      mode = .normal
    default: filter.apply(action)
    }
    applyFilter()
  }

  private mutating func typeCommand(_ action: Action) -> [Effect] {
    if let query = command.search, action != .searchHistory {
      switch action {
      case .deleteBack:
        command.find(String(query.dropLast()), from: 0)
        return []
      case .cancel:
        command.endSearch(isGivenUp: true)
        return []
      default: command.endSearch(isGivenUp: false)
      }
    }
    switch action {
    case .searchHistory: command.searchHistory()
    case .cursorRight, .lineEnd:
      if let ghost = command.ghost(in: shown) {
        command.edit { $0.replace(with: $0.text + ghost) }
      } else {
        command.edit { $0.apply(action) }
      }
    case .accept:
      let line = command.editor.text
      guard line.contains(where: { $0 != " " }) else {
        mode = .normal
        return []
      }
      mode = .normal
      command.submitted(line)
      return [.run(line)]
    case .cancel:
      mode = .normal
      command.givenUp()
    case .older: command.recall(older: true)
    case .newer: command.recall(older: false)
    case .complete: return command.complete(with: shown)
    default: command.edit { $0.apply(action) }
    }
    if action != .complete { command.completion = nil }
    return []
  }
}

extension LineEditor {
  package mutating func apply(_ action: Action) {
    switch action {
    case .cursorLeft: move(by: -1)
    case .cursorRight: move(by: 1)
    case .lineStart: moveToStart()
    case .lineEnd: moveToEnd()
    case .deleteBack: backspace()
    case .deleteForwards: delete()
    case .deleteWord: deleteWord()
    case .deleteToStart: deleteToStart()
    default: break
    }
  }
}

import ExplorerCommands
package import ExplorerState
import ExplorerText

/// Finding an action by its name, and doing it.
extension Model {
  mutating func openPalette() {
    mode = .palette
    palette = ActionPalette(command.grammar, scopes: KeyTable.Scope.allCases.filter { $0.realm == .normal })
  }

  /// How many actions are seen.
  var paletteRows: Int { ActionPaletteOverlay.rows(in: Layout(self).middle.height) }

  /// Takes a key while an action is looked for.
  mutating func choose(_ key: InputEvent.Key) -> [Effect] {
    switch palette.press(key, rows: paletteRows) {
    case .done(let item)?:
      mode = .normal
      return item.map { perform($0.deed) } ?? []
    case .redraw?: return [.redraw]
    case .suspend?: return [.suspend]
    case nil: return []
    }
  }

  /// Does what was chosen, as if its key had been pressed or its name typed.
  private mutating func perform(_ deed: ActionPalette.Item.Deed) -> [Effect] {
    switch deed {
    case .action(let action): return act(action)
    case .verb(let verb) where verb.standsAlone:
      command.submitted(verb.name)
      return [.run(verb.name)]
    case .verb(let verb):
      // What it is about is still to be said.
      mode = .command
      command.open()
      command.edit { $0.replace(with: verb.name + " ") }
      return []
    case .theme(let theme): return use(theme)
    }
  }

  mutating func use(_ theme: Theme) -> [Effect] {
    self.theme = theme
    say("the theme is \(theme.rawValue); --theme \(theme.rawValue) begins with it")
    return [.theme(theme)]
  }
}

extension ActionPalette {
  /// What came of a key.
  package enum Answer: Sendable {
    /// The palette is closed: the action is to be done, if there is one.
    case done(Item?)
    case redraw, suspend
  }

  /// Takes a key; `nil` while the choice goes on.
  package mutating func press(_ key: InputEvent.Key, rows: Int) -> Answer? {
    switch key {
    case .pageUp: move(by: -rows, rows: rows)
    case .pageDown: move(by: rows, rows: rows)
    default:
      switch KeyTable.action(for: key, in: .typing) {
      case .accept?:
        guard let chosen else { return nil }
        return .done(chosen)
      case .cancel?: return .done(nil)
      case .redraw?: return .redraw
      case .suspend?: return .suspend
      case .older?: move(by: -1, rows: rows)
      case .newer?, .complete?: move(by: 1, rows: rows)
      case let action?: edit { $0.apply(action) }
      case nil: if case .character(let character) = key { edit { $0.insert(String(character)) } }
      }
    }
    return nil
  }
}

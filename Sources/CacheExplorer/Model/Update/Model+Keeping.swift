import CacheEngine
package import ExplorerState
import ExplorerText

/// Copying, exporting, undoing, and resetting the figures.
extension Model {
  mutating func copyKey() -> [Effect] {
    guard mayCopy() else { return [] }
    guard let key = chosenKey else {
      refuse("no key is chosen here")
      return []
    }
    // As it is shown: a pasted control character could do anything.
    let text = harmless(shown(key))
    say("copied \(text)")
    return [.copy(text)]
  }

  package mutating func copyValue() -> [Effect] {
    guard mayCopy() else { return [] }
    guard !isMasked else {
      refuse("values are hidden; P shows them")
      return []
    }
    guard let key = chosenKey else {
      refuse("no key is chosen here")
      return []
    }
    return [.copyValue(key: key, level: levelHolding(key))]
  }

  private mutating func mayCopy() -> Bool {
    if !canCopy { refuse("the clipboard is not used; start with --clipboard to allow it") }
    return canCopy
  }

  /// The topmost level that has a key.
  func levelHolding(_ key: String) -> String? {
    self.shown.entries.row(key)?.presence.firstIndex { $0 != nil }.map { self.shown.levels[$0].name }
  }

  /// Opens the command line with a name, which may be changed before it is written.
  mutating func proposeExport() {
    let time = Format.clock(seconds: timeOfDay(shown.now) / 1_000).filter { $0 != ":" }
    mode = .command
    command.open()
    command.edit { $0.replace(with: "export \(page.word)-\(time).txt --view") }
  }

  mutating func resetFigures() {
    guard !isFrozen else { return refuse("the picture stands still; L goes back to what happens now") }
    live.resetFigures()
    past = RecentPast()
    say("rates, shares and latencies start again; entries, requests and the log stay")
  }

  package mutating func undo() -> [Effect] {
    if let whyReadOnly {
      refuse(whyReadOnly)
      return []
    }
    guard undoable != nil else {
      refuse("nothing can be undone exactly; only the last set, del or expire of a key can")
      return []
    }
    return [.perform(.undo)]
  }

  mutating func toggleMouse() -> [Effect] {
    isMouseOn.toggle()
    ignoresClick = false
    say(
      isMouseOn
        ? "the mouse is on: click, double click, wheel; Shift selects text; % ends that"
        : "the mouse is the terminal's again")
    return [.mouse(isMouseOn)]
  }

  /// Lists what was found in a level that is too large to be listed whole.
  package mutating func found(_ contents: [ListedEntry], in level: String) {
    guard let index = live.index(ofLevel: level) else { return }
    var contents = contents
    for place in contents.indices { contents[place].key = live.displayed(contents[place].key, level: index) }
    live.entries.add(contents, level: index)
    say("found \(Format.count(contents.count)) in \(level.uppercased())")
  }
}

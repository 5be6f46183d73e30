/// Hiding and moving the panels of the overview.
extension Model {
  /// What can have the focus on a screen, in the order of Tab.
  func focusable(on page: Page) -> [PanelID] {
    page == .overview ? arrangement.shown + page.panels.filter { PanelArrangement.Name($0) == nil } : page.panels
  }

  /// What has the focus at first on the screen that is shown.
  package var firstFocus: PanelID { focusable(on: page).first ?? focus }

  mutating func hidePanel() -> [Effect] {
    guard let name = arrangeable else { return [] }
    guard arrangement.hide(name) else {
      refuse("this is the only panel that is left; = brings back the others")
      return []
    }
    focus = arrangement.shown[0]
    say("\(name.title) is hidden; = brings all panels back to their places")
    return [.keepArrangement(arrangement)]
  }

  mutating func movePanel() -> [Effect] {
    guard let name = arrangeable else { return [] }
    guard let other = arrangement.move(name) else {
      refuse("there is no other panel to change places with; = brings back what is hidden")
      return []
    }
    say("\(name.title) and \(other.title) have changed places; = brings all panels back to theirs")
    return [.keepArrangement(arrangement)]
  }

  mutating func usualPanels() -> [Effect] {
    let isUsual = arrangement == PanelArrangement()
    arrangement = PanelArrangement()
    say(isUsual ? "all panels are in their places" : "all panels are back in their places")
    return isUsual ? [] : [.keepArrangement(arrangement)]
  }

  /// The panel that can be hidden and moved now.
  private var arrangeable: PanelArrangement.Name? {
    mutating get {
      guard page == .overview, !isZoomed, inspection == nil || Layout(self).isDocked else {
        refuse("panels are hidden and moved on the overview; 1 shows it")
        return nil
      }
      guard let name = PanelArrangement.Name(focus) else {
        refuse("the levels keep their place; Tab focuses a panel")
        return nil
      }
      return name
    }
  }
}

import ExplorerState
package import ExplorerText

/// Looking at what somebody else did: a recorded model shown as the person who looks at it wants it.
extension Model {
  /// Panels whose state is only how they are looked at; what the others remember came with the cache.
  private static let looks: [PanelID] = [.entries, .requests, .log, .levels, .latency, .inFlight]

  /// The model for somebody who looks at it for themselves, on the same screen as it is.
  ///
  /// Nothing is asked of it or typed in it, and nothing can be changed.
  package func looked(at size: Size) -> Model {
    var model = self
    model.mode = .normal
    model.command = CommandLineState()
    model.size = size
    model.isReplayed = true
    return model
  }

  /// This moment as another one was looked at.
  package func looked(like other: Model) -> Model {
    var model = looked(at: other.size)
    (model.mode, model.page, model.focus) = (other.mode, other.page, other.focus)
    (model.isZoomed, model.inspection, model.isRecent) = (other.isZoomed, other.inspection, other.isRecent)
    (model.filter, model.helpTop, model.helpTopic, model.helpSearch) =
      (other.filter, other.helpTop, other.helpTopic, other.helpSearch)
    model.isMasked = other.isMasked || isMasked
    model.command = other.command
    model.arrangement = other.arrangement
    for panel in Self.looks { model.states[panel] = other.states[panel] }
    model.list.refresh(model.shown, isForced: true)
    RequestsPanel.refresh(&model)
    return model
  }

  /// Whether Esc would close or clear something.
  package var hasSomethingOpen: Bool {
    inspection != nil || isZoomed || mode != .normal || !focus.panel.search(self).isEmpty
  }
}

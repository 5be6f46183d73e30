package import CacheEngine
package import ExplorerState

/// What is looked at closely: opened by Enter or v, left by Esc.
package struct Inspection: Sendable, Equatable {
  package enum Subject: Sendable, Equatable {
    case request(RequestID)
    case value(ValueSight)
    /// The row that is chosen in a panel.
    case row(PanelID)
  }

  var subject: Subject
  /// Which of the lines that lead somewhere is chosen.
  package var choice = 0
  package var top = 0
  /// The requests that were looked at before, so that Esc goes back one by one.
  package var path: [RequestID] = []

  package init(_ subject: Subject) { self.subject = subject }

  /// Where a line of it leads.
  enum Target: Sendable, Equatable {
    case request(RequestID)
    case event(Int)
  }
}

package import CacheEngine
package import ExplorerState
package import ExplorerText

/// A part of the screen that can have the focus: what it remembers, what keys, the mouse and messages do to that, how it looks, and
/// what its figures mean.
///
/// Everything is pure: these are the parts of `update` and of `view`. What a panel remembers is `model[ThePanel.self]`; what all
/// of them know stands in the model itself.
package protocol Panel: SendableMetatype {
  /// What it remembers; nothing unless it says so.
  associatedtype State: Sendable = Void
  static var initial: State { get }

  // MARK: What it looks like

  static func draw(_ model: Model, _ picture: Picture, in frame: PanelFrame, on canvas: inout Canvas)
  /// How many rows of its place do not scroll: the frame, and titles.
  static var fixedRows: Int { get }
  /// What its figures mean, for `i`.
  static func figures(_ model: Model) -> FigureTable
  /// Its rows for a file; `nil` if it has none.
  static func rows(_ model: Model) -> RowTable?

  // MARK: What happens to it

  /// Keys to which it gives a meaning, wherever the focus is; their actions are its own.
  static var keys: [KeyTable.Binding] { get }
  /// Carries out an action of its own; `nil` if it is not.
  static func act(_ model: inout Model, _ action: Action) -> [Effect]?
  /// Takes notice of a message, after the model itself.
  static func update(_ model: inout Model, _ message: Message) -> [Effect]
  /// What is asked when its screen is opened, and once a second while it is shown and something happens.
  static var questions: [Effect] { get }
  /// Why its screen cannot be shown; `nil` if it can.
  static func whyNot(_ model: Model) -> String?

  /// Moves the cursor, or scrolls; far beyond the end goes to the end.
  static func move(_ model: inout Model, by distance: Int)
  /// Goes to the first row or to the last.
  static func moveToEnd(_ model: inout Model, isFirst: Bool)
  /// Scrolls as little as needed to have the cursor among so many rows.
  static func keepVisible(_ model: inout Model, rows: Int)
  /// Chooses what is drawn in a row of its place, counted from the upper edge; whether there is something to choose.
  static func choose(_ model: inout Model, row: Int, in rect: Rect) -> Bool
  /// What Enter does: opens the request of the chosen row, or else the row in full.
  static func inspect(_ model: inout Model) -> [Effect]
  /// The chosen row in full; `nil` if no row is chosen.
  static func detail(_ model: Model) -> RowDetail?
  /// What Esc does in it, wherever the focus is; whether it did something.
  static func back(_ model: inout Model) -> Bool

  /// The request that the chosen row is about.
  static func request(_ model: Model) -> RequestID?
  /// The key that the chosen row is about.
  static func key(_ model: Model) -> String?
  /// Why there is no such request.
  static var missing: String { get }

  /// What `/` says.
  static var prompt: DisplayText { get }
  static func search(_ model: Model) -> String
  static func search(_ model: inout Model, for text: String)
}

/// Which panel.
package struct PanelID: Hashable, Sendable, CustomStringConvertible {
  let panel: any Panel.Type

  init(_ panel: any Panel.Type) { self.panel = panel }

  package var description: String { "\(panel)" }

  /// The rows of the panel for a file; `nil` if it has none.
  package func rows(_ model: Model) -> RowTable? { panel.rows(model) }

  package static func == (left: PanelID, right: PanelID) -> Bool { left.panel == right.panel }
  package func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(panel)) }
}

extension Model {
  /// What a panel remembers.
  package subscript<P: Panel>(_ panel: P.Type) -> P.State {
    get { states[PanelID(panel)] as? P.State ?? P.initial }
    _modify {
      // Taken out meanwhile, so that it is changed where it is and not copied.
      var state = states.removeValue(forKey: PanelID(panel)) as? P.State ?? P.initial
      defer { states[PanelID(panel)] = state }
      yield &state
    }
  }
}

/// Rows for a file, under the names of their columns.
package struct RowTable: Sendable {
  package var columns: [String]
  package var rows: [[JSONText?]]

  package init(_ columns: [String], _ rows: [[JSONText?]]) {
    self.columns = columns
    self.rows = rows
  }
}

extension Panel where State == Void {
  package static var initial: Void { () }
}

/// What most panels do.
extension Panel {
  package static var fixedRows: Int { 2 }
  package static func rows(_ model: Model) -> RowTable? { nil }
  package static var keys: [KeyTable.Binding] { [] }
  package static func act(_ model: inout Model, _ action: Action) -> [Effect]? { nil }
  package static func update(_ model: inout Model, _ message: Message) -> [Effect] { [] }
  package static var questions: [Effect] { [] }
  package static func whyNot(_ model: Model) -> String? { nil }
  package static func move(_ model: inout Model, by distance: Int) {}
  package static func moveToEnd(_ model: inout Model, isFirst: Bool) {
    move(&model, by: isFirst ? -1_000_000_000 : 1_000_000_000)
  }
  package static func keepVisible(_ model: inout Model, rows: Int) {}
  package static func choose(_ model: inout Model, row: Int, in rect: Rect) -> Bool { false }
  package static func back(_ model: inout Model) -> Bool { false }
  package static func request(_ model: Model) -> RequestID? { nil }
  package static func key(_ model: Model) -> String? { request(model).flatMap { model.shown.calls[$0]?.key } }
  package static var missing: String { "there is nothing to inspect" }

  package static func detail(_ model: Model) -> RowDetail? { nil }

  package static func inspect(_ model: inout Model) -> [Effect] {
    if let request = request(model), model.shown.calls[request] != nil {
      model.open(request)
    } else if detail(model) != nil {
      model.inspection = Inspection(.row(PanelID(Self.self)))
    } else {
      model.refuse(missing)
    }
    return []
  }

  // Keys are looked for where a panel has nothing of its own to look through.
  package static var prompt: DisplayText { " filter by key /" }
  package static func search(_ model: Model) -> String { model.list.filter.text }
  package static func search(_ model: inout Model, for text: String) {
    model.list.filter = EntryFilter(text)
    model.list.refresh(model.shown, isForced: true)
  }
}

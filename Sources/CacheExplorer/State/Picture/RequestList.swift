package import CacheEngine

/// Where the reader is in the list of requests.
package struct RequestList: Sendable {
  /// A second of a level's history.
  package struct Moment: Sendable, Equatable {
    package var level: Int
    package var second: Int64

    package init(level: Int, second: Int64) {
      self.level = level
      self.second = second
    }

    /// Whether a call was at the level in that second.
    package func matches(_ call: RequestRecord) -> Bool {
      call.steps.contains { step in
        guard step.place == .level(level), step.outcome.isLookup else { return false }
        let end = step.began.advanced(by: step.duration ?? .zero)
        return SecondRing.number(of: step.began) == second || SecondRing.number(of: end) == second
      }
    }
  }

  package var search = TextSearch("")
  /// Only what happened then is listed.
  package var moment: Moment?
  package private(set) var ids: [RequestID] = []
  package private(set) var cursor = 0
  package private(set) var top = 0
  /// The request that the cursor stays with, once somebody moved it.
  private(set) var selected: RequestID?

  package init() {}

  package var current: RequestID? { ids.indices.contains(cursor) ? ids[cursor] : nil }

  package mutating func refresh(_ log: RequestLog) {
    ids = log.listed { call in
      if let moment, !moment.matches(call) { return false }
      return search.isEmpty || search.matches(call.key ?? "") || search.matches(call.id.description)
        || search.matches(call.outcomeText)
    }
    if let selected, let place = ids.firstIndex(of: selected) { cursor = place }
    cursor = min(cursor, max(0, ids.count - 1))
  }

  package mutating func move(to place: Int) {
    cursor = min(max(0, place), max(0, ids.count - 1))
    selected = cursor == 0 ? nil : current
  }

  package mutating func move(by distance: Int) { move(to: cursor.addingReportingOverflow(distance).partialValue) }

  package mutating func keepVisible(rows: Int) {
    let rows = max(1, rows)
    top = min(max(0, top), max(0, ids.count - rows))
    if cursor < top { top = cursor }
    if cursor >= top + rows { top = cursor - rows + 1 }
  }
}

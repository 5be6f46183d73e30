import CacheEngine

/// How the log is read: from which severity on, where the reader is, and whether it follows.
package struct LogView: Sendable {
  package var minimum = LogLevel.debug
  package var search = TextSearch("")
  /// Long lines go on in the next row.
  package var isWrapped = false
  /// Lines that somebody marked, by their numbers.
  package private(set) var marks: Set<Int> = []
  /// The number of the last line shown; `nil` follows the newest.
  package private(set) var bottom: Int?
  /// The number of the line under the cursor; `nil` for the last one.
  package private(set) var cursor: Int?

  package init() {}

  package var isFollowing: Bool { bottom == nil }

  /// Whether what was scrolled to has left the log, so that the window moves on with its oldest lines.
  package func isOverrun(by log: LogRing) -> Bool { bottom.map { $0 < log.numbers.lowerBound } ?? false }

  package func shows(_ line: LogLine) -> Bool { line.level >= minimum }

  package func isMatch(_ line: LogLine) -> Bool {
    !search.isEmpty && (search.matches(line.text) || search.matches(line.source))
  }

  /// The numbers of the lines in a window of so many rows, top down.
  package func visible(in log: LogRing, rows: Int, height: (LogLine) -> Int = { _ in 1 }) -> [Int] {
    var found: [Int] = []
    var room = rows
    var number = min(bottom ?? Int.max, log.numbers.upperBound - 1)
    while room > 0, number >= log.numbers.lowerBound {
      if let line = log[number], shows(line) {
        let needed = max(1, height(line))
        guard needed <= room || found.isEmpty else { break }
        found.append(number)
        room -= needed
      }
      number -= 1
    }
    // At the upper end the window stays full: what comes below the last line follows.
    var next = (found.first ?? log.numbers.lowerBound - 1) + 1
    found.reverse()
    while bottom != nil, room > 0, next < log.numbers.upperBound {
      if let line = log[next], shows(line) {
        found.append(next)
        room -= max(1, height(line))
      }
      next += 1
    }
    return found
  }

  /// The line under the cursor.
  package func current(in log: LogRing, rows: Int) -> Int? {
    let shown = visible(in: log, rows: rows)
    guard let cursor else { return shown.last }
    return shown.contains(cursor) ? cursor : shown.last
  }

  /// Puts the cursor on a line that is shown; what is shown stays.
  package mutating func choose(_ number: Int, in log: LogRing, rows: Int) {
    bottom = bottom ?? visible(in: log, rows: rows).last
    cursor = number
  }

  package mutating func follow() { (bottom, cursor) = (nil, nil) }

  /// Moves the cursor; the window moves only if the cursor would leave it.
  package mutating func move(by distance: Int, in log: LogRing, rows: Int) {
    let shown = visible(in: log, rows: rows)
    guard distance != 0, let last = shown.last, let here = current(in: log, rows: rows),
      let place = shown.firstIndex(of: here)
    else { return }
    let wanted = place.addingReportingOverflow(distance).partialValue
    if shown.indices.contains(wanted) {
      cursor = shown[wanted]
      bottom = bottom ?? last
    } else if distance < 0 {
      scroll(by: distance, in: log, rows: rows)
      cursor = visible(in: log, rows: rows).first
    } else {
      scroll(by: distance, in: log, rows: rows)
      cursor = isFollowing ? nil : visible(in: log, rows: rows).last
    }
  }

  private mutating func scroll(by distance: Int, in log: LogRing, rows: Int) {
    guard let last = visible(in: log, rows: rows).last else { return }
    var place = last
    var steps = min(distance.magnitude, UInt(LogRing.capacity))
    var next = last + distance.signum()
    while steps > 0, log.numbers.contains(next) {
      if let line = log[next], shows(line) {
        place = next
        steps -= 1
      }
      next += distance.signum()
    }
    let isAtEnd = distance > 0 && steps > 0
    bottom = isAtEnd ? nil : place
    // No further up than the first full window.
    if let first = visible(in: log, rows: rows).last, let bottom, first > bottom { self.bottom = first }
  }

  package mutating func scrollToStart(in log: LogRing, rows: Int) {
    bottom = log.numbers.lowerBound
    bottom = visible(in: log, rows: rows).last
    cursor = visible(in: log, rows: rows).first
  }

  /// Goes to a line; lines as little severe as it are shown from then on.
  package mutating func go(to number: Int, in log: LogRing, rows: Int) {
    guard let line = log[number] else { return }
    minimum = min(minimum, line.level)
    cursor = number
    guard !visible(in: log, rows: rows).contains(number) || isFollowing else { return }
    bottom = number
    // A few lines after it tell what came of it.
    var after = rows / 3
    var next = number + 1
    while after > 0, log.numbers.contains(next) {
      if let line = log[next], shows(line) {
        bottom = next
        after -= 1
      }
      next += 1
    }
  }

  /// Goes to the nearest line above or below the cursor that is wanted; whether there is one.
  @discardableResult
  package mutating func jump(forwards: Bool, in log: LogRing, rows: Int, to isWanted: (Int, LogLine) -> Bool) -> Bool {
    let step = forwards ? 1 : -1
    // While it follows, the search begins below the last line.
    let here = isFollowing ? log.numbers.upperBound : current(in: log, rows: rows) ?? log.numbers.upperBound
    var number = here + step
    while log.numbers.contains(number) {
      if let line = log[number], shows(line), isWanted(number, line) {
        go(to: number, in: log, rows: rows)
        return true
      }
      number += step
    }
    return false
  }

  package func isTrouble(_ number: Int, _ line: LogLine) -> Bool { line.level >= .warning || marks.contains(number) }

  package mutating func toggleMark(_ number: Int) {
    if marks.remove(number) == nil { marks.insert(number) }
  }

  package func matches(in log: LogRing) -> Int {
    search.isEmpty ? 0 : log.numbers.reduce(0) { $0 + (log[$1].map { shows($0) && isMatch($0) } == true ? 1 : 0) }
  }
}

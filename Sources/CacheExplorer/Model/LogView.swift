/// How the log is read: from which severity on, and whether it follows.
struct LogView: Sendable {
  var minimum = LogLevel.debug
  var search = TextSearch("")
  /// The number of the last line shown; `nil` follows the newest.
  private(set) var bottom: Int?

  var isFollowing: Bool { bottom == nil }

  func shows(_ line: LogLine) -> Bool { line.level >= minimum }

  func isMatch(_ line: LogLine) -> Bool {
    !search.isEmpty && (search.matches(line.text) || search.matches(line.source))
  }

  /// The numbers of the lines in a window of so many rows, top down.
  func visible(in log: LogRing, rows: Int) -> [Int] {
    var found: [Int] = []
    var number = min(bottom ?? Int.max, log.numbers.upperBound - 1)
    while found.count < rows, number >= log.numbers.lowerBound {
      if let line = log[number], shows(line) { found.append(number) }
      number -= 1
    }
    // At the upper end the window stays full: what comes below the last line follows.
    var next = (found.first ?? log.numbers.lowerBound - 1) + 1
    found.reverse()
    while bottom != nil, found.count < rows, next < log.numbers.upperBound {
      if let line = log[next], shows(line) { found.append(next) }
      next += 1
    }
    return found
  }

  mutating func follow() { bottom = nil }

  mutating func scroll(by distance: Int, in log: LogRing, rows: Int) {
    guard distance != 0, let last = visible(in: log, rows: rows).last else { return }
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

  mutating func scrollToStart(in log: LogRing, rows: Int) {
    bottom = log.numbers.lowerBound
    bottom = visible(in: log, rows: rows).last
  }

  /// Goes to the nearest match above or below the last line shown.
  mutating func jump(forwards: Bool, in log: LogRing) {
    let step = forwards ? 1 : -1
    var number = (bottom ?? log.numbers.upperBound) + step
    while log.numbers.contains(number) {
      if let line = log[number], shows(line), isMatch(line) { return bottom = number }
      number += step
    }
  }

  func matches(in log: LogRing) -> Int {
    search.isEmpty ? 0 : log.numbers.reduce(0) { $0 + (log[$1].map { shows($0) && isMatch($0) } == true ? 1 : 0) }
  }
}

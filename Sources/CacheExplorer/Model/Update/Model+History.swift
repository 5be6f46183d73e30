import CacheEngine
import ExplorerText

/// Moving in the histories of the levels, and from a second of one to what happened in it.
extension Model {
  mutating func moveSideways(by distance: Int) {
    guard focus == .levels, inspection == nil, mode == .normal else { return focus(by: distance) }
    moveHistory(by: distance)
  }

  mutating func moveHistory(by distance: Int) {
    guard let place = historyPlace?.history else {
      return refuse("there is no room for the history here; enlarge the window")
    }
    command.answer = nil
    history.move(by: distance, at: shown.now, columns: place.width)
  }

  mutating func chooseLevel(_ level: Int) {
    command.answer = nil
    history.level = min(max(0, level), max(0, shown.levels.count - 1))
  }

  /// Where the chosen level stands, with its history if that is drawn.
  var historyPlace: LevelMap.Place? { LevelMap(self).places.first { $0.level == history.level } }

  /// The chosen second.
  var chosenSecond: Int64 { history.number(at: shown.now, columns: historyPlace?.history?.width ?? 1) }

  /// Goes to the requests of the chosen second, or to its lines in the log.
  mutating func drill() {
    guard shown.levels.indices.contains(history.level) else { return }
    let moment = RequestList.Moment(level: history.level, second: chosenSecond)
    let line = firstLine(of: moment.second)
    let rows = max(1, Layout(self).rows(.log))
    if let line { log.go(to: line, in: shown.log, rows: rows) }
    if shown.calls.listed({ moment.matches($0) }).isEmpty {
      guard line != nil else {
        return refuse("nothing is known of \(time(ofSecond: moment.second)), neither requests nor lines of the log")
      }
      return show(.log)
    }
    requestList.search = TextSearch("")
    requestList.moment = moment
    requestList.move(to: 0)
    show(.requests)
  }

  /// When a second was: `12:04:31`, or `12:04:31.4–32.4`, since the cache's seconds need not begin with those of the day.
  package func time(ofSecond number: Int64) -> String {
    let begin = beginning(ofSecond: number)
    guard (begin % 1_000 + 1_000) % 1_000 >= 50 else { return Format.clock(seconds: begin / 1_000) }
    let texts = [begin, begin + 1_000].map { String(Format.clock(milliseconds: $0).dropLast(2)) }
    return "\(texts[0])–\(texts[1].suffix(4))"
  }

  /// In milliseconds of the day.
  private func beginning(ofSecond number: Int64) -> Int64 {
    timeOfDay(CacheInstant(nanoseconds: number.multipliedReportingOverflow(by: 1_000_000_000).partialValue))
  }

  /// The first line of the log in a second.
  private func firstLine(of second: Int64) -> Int? {
    let ring = shown.log
    let time = beginning(ofSecond: second)
    return ring.numbers.first { number in
      guard let line = ring[number] else { return false }
      return (0..<1_000).contains(timeOfDay(sinceEpoch: line.time) &- time)
    }
  }
}

package import CacheEngine

/// What happened of late, kept while the picture moves, so that who freezes it can go back.
///
/// It reaches as far back as the log. Two pictures are kept for that, at most so many events apart; a picture shares what does
/// not change with those after it.
package struct RecentPast: Sendable {
  /// A batch with more events than this came too fast to be stepped through, and a picture beside it would cost time.
  static let fastest = 2_000

  fileprivate struct Stretch: Sendable {
    let base: StillPicture
    var events: [CacheEvent] = []
  }

  private var older: Stretch?
  private var newer: Stretch?
  private let spacing: Int

  package init(spacing: Int = LogRing.capacity) { self.spacing = spacing }

  /// Takes note of events.
  ///
  /// `before`: The picture that does not know them.
  package mutating func note(_ events: [CacheEvent], lost: Int, before: Picture) {
    // What came too fast or never cannot be gone through, and nothing before it either.
    guard lost == 0, events.count <= Self.fastest else { return (older, newer) = (nil, nil) }
    if newer == nil { newer = Stretch(base: StillPicture(before)) }
    if let count = newer?.events.count, count >= spacing {
      (older, newer) = (newer, Stretch(base: StillPicture(before)))
    }
    newer?.events += events
  }

  /// The earliest picture that is known, and what happened from there on.
  fileprivate var all: Stretch? {
    guard let newer else { return nil }
    guard let older else { return newer }
    return Stretch(base: older.base, events: older.events + newer.events)
  }
}

/// Steps through what happened before the picture was frozen, and since.
package struct TimeTravel: Sendable {
  /// More events since then are not kept; stepping ends there.
  static let mostEvents = 20_000

  /// As it was frozen.
  private let base: StillPicture
  private let past: RecentPast.Stretch?
  private var events: [CacheEvent] = []
  /// How many events after the frozen one the shown picture is; before it if negative.
  package private(set) var position = 0
  /// Events since then that are not kept.
  package private(set) var isCut = false

  package init(_ base: Picture, past: RecentPast = RecentPast()) {
    self.base = StillPicture(base)
    self.past = past.all
  }

  /// How many there are since the picture was frozen, and before it.
  package var count: Int { events.count }
  package var countBefore: Int { past?.events.count ?? 0 }

  package mutating func capture(_ new: [CacheEvent], lost: Int) {
    // What is lost cannot be stepped over: later events would not fit the picture.
    guard !isCut, lost == 0 else { return isCut = true }
    let room = Self.mostEvents - events.count
    events += new.prefix(room)
    isCut = new.count > room
  }

  /// The picture one event later or earlier; `nil` at the ends.
  package mutating func step(forwards: Bool, from shown: Picture, log: LogRing) -> Picture? {
    guard forwards ? position < events.count : position > -countBefore else { return nil }
    position += forwards ? 1 : -1
    // As it was, with what no event tells.
    guard position != 0 else { return base.picture }
    if forwards {
      var picture = shown
      picture.replay(position > 0 ? events[position - 1] : past?.events[countBefore + position - 1], log)
      return picture
    }
    var picture = (position > 0 ? base : past?.base ?? base).picture
    for event in position > 0 ? events[..<position] : (past?.events ?? [])[..<(countBefore + position)] {
      picture.replay(event, log)
    }
    return picture
  }
}

extension Picture {
  /// Folds one event in as it happened, with its line of the log.
  fileprivate mutating func replay(_ event: CacheEvent?, _ lines: LogRing) {
    guard let event else { return }
    _ = fold([event], lost: 0)
    advance(to: max(now, event.time))
    guard let number = lines.line(ofEvent: eventCount), let line = lines[number], line.event == eventCount else {
      return
    }
    log.append([line], lost: 0)
  }
}

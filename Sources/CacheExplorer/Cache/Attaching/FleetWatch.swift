import CacheEngine
import ExplorerState
import Synchronization

/// Collects what several apps tell, and puts it in the order in which it happened.
///
/// Each app tells in a pace of its own, so that what happens is added up only after a while.
final class FleetWatch: Sendable {
  private struct State {
    var ledger = FleetLedger()
    var waiting: [(app: Int, event: CacheEvent)] = []
    var chosen = 0
  }

  /// An app tells twenty times a second; what it has not told after so long is late.
  static let patience = Duration.milliseconds(300)
  /// More than this wait for nothing but an app that is stopped.
  private static let mostWaiting = 200_000

  private let clock = SystemClock()
  private let state = Mutex(State())

  /// Which app the other screens show.
  var chosen: Int {
    get { state.withLock { $0.chosen } }
    set { state.withLock { $0.chosen = newValue } }
  }

  func join(
    _ app: FleetSheet.App, shared: Set<String>, sources: Set<String>, at time: CacheInstant,
    inPlaceOf gone: Int? = nil
  ) -> Int {
    state.withLock { state in
      let place = state.ledger.join(app, shared: shared, sources: sources, at: time, inPlaceOf: gone)
      // What the previous process has told is not about this one.
      state.waiting.removeAll { $0.app == place }
      return place
    }
  }

  func left(_ app: Int, because why: String) { state.withLock { $0.ledger.left(app, because: why) } }
  func answers(_ app: Int, silentSince: CacheInstant?) {
    state.withLock { $0.ledger.answers(app, silentSince: silentSince) }
  }
  func hears(_ app: Int, deafSince: CacheInstant?) { state.withLock { $0.ledger.hears(app, deafSince: deafSince) } }

  /// Events of an app were dropped on the way, before those that it tells from now on.
  func lose(_ count: Int, of app: Int) {
    let now = clock.now
    state.withLock { $0.ledger.lose(count, of: app, at: now) }
  }

  func holds(_ app: Int, _ copies: [String: FleetSheet.Copy], count: Int) {
    state.withLock { $0.ledger.holds(app, copies, count: count) }
  }

  func note(_ event: CacheEvent, app: Int) {
    var event = event
    // Nothing is told before it happens: an app that says so has another clock, and would be waited for without end.
    event.time = min(event.time, clock.now)
    state.withLock { [event] state in
      guard state.waiting.count < Self.mostWaiting else { return state.ledger.lose(1, of: app, at: event.time) }
      state.waiting.append((app, event))
    }
  }

  /// Adds up what happened until a while ago, and gives what there is to show.
  func sheet(waiting patience: Duration = FleetWatch.patience) -> FleetSheet {
    let now = clock.now
    let end = now.advanced(by: .zero - patience)
    return state.withLock { state in
      let due = state.waiting.filter { $0.event.time <= end }
      state.waiting.removeAll { $0.event.time <= end }
      // Of what has the same moment, what came first stays first.
      let sorted = due.enumerated().sorted {
        ($0.element.event.time.nanoseconds, $0.offset) < ($1.element.event.time.nanoseconds, $1.offset)
      }
      for (_, told) in sorted { state.ledger.note(told.event, app: told.app) }
      for app in Set(due.map(\.app)) { state.ledger.forgetGone(app) }
      var sheet = state.ledger.sheet(now: now)
      sheet.chosen = state.chosen
      return sheet
    }
  }
}

/// The place of an app among those that are looked at side by side.
struct FleetSeat: CacheObserver {
  let watch: FleetWatch
  let place: Int
  /// Its clock, and for the screens what happens in it while it is shown there.
  let clock: RemoteClock
  let buffer: EventBuffer

  func record(_ event: CacheEvent) {
    if watch.chosen == place { buffer.record(event) }
    var event = event
    event.time = clock.here(event.time)
    watch.note(event, app: place)
  }

  func hears(deafSince: CacheInstant?) { watch.hears(place, deafSince: deafSince.map { clock.here($0) }) }

  func lose(_ count: Int) {
    watch.lose(count, of: place)
    if watch.chosen == place { buffer.lose(count) }
  }
}

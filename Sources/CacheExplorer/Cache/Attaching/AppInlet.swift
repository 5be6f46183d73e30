import CacheEngine
import CacheEngineInspector
import Synchronization

/// Where what an app tells comes in: its counts for the statistics, events for those who follow them, the rest for who
/// follows the app.
///
/// It holds everything back until it is opened, so that nothing is counted before the figures stand at their beginning.
final class AppInlet: Sendable {
  private struct State {
    /// `nil` once it is open.
    var held: [InspectorClient.News]? = []
    var live: LiveCache?
    var observers: [any CacheObserver] = []
    var seat: FleetSeat?
    var lose: @Sendable (Int) -> Void = { _ in }
    var names = ToldNames()
  }

  /// What is not an event.
  let mailbox = Mailbox<InspectorClient.News>()
  private let state = Mutex(State())
  private let dropped = Atomic<Int>(0)

  /// How many events the app dropped because this side was too slow.
  var droppedCount: Int { dropped.load(ordering: .relaxed) }

  /// Whether the app names more levels than are told apart.
  var hasOtherNames: Bool { state.withLock { $0.names.hasOthers } }

  func take(_ news: InspectorClient.News) {
    let isHeld = state.withLock { state in
      state.held?.append(news)
      return state.held != nil
    }
    if !isHeld { handOver(news) }
  }

  /// Hands over what is held and all that comes after it, in its order.
  ///
  /// `seat`: Its place among several apps.
  /// `lose`: Told how many events were dropped.
  func open(
    _ live: LiveCache, _ observers: [any CacheObserver], seat: FleetSeat? = nil,
    lose: @escaping @Sendable (Int) -> Void
  ) {
    state.withLock { ($0.live, $0.observers, $0.seat, $0.lose) = (live, observers, seat, lose) }
    while true {
      let held = state.withLock { state in
        let held = state.held ?? []
        // The other thread may hand over itself only when nothing is left.
        state.held = held.isEmpty ? nil : []
        return held
      }
      guard !held.isEmpty else { return }
      for news in held { handOver(news) }
    }
  }

  private func handOver(_ news: InspectorClient.News) {
    let (live, observers, seat, lose) = state.withLock { ($0.live, $0.observers, $0.seat, $0.lose) }
    if case .counts(let counts) = news, let live {
      live.figures.pass(live.clock.now)
      live.statistics.add(state.withLock { $0.names.told(counts) })
    }
    if case .hearing(let deafSince) = news { seat?.hears(deafSince: deafSince) }
    if case .ended = news {
      // Nothing comes behind it, and the cache that is held here holds the connection, which holds this.
      let held = state.withLock { state in
        defer { state = State(held: nil) }
        return state
      }
      withExtendedLifetime(held) {}
    }
    guard case .events(let events, let lost) = news else { return mailbox.post(news) }
    if lost > 0 {
      dropped.add(lost, ordering: .relaxed)
      lose(lost)
    }
    for event in state.withLock({ state in events.map { state.names.told($0) } }) {
      for observer in observers { observer.record(event) }
    }
  }
}

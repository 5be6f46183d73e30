import Logging

/// What an operator of a composition did, beside what the levels inside did.
public enum OperatorEvent: Sendable, Equatable {
  /// A condition refused a key; the level inside was not asked.
  case refused
  /// A level answered with an expired value, because it was asked for one.
  case servedStale(deadline: CacheInstant?)
  /// A reload of a value began, while its readers go on with the old one.
  case refreshBegan
  /// That ended.
  case refreshEnded(Duration, error: String?)
  /// A read waits for one of the places of a cap.
  case queued(running: Int, waiting: Int)
  /// A read got its place.
  case admitted(running: Int, waiting: Int)
  /// A read gave back its place, or left the queue.
  case released(running: Int, waiting: Int)
  /// A read failed and will be tried again.
  case retried(attempt: Int, after: Duration, error: String)
  /// A circuit breaker changed its phase.
  case circuit(CircuitPhase)
  /// A read took longer than its limit.
  case timedOut(Duration)
  /// A value was returned instead of a miss, or of an error.
  case fellBack(error: String?)
  /// A read was answered from the memory of an earlier miss or failure.
  case rememberedMiss
  /// Something was heard from other processes, or agreed with them.
  case shared(SharedEvent)
}

extension OperatorEvent {
  /// The event as one word of a log.
  var word: String {
    switch self {
    case .refused: "refuse"
    case .servedStale: "stale"
    case .refreshBegan: "refresh"
    case .refreshEnded(_, nil): "refreshed"
    case .refreshEnded: "refresh failed"
    case .queued: "queue"
    case .admitted: "admit"
    case .released: "release"
    case .retried: "retry"
    case .circuit: "circuit"
    case .timedOut: "timeout"
    case .fellBack: "fallback"
    case .rememberedMiss: "remembered"
    case .shared(let event): event.word
    }
  }

  /// What more there is to say.
  var details: [String] {
    switch self {
    case .refused, .servedStale, .refreshBegan, .rememberedMiss: []
    case .refreshEnded(let duration, let error): (error.map { ["(\($0))"] } ?? []) + [duration.inMilliseconds]
    case .queued(let running, let waiting), .admitted(let running, let waiting), .released(let running, let waiting):
      ["running=\(running)", "waiting=\(waiting)"]
    case .retried(let attempt, let delay, let error):
      ["attempt=\(attempt)", "(\(error))", "in \(delay.inMilliseconds)"]
    case .circuit(let phase): [phase.rawValue]
    case .timedOut(let limit): ["after \(limit.inMilliseconds)"]
    case .fellBack(let error): error.map { ["(\($0))"] } ?? []
    case .shared(let event): event.details
    }
  }

  /// How much the event matters in a log.
  var severity: Logger.Level {
    switch self {
    case .refused, .refreshBegan, .queued, .admitted, .released, .rememberedMiss: .debug
    case .servedStale, .refreshEnded(_, nil), .circuit(.closed), .fellBack(nil): .info
    case .refreshEnded, .retried, .circuit, .timedOut, .fellBack: .warning
    case .shared(.deaf): .warning
    case .shared(.heard), .shared(.forgot(.some)): .info
    case .shared: .debug
    }
  }
}

/// Tells an observer, if there is one, what an operator does.
@usableFromInline
package struct OperatorRecorder: Sendable {
  @usableFromInline package let name: String
  @usableFromInline let observer: (any CacheObserver)?
  @usableFromInline package let clock: any CacheClock
  @usableFromInline let attention: ObservationSwitch?
  /// Known beside the observer, since to look whether that is there is to copy it.
  @usableFromInline let hasObserver: Bool

  @usableFromInline
  package init(name: String, observer: (any CacheObserver)?, clock: any CacheClock) {
    self.name = name
    self.observer = observer
    self.clock = clock
    attention = observer?.attention
    hasObserver = observer != nil
  }

  /// There is nobody to tell at the moment.
  @inlinable var isSilent: Bool {
    guard hasObserver else { return true }
    return attention.map { !$0.isOn } ?? false
  }

  /// Tells in the name of a level, if that has one.
  func at(_ level: String?) -> OperatorRecorder {
    OperatorRecorder(name: level ?? name, observer: observer, clock: clock)
  }

  @inlinable
  package func record<Key>(_ event: @autoclosure () -> OperatorEvent, key: Key) {
    record(.operated(event()), key: key)
  }

  /// Tells of something that concerns no key of its own.
  package func record(_ kind: @autoclosure () -> CacheEvent.Kind) {
    guard !isSilent, let observer else { return }
    observer.record(CacheEvent(time: clock.now, request: .current, level: name, kind: kind()))
  }

  @inlinable
  package func record<Key>(_ kind: @autoclosure () -> CacheEvent.Kind, key: Key) {
    guard !isSilent, let observer else { return }
    observer.record(
      CacheEvent(time: clock.now, request: .current, level: name, key: EventRecorder.text(of: key), kind: kind()))
  }
}

extension SharedEvent {
  /// The event as one word of a log.
  var word: String {
    switch self {
    case .forgot: "forgot"
    case .deaf: "deaf"
    case .heard: "heard"
    case .leads: "leads"
    case .led: "led"
    case .follows: "follows"
    case .followed: "followed"
    }
  }

  /// What more there is to say.
  var details: [String] {
    switch self {
    case .forgot(let cause): cause.map { ["everything", "(\($0.rawValue))"] } ?? []
    case .deaf: ["(changes by others are not heard)"]
    case .heard: []
    case .leads(let lease), .follows(let lease): ["lease=\(lease)"]
    case .led(let lease, let duration), .followed(let lease, let duration):
      ["lease=\(lease)", duration.inMilliseconds]
    }
  }
}

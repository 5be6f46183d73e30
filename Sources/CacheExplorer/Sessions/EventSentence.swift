import CacheEngine
import ExplorerCache
import ExplorerState
import ExplorerText

extension CacheEvent {
  /// What happened, as a sentence for those who listen; `nil` for what only pictures need.
  ///
  /// `mask`: Gives keys other names.
  /// `levels`: Those of the cache, which may know keys by other names.
  func sentence(_ mask: KeyMask?, _ levels: [LiveCache.Level]) -> String? {
    guard let mask else { return sentence }
    var event = self
    event.key = key.map { mask.name(of: $0) }
    // What an error says may name the key as well.
    return event.sentence.map { mask.hide(keys(in: levels), in: $0) }
  }

  private var sentence: String? {
    let key = self.key.map { "“\(harmless($0))”" } ?? "everything"
    let level = harmless(self.level ?? "the cache")
    func time(_ duration: Duration) -> String { Format.latency(nanoseconds: duration.clampedNanoseconds) }
    func size(_ cost: Int?) -> String { cost.map { ", \(Format.bytes($0))," } ?? "" }
    func error(_ text: String) -> String { harmless(text) }
    return switch kind {
    case .requestBegan, .lookupBegan, .flightBegan: nil
    case .requestEnded(_, .failed(let reason), let duration):
      "The request for \(key) failed after \(time(duration)): \(error(reason))."
    case .requestEnded: nil
    case .hit(let cost, _, let duration): "\(level) had \(key)\(size(cost)) after \(time(duration))."
    case .miss(let reason, let duration):
      "\(level) did not have \(key) (\(reason.rawValue)), which took \(time(duration))."
    case .stored(let purpose, let cost, _, let duration):
      "\(level) \(purpose == .backFill ? "was filled with" : "stored") \(key)\(size(cost)) in \(time(duration))."
    case .removed(let cause, _): "\(key) left \(level) (\(cause.rawValue))."
    case .done(.clear, let duration): "\(level) was cleared in \(time(duration))."
    case .done(.set, let duration): "\(level) left \(key) as it was, as the condition wanted, in \(time(duration))."
    case .done(_, let duration) where self.key == nil: "\(level) removed a part of what it held in \(time(duration))."
    case .done(_, let duration): "\(level) removed \(key) in \(time(duration))."
    case .failed(_, let reason, let duration): "\(level) failed for \(key) after \(time(duration)): \(error(reason))."
    case .cancelled(_, let duration): "\(level) was not waited for any longer for \(key), after \(time(duration))."
    case .memoryWarning(let count, let cost, let duration):
      "A memory warning: \(level) dropped \(count) \(count == 1 ? "entry" : "entries"), \(Format.bytes(cost)), in \(time(duration))."
    case .flightJoined(let callers): "\(callers) callers share one load of \(key) at \(level)."
    case .flightLeft(let callers): "A caller left the load of \(key) at \(level); \(callers) remain."
    case .flightEnded(let callers, let duration):
      "The load of \(key) at \(level) ended for \(callers) \(callers == 1 ? "caller" : "callers") after \(time(duration))."
    case .operated(let operation): Self.sentence(operation, level, key, time)
    }
  }

  private static func sentence(
    _ operation: OperatorEvent, _ name: String, _ key: String, _ time: (Duration) -> String
  ) -> String {
    switch operation {
    case .refused: "\(name) refused \(key)."
    case .servedStale: "\(name) served \(key) although it has expired."
    case .refreshBegan: "\(name) refreshes \(key)."
    case .refreshEnded(let duration, nil): "\(name) refreshed \(key) in \(time(duration))."
    case .refreshEnded(let duration, let reason?):
      "\(name) could not refresh \(key), after \(time(duration)): \(harmless(reason))."
    case .queued(let running, let waiting): "\(key) waits at \(name): \(running) run and \(waiting) wait."
    case .admitted(let running, let waiting): "\(name) let \(key) through: \(running) run and \(waiting) wait."
    case .released(let running, let waiting): "\(key) is through \(name): \(running) run and \(waiting) wait."
    case .retried(let attempt, let delay, let reason):
      "\(name) tries \(key) again in \(time(delay)), for attempt \(attempt): \(harmless(reason))."
    case .circuit(let phase): "\(name) is \(phase.rawValue)."
    case .timedOut(let limit): "\(name) gave up on \(key) after \(time(limit))."
    case .fellBack(let reason):
      "\(name) answered for \(key) instead of what failed\(reason.map { ": \(harmless($0))" } ?? "")."
    case .rememberedMiss: "\(name) remembers that there is no \(key)."
    case .shared(let event): sentence(event, key, time)
    }
  }

  private static func sentence(_ event: SharedEvent, _ key: String, _ time: (Duration) -> String) -> String {
    switch event {
    case .forgot(nil): "Another process changed \(key), and its copy was forgotten."
    case .forgot(let cause?): "All copies were forgotten (\(cause.rawValue))."
    case .deaf: "What other processes change is not heard of any more."
    case .heard: "What other processes change is heard of from now on."
    case .leads: "This process loads \(key) for all."
    case .led(_, let duration): "This process has loaded \(key) for all in \(time(duration))."
    case .follows: "Another process loads \(key), and is waited for."
    case .followed(_, let duration): "Another process was waited for, for \(key), during \(time(duration))."
    }
  }
}

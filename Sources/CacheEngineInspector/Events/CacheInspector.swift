public import CacheEngine

/// Shows the caches of a running app to `cache-explorer attach`.
///
/// Build the levels with an inspector as their observer, and serve the composition at a socket:
///
/// ```swift
/// let inspector = CacheInspector()
/// let memory = MemoryCacheLevel<String, Data>(removalListener: inspector.removals(from: "memory"))
/// let cache = memory.observed(as: "memory", by: inspector)
///   .compose(disk.observed(as: "disk", by: inspector))
///   .traced(by: inspector)
/// let serving = try CacheInspector.serve(cache, at: "/run/user/1000/photos/cache.sock")
/// ```
///
/// While nobody is attached the inspector does not listen: each observed level or operator that a call passes costs one
/// relaxed atomic load. While somebody is, an event costs a short lock; what the other side does not take in time is
/// dropped and counted, and the app never waits for it.
public final class CacheInspector: CacheObserver {
  /// On while somebody is attached.
  public let attention: ObservationSwitch? = ObservationSwitch()

  let ring: EventRing
  /// What was counted while somebody was attached: events may be dropped on the way, and these are not.
  let statistics = CacheStatistics()

  /// Creates an inspector.
  ///
  /// - Parameter capacity: How many events are kept for those who are attached. They take memory only while somebody is.
  public init(capacity: Int = 16_384) { ring = EventRing(capacity: capacity) }

  /// Notes an event, if somebody is attached.
  public func record(_ event: CacheEvent) {
    guard let attention, attention.isOn else { return }
    AskTranscript.current?.append(event)
    statistics.record(event)
    ring.append(event)
  }

  func listenerCame() { attention?.begin() }

  func listenerLeft() {
    attention?.end()
    guard attention?.isOn == false else { return }
    ring.empty()
    statistics.forgetStates()
  }
}

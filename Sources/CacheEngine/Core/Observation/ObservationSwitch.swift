public import Synchronization

/// Says whether anybody wants to know what an observer would be told.
///
/// An observer that listens only at times gives one of these as its ``CacheObserver/attention``. While it is off, whatever
/// would tell the observer asks the switch, which is one relaxed atomic load, and does nothing more: no text is made of
/// a key, no clock is read, and a value that can be peeked is.
public final class ObservationSwitch: Sendable {
  @usableFromInline let listeners = Atomic<Int>(0)

  /// Creates a switch that is off.
  public init() {}

  /// Whether somebody listens.
  @inlinable public var isOn: Bool { listeners.load(ordering: .relaxed) > 0 }

  /// One more listens from now on.
  ///
  /// A call that is under way may still go untold, or be told from its middle.
  public func begin() { listeners.add(1, ordering: .relaxed) }

  /// One listener less.
  public func end() { listeners.subtract(1, ordering: .relaxed) }
}

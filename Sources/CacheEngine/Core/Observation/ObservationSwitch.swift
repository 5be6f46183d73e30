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

  /// Adds a listener.
  ///
  /// A call that is under way may still go unreported, or be reported from its middle on.
  public func begin() { listeners.add(1, ordering: .relaxed) }

  /// Removes a listener that ``begin()`` added.
  public func end() { listeners.subtract(1, ordering: .relaxed) }
}

import Synchronization

/// Tells its subscribers when memory runs short.
///
/// ``KernelPressureSource`` listens to the operating system, ``ManualPressureSource`` to whoever calls it. A source of
/// your own keeps the closures that it is given until their subscription is cancelled.
public protocol MemoryPressureSource: Sendable {
  /// Whether the source can notice anything here.
  var isAvailable: Bool { get }

  /// How the source notices pressure, or why it cannot, for a person.
  var explanation: String { get }

  /// Has a closure called whenever there is pressure.
  ///
  /// Subscribing to a source that is not available succeeds, and nothing is ever told.
  ///
  /// - Parameter receive: Called on any thread. It returns soon and does not block.
  /// - Returns: The subscription, which ends when it is cancelled or released.
  func subscribe(_ receive: @escaping @Sendable (MemoryPressure) -> Void) -> MemoryPressureSubscription
}

/// A subscription to a ``MemoryPressureSource``: it ends when it is cancelled or released.
public final class MemoryPressureSubscription: Sendable {
  private let end: Mutex<(@Sendable () -> Void)?>

  /// Creates a subscription.
  ///
  /// - Parameter end: Called once, when the subscription is cancelled or released.
  public init(end: @escaping @Sendable () -> Void) { self.end = Mutex(end) }

  deinit { cancel() }

  /// Ends the subscription; a second time does nothing.
  public func cancel() {
    let end = end.withLock { end in
      defer { end = nil }
      return end
    }
    end?()
  }
}

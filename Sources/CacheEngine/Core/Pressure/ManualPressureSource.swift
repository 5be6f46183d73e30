/// A source of memory pressure that you control: for tests, demonstrations, and signals of your own.
///
/// ```swift
/// let pressure = ManualPressureSource()
/// let listening = cache.listenToMemoryWarnings(from: pressure)
/// pressure.send(.warning)
/// ```
public final class ManualPressureSource: MemoryPressureSource {
  private let subscribers = PressureSubscribers()

  /// Creates a source without subscribers.
  public init() {}

  /// Always `true`.
  public var isAvailable: Bool { true }

  /// That pressure is sent by hand.
  public var explanation: String { "pressure is sent by hand" }

  /// How many subscriptions there are.
  public var subscriberCount: Int { subscribers.count }

  /// Has a closure called whenever pressure is sent.
  ///
  /// - Parameter receive: Called on the thread that sends.
  /// - Returns: The subscription.
  public func subscribe(_ receive: @escaping @Sendable (MemoryPressure) -> Void) -> MemoryPressureSubscription {
    let id = subscribers.add(receive)
    return MemoryPressureSubscription { [subscribers] in subscribers.remove(id) }
  }

  /// Tells every subscriber of pressure, before it returns.
  ///
  /// - Parameter pressure: How short memory is said to be.
  public func send(_ pressure: MemoryPressure = .warning) { subscribers.tell(pressure) }
}

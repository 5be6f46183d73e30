#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A value of a ``Cashier`` with what counts of its age.
public struct CashierEntry<Value: Sendable>: Sendable {
  /// The value.
  public let value: Value
  /// Whether the lifespan of the cache has not passed since the last update.
  public let isValid: Bool
  /// When the value was stored or refreshed last, by the time of day now.
  public let lastUpdate: Date
}

extension CashierEntry: Equatable where Value: Equatable {}

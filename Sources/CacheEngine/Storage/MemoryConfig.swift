public import CacheMemory

public import CacheCore

/// What the memory tier of a ``Storage`` may hold, and for how long.
///
/// ```swift
/// let config = MemoryConfig(expiry: .seconds(600), countLimit: 500, totalCostLimit: 32 << 20)
/// ```
public struct MemoryConfig: Sendable {
  /// The lifetime of what is stored without one, counted from each store; above a disk that of the disk is the longest.
  public var expiry: Expiry
  /// The most entries that there may be; 0 for no limit.
  public var countLimit: Int
  /// The most that the entries may cost together; 0 for no limit.
  ///
  /// The unit is a byte of what the transformer makes of a value: a limit of 10 holds next to nothing. In a storage without a
  /// transformer a value that is `CostRepresentable` says its cost, any other costs 1. What costs more than the limit is
  /// held by the disk only; without a disk it is refused with `CacheError.Code.tooLarge`.
  public var totalCostLimit: Int
  /// The policy that chooses which entry to evict.
  public var eviction: Eviction
  /// How long an expired entry is kept for callers that ask for stale values.
  public var keepsExpired: Duration
  /// Tells when memory is short, and the tier is emptied; `nil` for none.
  public var pressure: (any MemoryPressureSource)?

  /// What a storage on a disk has above it unless told otherwise: 50 MiB of values in the form of their bytes, which leave when
  /// the system runs short of memory.
  public static var standard: MemoryConfig {
    MemoryConfig(totalCostLimit: 50 << 20, pressure: KernelPressureSource.system)
  }

  /// Creates a configuration.
  ///
  /// - Parameters:
  ///   - expiry: The lifetime of values stored without one of their own.
  ///   - countLimit: The most entries that there may be; 0 for no limit. At least 0.
  ///   - totalCostLimit: The most that the entries may cost together; 0 for no limit. At least 0.
  ///   - eviction: The policy that chooses which entry to evict.
  ///   - keepsExpired: How long an expired entry is kept for callers that ask for stale values.
  ///   - pressure: Tells when memory is short, and the tier is emptied; `nil` for none.
  public init(
    expiry: Expiry = .never, countLimit: Int = 0, totalCostLimit: Int = 0, eviction: Eviction = .lru,
    keepsExpired: Duration = .zero, pressure: (any MemoryPressureSource)? = nil
  ) {
    precondition(countLimit >= 0, "a count limit cannot be negative")
    precondition(totalCostLimit >= 0, "a cost limit cannot be negative")
    self.expiry = expiry
    self.countLimit = countLimit
    self.totalCostLimit = totalCostLimit
    self.eviction = eviction
    self.keepsExpired = keepsExpired
    self.pressure = pressure
  }
}

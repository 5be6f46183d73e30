import CacheMemory
import CacheCore

/// A recorded sequence of requests, with its keys numbered from 0 in the order in which they first came.
///
/// ``HitRatio/simulate(policy:capacity:trace:)`` says what a policy makes of it; ``init(contentsOf:format:sizes:)``
/// reads one from a file.
public struct RequestTrace: Sendable {
  /// The number of the key of every request.
  public let keys: [UInt32]
  /// How many different keys there are.
  public let distinct: Int
  /// The size of the value of every request in bytes, if they were recorded.
  ///
  /// A request without a size has that of the previous request for its key that has one, or else of the last one after it; 0 if
  /// there is none.
  public let sizes: [UInt32]?
  /// How many requests of the file were left out because they are no reads.
  public let skipped: Int
  /// How the file was written; `nil` if it was none.
  package let format: TraceFormat?

  /// Creates a trace of keys, one for each request.
  ///
  /// - Parameter requests: The keys in the order of the requests. At most 2^31 may be different.
  public init<Key: Hashable>(_ requests: some Sequence<Key>) {
    var numbers: [Key: UInt32] = [:]
    keys = requests.map { key in
      if let number = numbers[key] { return number }
      let number = UInt32(numbers.count)
      numbers[key] = number
      return number
    }
    distinct = numbers.count
    sizes = nil
    skipped = 0
    format = nil
  }

  /// Keys that are numbered already, from 0 in the order in which they first come.
  package init(
    keys: [UInt32], distinct: Int, sizes: [UInt32]?, skipped: Int = 0, format: TraceFormat? = nil
  ) {
    self.keys = keys
    self.distinct = distinct
    self.sizes = sizes
    self.skipped = skipped
    self.format = format
  }
}

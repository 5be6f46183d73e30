package import CacheEngine
import ExplorerText

extension LevelUsage {
  /// How full: by weight if that is limited, else by number.
  package var fraction: Double? {
    if let capacity { return capacity > 0 ? Double(cost) / Double(capacity) : 1 }
    if let countLimit { return countLimit > 0 ? Double(count) / Double(countLimit) : 1 }
    return nil
  }

  package var percent: String { fraction.map { "\(Int((min(9.99, max(0, $0)) * 100).rounded()))%" } ?? Format.none }

  /// `49 MiB of 256 MiB`, or only what is used.
  package var amount: String {
    if let capacity { return "\(Format.bytes(cost)) of \(Format.bytes(capacity))" }
    if let countLimit { return "\(Format.count(count)) of \(Format.count(countLimit))" }
    return Format.bytes(cost)
  }
}

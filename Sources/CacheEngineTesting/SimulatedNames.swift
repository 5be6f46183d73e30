package import CacheEngine
package import CacheEngineShared

/// What stands under names in a simulated store, and how it is changed in one moment.
package struct SimulatedNames: Sendable {
  package var values: [[UInt8]: (bytes: [UInt8], deadline: CacheInstant?)] = [:]

  package init() {}

  package func value(_ name: [UInt8], _ now: CacheInstant) -> [UInt8]? {
    guard let value = values[name] else { return nil }
    if let deadline = value.deadline, deadline <= now { return nil }
    return value.bytes
  }

  /// Makes changes if all conditions hold.
  ///
  /// - Parameters:
  ///   - changes: What to change, in this order.
  ///   - conditions: What must hold before the first change.
  ///   - names: What to read after the last change.
  ///   - now: The store's time.
  /// - Returns: What stands under `names`, or `nil` if a condition does not hold; and the names under which something changed.
  package mutating func commit(
    _ changes: [SharedChange], if conditions: [SharedCondition], reading names: [[UInt8]], _ now: CacheInstant
  ) -> (answer: [[UInt8]?]?, changed: [[UInt8]]) {
    for condition in conditions {
      switch condition {
      case .absent(let name): guard (value(name, now) ?? []).isEmpty else { return (nil, []) }
      case .begins(let name, let start): guard value(name, now)?.starts(with: start) == true else { return (nil, []) }
      }
    }
    let changed = changes.compactMap { make($0, now) }
    return (names.map { value($0, now) }, changed)
  }

  /// Makes a change, and returns the name if anything changed.
  private mutating func make(_ change: SharedChange, _ now: CacheInstant) -> [UInt8]? {
    switch change {
    case .make(let name, _, _) where value(name, now) != nil: return nil
    case .make(let name, let bytes, let lifetime), .set(let name, let bytes, let lifetime):
      values[name] = (bytes, lifetime.map(now.advanced(by:)))
      return name
    case .remove(let name):
      defer { values[name] = nil }
      return value(name, now) == nil ? nil : name
    }
  }
}

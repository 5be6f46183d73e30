import CacheCore

/// Numbers keys from 0 in the order in which they first come.
package struct RequestNumbers {
  package private(set) var keys: [UInt32] = []
  private var names: [String: UInt32] = [:]
  private var ids: [UInt32: UInt32] = [:]

  package init() {}

  package var distinct: Int { names.count + ids.count }

  /// Gives its number.
  @discardableResult
  package mutating func add(_ name: String) -> Int {
    let number = names[name] ?? UInt32(names.count)
    if number == UInt32(names.count) { names[name] = number }
    keys.append(number)
    return Int(number)
  }

  mutating func add(id: UInt32) {
    let number = ids[id] ?? UInt32(ids.count)
    if number == UInt32(ids.count) { ids[id] = number }
    keys.append(number)
  }
}

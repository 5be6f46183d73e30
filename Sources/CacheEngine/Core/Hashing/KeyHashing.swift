#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif
import Synchronization

/// How one table hashes its keys.
///
/// The hash of a key is the same in the whole process; a table multiplies it by a number of its own, so that keys which
/// collide in one table do not in another.
@usableFromInline
package struct KeyHashing<Key: Hashable>: Sendable {
  @usableFromInline let factor: UInt64
  @usableFromInline let secrets = HashSecrets.process
  /// For keys that say themselves how they are hashed.
  @usableFromInline let own: (any FastHashable.Type)?

  @usableFromInline
  package init() {
    // Numbers below these are the process's secrets.
    factor = HashSecrets.secret(1 << 32 + TableNumber.next) | 1
    own = Key.self as? any FastHashable.Type
  }

  /// The hash of a key in this table.
  @inlinable
  @inline(__always)
  package func callAsFunction(_ key: Key) -> UInt32 {
    let hash = Self.process(key, secrets) { key, hasher in
      guard let own else { return false }
      Self.feed(key, as: own, to: &hasher)
      return true
    }
    return UInt32(truncatingIfNeeded: (hash &* factor) >> 32)
  }

  /// Feeds a hasher with a key of the type given, which is that of the key.
  @usableFromInline
  static func feed<Own: FastHashable>(_ key: Key, as _: Own.Type, to hasher: inout FastHasher) {
    unsafe unsafeBitCast(key, to: Own.self).hashFast(into: &hasher)
  }

  /// The hash of a key in this process.
  ///
  /// Where the type is known, all but one of the ways are left out. A type that says itself how it is hashed does so in `own`,
  /// which is `false` for others.
  @inlinable
  @inline(__always)
  static func process(
    _ key: Key, _ secrets: HashSecrets = .process, own: (Key, inout FastHasher) -> Bool
  ) -> UInt64 {
    if Key.self == String.self { return secrets.hash(unsafe unsafeBitCast(key, to: String.self), from: secrets.start) }
    if Key.self == Int.self || Key.self == UInt.self {
      return secrets.hash(UInt64(truncatingIfNeeded: unsafe unsafeBitCast(key, to: Int.self)))
    }
    if Key.self == Int64.self || Key.self == UInt64.self {
      return secrets.hash(unsafe unsafeBitCast(key, to: UInt64.self))
    }
    if Key.self == Int32.self || Key.self == UInt32.self {
      return secrets.hash(UInt64(unsafe unsafeBitCast(key, to: UInt32.self)))
    }
    if Key.self == UUID.self {
      return unsafe withUnsafeBytes(of: key) { unsafe secrets.hash($0, from: secrets.start).hash }
    }
    if Key.self == Data.self {
      return unsafe (unsafeBitCast(key, to: Data.self)).withUnsafeBytes {
        unsafe secrets.hash($0, from: secrets.start).hash
      }
    }
    var hasher = FastHasher(secrets)
    if own(key, &hasher) { return hasher.hash }
    return UInt64(truncatingIfNeeded: key.hashValue)
  }
}

/// Tells the tables of the process apart.
private enum TableNumber {
  private static let last = Atomic<UInt64>(0)
  static var next: UInt64 { last.wrappingAdd(1, ordering: .relaxed).newValue }
}

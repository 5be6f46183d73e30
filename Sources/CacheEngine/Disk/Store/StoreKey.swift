import CacheCore
internal import CStore

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Darwin)
internal import Darwin
#endif

/// A key as the store knows it: its bytes, whole.
struct StoreKey: Hashable, Sendable {
  let bytes: [UInt8]

  // All bytes at once: one after the other, as arrays hash, costs several times as much.
  func hash(into hasher: inout Hasher) { unsafe bytes.withUnsafeBytes { unsafe hasher.combine(bytes: $0) } }

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  /// Whether this is the key with these bytes.
  func isEqual(to other: UnsafeRawBufferPointer) -> Bool {
    unsafe bytes.withUnsafeBytes { mine in
      guard mine.count == other.count else { return false }
      guard let first = mine.baseAddress, let second = other.baseAddress else { return true }
      return unsafe memcmp(first, second, mine.count) == 0
    }
  }

  /// A short name for logs and errors, where the key itself must not appear.
  var shortHash: String {
    let hash = unsafe bytes.withUnsafeBytes { unsafe cstore_xxh3($0.baseAddress, $0.count, 0) }
    let text = String(hash >> 32, radix: 16)
    return "#" + String(repeating: "0", count: 8 - text.count) + text
  }
}

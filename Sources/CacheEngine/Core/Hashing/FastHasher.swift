/// Makes a hash of what it is fed, in a few instructions for each eight bytes.
///
/// Words are multiplied by each other to 128 bits, and the halves of the product are folded together by an exclusive or, as
/// in wyhash (Y. Wang, 2019) and its successors rapidhash (N. De Carli, 2024) and foldhash (O. Peters, 2024). Changed:
/// every constant is a secret of the process, drawn from the seed of Swift's own `Hasher`. With the constants of wyhash, which
/// are public, keys can be written down that collide whatever the seed is, since a factor of zero swallows the other one.
///
/// That protects a table from who sends keys and does not see hashes. It is not a cryptographic hash, as SipHash nearly is: who
/// could measure for long which keys collide might learn the secrets. Where that is to be feared, wrap the text in a key type
/// of your own, which is hashed by `Hasher`.
///
/// The hash of a process is of no use to another. `SWIFT_DETERMINISTIC_HASHING`, in the environment, makes it the same in all.
@frozen
public struct FastHasher: Sendable {
  @usableFromInline var state: UInt64
  @usableFromInline let secrets: HashSecrets

  @inlinable
  init(_ secrets: HashSecrets) {
    self.secrets = secrets
    state = secrets.start
  }

  @inlinable var hash: UInt64 { secrets.mix(state, secrets.factor) }

  /// Feeds a number.
  ///
  /// - Parameter number: The number; of narrower ones, their bits.
  @inlinable
  public mutating func combine(_ number: UInt64) { state = HashSecrets.fold(state ^ number, secrets.factor) }

  /// Feeds a number.
  ///
  /// - Parameter number: The number.
  @inlinable
  public mutating func combine(_ number: Int) { combine(UInt64(truncatingIfNeeded: number)) }

  /// Feeds bytes, and how many they are.
  ///
  /// - Parameter bytes: The bytes.
  /// - Complexity: O(n).
  @inlinable
  public mutating func combine(_ bytes: UnsafeRawBufferPointer) {
    state = unsafe secrets.hash(bytes, from: state).hash
  }

  /// Feeds text, so that equal texts feed alike, however their characters are composed.
  ///
  /// - Parameter text: The text.
  /// - Complexity: O(n).
  @inlinable
  public mutating func combine(_ text: String) { state = secrets.hash(text, from: state) }
}

/// A key that says itself how it is hashed fast.
///
/// Levels in memory, pools and compositions hash text, integers, `UUID` and `Data` with a ``FastHasher``, and other keys with
/// Swift's `Hasher`, which takes several times as long. A key type of yours that is asked for often may say what it is made of:
///
/// ```swift
/// struct PageKey: FastHashable {
///   var book: Int
///   var page: Int
///   func hashFast(into hasher: inout FastHasher) {
///     hasher.combine(book)
///     hasher.combine(page)
///   }
/// }
/// ```
public protocol FastHashable: Hashable, SendableMetatype {
  /// Feeds a hasher with what `==` compares: keys that are equal must feed the same, in the same order.
  ///
  /// - Parameter hasher: The hasher.
  func hashFast(into hasher: inout FastHasher)
}

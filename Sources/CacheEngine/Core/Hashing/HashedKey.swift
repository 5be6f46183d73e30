/// A key that carries its hash, for looking up the same key often, or in several levels.
///
/// ```swift
/// let cache = MemoryCacheLevel<HashedKey<String>, Data>().compose(source)
/// let key = HashedKey("user:profile:12")
/// let value = try await cache.get(key)  // the text is not hashed again, by no level, pool or gate
/// ```
///
/// Two of them are equal if their bases are.
public struct HashedKey<Base: Hashable & Sendable>: FastHashable, Sendable {
  /// The key itself.
  public let base: Base
  /// In this process.
  @usableFromInline let hash: UInt64

  /// Hashes a key.
  ///
  /// - Parameter base: The key.
  /// - Complexity: That of hashing the key.
  @inlinable
  public init(_ base: Base) {
    self.base = base
    hash = KeyHashing.process(base) { base, hasher in
      // Asked of the type, so that all instances of a class and of those derived from it do alike.
      guard let type = Base.self as? any FastHashable.Type else { return false }
      KeyHashing.feed(base, as: type, to: &hasher)
      return true
    }
  }

  /// Whether the keys inside are equal.
  @inlinable
  public static func == (left: HashedKey, right: HashedKey) -> Bool {
    left.hash == right.hash && left.base == right.base
  }

  /// Feeds the hash that the key carries.
  @inlinable
  public func hash(into hasher: inout Hasher) { hasher.combine(hash) }

  /// Feeds the hash that the key carries.
  @inlinable
  public func hashFast(into hasher: inout FastHasher) { hasher.combine(hash) }
}

extension HashedKey: CustomStringConvertible {
  /// The key inside, as text.
  public var description: String { String(describing: base) }
}

extension HashedKey: Codable where Base: Codable {
  /// Reads the key inside, and hashes it.
  public init(from decoder: any Decoder) throws { self.init(try Base(from: decoder)) }

  /// Writes the key inside: hashes are of this process only.
  public func encode(to encoder: any Encoder) throws { try base.encode(to: encoder) }
}

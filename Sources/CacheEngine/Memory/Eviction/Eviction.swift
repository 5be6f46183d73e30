import CacheCore

/// The policy by which a memory level chooses the entry to evict when room is needed.
///
/// ```swift
/// let memory = MemoryCacheLevel<String, Data>(capacity: 8 << 20, eviction: .s3fifo)
/// ```
public struct Eviction: Sendable, Hashable, CustomStringConvertible {
  @usableFromInline
  enum Kind: String, Sendable, CaseIterable { case lru, fifo, clock, sieve, s3fifo, wtinylfu, adaptive }

  @usableFromInline let kind: Kind

  /// The least recently used entry (LRU), in exact order; a level with this policy is never divided.
  public static let lru = Eviction(kind: .lru)
  /// The entry that was stored first (FIFO).
  public static let fifo = Eviction(kind: .fifo)
  /// The entry that was stored first, passing over those used since they were last passed over (CLOCK, second chance).
  ///
  /// F. J. Corbató, A paging experiment with the Multics system, MIT Project MAC, 1968.
  public static let clock = Eviction(kind: .clock)
  /// The first unused entry that a hand finds as it moves from old to new (SIEVE).
  ///
  /// Y. Zhang et al., SIEVE is simpler than LRU, NSDI 2024.
  public static let sieve = Eviction(kind: .sieve)
  /// An entry that was not used again soon after it was stored; a scan evicts nothing else (S3-FIFO).
  ///
  /// J. Yang et al., FIFO queues are all you need for cache eviction, SOSP 2023.
  public static let s3fifo = Eviction(kind: .s3fifo)
  /// The less frequently requested entry, behind a window for new ones whose size adapts to the requests (W-TinyLFU).
  ///
  /// G. Einziger, R. Friedman, B. Manes, TinyLFU: a highly efficient cache admission policy, ACM Transactions on Storage 13(4), 2017.
  public static let wtinylfu = Eviction(kind: .wtinylfu)

  /// The entry that the best of several strategies would evict: by recency, by frequency, or by what returns.
  ///
  /// The strategies are tried continuously on a sample of the keys. Until one of them has had more hits, a tenth of the entries is
  /// for new ones and the rest for those used again; with fewer than 4 entries it is always ``lru``. This is the default;
  /// <doc:ChoosingWhatLeaves> says what it achieves and what it costs.
  public static let adaptive = Eviction(kind: .adaptive)

  /// Every policy.
  public static let all = Kind.allCases.map(Eviction.init(kind:))

  /// The name of the policy, as its static member is called: `lru`.
  public var name: String { kind.rawValue }

  /// The name of the policy.
  public var description: String { name }

  init(kind: Kind) { self.kind = kind }

  /// Finds a policy by its name.
  ///
  /// - Parameter name: The name, in lower case: `lru`.
  public init?(name: String) {
    guard let kind = Kind(rawValue: name) else { return nil }
    self.kind = kind
  }
}

extension Eviction: Codable {
  /// Reads the name.
  public init(from decoder: any Decoder) throws {
    let name = try String(from: decoder)
    guard let kind = Kind(rawValue: name) else {
      throw DecodingError.dataCorrupted(
        DecodingError.Context(codingPath: decoder.codingPath, debugDescription: "there is no policy “\(name)”"))
    }
    self.kind = kind
  }

  /// Writes the name.
  public func encode(to encoder: any Encoder) throws { try name.encode(to: encoder) }
}

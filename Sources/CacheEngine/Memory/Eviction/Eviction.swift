import CacheCore

/// Which entry of a memory level leaves when room is needed.
///
/// ```swift
/// let memory = MemoryCacheLevel<String, Data>(capacity: 8 << 20, eviction: .s3fifo)
/// ```
public struct Eviction: Sendable, Hashable, CustomStringConvertible {
  @usableFromInline
  enum Kind: String, Sendable, CaseIterable { case lru, fifo, clock, sieve, s3fifo, wtinylfu, adaptive }

  @usableFromInline let kind: Kind

  /// What was not used for the longest time, of all that is held: with this choice a level is never divided.
  public static let lru = Eviction(kind: .lru)
  /// What was stored first.
  public static let fifo = Eviction(kind: .fifo)
  /// What was stored first, but for what was used since it was last spared (CLOCK, second chance).
  public static let clock = Eviction(kind: .clock)
  /// What a hand finds unused that moves from old to new (SIEVE).
  public static let sieve = Eviction(kind: .sieve)
  /// What was not used again soon after it came; a scan washes nothing else out (S3-FIFO).
  public static let s3fifo = Eviction(kind: .s3fifo)
  /// What came seldom lately, but for a window of what is new, whose size follows the requests (W-TinyLFU).
  public static let wtinylfu = Eviction(kind: .wtinylfu)

  /// What the best of several ways would let go: by use, by frequency, or by what returns.
  ///
  /// The ways are tried all the time on a sample of the keys. Until one of them had more hits, a fifth is for what is new, and the
  /// rest for what was used again; with less than 4 entries it is always ``lru``. This is the default; <doc:ChoosingWhatLeaves>
  /// says what it gives and what it costs.
  public static let adaptive = Eviction(kind: .adaptive)

  /// Every choice there is.
  public static let all = Kind.allCases.map(Eviction.init(kind:))

  /// The name of the choice, as its static member is called: `lru`.
  public var name: String { kind.rawValue }

  /// The name of the choice.
  public var description: String { name }

  init(kind: Kind) { self.kind = kind }

  /// Finds a choice by its name.
  ///
  /// - Parameter name: The name, in small letters: `lru`.
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

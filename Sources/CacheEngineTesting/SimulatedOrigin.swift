@_spi(_Unicode) import Swift
public import CacheEngine
import Synchronization

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A source of values that behaves like a server far away, without one: it takes its time, and it fails now and then.
///
/// Everything it does follows from its seed: the value of a key is always the same, and so are the latency and the
/// failures of the first, second, … request for that key. Time passes on the clock that it is given.
///
/// ```swift
/// let origin = SimulatedOrigin(latency: .milliseconds(40) ... .milliseconds(200), failures: 0.01, seed: 7)
/// ```
public final class SimulatedOrigin: Fetcher {
  private struct State {
    /// The hashes of the keys that were asked for.
    var asked: Set<UInt64> = []
    /// How often those were that were so more than once; below a cache they are few.
    var repeated: [UInt64: UInt64] = [:]
    var requests = 0
    var inFlight = 0

    /// Counts a request, and says which one it is for its key.
    mutating func count(_ hash: UInt64) -> UInt64 {
      requests += 1
      if asked.insert(hash).inserted { return 1 }
      repeated[hash, default: 1] += 1
      return repeated[hash, default: 1]
    }
  }

  /// The level's name in events and errors.
  public let name: String

  private let latency: ClosedRange<Duration>
  private let failures: Double
  private let missing: Double
  private let size: ClosedRange<Int>
  private let seed: UInt64
  private let clock: any CacheClock
  private let isMissing: (@Sendable (String) -> Bool)?
  private let sizes: (@Sendable (String) -> Int?)?
  private let state = Mutex(State())

  /// Creates an origin.
  ///
  /// - Parameters:
  ///   - name: The level's name in events and errors.
  ///   - latency: How long an answer takes, evenly spread. Not negative.
  ///   - failures: How probable it is that a request fails, from 0 to 1.
  ///   - missing: How probable it is that a key has no value, from 0 to 1. The same keys are missing each time.
  ///   - size: How many bytes a value has, evenly spread over the keys. Not negative.
  ///   - seed: Other seeds give other latencies, failures and values.
  ///   - clock: The clock on which time passes.
  ///   - isMissing: Says which keys have no value, beside those that `missing` leaves out; `nil` for no others.
  ///   - sizes: Says how many bytes the value of a key has; where it says nothing, `size` does.
  public init(
    name: String = "origin", latency: ClosedRange<Duration> = .zero ... .zero, failures: Double = 0,
    missing: Double = 0, size: ClosedRange<Int> = 1_024...1_024, seed: UInt64 = 0,
    clock: any CacheClock = SystemClock(), isMissing: (@Sendable (String) -> Bool)? = nil,
    sizes: (@Sendable (String) -> Int?)? = nil
  ) {
    precondition(latency.lowerBound >= .zero, "a latency is never negative")
    precondition((0...1).contains(failures) && (0...1).contains(missing), "a probability is from 0 to 1")
    precondition(size.lowerBound >= 0, "a size is never negative")
    self.name = name
    self.latency = latency
    self.failures = failures
    self.missing = missing
    self.size = size
    self.seed = seed
    self.clock = clock
    self.isMissing = isMissing
    self.sizes = sizes
  }

  /// How many requests there were.
  public var requestCount: Int { state.withLock { $0.requests } }

  /// How many requests are being answered now.
  public var inFlightCount: Int { state.withLock { $0.inFlight } }

  /// How many requests there were for a key.
  ///
  /// - Parameter key: The key.
  /// - Returns: The number of requests.
  public func requestCount(for key: String) -> Int {
    let hash = Self.hash(key)
    return state.withLock { $0.asked.contains(hash) ? Int($0.repeated[hash] ?? 1) : 0 }
  }

  /// Makes up the value of a key, after its latency.
  ///
  /// - Parameter key: The key.
  /// - Returns: The value; `nil` if the key is one of those that are missing.
  /// - Throws: `CacheError` with code `CacheError.Code.simulated` if this request is to fail; `CancellationError`
  ///   if the task was cancelled.
  public func get(_ key: String) async throws -> Data? {
    try await lookup(key).entry?.value
  }

  /// Makes up the value of a key, after its latency, with its size as its cost.
  ///
  /// - Parameter key: The key.
  /// - Returns: The entry, or a miss if the key is one of those that are missing.
  /// - Throws: As ``get(_:)``.
  public func lookup(_ key: String) async throws -> Lookup<Data> {
    try Task.checkCancellation()
    let hash = Self.hash(key)
    let attempt = state.withLock { state in
      state.inFlight += 1
      return state.count(hash)
    }
    defer { state.withLock { $0.inFlight -= 1 } }

    // Not by the generator's own step, or each request would draw first what the one before it drew second.
    var choices = SeededGenerator(seed: seed ^ hash &+ attempt &* 0xBF58_476D_1CE4_E5B9)
    let wait = choices.duration(in: latency)
    let fails = choices.fraction() < failures
    if wait > .zero { try await clock.sleep(until: clock.now.advanced(by: wait), tolerance: nil) }
    if fails {
      throw CacheError(
        .simulated, "the simulated origin failed on purpose; ask again, or give it fewer failures", level: name)
    }
    var traits = SeededGenerator(seed: seed ^ hash)
    let isLeftOut = traits.fraction() < missing
    if isLeftOut || isMissing?(key) == true { return .miss(.absent) }
    let value = Self.value(for: key, size: max(0, sizes?(key) ?? traits.integer(in: size)))
    return .hit(Entry(value, cost: value.count, level: name))
  }

  /// Readable text, so that a person sees whose value it is, cut to the exact size.
  private static func value(for key: String, size: Int) -> Data {
    let canonical = String(String.UnicodeScalarView(key._nfc))
    let line = Array("key=\(canonical) size=\(size)\n".utf8)
    var bytes: [UInt8] = []
    bytes.reserveCapacity(size + line.count)
    while bytes.count < size { bytes += line }
    let cut = bytes.index(bytes.startIndex, offsetBy: size)
    // A character that the cut would split is left out as a whole.
    var end = cut
    while end > bytes.startIndex, end < bytes.endIndex, bytes[end] & 0xC0 == 0x80 { end -= 1 }
    return Data(bytes[..<end]) + Data(repeating: UInt8(ascii: "."), count: cut - end)
  }

  // FNV-1a over the canonical form: keys that are equal as strings have one value.
  private static func hash(_ key: String) -> UInt64 {
    key._nfc.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1.value)) &* 0x100_0000_01B3 }
  }
}

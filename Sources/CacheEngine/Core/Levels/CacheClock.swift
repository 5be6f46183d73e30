import CStore
import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// A moment of a ``CacheClock``, in nanoseconds since the clock's own zero.
///
/// It means nothing to another process or after a restart: what is kept in files is converted there.
@frozen
public struct CacheInstant: InstantProtocol, Sendable, CustomStringConvertible {
  /// Nanoseconds since the clock's zero.
  ///
  /// Arithmetic saturates and never traps.
  public var nanoseconds: Int64

  /// Creates an instant.
  ///
  /// - Parameter nanoseconds: Nanoseconds since the clock's zero.
  @inlinable
  public init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

  /// The instant that lies so much later; it saturates and never traps.
  @inlinable
  public func advanced(by duration: Duration) -> CacheInstant {
    let (sum, overflow) = nanoseconds.addingReportingOverflow(duration.clampedNanoseconds)
    return CacheInstant(nanoseconds: overflow ? (duration < .zero ? .min : .max) : sum)
  }

  /// How far another instant lies ahead of this one.
  @inlinable
  public func duration(to other: CacheInstant) -> Duration {
    let (difference, overflow) = other.nanoseconds.subtractingReportingOverflow(nanoseconds)
    return .nanoseconds(overflow ? (other.nanoseconds > nanoseconds ? .max : .min) : difference)
  }

  /// Whether an instant lies before another.
  @inlinable
  public static func < (left: CacheInstant, right: CacheInstant) -> Bool { left.nanoseconds < right.nanoseconds }

  /// The nanoseconds, as text.
  public var description: String { "\(nanoseconds) ns" }
}

extension CacheInstant: Codable {
  /// Reads the nanoseconds.
  public init(from decoder: any Decoder) throws { self.init(nanoseconds: try Int64(from: decoder)) }

  /// Writes the nanoseconds.
  public func encode(to encoder: any Encoder) throws { try nanoseconds.encode(to: encoder) }
}

extension Duration {
  /// The duration in nanoseconds, held at the ends of `Int64` (292 years) instead of overflowing.
  @inlinable
  public var clampedNanoseconds: Int64 {
    // Up to nine seconds fit into 64 bits; a division of 128 takes ten times as long.
    if let short = Int64(exactly: attoseconds) { return short / 1_000_000_000 }
    return Int64(clamping: attoseconds / 1_000_000_000)
  }
}

/// The time that caches live by.
///
/// It is injected everywhere, so that tests and demonstrations can set it.
public protocol CacheClock: Clock<Duration> where Instant == CacheInstant {
  /// Now, by a clock that never steps and that goes on while the machine sleeps.
  var now: CacheInstant { get }
  /// The time of day, which may step: time since 1970-01-01 00:00 UTC.
  var timeSinceEpoch: Duration { get }
  /// Names the span in which ``now`` has one zero: instants of one boot can be compared across processes.
  var bootIdentifier: UInt64 { get }
}

/// The machine's own time: boot time (which counts sleep and cannot step) and the wall clock.
public struct SystemClock: CacheClock {
  /// Creates the clock.
  public init() {}

  /// Now, by the boot clock.
  public var now: CacheInstant { CacheInstant(nanoseconds: Self.read(Self.steadyClock)) }

  /// Whether a moment is still to come; if it is more than a second ahead, at a third of what ``now`` costs.
  @usableFromInline
  package static func isAhead(_ moment: CacheInstant) -> Bool {
    #if os(Linux)
    cstore_is_ahead(moment.nanoseconds)
    #else
    moment > SystemClock().now
    #endif
  }

  /// One nanosecond.
  public var minimumResolution: Duration { .nanoseconds(1) }

  /// The wall clock.
  public var timeSinceEpoch: Duration { .nanoseconds(Self.read(CLOCK_REALTIME)) }

  /// A hash of the kernel's boot identifier; 0 where there is none.
  public var bootIdentifier: UInt64 { Self.boot.found(by: Self.readBoot) }

  /// Waits until the deadline has come, or throws `CancellationError`.
  public func sleep(until deadline: CacheInstant, tolerance: Duration?) async throws {
    try await ContinuousClock().sleep(for: now.duration(to: deadline), tolerance: tolerance)
  }

  #if canImport(Darwin)
  private static let steadyClock = CLOCK_MONOTONIC_RAW
  #else
  private static let steadyClock = CLOCK_BOOTTIME
  #endif

  private static func read(_ clock: clockid_t) -> Int64 {
    var time = timespec()
    unsafe clock_gettime(clock, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
  }

  private static func hash(_ bytes: some Sequence<UInt8>) -> UInt64 {
    bytes.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
  }

  private static let boot = LateNumber()

  // FNV-1a over the kernel's boot identifier. Where there is none, 0: then every start counts as a new boot.
  private static func readBoot() -> UInt64 {
    #if os(Linux)
    let descriptor = unsafe open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return 0 }
    defer { close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: 36)
    guard unsafe pread(descriptor, &bytes, bytes.count, 0) == bytes.count else { return 0 }
    return hash(bytes)
    #elseif canImport(Darwin)
    // The session's identifier and, where a sandbox withholds that, the moment of the start.
    for name in ["kern.bootsessionuuid", "kern.boottime"] {
      var length = 64
      var bytes = [UInt8](repeating: 0, count: length)
      if unsafe sysctlbyname(name, &bytes, &length, nil, 0) == 0, length > 0 { return hash(bytes.prefix(length)) }
    }
    return 0
    #else
    return 0
    #endif
  }
}

/// A number that is asked for until it is found, for a process may have no descriptor left at first; 0 before that.
package struct LateNumber: ~Copyable, Sendable {
  private let number = Atomic<UInt64>(0)

  package init() {}

  package func found(by find: () -> UInt64) -> UInt64 {
    let known = number.load(ordering: .relaxed)
    if known != 0 { return known }
    let new = find()
    if new != 0 { number.store(new, ordering: .relaxed) }
    return new
  }
}

public import CacheCore
import Synchronization

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A look into the directory of a disk level, even while another program writes to it.
///
/// Nothing is written and no lock is taken, so the writer notices nothing. You see the log as it was when it was
/// opened or last refreshed: a value read is one that was stored under that key by then. Entries that the writer has removed since
/// are visible until the next ``refresh()``, and evicted ones may be visible until their place in the log is reused,
/// since evictions are not recorded.
///
/// ```swift
/// let look = try await DiskCacheInspection.open("/var/cache/photos")
/// for try await entry in look.entries() { print(entry.text ?? "(bytes)", entry.size, entry.deadline as Any) }
/// ```
public final class DiskCacheInspection: Sendable {
  /// The state of a directory.
  public struct Health: Sendable, Equatable {
    /// How many entries were known at ``asOf``.
    public var entries: Int
    /// How many bytes their records and files take.
    public var liveBytes: Int
    /// How many bytes all files of the store take on the disk now.
    public var allocatedBytes: Int
    /// How many files the log has.
    public var segments: Int
    /// How many stretches of the log could not be read.
    public var damaged: Int
    /// When the log was last read.
    public var asOf: CacheInstant
    /// Whether nothing has been written since.
    public var isCurrent: Bool
  }

  private struct View {
    var store: SegmentedStore
    var asOf: CacheInstant
  }

  /// The absolute path of the directory.
  public let directory: String
  private let clock: any CacheClock
  private let calls: FileCalls
  private let cipher: (any StoreCipher)?
  /// The directory is encrypted and looked at without its key.
  ///
  /// The keys of entries are names that tell nothing, their costs are the lengths of their values, and no value can be read.
  package let isSealed: Bool
  private let view: Mutex<View>

  private init(
    directory: String, cipher: (any StoreCipher)?, isSealed: Bool, clock: any CacheClock, calls: FileCalls
  ) throws {
    let first = try Self.look(directory, cipher, isSealed, clock, calls)
    self.directory = first.store.directory.path
    self.clock = clock
    self.calls = calls
    self.cipher = cipher
    self.isSealed = isSealed
    view = Mutex(first)
  }

  /// Opens a directory that may be written by another program, by this one, or by nobody.
  ///
  /// The index is read on a thread of its own: some tenths of a second for 100,000 entries.
  ///
  /// - Parameters:
  ///   - directory: The path of the directory.
  ///   - cipher: What opens keys and values; `nil` for a store that is not encrypted.
  ///   - clock: The clock by which lifetimes are measured.
  /// - Returns: What can be asked for entries and values.
  /// - Throws: ``CacheError`` with code ``CacheError/Code/diskReadFailed`` if there is no such directory or it cannot be
  ///   read, ``CacheError/Code/invalidSetting`` if the path is empty, ``CacheError/Code/unusableStore`` if its format is newer than
  ///   this program, or ``CacheError/Code/wrongKey`` and ``CacheError/Code/notEncrypted`` if the cipher is not its own.
  public static func open(
    _ directory: String, cipher: (any StoreCipher)? = nil, clock: any CacheClock = SystemClock()
  ) async throws -> DiskCacheInspection {
    try await open(directory, cipher: cipher, clock: clock, calls: FileCalls())
  }

  package static func open(
    _ directory: String, cipher: (any StoreCipher)? = nil, clock: any CacheClock, calls: FileCalls
  ) async throws -> DiskCacheInspection {
    try await elsewhere {
      try DiskCacheInspection(directory: directory, cipher: cipher, isSealed: false, clock: clock, calls: calls)
    }
  }

  /// Opens an encrypted directory without its key, for what can be told all the same.
  package static func openSealed(
    _ directory: String, clock: any CacheClock = SystemClock()
  ) async throws -> DiskCacheInspection {
    try await elsewhere {
      try DiskCacheInspection(
        directory: directory, cipher: nil, isSealed: true, clock: clock, calls: FileCalls())
    }
  }

  /// Reads what was written since the last look.
  ///
  /// Costs as much as what is new, except for a directory that was cleared or replaced in the meantime, which is opened again.
  ///
  /// - Throws: As ``open(_:cipher:clock:)``.
  public func refresh() async throws {
    try await Self.elsewhere { [self] in
      var isDone = false
      while !isDone {
        let (store, now) = (view.withLock(\.store), clock.now)
        do { isDone = try store.follow() } catch { throw store.readFailed(error) }
        let fresh = isDone ? nil : try Self.look(directory, cipher, isSealed, clock, calls)
        view.withLock { view in
          // Somebody else has looked meanwhile, and may have seen what is newer.
          guard view.store === store else { return isDone = false }
          if let fresh { view = fresh } else { view.asOf = now }
          isDone = true
        }
      }
    }
  }

  /// How the directory stands.
  ///
  /// - Returns: Counts of the last look, and whether something was written since.
  /// - Throws: ``CacheError`` with code ``CacheError/Code/diskReadFailed``.
  public func health() async throws -> Health {
    let view = view.withLock { $0 }
    return try await Self.elsewhere {
      let store = view.store
      do {
        let allocated = try store.measured()
        let isCurrent = try store.isCurrent()
        return store.state.withLock { state in
          Health(
            entries: state.index.count, liveBytes: state.index.liveBytes, allocatedBytes: allocated,
            segments: state.segments.count, damaged: state.damaged, asOf: view.asOf, isCurrent: isCurrent)
        }
      } catch { throw store.readFailed(error) }
    }
  }

  /// Every entry with what is known of it, page by page.
  ///
  /// - Returns: A sequence that reads as it is asked.
  public func entries() -> DiskEntries<Data> {
    DiskEntries(page: DiskEntries<Data>.pages(of: view.withLock { $0.store }), level: "inspection") { Data($0) }
  }

  /// Reads the bytes stored under a text key.
  ///
  /// - Parameter key: The key, as a level with text keys has it.
  /// - Returns: The bytes, or `nil` for a key that is not there or has expired.
  /// - Throws: ``CacheError`` with code ``CacheError/Code/diskReadFailed``.
  public func value(forKey key: String) async throws -> Data? {
    try await value(for: Data(CanonicalText.bytes(of: key)))
  }

  /// Reads the bytes stored under a key.
  ///
  /// What was replaced since the last look is looked for again, once.
  ///
  /// - Parameter key: The key's bytes, as ``entries()`` gives them.
  /// - Returns: The bytes, or `nil` for a key that is not there or has expired.
  /// - Throws: ``CacheError`` with code ``CacheError/Code/diskReadFailed``.
  public func value(for key: Data) async throws -> Data? {
    guard !isSealed else {
      throw CacheError(.wrongKey, "the values in \(directory) are encrypted and are looked at without their key")
    }
    for isLast in [false, true] {
      switch try await view.withLock({ $0.store }).read(StoreKey(Array(key))) {
      case .found(let found): return found.value
      case .miss(.damaged) where !isLast: try await refresh()
      case .miss: return nil
      }
    }
    return nil
  }

  /// Reads every entry and says which are not as they were written.
  ///
  /// - Returns: What was found, as of the last look.
  /// - Throws: As ``DiskCacheLevel/verify(repairing:)``.
  public func verify() async throws -> StoreReport {
    try await view.withLock { $0.store }.verify(repairing: false)
  }

  private static func look(
    _ directory: String, _ cipher: (any StoreCipher)?, _ isSealed: Bool, _ clock: any CacheClock, _ calls: FileCalls
  ) throws -> View {
    let now = clock.now
    let store = try StoreRegistry.store(
      at: directory, access: .readOnly, capacity: 1 << 20, durability: .buffered, clock: clock, calls: calls,
      cipher: cipher, isBlind: isSealed)
    return View(store: store, asOf: now)
  }

  private static let queues = ReadQueues(count: 2)

  /// Runs what waits for the disk where no task waits with it.
  private static func elsewhere<Answer: Sendable>(
    _ work: @escaping @Sendable () throws -> Answer
  ) async throws -> Answer {
    try await withCheckedThrowingContinuation { continuation in
      queues.async { continuation.resume(with: Result(catching: work)) }
    }
  }
}

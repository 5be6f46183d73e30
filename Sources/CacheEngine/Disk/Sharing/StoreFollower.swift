import CacheCore
import Dispatch
import Synchronization

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Darwin)
internal import Darwin
#endif

/// A directory that is looked at while another process may write to it.
///
/// Before each read two calls find out whether something was written: the directory tells of files that came or went, and the
/// length of the newest segment of records. Then what is new is read first. No lock is taken, and nothing is written.
final class StoreFollower: StoreElsewhere {
  private struct View {
    var store: SegmentedStore
    /// Tells the places of its entries from those in a store that was opened before or after it.
    let number = UInt64.random(in: 1 ... .max)
    /// When the directory was changed last, as it said before it was read.
    var changed: Int64
    /// Whether it would show another change.
    var isSettled: Bool
  }

  /// Two changes of a directory may have the same time if they come within a tick of the file system's clock.
  private static let tick: Int64 = 100_000_000

  private let settings: CommonStore.Settings
  private let path: String
  private let view: Mutex<View>
  private let queue = DispatchQueue(label: "CacheEngine.store.following")
  private let keepsExpired = Mutex<Int64>(0)
  private let isClosed = Mutex(false)

  var clock: any CacheClock { settings.clock }

  init(_ settings: CommonStore.Settings) throws {
    self.settings = settings
    let first = try Self.look(settings)
    path = first.store.directory.path
    view = Mutex(first)
  }

  private static func look(_ settings: CommonStore.Settings) throws -> View {
    let changed = try? Self.changed(settings.path, settings.calls)
    let store = try StoreRegistry.store(
      at: settings.path, access: .readOnly, capacity: settings.capacity, durability: settings.durability,
      clock: settings.clock, calls: settings.calls, cipher: settings.cipher)
    return View(store: store, changed: changed ?? 0, isSettled: isSettled(changed ?? .max))
  }

  /// When a directory was changed, by the file system's clock.
  private static func changed(_ path: String, _ calls: FileCalls) throws -> Int64 {
    let time = try system("stat") { calls.statusOf(AT_FDCWD, path, 0) }.changed
    // Anybody may have set any time: all that counts is that it differs.
    return time.seconds &* 1_000_000_000 &+ time.nanoseconds
  }

  private static func isSettled(_ changed: Int64) -> Bool {
    SystemClock().timeSinceEpoch.clampedNanoseconds.subtractingReportingOverflow(changed).partialValue > tick
  }

  /// The store as it is now; `nil` if something has to be read for that.
  private var known: SegmentedStore? {
    let view = view.withLock { $0 }
    let (last, seenLength) = view.store.state.withLock { ($0.segments.last, $0.seenLength) }
    guard view.isSettled, (try? Self.changed(path, settings.calls)) == view.changed,
      let last, (try? last.file().currentSize()) == seenLength
    else { return nil }
    return view.store
  }

  /// Reads what is new; on the queue.
  private func follow() throws -> SegmentedStore {
    try checkOpen()
    if let known { return known }
    let old = view.withLock { $0.store }
    do {
      let changed = try Self.changed(path, settings.calls)
      if try old.follow() {
        view.withLock { ($0.changed, $0.isSettled) = (changed, Self.isSettled(changed)) }
        return old
      }
      let fresh = try Self.look(settings)
      fresh.store.keepExpired(for: .nanoseconds(keepsExpired.withLock { $0 }))
      view.withLock { $0 = fresh }
      return fresh.store
    } catch { throw old.readFailed(error) }
  }

  private func checkOpen() throws {
    if isClosed.withLock({ $0 }) { throw CacheError(.closed, "the store in \(path) is closed") }
  }

  private func current() async throws -> SegmentedStore {
    try checkOpen()
    if let known { return known }
    try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
      queue.async { [self] in continuation.resume(with: Result { _ = try follow() }) }
    }
    // By the lock, since Thread Sanitizer does not see what a continuation carries that is resumed before it is waited for.
    return view.withLock { $0.store }
  }

  private func currentNow() throws -> SegmentedStore { try known ?? queue.sync { try follow() } }

  // MARK: Reading

  /// What others wrote meanwhile has to be read first.
  var storeHere: SegmentedStore? { nil }

  func find(_ key: StoreKey, includingExpired: Bool) async throws -> FoundAnswer {
    for isLast in [false, false, false, true] {
      let store = try await current()
      let known = includingExpired ? nil : try store.readAtOnce(key)
      let answer =
        if let known { known } else { try await store.read(key, includingExpired: includingExpired) }
      switch answer {
      case .found(let found): return .found(FoundValue(found))
      case .miss(.damaged) where !isLast:
        // It was replaced, or evicted, on the way.
        view.withLock { $0.isSettled = false }
      case .miss(let reason): return .miss(reason)
      }
    }
    return .miss(.damaged)
  }

  func created(_ key: StoreKey) throws -> Int64? { try currentNow().created(key) }

  var usage: LevelUsage {
    let store = (try? currentNow()) ?? view.withLock { $0.store }
    var usage = store.usage
    usage.cost = (try? store.measured()) ?? usage.cost
    return usage
  }

  var traffic: StoreTraffic { view.withLock { $0.store }.traffic }

  func list(from place: Int, of owner: UInt64) async throws -> (entries: [ListedEntry], next: Int?, owner: UInt64) {
    // A listing goes through the index as it was when it began, and as it grows.
    if place == 0 { _ = try await current() } else { try checkOpen() }
    let view = view.withLock { $0 }
    guard place == 0 || owner == view.number else {
      throw CacheError(.diskReadFailed, "the store was opened anew since the listing began; begin it again")
    }
    let (entries, next) = try await view.store.list(from: place)
    return (entries.map(ListedEntry.init), next, view.number)
  }

  func verify(repairing: Bool) async throws -> StoreReport { try await current().verify(repairing: repairing) }

  // MARK: What is refused

  func change(_ request: StoreRequest, from origin: UInt64) async throws -> Int {
    throw CacheError(.readOnly, "the store in \(path) was opened for reading only")
  }

  func keepExpired(for duration: Duration) {
    keepsExpired.withLock { $0 = max($0, duration.clampedNanoseconds) }
    view.withLock { $0.store }.keepExpired(for: duration)
  }

  // Nobody is told here what leaves elsewhere.
  func listen(_ level: ObjectIdentifier, _ listener: @escaping @Sendable (SegmentedStore.Loss) -> Void) {}
  func unlisten(_ level: ObjectIdentifier) {}

  func leave() { isClosed.withLock { $0 = true } }
  func close() async throws { leave() }
}

import CacheCore
import Dispatch
import Synchronization

/// A log-structured store of bytes under keys, in one directory.
///
/// After CacheLib (Berg et al., The CacheLib Caching Engine, OSDI 2020) and Rosenblum and Ousterhout, The Design and
/// Implementation of a Log-Structured File System, 1992. What we changed: segments are reclaimed strictly from the oldest
/// on, as in a ring. So whatever a key had before its newest record is gone before that record is, and removals and
/// evictions need not be remembered for longer than the segment that they stand in.
///
/// Changes happen one after the other: small ones where they are called if that is possible at once, all others on one
/// queue, in batches. Reads take the index's lock for a moment and read where they are called,
/// if the page cache has the bytes; otherwise on queues of their own.
final class SegmentedStore: Sendable {
  /// What happens to entries without being asked for.
  struct Loss: Sendable {
    /// `nil` for an entry of an encrypted store whose key nobody asked for.
    var key: StoreKey?
    var cause: RemovalCause
    var cost: Int
    /// The key whose value needed the room.
    var madeRoomFor: StoreKey?
  }

  struct State: Sendable {
    var index = StoreIndex()
    /// From the oldest to the newest, which is the one that is appended to.
    var segments: [Segment] = []
    /// The highest number that a segment had, or that stands in the name of something that is no segment.
    var lastSegmentNumber: UInt64 = 0
    /// How far each segment is filled.
    var lengths: SegmentLengths = [:]
    /// How long the newest segment was when it was last looked at, in a store that is only looked at.
    var seenLength = 0
    /// What all files of the store take, in whole blocks.
    var allocatedBytes = 0
    /// What files take beyond their length, by the numbers of segments and of values in files of their own.
    var segmentExtras: [UInt64: Int] = [:]
    var valueExtras: [UInt64: Int] = [:]
    /// The checkpoint's share of these.
    var checkpointBytes = 0
    /// Stretches of the log that could not be read.
    var damaged = 0
    /// How long expired entries stay, in nanoseconds.
    var keepsExpired: Int64 = 0
    /// Entries that the log still has left the index: evicted, expired or damaged ones.
    var hasForgotten = false
    var isClosed = false
    /// Somebody wants writes to survive a power cut: then nothing is removed before what replaces it is on the disk.
    var isSynced = false
    /// Files came or went, and the directory has not been synced since.
    var isDirectoryChanged = false
    /// The newest segment takes no more: a wait for the disk failed, and what the disk has of it is not known.
    var hasSegmentEnded = false
    /// Segments of which the end was missing when the store was opened: what it replaced or removed may be back.
    var cutSegments: Set<UInt64> = []
    /// The disk did not give all of the log when the store was opened: a checkpoint would say that there was no more.
    var isLogUnread = false
    /// Segments that may not be on the disk as a whole: whoever finds a key already removed waits for that as well.
    var unsynced: Set<UInt64> = []
    /// What was written so far is on the disk, and the next record says so.
    var isAllSynced = false
    /// Segments that end in what was taken back and could not be cut off yet, or that the disk did not confirm and that were not written
    /// once more yet, with the length they should have.
    var uncut: [UInt64: Int] = [:]
    /// Values in files of their own that nothing points to, and that could not be removed yet.
    var orphans: [UInt64: Int] = [:]
    /// Values in files of their own that were taken back, to go when the disk has the log without them.
    var takenBack: [UInt64: Int] = [:]
    /// The segment that is being removed in the background.
    var leaving: UInt64?
    /// It could not be removed.
    var isRemovalStuck = false
    var spare = SpareFile.none
    var traffic = StoreTraffic()

    /// From now on nothing is removed before what replaces it is on the disk.
    ///
    /// Nobody may have waited for the names of what was written so far, here or in a process that was killed.
    mutating func expectSyncedWrites() {
      if !isSynced { (isSynced, isAllSynced, isDirectoryChanged) = (true, false, true) }
    }

    /// Whether the deadline is so long past that the entry is no longer kept.
    func isOver(_ entry: StoreIndex.Entry, at now: Int64) -> Bool {
      entry.deadline != .max && entry.deadline <= past(now)
    }

    /// What had expired by then is no longer kept at `now`.
    func past(_ now: Int64) -> Int64 { now &- keepsExpired }
  }

  /// Where a store is.
  struct Place: Sendable {
    var directory: StoreDirectory
    /// Held for as long as the store is open for writing.
    var lock: StoreFile?
    /// What the directory looked like when its files were last known to be there.
    var look: DirectoryLook?
  }

  /// Changes when the directory was removed under the store and made again.
  let place: Mutex<Place>
  var directory: StoreDirectory { place.withLock { $0.directory } }
  let access: StoreAccess
  let limits: StoreLimits
  let clock: any CacheClock
  let salt: UInt64
  /// Set in an encrypted store.
  let sealing: StoreSealing?
  let state: BriefLock<State>
  let segmentFiles: SegmentFiles
  let queue = DispatchQueue(label: "CacheEngine.store")
  let removals = DispatchQueue(label: "CacheEngine.store.removals")
  /// Held by whoever changes the store: its queue, or a caller for one small write.
  let turn = Mutex(WritePace())
  let readers = ReadQueues()
  let pending = Mutex<[WriteJob]>([])
  let listeners = Mutex<[ObjectIdentifier: @Sendable (Loss) -> Void]>([:])
  let ears = StoreEars()
  let writer: Mutex<WriterState>
  /// A reader found another directory where this one stood, and until when that is believed, or that it is in place.
  let isAway = Atomic(false)
  let nextLook: Atomic<Int64>
  /// Set when the directory was removed or emptied, and the store stands again.
  let hasStoodAgain = Atomic(false)
  let onStanding = Mutex<(@Sendable () -> Void)?>(nil)

  struct WriterState: Sendable {
    var sequence: UInt64
    var fileNumber: UInt64
  }

  init(
    directory: StoreDirectory, access: StoreAccess, limits: StoreLimits, clock: any CacheClock, lock: StoreFile?,
    opened: OpenedStore, isSynced: Bool, sealing: StoreSealing?
  ) {
    place = Mutex(Place(directory: directory, lock: lock))
    nextLook = Atomic(SystemClock().now.nanoseconds &+ directory.calls.readersLookEvery)
    self.access = access
    self.limits = limits
    self.clock = clock
    (salt, segmentFiles) = (opened.salt, opened.files)
    var initial = opened.state
    if isSynced { initial.expectSyncedWrites() }
    initial.allocatedBytes += sealing?.allocatedBytes ?? 0
    self.sealing = sealing
    state = BriefLock(initial)
    writer = Mutex(WriterState(sequence: opened.sequence, fileNumber: opened.fileNumber))
    queue.setSpecific(key: Self.ownQueue, value: ObjectIdentifier(self))
  }

  /// Whose queue a thread works on.
  private static let ownQueue = DispatchSpecificKey<ObjectIdentifier>()

  var isOnQueue: Bool { DispatchQueue.getSpecific(key: Self.ownQueue) == ObjectIdentifier(self) }

  var usage: LevelUsage {
    state.withLock { LevelUsage(count: $0.index.count, cost: $0.allocatedBytes, capacity: limits.capacity) }
  }

  var traffic: StoreTraffic { state.withLock { $0.traffic } }

  /// A number that no record has had.
  func nextSequence() -> UInt64 {
    writer.withLock { writer in
      writer.sequence += 1
      return writer.sequence
    }
  }

  func expectSyncedWrites() { state.withLock { $0.expectSyncedWrites() } }

  func keepExpired(for duration: Duration) {
    state.withLock { $0.keepsExpired = max($0.keepsExpired, duration.clampedNanoseconds) }
  }

  func isOver(_ entry: StoreIndex.Entry, at now: Int64) -> Bool { state.withLock { $0.isOver(entry, at: now) } }

  func tell(_ losses: [Loss]) {
    guard !losses.isEmpty else { return }
    let listeners = listeners.withLock { Array($0.values) }
    for loss in losses { for listener in listeners { listener(loss) } }
  }

  func readFailed(_ error: any Error) -> CacheError { failure(.diskReadFailed, error) }

  func writeFailed(_ error: any Error) -> CacheError { failure(.diskWriteFailed, error) }

  private func failure(_ code: CacheError.Code, _ error: any Error) -> CacheError {
    if let error = error as? CacheError { return error }
    let text = (error as? SystemFailure)?.text ?? String(describing: error)
    return CacheError(code, "\(text), in \(directory.path)", underlying: error)
  }
}

/// What a store may take, and how it divides it.
struct StoreLimits: Sendable, Equatable {
  /// Everything in the directory together, in allocated bytes.
  let capacity: Int
  /// The length of a segment.
  let segmentBytes: Int
  /// Longer values have files of their own.
  let ownFileThreshold: Int

  init(capacity: Int) {
    self.capacity = capacity
    segmentBytes = min(max(capacity / 32, 32 << 10), Segment.longest) & ~4_095
    ownFileThreshold = min(segmentBytes / 4, 256 << 10)
  }

  /// What files may take before a write; the rest is for the segment that is filled while another one is reclaimed,
  /// and for the checkpoint.
  var budget: Int { capacity - 2 * segmentBytes }
  /// What entries may take together.
  ///
  /// The rest of the budget is overwritten or removed, and bounds how much has to be
  /// copied when a segment is reclaimed.
  var liveBudget: Int { budget / 4 * 3 }
  /// What entries keep when making room costs too much copying.
  ///
  /// Under overwrites at random a ring of which the share u lives copies x of each segment, x = exp(-(1 - x) / u), and
  /// writes 1 / (1 - x) bytes for each one asked for: 2.2 for 75 %, 1.4 for 57 %.
  var thinnedBudget: Int { budget / 100 * 57 }
  /// So much of a segment is worth copying before entries are evicted instead.
  func worthCopying(_ length: Int) -> Int { length / 100 * 28 }
  /// The longest value that is accepted.
  var longestValue: Int { liveBudget - (64 << 10) }
}

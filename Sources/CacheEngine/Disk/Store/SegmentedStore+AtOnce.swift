import CacheCore
internal import CStore
import Dispatch
import Synchronization

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// Small writes where their callers run.
///
/// Appending a kibibyte to a file that the page cache holds takes two microseconds; having another thread do it, and coming
/// back, takes ten times as long. So the caller does it, if it is its turn and nothing about the write has to wait:
/// no file is opened, removed, cut or synced, and no record is read. It also begins a new segment if there is a ``SpareFile``
/// for that, and hands the oldest one to the thread that removes segments if nothing lives there.
///
/// The file system itself may make such a write wait, for its journal or because the disk does not keep up. Two things keep
/// that from Swift's threads: ``WritePace``, and that at least one thread of the process is never in such a write. On Apple
/// platforms the main actor never is: it draws.
extension SegmentedStore {
  /// How often to look whether it is one's turn: about as long as a small write takes.
  private static let looks = 200

  private static let writers = Atomic<Int>(0)
  private static let mostWriters = ProcessInfo.processInfo.activeProcessorCount - 1

  /// Carries out a small write on the thread of the caller; `nil` if it has to go to the store's.
  func writeAtOnce(_ work: WriteJob.Work, _ durability: Durability) throws -> Int? {
    guard durability == .buffered, let small = SmallWrite(work), !MainQueue.draws else { return nil }
    let now = SystemClock().now
    guard try isInPlace(at: now) else { return nil }
    for _ in 0..<Self.looks {
      // Those who wait already come first.
      guard !isAnyPending else { return nil }
      let answer = try turn.withLockIfAvailable { pace in try writeInTurn(work, small, now.nanoseconds, &pace) }
      if let answer {
        if let answer { tell(answer.losses) }
        return answer?.result
      }
      cstore_pause()
    }
    return nil
  }

  private func writeInTurn(
    _ work: WriteJob.Work, _ small: SmallWrite, _ began: Int64, _ pace: inout WritePace
  ) throws -> (result: Int, losses: [Loss])? {
    guard pace.allows(at: began) else { return nil }
    defer { Self.writers.subtract(1, ordering: .relaxed) }
    guard Self.writers.add(1, ordering: .relaxed).newValue <= Self.mostWriters else { return nil }
    var batch = WriteBatch(store: self, isSyncing: false)
    guard batch.hasRoomAtOnce(for: small) else { return nil }
    defer { pace.note(from: began, to: SystemClock().now.nanoseconds) }
    return (try batch.carryOut(work), batch.losses)
  }
}

/// What has to be known of a small write before it is done.
private struct SmallWrite {
  /// Longer records take so long to copy that the way to another thread hardly matters.
  private static let longestRecord = 128 << 10

  let key: StoreKey
  /// The length of the record, and what of it will live.
  let (length, live): (Int, Int)
  let isConditional: Bool
  /// When it was asked for: no clock is read under the lock, as it may be somebody's own.
  let now: Int64?

  /// `nil` for what is not small.
  init?(_ work: WriteJob.Work) {
    switch work {
    case .put(let record, value: nil, if: let condition) where record.isComplete:
      (key, length, live) = (record.key, record.bytes.count, record.bytes.count)
      (isConditional, now) = (condition != nil, record.reading?.now)
    case .remove(let key), .expire(let key):
      (self.key, length, live) = (key, (RecordHeader.size + key.bytes.count + 7) & ~7, 0)
      (isConditional, now) = (false, nil)
    default: return nil
    }
    if length > Self.longestRecord { return nil }
  }
}

/// The queue of the main actor.
private enum MainQueue {
  #if canImport(Darwin)
  private static let mark = {
    let key = DispatchSpecificKey<Bool>()
    DispatchQueue.main.setSpecific(key: key, value: true)
    return key
  }()

  /// Whether the caller would hold up the screen.
  static var draws: Bool { DispatchQueue.getSpecific(key: mark) ?? false }
  #else
  static var draws: Bool { false }
  #endif
}

extension WriteBatch {
  /// Whether a small write needs only to be appended, after entries that are in its way have left the index, and makes room for it.
  ///
  /// Entries whose values have files of their own are left to the store's thread, since the files are removed; so is everything
  /// that somebody listens to, as listeners are told there.
  fileprivate mutating func hasRoomAtOnce(for write: SmallWrite) -> Bool {
    guard !isTracking else { return false }
    let (limits, length) = (store.limits, write.length)
    var empty: Segment?
    let evicted = store.state.withLock { [isHeard] state -> [(key: StoreKey, entry: StoreIndex.Entry)]? in
      guard !state.isClosed, !state.hasSegmentEnded, state.uncut.isEmpty, state.orphans.isEmpty,
        let last = state.segments.last?.number,
        (state.lengths[last] ?? 0) + length <= limits.segmentBytes || state.spare.isThere
      else { return nil }
      if state.stayingBytes + length > limits.budget {
        empty = state.emptyOldest
        guard let empty, state.stayingBytes + length - state.bytes(of: empty.number) <= limits.budget else {
          return nil
        }
      }
      if isHeard ? state.index.contains(write.key) : state.index.hasOwnFile(write.key) { return nil }
      var evicted: [(key: StoreKey, entry: StoreIndex.Entry)] = []
      while state.index.liveBytes + write.live > limits.liveBudget {
        // No entry leaves for one that may not come.
        guard !isHeard, !write.isConditional, let now = write.now, !state.index.hasExpired(at: state.past(now)),
          let victim = state.index.leastRecentlyUsed,
          victim.entry.ownFile == nil
        else { return nil }
        state.index.remove(victim.key)
        state.hasForgotten = true
        evicted.append(victim)
      }
      return evicted
    }
    guard let evicted else { return false }
    for (key, entry) in evicted { lose(key, entry, .evicted) }
    if let empty { store.beginRemoval(of: empty) }
    return true
  }
}

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
/// To append a kibibyte to a file that the page cache holds takes two microseconds; to have another thread do it, and to
/// come back, takes ten times as long. So the caller does it, if it is its turn and nothing about the write has to wait:
/// no file is opened, removed, cut or synced, and no record is read.
///
/// The file system itself may let such a write wait, for its journal or because the disk does not keep up. Two things keep
/// that from Swift's threads: ``WritePace``, and that in the whole process one thread at least is never in such a
/// write. On Apple platforms the main actor never is: it draws.
extension SegmentedStore {
  /// Longer records take so long to copy that the way to another thread hardly matters.
  private static let longestRecord = 128 << 10
  /// How often to look whether it is one's turn: about as long as a small write takes.
  private static let looks = 200

  private static let writers = Atomic<Int>(0)
  private static let mostWriters = ProcessInfo.processInfo.activeProcessorCount - 1

  /// Carries out a small write on the thread of the caller; `nil` if it has to go to the store's.
  func writeAtOnce(_ work: WriteJob.Work, _ durability: Durability) throws -> Int? {
    guard durability == .buffered, Self.isSmall(work), !MainQueue.draws, try isInPlace() else { return nil }
    for _ in 0..<Self.looks {
      // Who waits already comes first.
      guard !isAnyPending else { return nil }
      let answer = try turn.withLockIfAvailable { pace in try writeInTurn(work, &pace) }
      if let answer {
        if let answer { tell(answer.losses) }
        return answer?.result
      }
      cstore_pause()
    }
    return nil
  }

  private func writeInTurn(_ work: WriteJob.Work, _ pace: inout WritePace) throws -> (result: Int, losses: [Loss])? {
    let time = SystemClock()
    let began = time.now.nanoseconds
    guard pace.allows(at: began) else { return nil }
    defer { Self.writers.subtract(1, ordering: .relaxed) }
    guard Self.writers.add(1, ordering: .relaxed).newValue <= Self.mostWriters else { return nil }
    var batch = WriteBatch(store: self, isSyncing: false)
    guard batch.hasRoomAtOnce(for: work) else { return nil }
    defer { pace.note(from: began, to: time.now.nanoseconds) }
    return (try batch.carryOut(work), batch.losses)
  }

  private static func isSmall(_ work: WriteJob.Work) -> Bool {
    switch work {
    case .put(let record, value: nil, if: _): record.isComplete && record.bytes.count <= longestRecord
    case .remove, .expire: true
    default: false
    }
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

  /// Whether who calls would hold up the screen.
  static var draws: Bool { DispatchQueue.getSpecific(key: mark) ?? false }
  #else
  static var draws: Bool { false }
  #endif
}

extension WriteBatch {
  /// Whether a small write needs nothing but to be appended, after entries have left the index that are in its way.
  ///
  /// Entries whose values have files of their own are left to the store's thread, since these are removed; so is what
  /// somebody listens to, who is told there.
  mutating func hasRoomAtOnce(for work: WriteJob.Work) -> Bool {
    guard !isTracking, let (key, length, isConditional) = Self.needs(work) else { return false }
    let limits = store.limits
    let isHeard = store.listeners.withLock { !$0.isEmpty }
    let now = store.clock.now.nanoseconds
    let evicted = store.state.withLock { state -> [(key: StoreKey, entry: StoreIndex.Entry)]? in
      guard !state.isClosed, !state.hasSegmentEnded, state.uncut.isEmpty, state.orphans.isEmpty,
        let last = state.segments.last?.number, (state.lengths[last] ?? 0) + length <= limits.segmentBytes,
        state.stayingBytes + length <= limits.budget
      else { return nil }
      if let replaced = state.index.find(key), isHeard || replaced.ownFile != nil { return nil }
      var evicted: [(key: StoreKey, entry: StoreIndex.Entry)] = []
      while state.index.liveBytes + length > limits.liveBudget {
        // Nobody leaves for what may not come.
        guard !isHeard, !isConditional, !state.index.hasExpired(at: state.past(now)),
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
    return true
  }

  /// The key of a small write, and the length of its record.
  private static func needs(_ work: WriteJob.Work) -> (key: StoreKey, length: Int, isConditional: Bool)? {
    switch work {
    case .put(let record, value: nil, if: let condition): (record.key, record.bytes.count, condition != nil)
    case .remove(let key), .expire(let key): (key, (RecordHeader.size + key.bytes.count + 7) & ~7, false)
    default: nil
    }
  }
}

import CacheCore

/// How often the keys were written that somebody is changing at this moment, and which were while the level is restored: a plain
/// value.
///
/// It knows keys by their hashes. Two keys with one hash disturb each other: one of them is changed once more, or not restored.
@usableFromInline
struct UpdateWatches: Sendable {
  private var watched: [UInt32: (watchers: Int, writes: Int)] = [:]
  /// How many are restoring the level, and what was written since the first of them began.
  private var (restoring, written, isAllWritten) = (0, Set<UInt32>(), false)
  /// Nobody changes or restores anything: looked at with every write.
  @usableFromInline private(set) var isEmpty = true

  @usableFromInline
  init() {}

  @usableFromInline
  mutating func begin(_ hash: UInt32) {
    watched[hash, default: (0, 0)].watchers += 1
    isEmpty = false
  }

  @usableFromInline
  mutating func end(_ hash: UInt32) {
    guard let watch = watched[hash] else { return }
    if watch.watchers > 1 { watched[hash]?.watchers -= 1 } else { watched[hash] = nil }
    isEmpty = watched.isEmpty && restoring == 0
  }

  mutating func beginRestoring() {
    restoring += 1
    isEmpty = false
  }

  mutating func endRestoring() {
    restoring -= 1
    if restoring == 0 { (written, isAllWritten) = ([], false) }
    isEmpty = watched.isEmpty && restoring == 0
  }

  /// Whether somebody has set or removed a key since the level is being restored.
  func isWritten(_ hash: UInt32) -> Bool { isAllWritten || written.contains(hash) }

  /// What was restored just now is nobody's write.
  mutating func forgetWrite(_ hash: UInt32) { written.remove(hash) }

  @usableFromInline
  func writes(_ hash: UInt32) -> Int { watched[hash]?.writes ?? 0 }

  @usableFromInline
  mutating func noteWrite(_ hash: UInt32) {
    watched[hash]?.writes &+= 1
    if restoring > 0 { written.insert(hash) }
  }

  /// The watches of a part of the hashes.
  @usableFromInline
  func moved(_ isMoved: (UInt32) -> Bool) -> UpdateWatches {
    var moved = UpdateWatches()
    moved.watched = watched.filter { isMoved($0.key) }
    (moved.restoring, moved.written, moved.isAllWritten) = (restoring, written.filter(isMoved), isAllWritten)
    moved.isEmpty = moved.watched.isEmpty && restoring == 0
    return moved
  }

  mutating func noteWriteOfAll() {
    for hash in watched.keys { watched[hash]?.writes &+= 1 }
    noteRemovalOfUnknown()
  }

  /// What is not restored yet may be among what was removed.
  mutating func noteRemovalOfUnknown() { isAllWritten = restoring > 0 }
}

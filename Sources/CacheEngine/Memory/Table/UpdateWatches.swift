import CacheCore

/// How often the keys were written that somebody is changing at this moment: a plain value.
///
/// It knows keys by their hashes. Two keys with one hash disturb each other, and one of them is changed once more.
@usableFromInline
struct UpdateWatches: Sendable {
  private var watched: [UInt32: (watchers: Int, writes: Int)] = [:]
  /// Nobody changes anything: looked at with every write.
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
    isEmpty = watched.isEmpty
  }

  @usableFromInline
  func writes(_ hash: UInt32) -> Int { watched[hash]?.writes ?? 0 }

  @usableFromInline
  mutating func noteWrite(_ hash: UInt32) { watched[hash]?.writes &+= 1 }

  /// The watches of a part of the hashes.
  @usableFromInline
  func moved(_ isMoved: (UInt32) -> Bool) -> UpdateWatches {
    var moved = UpdateWatches()
    moved.watched = watched.filter { isMoved($0.key) }
    moved.isEmpty = moved.watched.isEmpty
    return moved
  }

  mutating func noteWriteOfAll() {
    for hash in watched.keys { watched[hash]?.writes &+= 1 }
  }
}

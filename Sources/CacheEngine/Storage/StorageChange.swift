public import CacheCore

/// The part of a ``Storage`` that something happened in.
public enum StorageTier: String, Sendable, CaseIterable {
  /// The memory level.
  case memory
  /// The disk level.
  case disk
}

/// Something that happened in a ``Storage``, as reported to its observers.
public enum StorageChange<Key: Hashable & Sendable>: Hashable, Sendable {
  /// A value was stored under a key, through whatever view.
  case add(Key)
  /// A key was removed by somebody.
  case remove(Key)
  /// Everything was removed by somebody.
  case removeAll
  /// What had expired was swept out. Each entry was told before, as ``lost(_:from:cause:)``.
  case removeExpired
  /// The copy in memory was dropped by somebody; what is on the disk stays.
  case removeInMemory(Key)
  /// An entry left a tier without anybody having asked for it: expired, evicted, damaged, or for a memory warning.
  ///
  /// The other tier may still hold it; ``KeyChange/remove(cause:)`` is told when none does.
  case lost(Key, from: StorageTier, cause: RemovalCause)
  /// So many changes came faster than the observers took them, and are not told one by one: whoever keeps a picture of the
  /// storage looks again. The observers of keys are told what became of theirs all in all.
  case missed(Int)
}

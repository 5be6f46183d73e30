import CacheCore

/// What a store promises about a write that it has acknowledged.
///
/// Values that need not outlive the process belong in a memory level.
public enum Durability: String, Sendable, CaseIterable {
  /// The write survives the death of the process. A power failure may lose it, but never tears it.
  case buffered
  /// The write survives a power failure: it waits for the disk, which takes from some tenths of a millisecond to several
  /// milliseconds. Writes that arrive together share one wait.
  case synced
}

/// What a store is opened for.
public enum StoreAccess: String, Sendable, CaseIterable {
  /// For reading and writing. One process at a time, unless all share the directory.
  case readWrite
  /// For reading only, even while another process writes: the next read sees what that has written. Nothing is changed
  /// and no lock is taken.
  case readOnly
}

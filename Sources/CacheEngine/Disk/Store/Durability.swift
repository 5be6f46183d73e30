import CacheCore

/// What a store promises about a write that it has acknowledged.
///
/// What should be lost with the process belongs into a memory level.
public enum Durability: String, Sendable, CaseIterable {
  /// The write survives the death of the process. A power cut may lose it, but never tears it.
  case buffered
  /// The write survives a power cut: it waits for the disk, which takes some tenths of a millisecond to some
  /// milliseconds. Writes that come together share one wait.
  case synced
}

/// For what a store is opened.
public enum StoreAccess: String, Sendable, CaseIterable {
  /// For reading and writing. One process at a time, unless all share the directory.
  case readWrite
  /// For looking only, also while another process writes: what that has written is seen by the next read. Nothing is changed
  /// and no lock taken.
  case readOnly
}

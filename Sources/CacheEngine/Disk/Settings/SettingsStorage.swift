import CacheCore

/// Where a settings domain is kept.
///
/// Every call may wait for the disk.
protocol SettingsStorage: Sendable {
  /// Reads the domain; an absent one is empty.
  ///
  /// - Throws: ``CacheError`` with code ``CacheError/Code/unusableStore`` for a damaged one.
  func read() throws -> SettingsContents

  /// Changes the domain while nobody else does, and gives what is there then, or `nil` if that was not looked at.
  ///
  /// What is `known` was read or written last. The closure gets at the current entries only if it wants to, since
  /// clearing must not depend on them; it returns the new ones, or `nil` to change nothing.
  func change(
    from known: SettingsContents?, durability: Durability,
    _ change: (_ current: () throws -> [String: SettingsEntry]) throws -> [String: SettingsEntry]?
  ) throws -> SettingsContents?
}

/// The entries of a settings domain, and by what to see whether somebody else changed them.
struct SettingsContents: Sendable {
  /// Tells one writing of the domain from another.
  struct Stamp: Equatable, Sendable {
    var inode: UInt64
    var size: Int64
    var seconds: Int64
    var nanoseconds: Int64
  }

  var entries: [String: SettingsEntry]
  /// `nil` if there was nothing to read.
  var stamp: Stamp?
}

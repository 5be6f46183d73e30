extension DiskCacheLevel {
  /// Seals everything with the cipher's newest key, so that older keys are no longer needed.
  ///
  /// Open the directory with a cipher that seals with the new key and can also open with the old ones; from then on, new values
  /// are sealed with the new key. This call does the rest: when it returns, nothing in the directory is sealed with
  /// another key. Others can read and write while it runs. It may be cancelled, fail, or die with the process: everything stays
  /// readable with both keys, and the next call continues.
  ///
  /// Entries that have expired are dropped instead of being resealed, and those that cannot be opened are removed.
  ///
  /// - Returns: How many entries were resealed.
  /// - Throws: ``CacheError`` with code ``CacheError/Code/notEncrypted``, ``CacheError/Code/encryptionFailed``,
  ///   ``CacheError/Code/diskReadFailed``, ``CacheError/Code/diskWriteFailed``, ``CacheError/Code/readOnly`` or
  ///   ``CacheError/Code/closed``; `CancellationError` if the task is cancelled.
  /// - Complexity: O(n), and every byte is read and written.
  @discardableResult
  public func rotate() async throws -> Int {
    try await change(.rotate(durability)) { try await $0.rotate(durability: durability) }
  }
}

extension DiskCacheLevel {
  /// Seals everything with the cipher's newest key, so that older keys are needed no longer.
  ///
  /// Open the directory with a cipher that seals with the new key and opens with the old ones too; from then on what is
  /// stored is sealed with the new key. This call does the rest: when it returns, nothing in the directory is sealed with
  /// another key. Others read and write meanwhile. It may be cancelled, fail, or die with the process: everything stays
  /// readable with both keys, and another call goes on.
  ///
  /// Entries that have expired are not sealed anew but dropped, and those that do not open are removed.
  ///
  /// - Returns: How many entries were resealed.
  /// - Throws: ``CacheError`` with code ``CacheError/Code/notEncrypted``, ``CacheError/Code/encryptionFailed``,
  ///   ``CacheError/Code/diskReadFailed``, ``CacheError/Code/diskWriteFailed``, ``CacheError/Code/readOnly`` or
  ///   ``CacheError/Code/closed``; `CancellationError` if the task is cancelled.
  /// - Complexity: O(n), and every byte is read and written.
  @discardableResult
  public func rotate() async throws -> Int {
    try checkOpen()
    return try await change(.rotate(durability)) { try await $0.rotate(durability: durability) }
  }
}

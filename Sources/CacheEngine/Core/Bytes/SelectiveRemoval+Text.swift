extension SelectiveRemoval where Key == String {
  /// Removes the entries whose keys begin with a text.
  ///
  /// - Parameter prefix: How the keys begin, in any Unicode normal form.
  /// - Returns: How many entries were removed.
  /// - Throws: An error if some may still be there.
  /// - Complexity: O(n): every key is looked at.
  @discardableResult
  public func removeAll(withPrefix prefix: String) async throws -> Int {
    // By bytes: to `String`, what follows the prefix may belong to its last character, as an accent does.
    let beginning = CanonicalText.bytes(of: prefix)
    return try await removeAll { CanonicalText.bytes(of: $0).starts(with: beginning) }
  }
}

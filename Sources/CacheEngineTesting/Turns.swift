/// Lets others have their turns until something holds.
///
/// For what nobody can be asked to tell. A test whose time is over ends here instead of going on for ever.
///
/// - Throws: `CancellationError`.
package func turns(until holds: () async throws -> Bool) async throws {
  while try await !holds() {
    try Task.checkCancellation()
    await Task.yield()
  }
}

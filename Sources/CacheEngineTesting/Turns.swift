/// Lets others have their turns until something holds.
///
/// For what nobody can be asked to tell. A test whose time is over ends here instead of going on for ever, and so does one that
/// waits for what never comes: after half a minute and ten thousand turns, so that a busy machine is no reason.
///
/// - Throws: ``WaitedTooLong``; `CancellationError`.
package func turns(
  fileID: StaticString = #fileID, line: UInt = #line, until holds: () async throws -> Bool
) async throws {
  let begin = ContinuousClock.now
  var count = 0
  while try await !holds() {
    try Task.checkCancellation()
    count += 1
    if count % 10_000 == 0, begin.duration(to: .now) > .seconds(30) {
      throw WaitedTooLong(place: "\(fileID):\(line)", turns: count)
    }
    await Task.yield()
  }
}

/// What was waited for did not come.
package struct WaitedTooLong: Error, CustomStringConvertible {
  let place: String
  let turns: Int

  package var description: String { "what is waited for at \(place) did not come within 30 s and \(turns) turns" }
}

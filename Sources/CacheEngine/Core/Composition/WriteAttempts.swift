/// How the writes to the levels of a composition ended.
@usableFromInline
package struct WriteAttempts {
  @usableFromInline var failures: [(level: String, error: any Error)] = []
  @usableFromInline var isAnyWritten = false

  @inlinable
  package init() {}

  /// Writes to one level, which is named only if that fails.
  // Inlined, so that a write through several levels has one frame and not three for each.
  @inlinable
  @inline(__always)
  package mutating func attempt(_ level: @autoclosure () -> String, _ write: () async throws -> Void) async throws {
    do {
      try await write()
      isAnyWritten = true
    } catch let error as CancellationError {
      throw error
    } catch let error as CacheError where !error.failures.isEmpty {
      failures += error.failures
      if error.code == .partialFailure { isAnyWritten = true }
    } catch {
      failures.append((level(), error))
    }
  }

  @inlinable package var error: CacheError? { failures.isEmpty ? nil : told }

  @usableFromInline var told: CacheError? {
    guard let first = failures.first else { return nil }
    var error =
      isAnyWritten
      ? CacheError(.partialFailure, "some levels could not be written", underlying: first.error)
      : CacheError(.writeFailed, "no level could be written", underlying: first.error)
    error.failures = failures
    return error
  }
}

import Synchronization

/// One of the places of a cap, which is given back when everything that was begun in it has ended.
///
/// A time limit returns without its work, and a pool's load outlives who began it: both hold the place until the end.
@usableFromInline
final class CapPlace: Sendable {
  /// The place that this task's read has, if it goes through a cap.
  @TaskLocal static var current: CapPlace?

  private let outer = current
  private let holders = Atomic(1)
  private let giveBack: @Sendable () -> Void

  /// A place with one holder.
  init(_ giveBack: @escaping @Sendable () -> Void) {
    self.giveBack = giveBack
    outer?.hold()
  }

  /// Does something in this place, where the caller is.
  func occupied<Answer>(
    isolation: isolated (any Actor)? = #isolation, by body: nonisolated(nonsending) () async throws -> Answer
  ) async rethrows -> Answer {
    try await Self.$current.withValue(self) {
      _ = isolation
      return try await body()
    }
  }

  /// One more has to end before the place is free; to be called by a holder, or for one.
  func hold() {
    holders.wrappingAdd(1, ordering: .relaxed)
    outer?.hold()
  }

  func release() {
    if holders.wrappingSubtract(1, ordering: .acquiringAndReleasing).newValue == 0 { giveBack() }
    outer?.release()
  }
}

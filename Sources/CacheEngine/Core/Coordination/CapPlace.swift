import Synchronization

/// One of the places of a cap, which is given back when everything that was begun in it has ended.
///
/// A time limit returns without its work, and a pool's load outlives the caller that began it: both hold the place until the end.
@usableFromInline
final class CapPlace: Sendable {
  /// The place that this task's read has, or had, if it goes through a cap.
  @TaskLocal private static var current: CapPlace?

  /// There has ever been a place: without one nobody has any, and nothing need be asked of the task.
  private static let isAny = Atomic(false)

  /// The place of a cap further out, which is held as long as this one.
  private let outer: Mutex<CapPlace?>
  private let holders = Atomic(1)
  private let cap: ObjectIdentifier
  private let giveBack: @Sendable () -> Void

  /// A place of a cap, with one holder.
  init(of cap: AnyObject, _ giveBack: @escaping @Sendable () -> Void) {
    self.cap = ObjectIdentifier(cap)
    self.giveBack = giveBack
    outer = Mutex(Self.holdCurrent())
    Self.isAny.store(true, ordering: .relaxed)
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

  /// The place of this task's read, which one more has to end for.
  ///
  /// `nil` if it has none any more: what a read has left in the background remembers its place.
  static func holdCurrent() -> CapPlace? { isAny.load(ordering: .relaxed) ? current?.hold() : nil }

  /// The place that this task's read has in a cap already, which one more has to end for.
  static func holdCurrent(of cap: AnyObject) -> CapPlace? {
    var next = current
    while let place = next {
      if place.cap == ObjectIdentifier(cap) { return place.hold() }
      next = place.outer.withLock { $0 }
    }
    return nil
  }

  private func hold() -> CapPlace? {
    var count = holders.load(ordering: .relaxed)
    while count > 0 {
      let (isHeld, seen) = holders.weakCompareExchange(expected: count, desired: count + 1, ordering: .relaxed)
      if isHeld { return self }
      count = seen
    }
    return nil
  }

  func release() {
    guard holders.wrappingSubtract(1, ordering: .acquiringAndReleasing).newValue == 0 else { return }
    giveBack()
    let outer = outer.withLock { outer in
      defer { outer = nil }
      return outer
    }
    outer?.release()
  }
}

import Synchronization

/// The making of a value that others wait for: a load that is shared.
///
/// What a load asks for, it waits for. These make a graph, and whoever would close a circle in it is told instead of waiting for
/// ever. Only who asks from within a load pays for it.
@usableFromInline
final class ValueInTheMaking: Sendable {
  /// The one that was begun last; it is the task's own, and a task that was started meanwhile remembers it.
  @TaskLocal private static var innermost: ValueInTheMaking?
  /// Those who wait for one that they did not begin.
  private static let joined = Mutex<[ObjectIdentifier: [ValueInTheMaking]]>([:])

  /// The one that asked for this one first, and waits for it.
  private let outer: Mutex<ValueInTheMaking?>
  /// A task that was started meanwhile, and lives on, still remembers it.
  private let isOver = Atomic(false)

  @usableFromInline
  init() { outer = Mutex(Self.current) }

  /// What this task works for, if anybody waits for that still.
  @usableFromInline static var current: ValueInTheMaking? {
    guard let innermost, !innermost.isOver.load(ordering: .relaxed) else { return nil }
    return innermost
  }

  /// Makes the value.
  @usableFromInline
  func make<Value>(_ body: () async throws -> Value) async throws -> Value {
    defer {
      isOver.store(true, ordering: .relaxed)
      // What it has begun may beget others, without end: they do not keep what was before.
      leave()
    }
    return try await Self.$innermost.withValue(self) { try await body() }
  }

  /// Whoever asked for this one first does not wait for it any more.
  @usableFromInline
  func leave() { outer.withLock { $0 = nil } }

  /// Notes that this one waits for another one from now on, until ``stopWaiting(for:)``.
  ///
  /// - Parameter other: The one to wait for.
  /// - Returns: Whether it may; not if that one waits for this one.
  @usableFromInline
  func wait(for other: ValueInTheMaking) -> Bool {
    Self.joined.withLock { joined in
      var toVisit = [self]
      var seen: Set<ObjectIdentifier> = []
      while let next = toVisit.popLast() {
        if next === other { return false }
        guard seen.insert(ObjectIdentifier(next)).inserted else { continue }
        if let outer = next.outer.withLock({ $0 }), !outer.isOver.load(ordering: .relaxed) { toVisit.append(outer) }
        toVisit += joined[ObjectIdentifier(next), default: []]
      }
      joined[ObjectIdentifier(other), default: []].append(self)
      return true
    }
  }

  @usableFromInline
  func stopWaiting(for other: ValueInTheMaking) {
    Self.joined.withLock { joined in
      let place = joined.index(forKey: ObjectIdentifier(other))
      guard let place, let waiter = joined.values[place].firstIndex(where: { $0 === self }) else { return }
      joined.values[place].remove(at: waiter)
      if joined.values[place].isEmpty { joined.remove(at: place) }
    }
  }
}

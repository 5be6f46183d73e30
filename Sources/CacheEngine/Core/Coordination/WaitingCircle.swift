import Synchronization

/// Where tasks wait for a turn that another task has.
protocol TurnKeeper: AnyObject, Sendable {
  /// Those who wait for turns that a task has.
  func waiting(forTurnsOf task: TaskIdentity) -> [NumberedWaiting]
}

/// Finds tasks that would wait for themselves: through turns at write gates, shared loads, and work under a time limit.
///
/// What a task waits for is known where it waits. A task that begins to wait, and might close a circle by that, looks at those
/// that wait for it, those that wait for them, and so on. Since every task is noted before it looks, the last one sees the whole
/// circle. What is not known is that a task waits for one that it started itself.
@usableFromInline
enum WaitingCircle {
  /// Gates where somebody waits, with how many do.
  private static let gates = Mutex<[ObjectIdentifier: (gate: any TurnKeeper, count: Int)]>([:])
  /// How many of those do what others wait for: where there is none, no load waits for a turn.
  private static let workersAtGates = Atomic(0)

  /// One of those who wait, and for what.
  private struct Step: Equatable {
    let thing: ObjectIdentifier
    let id: UInt64
  }

  /// Whether a load may be waiting for a task that has a turn.
  @usableFromInline static var mayLeadOverGates: Bool { workersAtGates.load(ordering: .sequentiallyConsistent) > 0 }

  static func enter(_ gate: any TurnKeeper, _ who: Waiting) {
    gates.withLock { $0[ObjectIdentifier(gate), default: (gate, 0)].count += 1 }
    if who.work != nil { workersAtGates.wrappingAdd(1, ordering: .sequentiallyConsistent) }
  }

  static func leave(_ gate: any TurnKeeper, _ who: Waiting) {
    if who.work != nil { workersAtGates.wrappingSubtract(1, ordering: .sequentiallyConsistent) }
    gates.withLock { gates in
      guard let place = gates.index(forKey: ObjectIdentifier(gate)) else { return }
      gates.values[place].count -= 1
      if gates.values[place].count == 0 { gates.remove(at: place) }
    }
  }

  /// Whether what somebody who is noted already wants to wait for waits for that one, directly or over others.
  ///
  /// What is to be waited for is told by who it is, or does it.
  static func isClosed(by who: Waiting, _ isMeant: (Waiting) -> Bool) -> Bool {
    // Nobody stands still while this looks. A task that is found twice in the same place was there in between, and so all of
    // them were there at once.
    var last: [Step]?
    while let way = way(from: who, isMeant) {
      if way == last { return true }
      last = way
    }
    return false
  }

  /// A way from somebody over those who wait for it to what is meant.
  private static func way(from who: Waiting, _ isMeant: (Waiting) -> Bool) -> [Step]? {
    let gates = gates.withLock { $0.values.map(\.gate) }
    var found: [(who: Waiting, step: Step, before: Int)] = []
    var seen = (tasks: Set<TaskIdentity>(), works: Set<ObjectIdentifier>())
    var next: (who: Waiting, place: Int)? = (who, -1)
    while let (who, place) = next {
      if isMeant(who) {
        return Array(
          sequence(first: place) { $0 < 0 ? nil : found[$0].before }.prefix { $0 >= 0 }.map { found[$0].step })
      }
      if let work = who.work, seen.works.insert(ObjectIdentifier(work)).inserted {
        for waiting in work.waiting(isEverybodyMeant: !gates.isEmpty) {
          found.append((waiting.who, Step(thing: ObjectIdentifier(work), id: waiting.id), place))
        }
      }
      if !gates.isEmpty, seen.tasks.insert(who.task).inserted {
        for gate in gates {
          for waiting in gate.waiting(forTurnsOf: who.task) {
            found.append((waiting.who, Step(thing: ObjectIdentifier(gate), id: waiting.id), place))
          }
        }
      }
      next = found.indices.contains(place + 1) ? (found[place + 1].who, place + 1) : nil
    }
    return nil
  }
}

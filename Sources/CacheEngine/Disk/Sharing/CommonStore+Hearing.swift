import CacheCore
import Dispatch
import Synchronization

/// What the levels of this process expect of the store, and what they hear of others.
extension CommonStore {
  func keepExpired(for duration: Duration) {
    expect { $0.keepsExpired = max($0.keepsExpired, duration.clampedNanoseconds) }
  }

  func expectSyncedWrites() { expect { $0.isSynced = true } }

  func listen(_ level: ObjectIdentifier, _ listener: @escaping @Sendable (SegmentedStore.Loss) -> Void) {
    state.withLock { $0.listeners[level] = listener }
    expect { $0.hearsLosses = true }
    if case .owner(let server) = state.withLock({ $0.role }) { server.store.learnKeys() }
    wake()
  }

  func unlisten(_ level: ObjectIdentifier) { _ = state.withLock { $0.listeners.removeValue(forKey: level) } }

  private func expect(_ change: (inout StoreExpectation) -> Void) {
    let (role, expects, hasChanged) = state.withLock { state in
      let before = state.expects
      change(&state.expects)
      return (state.role, state.expects, before != state.expects)
    }
    guard hasChanged else { return }
    switch role {
    case .owner(let server): apply(expects, to: server.store)
    case .guest(_, _, isWelcome: true): tell(expects)
    // Whoever lets this process in is told then.
    default: break
    }
  }

  /// Tells the owner, who says when it is heard.
  func tell(_ expects: StoreExpectation) {
    begin(.expect(expects), 0, false) { [self] outcome in
      if case .frame = outcome, expects.hearsChanges { hears() }
    }
  }

  func hears() {
    state.withLock { state in
      state.isHearing = true
      state.tellEars(.everything)
    }
    tellEars()
  }

  func isDeaf() {
    state.withLock { state in
      if state.isHearing { state.tellEars(.lost(state.lastHeard)) }
      state.isHearing = false
    }
    tellEars()
  }

  /// Tells ears what they are to be told, in the order in which it happened; a second thread leaves that to the first.
  private func tellEars() {
    let isTelling = state.withLock { state in
      defer { state.isTelling = true }
      return state.isTelling
    }
    if isTelling { return }
    while let (ear, news) = state.withLock({ $0.nextTelling() }) { ear(news) }
  }

  func apply(_ expects: StoreExpectation, to store: SegmentedStore) {
    store.keepExpired(for: .nanoseconds(expects.keepsExpired))
    if expects.isSynced { store.expectSyncedWrites() }
  }

  // MARK: Hearing

  /// Tells what others change than the level with a number, until ``stopHearing(_:)`` is called with what this gives.
  func hear(as origin: UInt64, _ ear: @escaping StoreEar) -> UInt64 {
    let number = UInt64.random(in: 0 ... .max)
    let isHearing = state.withLock { state in
      state.ears[number] = (origin, ear)
      let isHearing = state.isHearing && state.expects.hearsChanges
      if isHearing { state.tellings.append((ear, .everything)) }
      return isHearing
    }
    tellEars()
    expect { $0.hearsChanges = true }
    if !isHearing, case .owner = state.withLock({ $0.role }) { hears() }
    wake()
    return number
  }

  func stopHearing(_ number: UInt64) { _ = state.withLock { $0.ears.removeValue(forKey: number) } }

  func tellHere(_ change: StoreChange, _ origin: UInt64) {
    let ears = state.withLock { $0.ears.values.filter { $0.origin != origin } }
    for ear in ears { ear.hear(.change(change)) }
  }

  func tellHere(_ loss: SegmentedStore.Loss) {
    let listeners = state.withLock { Array($0.listeners.values) }
    guard !listeners.isEmpty else { return }
    telling.async { for listener in listeners { listener(loss) } }
  }
}

extension CommonStore.State {
  fileprivate mutating func tellEars(_ news: HeardStoreChange) {
    for ear in ears.values { tellings.append((ear.hear, news)) }
  }

  /// What is to be told next; if nothing is, nobody tells any more.
  fileprivate mutating func nextTelling() -> (StoreEar, HeardStoreChange)? {
    guard !tellings.isEmpty else {
      isTelling = false
      return nil
    }
    return tellings.removeFirst()
  }
}

/// Who is told what others change in a shared directory.
typealias StoreEar = @Sendable (HeardStoreChange) -> Void

/// What a level hears of a shared directory.
enum HeardStoreChange: Sendable {
  case change(StoreChange)
  /// What is changed from now on is heard.
  case everything
  /// Nothing is heard any more, since then by the boot clock.
  case lost(Int64)
}

public import Synchronization

// What sweeps and those who are in the upper level do about each other.
extension WriteGate {
  /// Stores a value in the upper level, for a write that began in a phase or a back-fill that did.
  ///
  /// If a sweep that concerns the entry came between, the upper level forgets it instead, or afterwards: then what the lower
  /// level has decides.
  @inlinable
  @inline(__always)
  func above<Upper: CacheLevel>(
    _ key: Key, in upper: Upper, tags: Set<String>?, since began: GatePhase, store: () async throws -> Void
  ) async throws where Upper.Key == Key {
    let entered: GatePhase
    if enter(began) {
      entered = began
    } else {
      let (phase, isSwept) = enterSlowly(key, tags, since: began)
      entered = phase
      if isSwept {
        defer { leave(entered) }
        return try await forget(key, in: upper)
      }
    }
    defer { leave(entered) }
    do { try await store() } catch {
      // It may have been stored all the same, if it was cancelled.
      if isSwept(key, tags, since: entered) { try await forget(key, in: upper) }
      throw error
    }
    if isSwept(key, tags, since: entered) { try await forget(key, in: upper) }
  }

  /// Removes what a sweep went past.
  @usableFromInline
  func forget<Upper: CacheLevel>(_ key: Key, in upper: Upper) async throws where Upper.Key == Key {
    guard Task.isCancelled, !upper.storesAtOnce else { return try await upper.remove(key) }
    // A slow level may do nothing for a cancelled task, but what is gone below must not be left above.
    let removal = MovedWork()
    defer { removal.end() }
    try await Task { try await Waiting.work(on: removal) { try await upper.remove(key) } }.value
  }

  /// Whether a sweep that concerns an entry came since a phase.
  ///
  /// - Parameters:
  ///   - key: The key of the entry.
  ///   - tags: Its tags; `nil` if they are not known.
  ///   - began: The phase in which the write began.
  /// - Returns: Whether such a sweep came.
  @inlinable
  public func isSwept(_ key: Key, _ tags: Set<String>? = [], since began: GatePhase) -> Bool {
    let now = currentPhase
    return (now != began || began.isSweeping) && isSweptSlowly(key, tags, since: began)
  }

  @usableFromInline
  func isSweptSlowly(_ key: Key, _ tags: Set<String>?, since began: GatePhase) -> Bool {
    state.withLock { $0.table.sweeps.since(began.moment) }.contains { $0.meets(key, tags: tags) }
  }

  /// Whether a sweep that concerns an entry was under way at some time since a phase.
  func isSweptMeanwhile(_ key: Key, _ tags: Set<String>?, since began: GatePhase) -> Bool {
    state.withLock { $0.table.sweeps.meanwhile(since: began.moment) }.contains { $0.meets(key, tags: tags) }
  }

  /// Whether a sweep that removes such an entry from the lower level came since a phase, and not only an invalidation.
  func isRemovedBelow(_ key: Key, _ tags: Set<String>, since began: GatePhase) -> Bool {
    guard currentPhase != began || began.isSweeping else { return false }
    return state.withLock { $0.table.sweeps.since(began.moment) }.contains {
      !$0.keepsBelow && $0.meets(key, tags: tags)
    }
  }

  /// The keys of which a write is under way, which may have got past the lower level only.
  var keysBeingWritten: [Key] { state.withLock { $0.table.keysBeingWritten } }

  @inlinable
  func enter(_ began: GatePhase) -> Bool {
    guard !began.isSweeping else { return false }
    var old = phase.load(ordering: .acquiring)
    while GatePhase(old) == began {
      let (isDone, seen) = phase.weakCompareExchange(expected: old, desired: old + 1, ordering: .acquiringAndReleasing)
      if isDone { return true }
      old = seen
    }
    return false
  }

  @usableFromInline
  func enterSlowly(_ key: Key, _ tags: Set<String>?, since began: GatePhase) -> (GatePhase, isSwept: Bool) {
    let (entered, concerns) = state.withLock { state in
      (
        GatePhase(phase.wrappingAdd(1, ordering: .acquiringAndReleasing).oldValue),
        state.table.sweeps.since(began.moment)
      )
    }
    return (entered, concerns.contains { $0.meets(key, tags: tags) })
  }

  @inlinable
  func leave(_ entered: GatePhase) {
    var old = phase.load(ordering: .acquiring)
    while GatePhase(old) == entered {
      let (isDone, seen) = phase.weakCompareExchange(expected: old, desired: old - 1, ordering: .acquiringAndReleasing)
      if isDone { return }
      old = seen
    }
    leaveSlowly(entered)
  }

  @usableFromInline
  func leaveSlowly(_ entered: GatePhase) {
    let drained = state.withLock { state -> [CheckedContinuation<Void, any Error>] in
      guard let count = state.above[entered.bits] else { return [] }
      state.above[entered.bits] = count == 1 ? nil : count - 1
      guard count == 1, !state.draining.isEmpty else { return [] }
      let ready = state.draining.filter { sweep in !state.above.keys.contains { $0 < sweep.value.before } }
      for id in ready.keys { state.draining[id] = nil }
      return ready.values.map(\.continuation)
    }
    for continuation in drained { continuation.resume() }
  }

  // MARK: Sweeps

  /// Removes many keys, without any turn.
  ///
  /// - Parameters:
  ///   - concern: Which entries go.
  ///   - keepsBelow: Whether only copies of them do: those above, and those that the lower level has from further down.
  ///   - below: Removes them from the lower level.
  ///   - waits: Whether to wait, before the upper level, for what was being stored there when this began.
  ///   - above: Removes them from the upper level, also if the lower level threw: it may have removed them all the same.
  /// - Throws: What the two throw; `CancellationError`.
  func sweep(
    _ concern: Concern, keepsBelow: Bool = false, below: () async throws -> Void, waits: () -> Bool,
    above: () async throws -> Void
  ) async throws {
    let began = turnPhase { $0.begin(concern, keepsBelow: keepsBelow) }
    defer { turnPhase { $0.end(began) } }
    do {
      try await below()
      turnPhase { $0.endBelow(began) }
      if waits() { try await drain(before: began) }
    } catch {
      // What may be gone below must not be left above. Writers that are still there forget what they store by themselves.
      try await above()
      throw error
    }
    try await above()
  }

  /// Removes many keys from what has no upper level.
  package func sweep<Result>(_ concern: Concern, _ body: () async throws -> Result) async throws -> Result {
    let began = turnPhase { $0.begin(concern) }
    defer { turnPhase { $0.end(began) } }
    return try await body()
  }

  /// Removes all keys: a sweep, which waits for no write and holds none back.
  ///
  /// - Parameter body: Removes them.
  /// - Returns: What `body` returns.
  /// - Throws: What `body` throws.
  public func writeAll<Result>(_ body: () async throws -> Result) async throws -> Result {
    try await sweep(.everything, body)
  }

  /// Changes what is known of sweeps, and begins the phase that follows from it.
  @discardableResult
  private func turnPhase<Answer: Sendable>(_ change: (inout Sweeps<Key>) -> Answer) -> Answer {
    state.withLock { state in
      let answer = change(&state.table.sweeps)
      if state.table.lines.isEmpty { state.table.sweeps.forgetDone() }
      writes.wrappingAdd(1, ordering: .relaxed)
      let next = GatePhase(moment: state.table.sweeps.moment, isSweeping: state.table.sweeps.isBelow)
      guard next != currentPhase else { return answer }
      let old = phase.exchange(next.word, ordering: .acquiringAndReleasing)
      if GatePhase.count(old) > 0 { state.above[GatePhase(old).bits, default: 0] += GatePhase.count(old) }
      return answer
    }
  }

  /// Waits until nobody is in the upper level any more who went there before a moment.
  private func drain(before moment: UInt64) async throws {
    let limit = GatePhase(moment: moment, isSweeping: false).bits
    let id = state.withLock { state -> UInt64? in
      guard state.above.keys.contains(where: { $0 < limit }) else { return nil }
      state.lastID += 1
      return state.lastID
    }
    guard let id else { return }
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let isDrained = state.withLock { state in
          guard state.above.keys.contains(where: { $0 < limit }) else { return true }
          state.draining[id] = (limit, continuation)
          return false
        }
        if isDrained { continuation.resume() }
        if Task.isCancelled { stopDraining(id) }
      }
    } onCancel: {
      stopDraining(id)
    }
  }

  private func stopDraining(_ id: UInt64) {
    state.withLock { $0.draining.removeValue(forKey: id) }?.continuation.resume(throwing: CancellationError())
  }
}

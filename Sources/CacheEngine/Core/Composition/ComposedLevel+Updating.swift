extension ComposedLevel: UpdatableLevel {
  /// Puts a value in the place of the one that a read through both levels finds, in both.
  ///
  /// The closure is called once, in the key's turn: other writes of the key through this composition wait for it. If a clear, or a
  /// removal of many entries that concerns both the present value and the new one, comes in the meantime, the new one is removed
  /// again: the update came before the removal. Until then reads may find it.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - terms: How long the new value may live and what it weighs.
  ///   - change: Makes the new value of the present one. `nil` removes it.
  /// - Returns: The value that was stored; `nil` if there is none now.
  /// - Throws: What the closure throws, and the error of a level that could not say what it holds, with nothing changed; else
  ///   as ``set(_:forKey:)``.
  @discardableResult
  public func update(
    _ key: Key, terms: StoreTerms = StoreTerms(), _ change: (Value?) throws -> Value?
  ) async throws -> Value? {
    try await gate.write(key) { began in
      let present = try await held(key, since: began)
      if let value = try change(present?.value) {
        try await storeMade(of: present, value, key, terms, since: began)
        return value
      }
      try await removeFromBoth(key)
      return nil
    }
  }
}

extension ComposedLevel: ReloadableLevel {
  /// Reads a key from the lower level alone, and copies what it has to the upper one, or drops there what it says is gone.
  ///
  /// - Parameter key: The key to read again.
  /// - Returns: The lower level's entry, or its reason for the miss; what was written meanwhile goes first, and
  ///   what another reload gave that was asked for later.
  /// - Throws: The lower level's error, and then the upper level keeps what it has; `CancellationError`.
  public func reload(_ key: Key) async throws -> Lookup<Value> {
    let asked = gate.beginReload(key)
    defer { gate.endRead(key, asked.ticket) }
    try Task.checkCancellation()
    let answer = try await lower.reloadIfAble(key)
    let (ticket, meetsCopy) = gate.overtakeReads(key, by: asked)
    if meetsCopy {
      try await forgetCopy(key)
    } else {
      try await keep(answer, key, ticket, dropping: .anything)
    }
    return gate.isOvertaken(key, ticket) ? try await askAgain(key).map { .hit($0) } ?? answer : answer
  }

  /// Waits for what is being copied upwards, which is from before, and lets the upper level forget it.
  private func forgetCopy(_ key: Key) async throws {
    do {
      try await gate.write(key) { try await gate.forget(key, in: upper) }
    } catch let error as CancellationError {
      throw error
    } catch {
      manner.report(.remove, of: upper.name, key: key, error, since: nil)
    }
  }
}

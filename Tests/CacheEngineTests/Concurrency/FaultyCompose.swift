import CacheEngine
@testable import CacheCore
/// A composition with a bug planted in it, to see whether the tests find it.
///
/// Without a flaw it does what `ComposedLevel` does, in fewer words.
struct FaultyCompose<Upper: CacheLevel, Lower: CacheLevel>: CacheLevel
where Upper.Key == Lower.Key, Upper.Value == Lower.Value {
  enum Flaw: CaseIterable, Sendable {
    /// Copies what a read found, whatever was written meanwhile.
    case fillsOverNewerWrites
    /// Two writes of one key run side by side and may end in another order below than above.
    case writesSideBySide
    /// A read that was overtaken by a write gives what it found below.
    case runsAhead
    /// A removal is carried out above and forgotten below.
    case removesAboveOnly
    /// Writes and back-fills know nothing of clears.
    case clearsInBetween
    /// A clear does not let those finish above who were there before it.
    case clearsHastily
    /// A clear begins above.
    case clearsAboveFirst
  }

  let upper: Upper
  let lower: Lower
  let flaw: Flaw?
  private let gate = WriteGate<Upper.Key>()

  init(_ upper: Upper, _ lower: Lower, flaw: Flaw?) {
    self.upper = upper
    self.lower = lower
    self.flaw = flaw
  }

  func get(_ key: Upper.Key) async throws -> Upper.Value? {
    let ticket = gate.beginRead(key, since: gate.currentEpoch)
    defer { gate.endRead(key, ticket) }
    if let value = try await upper.get(key) { return value }
    let found = try await lower.get(key)
    if let found {
      if flaw == .fillsOverNewerWrites {
        try await upper.set(found, forKey: key)
      } else {
        try await gate.backFill(key, in: upper, ticket) { try await upper.set(found, forKey: key) }
      }
    }
    guard flaw != .runsAhead, gate.isOvertaken(key, ticket) else { return found }
    return try await upper.get(key) ?? found
  }

  func set(_ value: Upper.Value, forKey key: Upper.Key) async throws {
    try await write(key) { began in
      try await lower.set(value, forKey: key)
      if flaw == .clearsInBetween { return try await upper.set(value, forKey: key) }
      try await gate.above(key, in: upper, tags: [], since: began) { try await upper.set(value, forKey: key) }
    }
  }

  func remove(_ key: Upper.Key) async throws {
    try await write(key) { _ in
      if flaw != .removesAboveOnly { try await lower.remove(key) }
      try await upper.remove(key)
    }
  }

  func clear() async throws {
    try await gate.sweep(.everything) {
      if flaw == .clearsAboveFirst { try await upper.clear() } else { try await lower.clear() }
    } waits: {
      flaw != .clearsHastily
    } above: {
      if flaw == .clearsAboveFirst { try await lower.clear() } else { try await upper.clear() }
    }
  }

  private func write(_ key: Upper.Key, _ body: (GatePhase) async throws -> Void) async throws {
    if flaw == .writesSideBySide { try await body(gate.currentPhase) } else { try await gate.write(key, body) }
  }
}

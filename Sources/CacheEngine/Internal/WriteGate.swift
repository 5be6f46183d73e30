public import Synchronization

/// Lets one write at a time through for each key, and back-fills only while no write came between.
///
/// A composition writes several levels one after the other. Without the gate two writes of a key could end in
/// different orders in different levels, and a slow read could put an old value over a newer one.
///
/// The decisions are ``WriteGateTable``'s; this class holds the lock, and those who wait.
@usableFromInline
final class WriteGate<Key: Hashable & Sendable>: Sendable {
  private struct State: Sendable {
    var table = WriteGateTable<Key>()
    var waiting: [UInt64: CheckedContinuation<Void, any Error>] = [:]

    mutating func grant(_ ids: [UInt64]) -> [CheckedContinuation<Void, any Error>] {
      ids.compactMap { id in
        if let continuation = waiting.removeValue(forKey: id) { return continuation }
        table.keepGrant(id)
        return nil
      }
    }
  }

  private let state = Mutex(State())
  /// Counts the writes that began, so that a read that finds its value above need not be noted.
  @usableFromInline let epoch = Atomic<UInt64>(0)

  @usableFromInline
  init() {}

  @inlinable var currentEpoch: UInt64 { epoch.load(ordering: .relaxed) }

  /// Runs a write of one key when it is its turn.
  func write<Result>(_ key: Key, _ body: () async throws -> Result) async throws -> Result {
    try await wait { $0.requestWrite(key, id: $1) }
    defer { resume { $0.finishWrite(key) } }
    return try await body()
  }

  /// Runs a write of all keys when no other write is under way.
  func writeAll<Result>(_ body: () async throws -> Result) async throws -> Result {
    try await wait { $0.requestClear(id: $1) }
    defer { resume { $0.finishClear() } }
    return try await body()
  }

  /// Notes that a read travels to the lower level, having asked the upper one since the epoch.
  func beginRead(_ key: Key, since epoch: UInt64) -> ReadTicket {
    state.withLock { state in
      ReadTicket(
        version: state.table.beginRead(key), isLate: self.epoch.load(ordering: .relaxed) != epoch)
    }
  }

  func beginRead(_ key: Key) -> UInt64 { state.withLock { $0.table.beginRead(key) } }

  func endRead(_ key: Key) { state.withLock { $0.table.endRead(key) } }

  /// Runs a back-fill, unless a write of this key is under way or came since the read began.
  ///
  /// It never waits.
  func backFill(_ key: Key, readVersion: UInt64, _ body: () async throws -> Void) async throws {
    guard state.withLock({ $0.table.beginBackFill(key, readVersion: readVersion) }) else { return }
    defer { resume { $0.finishWrite(key, isBackFill: true) } }
    try await body()
  }

  /// Whether a write of this key is under way or came since the read began, so that its answers may not fit together.
  func isOvertaken(_ key: Key, ticket: ReadTicket) -> Bool {
    ticket.isLate || state.withLock { $0.table.isOvertaken(key, readVersion: ticket.version) }
  }

  private func wait(_ request: (inout WriteGateTable<Key>, UInt64) -> Bool) async throws {
    let (isGranted, id) = state.withLock { state in
      epoch.wrappingAdd(1, ordering: .relaxed)
      let id = state.table.nextID()
      return (request(&state.table, id), id)
    }
    if isGranted { return }
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let isGranted = state.withLock { state in
          if state.table.takeGrant(id) { return true }
          state.waiting[id] = continuation
          return false
        }
        if isGranted { continuation.resume() }
        // A cancellation that came before the continuation was noted found nobody to resume.
        if Task.isCancelled { leave(id) }
      }
    } onCancel: {
      leave(id)
    }
  }

  private func leave(_ id: UInt64) {
    let (cancelled, granted) = state.withLock { state in
      // Whoever is no longer waiting has been granted its turn, and takes it.
      guard let continuation = state.waiting.removeValue(forKey: id) else {
        return (CheckedContinuation<Void, any Error>?.none, [CheckedContinuation<Void, any Error>]())
      }
      return (continuation, state.grant(state.table.cancel(id)))
    }
    cancelled?.resume(throwing: CancellationError())
    for continuation in granted { continuation.resume() }
  }

  private func resume(_ finish: (inout WriteGateTable<Key>) -> [UInt64]) {
    let granted = state.withLock { state in state.grant(finish(&state.table)) }
    for continuation in granted { continuation.resume() }
  }
}

/// What a read that travels to the lower level has to know in the end.
struct ReadTicket: Sendable {
  /// The key's version when the read was noted.
  var version: UInt64
  /// A write, of whatever key, began between the read's first step and its being noted.
  var isLate: Bool
}

/// Who may write which key now, as a plain value.
struct WriteGateTable<Key: Hashable & Sendable>: Sendable {
  private enum Occupant { case write, backFill }

  private struct Line {
    var occupant: Occupant?
    var readers = 0
    /// Counts the writes that a read under way must know of.
    var version: UInt64 = 0
    var queue: [UInt64] = []

    var isIdle: Bool { occupant == nil && readers == 0 && queue.isEmpty }
  }

  private var lines: [Key: Line] = [:]
  private var busyCount = 0
  private var isClearing = false
  private var clears: [UInt64] = []
  /// Writes that came while a clear was waiting or running.
  private var held: [(id: UInt64, key: Key)] = []
  /// Granted before the one who asked had begun to wait.
  private var grants: Set<UInt64> = []
  private var lastID: UInt64 = 0

  /// Nobody reads, writes or waits.
  var isEmpty: Bool {
    lines.isEmpty && busyCount == 0 && !isClearing && clears.isEmpty && held.isEmpty && grants.isEmpty
  }

  mutating func nextID() -> UInt64 {
    lastID += 1
    return lastID
  }

  mutating func requestWrite(_ key: Key, id: UInt64) -> Bool {
    if isClearing || !clears.isEmpty {
      held.append((id, key))
      return false
    }
    return enqueue(id, key: key)
  }

  mutating func finishWrite(_ key: Key, isBackFill: Bool = false) -> [UInt64] {
    var line = lines[key, default: Line()]
    if !isBackFill { line.version += 1 }
    busyCount -= 1
    if line.queue.isEmpty {
      line.occupant = nil
      lines[key] = line.isIdle ? nil : line
      return grantClear()
    }
    let next = line.queue.removeFirst()
    line.occupant = .write
    line.version += 1
    busyCount += 1
    lines[key] = line
    return [next]
  }

  mutating func requestClear(id: UInt64) -> Bool {
    clears.append(id)
    return !grantClear().isEmpty
  }

  mutating func finishClear() -> [UInt64] {
    isClearing = false
    for key in lines.keys { lines[key]?.version += 1 }
    let nextClear = grantClear()
    if !nextClear.isEmpty { return nextClear }
    return releaseHeld()
  }

  mutating func beginRead(_ key: Key) -> UInt64 {
    lines[key, default: Line()].readers += 1
    return lines[key]?.version ?? 0
  }

  mutating func endRead(_ key: Key) {
    guard var line = lines[key] else { return }
    line.readers -= 1
    lines[key] = line.isIdle ? nil : line
  }

  mutating func beginBackFill(_ key: Key, readVersion: UInt64) -> Bool {
    guard !isClearing, clears.isEmpty, var line = lines[key], line.occupant == nil,
      line.version == readVersion
    else { return false }
    line.occupant = .backFill
    busyCount += 1
    lines[key] = line
    return true
  }

  func isOvertaken(_ key: Key, readVersion: UInt64) -> Bool {
    guard !isClearing, let line = lines[key] else { return true }
    return line.occupant == .write || line.version != readVersion
  }

  /// Takes a waiting request out, and says who may go on without it.
  mutating func cancel(_ id: UInt64) -> [UInt64] {
    if let position = clears.firstIndex(of: id) {
      clears.remove(at: position)
      return isClearing || !clears.isEmpty ? [] : releaseHeld()
    }
    if let position = held.firstIndex(where: { $0.id == id }) {
      held.remove(at: position)
      return []
    }
    for (key, line) in lines {
      guard let position = line.queue.firstIndex(of: id) else { continue }
      lines[key]?.queue.remove(at: position)
      return []
    }
    return []
  }

  mutating func keepGrant(_ id: UInt64) { grants.insert(id) }

  mutating func takeGrant(_ id: UInt64) -> Bool { grants.remove(id) != nil }

  private mutating func releaseHeld() -> [UInt64] {
    let waiting = held
    held = []
    return waiting.filter { enqueue($0.id, key: $0.key) }.map(\.id)
  }

  private mutating func enqueue(_ id: UInt64, key: Key) -> Bool {
    var line = lines[key, default: Line()]
    defer { lines[key] = line }
    guard line.occupant == nil else {
      line.queue.append(id)
      return false
    }
    line.occupant = .write
    line.version += 1
    busyCount += 1
    return true
  }

  private mutating func grantClear() -> [UInt64] {
    guard !isClearing, busyCount == 0, !clears.isEmpty else { return [] }
    isClearing = true
    return [clears.removeFirst()]
  }
}

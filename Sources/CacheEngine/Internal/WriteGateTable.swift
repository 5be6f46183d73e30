/// Who may write which key now, as a plain value.
///
/// A key that does not equal itself, with a NaN in it, say, has no line, since that would never be found again: its writes
/// wait for clears only, and it is not back-filled.
@usableFromInline
struct WriteGateTable<Key: Hashable & Sendable>: Sendable {
  @usableFromInline enum Occupant: Sendable { case write, backFill }

  @usableFromInline
  struct Line: Sendable {
    @usableFromInline var occupant: Occupant?
    @usableFromInline var readers = 0
    /// Counts the writes that a read under way must know of.
    @usableFromInline var version: UInt64 = 0
    @usableFromInline var queue: [UInt64] = []

    @inlinable
    init() {}

    @inlinable var isIdle: Bool { occupant == nil && readers == 0 && queue.isEmpty }

    /// The version that the read must find again.
    @inlinable
    mutating func beginRead() -> UInt64 {
      readers += 1
      return version
    }

    /// Whether the write may begin at once; otherwise it stands in the queue now.
    @inlinable
    mutating func enter(_ id: UInt64) -> Bool {
      guard occupant == nil else {
        queue.append(id)
        return false
      }
      beginWrite()
      return true
    }

    /// The write whose turn it is now, if one waits.
    @inlinable
    mutating func next() -> UInt64? {
      guard !queue.isEmpty else { return nil }
      beginWrite()
      return queue.removeFirst()
    }

    @inlinable
    mutating func beginWrite() {
      occupant = .write
      version += 1
    }
  }

  @usableFromInline var lines: [Key: Line] = [:]
  @usableFromInline var busyCount = 0
  @usableFromInline var isClearing = false
  @usableFromInline var clears: [UInt64] = []
  /// Writes that came while a clear was waiting or running.
  @usableFromInline var held: [(id: UInt64, key: Key)] = []
  /// Granted before the one who asked had begun to wait.
  @usableFromInline var grants: Set<UInt64> = []
  @usableFromInline var lastID: UInt64 = 0

  @inlinable
  init() {}

  /// Nobody reads, writes or waits.
  var isEmpty: Bool {
    lines.isEmpty && busyCount == 0 && !isClearing && clears.isEmpty && held.isEmpty && grants.isEmpty
  }

  @inlinable
  mutating func nextID() -> UInt64 {
    lastID += 1
    return lastID
  }

  @inlinable
  mutating func requestWrite(_ key: Key, id: UInt64) -> Bool {
    if isClearing || !clears.isEmpty {
      held.append((id, key))
      return false
    }
    return enqueue(id, key: key)
  }

  @inlinable
  mutating func finishWrite(_ key: Key, isBackFill: Bool = false) -> [UInt64] {
    busyCount -= 1
    guard let place = lines.index(forKey: key) else { return grantClear() }
    if !isBackFill { lines.values[place].version += 1 }
    guard let next = lines.values[place].next() else {
      lines.values[place].occupant = nil
      if lines.values[place].isIdle { lines.remove(at: place) }
      return grantClear()
    }
    busyCount += 1
    return [next]
  }

  @inlinable
  mutating func requestClear(id: UInt64) -> Bool {
    clears.append(id)
    return !grantClear().isEmpty
  }

  @inlinable
  mutating func finishClear() -> [UInt64] {
    isClearing = false
    for key in lines.keys { lines[key]?.version += 1 }
    let nextClear = grantClear()
    if !nextClear.isEmpty { return nextClear }
    return releaseHeld()
  }

  @inlinable
  mutating func beginRead(_ key: Key) -> UInt64 {
    guard key == key else { return 0 }
    return lines[key, default: Line()].beginRead()
  }

  @inlinable
  mutating func endRead(_ key: Key) {
    guard let place = lines.index(forKey: key) else { return }
    lines.values[place].readers -= 1
    if lines.values[place].isIdle { lines.remove(at: place) }
  }

  @inlinable
  mutating func beginBackFill(_ key: Key, readVersion: UInt64) -> Bool {
    guard !isClearing, clears.isEmpty, let place = lines.index(forKey: key),
      lines.values[place].occupant == nil, lines.values[place].version == readVersion
    else { return false }
    lines.values[place].occupant = .backFill
    busyCount += 1
    return true
  }

  @inlinable
  func isOvertaken(_ key: Key, readVersion: UInt64) -> Bool {
    guard !isClearing, let line = lines[key] else { return true }
    return line.occupant == .write || line.version != readVersion
  }

  /// Takes a waiting request out, and says who may go on without it.
  @inlinable
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

  @inlinable
  mutating func keepGrant(_ id: UInt64) { grants.insert(id) }

  @inlinable
  mutating func takeGrant(_ id: UInt64) -> Bool { grants.remove(id) != nil }

  @inlinable
  mutating func releaseHeld() -> [UInt64] {
    let waiting = held
    held = []
    return waiting.filter { enqueue($0.id, key: $0.key) }.map(\.id)
  }

  @inlinable
  mutating func enqueue(_ id: UInt64, key: Key) -> Bool {
    guard key != key || lines[key, default: Line()].enter(id) else { return false }
    busyCount += 1
    return true
  }

  @inlinable
  mutating func grantClear() -> [UInt64] {
    guard !isClearing, busyCount == 0, !clears.isEmpty else { return [] }
    isClearing = true
    return [clears.removeFirst()]
  }
}

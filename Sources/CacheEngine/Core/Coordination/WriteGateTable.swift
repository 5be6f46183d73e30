/// Who may write which key now, as a plain value.
///
/// A key that does not equal itself, with a NaN in it, say, has no line, since that would never be found again: its writes
/// wait for nobody, and it is not back-filled.
@usableFromInline
struct WriteGateTable<Key: Hashable & Sendable>: Sendable {
  @usableFromInline typealias WaiterID = UInt64

  /// Where the line of a key is, as long as somebody reads or writes it, so that it need not be looked up again.
  @usableFromInline typealias Place = KeyedSlots<Key, Line>.Place

  @usableFromInline enum Occupant: Sendable { case write, backFill }

  @usableFromInline
  struct Line: Sendable {
    @usableFromInline var occupant: Occupant?
    /// Somebody waits for the turn.
    @usableFromInline var isQueued = false
    @usableFromInline var readers: UInt32 = 0
    /// Counts the writes, and the reloads that have ended, that a read under way must know of.
    @usableFromInline var version: UInt64
    /// How many reloads were asked for.
    @usableFromInline var reloads: UInt64 = 0
    /// Up to which of them they are late: a write came, or this one has ended.
    @usableFromInline var lateReloads: UInt64 = 0
    /// The task that has the turn.
    @usableFromInline var owner = TaskIdentity.none

    @inlinable
    init(version: UInt64) { self.version = version }

    @inlinable var isIdle: Bool { occupant == nil && readers == 0 }

    /// Whether the write may begin at once.
    @inlinable
    mutating func beginWrite(by task: TaskIdentity) -> Bool {
      guard occupant == nil else { return false }
      takeTurn(task)
      return true
    }

    @inlinable
    mutating func takeTurn(_ task: TaskIdentity) {
      occupant = .write
      owner = task
      noteWrite()
    }

    @inlinable
    mutating func noteWrite() {
      version += 1
      lateReloads = reloads
    }

    /// What becomes of a line when a turn is over.
    @usableFromInline enum Next { case isAnothers, isRead, isIdle }

    @inlinable
    mutating func endTurn(isBackFill: Bool) -> Next {
      if !isBackFill { noteWrite() }
      if isQueued { return .isAnothers }
      occupant = nil
      owner = .none
      return readers == 0 ? .isIdle : .isRead
    }

    /// The version that the read must find again.
    @inlinable
    mutating func beginRead() -> UInt64 {
      readers += 1
      return version
    }
  }

  /// The first and the last of those who wait for a key.
  struct Queue: Sendable {
    var first: WaiterID
    var last: WaiterID
  }

  /// One of those who wait, between the one before and the one behind; 0 is nobody.
  struct Waiter: Sendable {
    let key: Key
    let who: Waiting
    var previous: WaiterID
    var next: WaiterID = 0
  }

  @usableFromInline var lines = KeyedSlots<Key, Line>()
  @usableFromInline var sweeps = Sweeps<Key>()
  /// With which version a line begins: one that no line had which has gone, so that who read by one of those is known to be late.
  @usableFromInline var nextVersion: UInt64 = 0
  private var queues: [Key: Queue] = [:]
  private var waiters: [WaiterID: Waiter] = [:]
  /// The keys whose turn a task has while others wait for it.
  private var wanted: [TaskIdentity: [Key]] = [:]
  /// How many waiters were looked at, ever: to leave a line must not depend on its length.
  private(set) var steps = 0

  @usableFromInline
  init() {}

  /// Nobody reads, writes or waits.
  var isEmpty: Bool { lines.isEmpty && queues.isEmpty && waiters.isEmpty && wanted.isEmpty && sweeps.isEmpty }

  // MARK: Writes

  /// The keys of which a write is under way.
  var keysBeingWritten: [Key] { lines.keys { $0.occupant == .write } }

  /// Whether the write may begin at once.
  @inlinable
  mutating func beginWrite(_ key: Key, by task: TaskIdentity) -> (isGranted: Bool, place: Place?) {
    guard key == key else { return (true, nil) }
    let version = nextVersion
    let place = lines.place(of: key, adding: Line(version: version))
    return (lines[place].beginWrite(by: task), place)
  }

  /// Begins a write, or puts it at the end of the line of its key.
  ///
  /// - Parameters:
  ///   - key: The key that is written.
  ///   - id: Not 0, and not used before.
  ///   - who: Who asks.
  /// - Returns: Whether it begins.
  mutating func requestWrite(_ key: Key, id: WaiterID, by who: Waiting) -> Bool {
    if beginWrite(key, by: who.task).isGranted { return true }
    steps += 1
    let last = queues[key]?.last ?? 0
    waiters[id] = Waiter(key: key, who: who, previous: last)
    if last == 0 {
      queues[key] = Queue(first: id, last: id)
      lines.change(key) { $0.isQueued = true }
      noteWanted(key)
    } else {
      waiters[last]?.next = id
      queues[key]?.last = id
    }
    return false
  }

  /// The turn is over: whose it is now, if somebody waits.
  @inlinable
  mutating func finishWrite(_ key: Key, at known: Place? = nil, isBackFill: Bool = false) -> WaiterID? {
    guard let place = known ?? lines.place(of: key) else { return nil }
    switch lines[place].endTurn(isBackFill: isBackFill) {
    case .isAnothers: return passOn(key)
    case .isIdle: removeLine(at: place)
    case .isRead: break
    }
    return nil
  }

  @usableFromInline
  mutating func passOn(_ key: Key) -> WaiterID? {
    noteUnwanted(key)
    guard let id = queues[key]?.first, let waiter = leaveQueue(id) else { return nil }
    lines.change(key) { $0.takeTurn(waiter.who.task) }
    noteWanted(key)
    return id
  }

  /// Takes a waiting write out of its line; whether it waited.
  mutating func cancel(_ id: WaiterID) -> Bool { leaveQueue(id) != nil }

  private mutating func leaveQueue(_ id: WaiterID) -> Waiter? {
    guard let waiter = waiters.removeValue(forKey: id) else { return nil }
    steps += 1
    if waiter.previous == 0, waiter.next == 0 {
      noteUnwanted(waiter.key)
      queues[waiter.key] = nil
      lines.change(waiter.key) { $0.isQueued = false }
      return waiter
    }
    if waiter.previous == 0 {
      queues[waiter.key]?.first = waiter.next
    } else {
      steps += 1
      waiters[waiter.previous]?.next = waiter.next
    }
    if waiter.next == 0 {
      queues[waiter.key]?.last = waiter.previous
    } else {
      steps += 1
      waiters[waiter.next]?.previous = waiter.previous
    }
    return waiter
  }

  // MARK: Circles

  /// The task that has the turn that a write waits for; `nil` if it does not wait.
  func owner(awaitedBy id: WaiterID) -> TaskIdentity? {
    guard let waiter = waiters[id] else { return nil }
    return lines[waiter.key]?.owner
  }

  /// Those who wait for turns that a task has.
  func waiting(forTurnsOf task: TaskIdentity) -> [NumberedWaiting] {
    wanted[task, default: []].flatMap { key in
      sequence(first: queues[key]?.first ?? 0) { waiters[$0]?.next }.lazy.prefix { $0 != 0 }.compactMap { id in
        waiters[id].map { NumberedWaiting(who: $0.who, id: id) }
      }
    }
  }

  private mutating func noteWanted(_ key: Key) {
    guard let line = lines[key], line.isQueued else { return }
    wanted[line.owner, default: []].append(key)
  }

  private mutating func noteUnwanted(_ key: Key) {
    guard let owner = lines[key]?.owner, let place = wanted[owner]?.firstIndex(of: key) else { return }
    wanted[owner]?.remove(at: place)
    if wanted[owner]?.isEmpty == true { wanted[owner] = nil }
  }

  // MARK: Reads

  /// The version that the read must find again, and where the line is until it ends.
  @inlinable
  mutating func beginRead(_ key: Key) -> (version: UInt64, place: Place?) {
    guard key == key else { return (0, nil) }
    let version = nextVersion
    let place = lines.place(of: key, adding: Line(version: version))
    return (lines[place].beginRead(), place)
  }

  /// The same for a read that asks past what is held, and the number of that, later than all that are under way.
  mutating func beginReload(_ key: Key) -> (read: (version: UInt64, place: Place?), number: UInt64) {
    let read = beginRead(key)
    guard let place = read.place else { return (read, 0) }
    lines[place].reloads += 1
    return (read, lines[place].reloads)
  }

  @inlinable
  mutating func endRead(_ key: Key, at known: Place? = nil) {
    guard let place = known ?? lines.place(of: key) else { return }
    lines[place].readers -= 1
    if lines[place].isIdle { removeLine(at: place) }
  }

  /// Lets all reads of a key be late that are under way, but for a reload that has ended, and those that were asked for later.
  ///
  /// What is being copied upwards already is from before.
  ///
  /// - Returns: The version that the reload must find again; `nil` if it is late itself.
  mutating func overtakeReads(
    _ key: Key, at known: Place?, byReload number: UInt64
  ) -> (version: UInt64, meetsCopy: Bool)? {
    guard let place = known ?? lines.place(of: key), lines[place].occupant != .write,
      lines[place].lateReloads < number
    else { return nil }
    lines[place].lateReloads = number
    lines[place].version += 1
    return (lines[place].version, lines[place].occupant == .backFill)
  }

  /// Whether a back-fill may begin, as far as the writes of this key are concerned.
  @inlinable
  mutating func beginBackFill(
    _ key: Key, at known: Place? = nil, readVersion: UInt64, by task: TaskIdentity = .none
  ) -> Bool {
    guard let place = known ?? lines.place(of: key), lines[place].occupant == nil,
      lines[place].version == readVersion
    else { return false }
    lines[place].occupant = .backFill
    lines[place].owner = task
    return true
  }

  /// A back-fill goes on in another task.
  mutating func adopt(_ key: Key, by task: TaskIdentity) {
    noteUnwanted(key)
    lines.change(key) { $0.owner = task }
    noteWanted(key)
  }

  /// Whether a write of this key is under way or came since the read began, or any removal of many keys did.
  @inlinable
  func isOvertaken(_ key: Key, at known: Place? = nil, readVersion: UInt64, since moment: UInt64) -> Bool {
    guard let place = known ?? lines.place(of: key) else { return true }
    let line = lines[place]
    return line.occupant == .write || line.version != readVersion || isSwept(since: moment)
  }

  /// Whether a write of this key has begun or ended since the read began, or nobody reads or writes it any more.
  func isWritten(_ key: Key, readVersion: UInt64) -> Bool { lines[key]?.version != readVersion }

  @inlinable
  func isSwept(since moment: UInt64) -> Bool { sweeps.isAny(since: moment) }

  @inlinable
  mutating func removeLine(at place: KeyedSlots<Key, Line>.Place) {
    if let line = lines.remove(at: place) { nextVersion = max(nextVersion, line.version + 1) }
    if lines.isEmpty { forgetSweeps() }
  }

  @inlinable
  mutating func forgetSweeps() { sweeps.forgetDone() }
}

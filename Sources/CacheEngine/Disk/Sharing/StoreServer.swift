import CacheCore
internal import CStore
import Dispatch
import Synchronization

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif
#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Darwin)
internal import Darwin
#endif

/// Serves the store of a directory that this process owns: to itself, and to other processes.
///
/// Who asks for a change says which of its changes it is. One that comes again, because an answer was lost, is not carried out
/// again if it was by this owner, nor if its key has been changed since this owner took over: then it counts as carried out
/// before that change. The owner before cannot have carried out another change of the key in between, for it answered
/// each change before it let the next one of the key begin.
final class StoreServer: Sendable {
  /// Somebody who shares the directory.
  final class Guest: Sendable {
    struct State {
      /// `nil` until it has said who it is.
      var instance: UInt64?
      var came: Int64
      var expects = StoreExpectation()
      var running = 0
    }

    let socket: FrameSocket
    let process: Int32
    let state: Mutex<State>

    init(_ socket: FrameSocket, process: Int32, now: Int64) {
      (self.socket, self.process) = (socket, process)
      state = Mutex(State(came: now))
    }
  }

  /// What was carried out for whom.
  private struct Ledger {
    struct Number: Hashable {
      var instance: UInt64
      var sequence: UInt64
    }

    static let most = 4_096
    static let mostInstances = 256

    /// Until when somebody may try again what the owner before had left unanswered.
    var graceEnd: Int64
    /// What was changed since this owner took over, until then.
    var touched: Set<StoreKey> = []
    var isAllTouched = false
    var running: [Number: [Guest]] = [:]
    private var done: [UInt64: (replies: [UInt64: StoreReply], order: [UInt64])] = [:]
    private var instances: [UInt64] = []

    init(graceEnd: Int64) { self.graceEnd = graceEnd }

    func reply(_ number: Number) -> StoreReply? { done[number.instance]?.replies[number.sequence] }

    mutating func note(_ reply: StoreReply, of number: Number) {
      if done[number.instance] == nil {
        instances.append(number.instance)
        if instances.count > Self.mostInstances { done[instances.removeFirst()] = nil }
      }
      var own = done.removeValue(forKey: number.instance) ?? ([:], [])
      own.replies[number.sequence] = reply
      own.order.append(number.sequence)
      if own.order.count > 2 * Self.most {
        for old in own.order.prefix(Self.most) { own.replies[old] = nil }
        own.order.removeFirst(Self.most)
      }
      done[number.instance] = own
    }

    mutating func touch(_ scope: KeyTurns.Scope) {
      guard SystemClock().now.nanoseconds < graceEnd else {
        if !touched.isEmpty { touched = [] }
        return
      }
      switch scope {
      case .key(let key): touched.insert(key)
      case .everything: isAllTouched = true
      }
    }

    func isTouched(_ scope: KeyTurns.Scope) -> Bool {
      if case .key(let key) = scope { return isAllTouched || touched.contains(key) }
      return false
    }
  }

  /// So many requests of one guest may be under way; the rest stays in its socket.
  static let mostRunning = 4_096
  static let mostGuests = 1_024
  /// Who has not said hello by then is not waited for.
  private static let patience: Int64 = 5_000_000_000

  let store: SegmentedStore
  /// Tells one owner's numbers of places from another's.
  let instance = UInt64.random(in: 1 ... .max)
  private let limit: Int64
  private let turns = KeyTurns()
  private let ledger: Mutex<Ledger>
  private let guests = Mutex<[Guest]>([])
  private let executor = ServingExecutor()
  private let wake: @Sendable () -> Void
  private let tellHere: @Sendable (StoreChange, UInt64) -> Void

  init(
    _ store: SegmentedStore, limit: Int64, wake: @escaping @Sendable () -> Void,
    tellHere: @escaping @Sendable (StoreChange, UInt64) -> Void
  ) {
    (self.store, self.limit, self.wake, self.tellHere) = (store, limit, wake, tellHere)
    ledger = Mutex(Ledger(graceEnd: SystemClock().now.nanoseconds.addingReportingOverflow(3 * limit).partialValue))
  }

  var guestCount: Int { guests.withLock { $0.count } }

  // MARK: Requests

  /// Carries out what this process asks for.
  func perform(_ request: StoreRequest, from origin: UInt64, isAgain: Bool) async -> StoreReply {
    guard let scope = request.scope else { return await carryOut(request) }
    await turns.enter(scope)
    defer { turns.leave(scope) }
    return await change(request, scope, from: origin, isAgain: isAgain)
  }

  private func change(
    _ request: StoreRequest, _ scope: KeyTurns.Scope, from origin: UInt64, isAgain: Bool
  ) async -> StoreReply {
    if isAgain, let known = await outcome(ofRepeated: request, scope) { return known }
    ledger.withLock { $0.touch(scope) }
    let reply = await carryOut(request)
    if case .count(let count) = reply, let change = request.change {
      if case .put = request, count == 0 { return reply }
      publish(change, from: origin)
    }
    return reply
  }

  /// What has become of a change that may have been carried out before; `nil` if it may be carried out now.
  private func outcome(ofRepeated request: StoreRequest, _ scope: KeyTurns.Scope) async -> StoreReply? {
    let (isTouched, isTooLate) = ledger.withLock {
      ($0.isTouched(scope), SystemClock().now.nanoseconds >= $0.graceEnd)
    }
    if isTooLate { return .failed(Self.late) }
    guard case .put(let put) = request else { return isTouched ? .count(0) : nil }
    guard put.condition != nil else { return isTouched ? .count(1) : nil }
    if isTouched { return .count(0) }
    guard case .found(let found)? = try? await store.read(put.key, includingExpired: true),
      found.entry.created == put.created, found.type == put.type, found.value == put.value
    else { return nil }
    return .count(1)
  }

  private static let late = CacheError(
    .timedOut, "the process that writes the files came to the request too late, and has not carried it out")

  private func carryOut(_ request: StoreRequest) async -> StoreReply {
    do {
      switch request {
      case .get(let key, let includingExpired):
        return Self.reply(try await store.read(key, includingExpired: includingExpired))
      case .put(let put):
        let isStored = try await store.put(
          put.key, type: put.type, value: put.value, created: CacheInstant(nanoseconds: put.created),
          deadline: put.deadline.map(CacheInstant.init(nanoseconds:)), cost: put.cost, tags: put.tags,
          durability: put.durability, if: put.condition)
        return .count(isStored ? 1 : 0)
      case .remove(let key, let durability):
        try await store.remove(key, durability: durability)
        return .count(1)
      case .expire(let key, let durability):
        try await store.expire(key, durability: durability)
        return .count(1)
      case .clear(let durability):
        try await store.clear(durability: durability)
        return .count(1)
      case .removeTagged(let tag, let durability):
        return .count(try await store.removeAll(tagged: tag, durability: durability))
      case .removeExpired: return .count(try await store.removeExpired())
      case .rotate(let durability): return .count(try await store.rotate(durability: durability))
      case .verify(let repairing): return .report(try await store.verify(repairing: repairing))
      case .list(let place, let owner):
        guard place == 0 || owner == instance else {
          throw CacheError(
            .diskReadFailed, "another process writes the files since the listing began; begin it again")
        }
        let (entries, next) = try await store.list(from: Int(clamping: place))
        return .page(entries.map(ListedEntry.init), next: next.map(UInt64.init), of: instance)
      case .created(let key): return .created(store.created(key))
      case .usage: return .usage(store.usage, store.traffic)
      case .expect, .ping: return .count(0)
      }
    } catch let error as CacheError {
      return .failed(error)
    } catch {
      return .failed(store.readFailed(error))
    }
  }

  private static func reply(_ answer: SegmentedStore.Answer) -> StoreReply {
    switch answer {
    case .found(let found): .found(FoundValue(found))
    case .miss(let reason): .miss(reason)
    }
  }

  // MARK: Who hears of changes

  private func publish(_ change: StoreChange, from origin: UInt64) {
    tellHere(change, origin)
    let hearing = guests.withLock { $0.filter { guest in guest.state.withLock { $0.expects.hearsChanges } } }
    guard !hearing.isEmpty, let frame = try? change.frame(from: origin) else { return }
    for guest in hearing { guest.socket.send(frame) }
  }

  var hearsLosses: Bool { lossHearers > 0 }

  /// How many others are told what leaves.
  var lossHearers: Int { guests.withLock { $0.count { guest in guest.state.withLock { $0.expects.hearsLosses } } } }

  /// Tells those who want to know that an entry left.
  func tell(_ loss: SegmentedStore.Loss) {
    let hearing = guests.withLock { $0.filter { guest in guest.state.withLock { $0.expects.hearsLosses } } }
    guard !hearing.isEmpty, let frame = try? loss.frame() else { return }
    for guest in hearing { guest.socket.send(frame) }
  }

  // MARK: Serving, on the one thread that polls

  /// What to poll: each guest's descriptor and what is waited for.
  func polled(now: Int64) -> [(guest: Guest, poll: pollfd)] {
    guests.withLock { $0 }.map { guest in
      let (isFull, isLate) = guest.state.withLock {
        ($0.running >= Self.mostRunning, $0.instance == nil && now - $0.came > Self.patience)
      }
      if isLate || guest.socket.isStalled(for: limit, now) { guest.socket.breakOff() }
      let events = (isFull ? 0 : POLLIN) | (guest.socket.isWaitingForRoom ? POLLOUT : 0)
      return (guest, pollfd(fd: guest.socket.descriptor, events: Int16(events), revents: 0))
    }
  }

  /// Whether somebody has to be looked at again soon, who may be waited for in vain.
  var isWaiting: Bool {
    guests.withLock { $0 }.contains { guest in
      guest.state.withLock { $0.instance == nil } || guest.socket.isWaitingForRoom
    }
  }

  func admit(_ socket: FrameSocket, now: Int64) {
    guard let process = socket.peer, guestCount < Self.mostGuests else { return }
    guests.withLock { $0.append(Guest(socket, process: process, now: now)) }
  }

  func serve(_ guest: Guest, _ events: Int16) {
    if events & Int16(POLLOUT) != 0 { guest.socket.flush() }
    guard events & Int16(POLLIN | POLLHUP | POLLERR | POLLNVAL) != 0 else { return }
    do {
      let (frames, isOpen) = try guest.socket.receive()
      for frame in frames { try take(frame, from: guest) }
      if !isOpen { drop(guest) }
    } catch { drop(guest) }
  }

  private func drop(_ guest: Guest) {
    guest.socket.breakOff()
    guests.withLock { guests in guests.removeAll { $0 === guest } }
  }

  /// Ends all connections.
  func dismiss() { for guest in guests.withLock({ $0 }) { drop(guest) } }

  /// How many requests of others are under way.
  var running: Int { guests.withLock { $0 }.reduce(0) { $0 + $1.state.withLock(\.running) } }

  private func take(_ frame: SharedFrame, from guest: Guest) throws {
    guard let instance = guest.state.withLock({ $0.instance }) else { return try meet(frame, guest) }
    // What is in a file is read elsewhere.
    if case .file = frame.body { return start(frame, guest, instance) }
    var (origin, sent): (UInt64, Int64) = (0, 0)
    let request = try StoreRequest(frame.kind, try frame.load(limit: 0), origin: &origin, sent: &sent)
    switch request {
    case .ping: try answer(.count(0), frame.number, guest)
    case .expect(let expectation):
      guest.state.withLock { $0.expects = expectation }
      store.keepExpired(for: .nanoseconds(expectation.keepsExpired))
      if expectation.isSynced { store.expectSyncedWrites() }
      if expectation.hearsLosses { store.learnKeys() }
      try answer(.count(0), frame.number, guest)
    case .get(let key, includingExpired: false):
      // What index and page cache know is answered here.
      if let known = try? store.readAtOnce(key) { return try answer(Self.reply(known), frame.number, guest) }
      start(request, origin, sent, frame, guest, instance)
    case .created(let key): try answer(.created(store.created(key)), frame.number, guest)
    case .usage: try answer(.usage(store.usage, store.traffic), frame.number, guest)
    default: start(request, origin, sent, frame, guest, instance)
    }
  }

  private func meet(_ frame: SharedFrame, _ guest: Guest) throws {
    guard frame.kind == StoreRequest.hello else { throw ProtocolViolation() }
    let hello = try StoreHello(try frame.load(limit: 0))
    if let refusal = refusal(of: hello) { return guest.socket.send(try StoreHello.refusal(refusal)) }
    guest.state.withLock { $0.instance = hello.instance }
    guest.socket.send(try StoreHello.welcome(instance: instance))
  }

  private func refusal(of hello: StoreHello) -> CacheError? {
    let place = "the store in \(store.directory.path), which process \(getpid()) has open,"
    if hello.version != StoreHello.version {
      return CacheError(
        .unusableStore,
        "\(place) is shared by version \(StoreHello.version) of the protocol, and this program speaks version \(hello.version); let all programs use one version of the library"
      )
    }
    if hello.capacity != store.limits.capacity {
      return CacheError(
        .invalidSetting,
        "\(place) has a capacity of \(store.limits.capacity) bytes, which all its levels share; another one was asked for: \(hello.capacity)"
      )
    }
    if hello.isSealed != (store.sealing != nil) {
      return hello.isSealed
        ? CacheError(.notEncrypted, "\(place) is not encrypted; open it without a cipher")
        : CacheError(.wrongKey, "\(place) is encrypted; open it with its cipher")
    }
    let ahead = CacheInstant(nanoseconds: hello.now).duration(to: store.clock.now)
    if hello.boot != store.clock.bootIdentifier || abs(ahead.clampedNanoseconds / 2) > 30_000_000_000 {
      return CacheError(.invalidSetting, "\(place) lives by another clock, which all its levels share")
    }
    return nil
  }

  private func answer(_ reply: StoreReply, _ number: UInt64, _ guest: Guest) throws {
    guest.socket.send(try reply.frame(number: number))
  }

  /// The most that a body may be: a value, and what belongs to it.
  private var longestBody: Int { Self.longestBody(store.limits.capacity) }

  static func longestBody(_ capacity: Int) -> Int { capacity.addingReportingOverflow(1 << 20).partialValue }

  private func start(_ frame: SharedFrame, _ guest: Guest, _ instance: UInt64) {
    guest.state.withLock { $0.running += 1 }
    Task(executorPreference: executor) { [self] in
      defer { ended(guest) }
      do {
        var (origin, sent): (UInt64, Int64) = (0, 0)
        let request = try StoreRequest(
          frame.kind, try frame.load(limit: longestBody), origin: &origin, sent: &sent)
        await run(request, origin, sent, frame, guest, instance)
      } catch is ProtocolViolation {
        guest.socket.breakOff()
      } catch {
        await send(.failed(store.readFailed(error)), frame.number, guest)
      }
    }
  }

  private func start(
    _ request: StoreRequest, _ origin: UInt64, _ sent: Int64, _ frame: SharedFrame, _ guest: Guest, _ instance: UInt64
  ) {
    guest.state.withLock { $0.running += 1 }
    Task(executorPreference: executor) { [self] in
      defer { ended(guest) }
      await run(request, origin, sent, frame, guest, instance)
    }
  }

  private func ended(_ guest: Guest) {
    let wasFull = guest.state.withLock { state in
      state.running -= 1
      return state.running == Self.mostRunning - 1 || state.running == 0
    }
    if wasFull { wake() }
  }

  private func run(
    _ request: StoreRequest, _ origin: UInt64, _ sent: Int64, _ frame: SharedFrame, _ guest: Guest, _ instance: UInt64
  ) async {
    guard let scope = request.scope else { return await send(await carryOut(request), frame.number, guest) }
    let number = Ledger.Number(instance: instance, sequence: frame.number)
    let isAgain = frame.flags & SharedFrame.again != 0
    enum Course {
      case begin
      case known(StoreReply)
      case joined
    }
    let course = ledger.withLock { ledger -> Course in
      if let reply = ledger.reply(number) { return .known(reply) }
      if ledger.running[number] != nil {
        ledger.running[number]?.append(guest)
        return .joined
      }
      ledger.running[number] = [guest]
      return .begin
    }
    switch course {
    case .known(let reply): return await send(reply, frame.number, guest)
    case .joined: return
    case .begin: break
    }
    await turns.enter(scope)
    let reply: StoreReply
    if SystemClock().now.nanoseconds &- sent > limit, !isAgain {
      // Whoever asked has given up by now.
      reply = .failed(Self.late)
    } else {
      reply = await change(request, scope, from: origin, isAgain: isAgain)
    }
    let asking = ledger.withLock { ledger in
      ledger.note(reply, of: number)
      return ledger.running.removeValue(forKey: number) ?? []
    }
    for guest in asking { await send(reply, frame.number, guest) }
    turns.leave(scope)
  }

  /// Returns when the system has the answer, or will never have it.
  private func send(_ reply: StoreReply, _ number: UInt64, _ guest: Guest) async {
    let frame: SharedFrame
    do { frame = try reply.frame(number: number) } catch {
      guard let told = try? StoreReply.failed(store.readFailed(error)).frame(number: number) else { return }
      frame = told
    }
    await withCheckedContinuation { done in guest.socket.send(frame) { done.resume() } }
  }
}

/// Where requests of other processes are carried out: on no thread that the program's own tasks need.
final class ServingExecutor: TaskExecutor {
  private let queue = DispatchQueue(label: "CacheEngine.store.serving")

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async { [self] in unsafe job.runSynchronously(on: asUnownedTaskExecutor()) }
  }
}

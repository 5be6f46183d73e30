import CacheCore
import Synchronization

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Darwin)
internal import Darwin
#endif

/// What the owner does for others, on the one thread that polls.
extension StoreServer {
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

  /// Whether a guest that may be waited for in vain has to be looked at again soon.
  var isWaiting: Bool {
    guests.withLock { $0 }.contains { guest in
      guest.state.withLock { $0.instance == nil } || guest.socket.isWaitingForRoom
    }
  }

  func admit(_ socket: FrameSocket, now: Int64) {
    guard socket.peer != nil, guestCount < Self.mostGuests else { return }
    guests.withLock { $0.append(Guest(socket, now: now)) }
  }

  func serve(_ guest: Guest, _ events: Int16) {
    if events & Int16(POLLOUT) != 0 { guest.socket.flush() }
    guard events & Int16(POLLIN | POLLHUP | POLLERR | POLLNVAL) != 0 else { return }
    do {
      let isOpen = try guest.socket.receive { for frame in $0 { try take(frame, from: guest) } }
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
    case .ping: answer(.count(0), frame.number, guest)
    case .expect(let expectation):
      guest.state.withLock { $0.expects.add(expectation) }
      store.keepExpired(for: .nanoseconds(expectation.keepsExpired))
      if expectation.isSynced { store.expectSyncedWrites() }
      // The answer says that the keys of entries are known, which takes long to read: elsewhere.
      if expectation.hearsLosses { return start(request, origin, sent, frame, guest, instance) }
      answer(.count(0), frame.number, guest)
    case .get(let key, includingExpired: false):
      // What index and page cache know is answered here.
      if let known = try? store.readAtOnce(key) { return answer(Self.reply(known), frame.number, guest) }
      start(request, origin, sent, frame, guest, instance)
    case .created(let key): answer(.created(store.created(key)), frame.number, guest)
    case .usage: answer(.usage(store.usage, store.traffic), frame.number, guest)
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

  private func answer(_ reply: StoreReply, _ number: UInt64, _ guest: Guest) {
    if let frame = framed(reply, number) { guest.socket.send(frame) }
  }

  /// An answer as it is sent; that it failed, where there is no file for it.
  private func framed(_ reply: StoreReply, _ number: UInt64) -> SharedFrame? {
    do { return try reply.frame(number: number) } catch {
      return try? StoreReply.failed(store.readFailed(error)).frame(number: number)
    }
  }

  /// The most that a body may be: a value, and what belongs to it.
  private var longestBody: Int { Self.longestBody(store.limits.capacity) }

  static func longestBody(_ capacity: Int) -> Int { min(capacity, .max - (1 << 20)) + (1 << 20) }

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
    let number = StoreLedger.Number(instance: instance, sequence: frame.number)
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
    guard let frame = framed(reply, number) else { return }
    await withCheckedContinuation { done in guest.socket.send(frame) { done.resume() } }
  }
}

import CacheCore
internal import CStore
import Dispatch
import Synchronization

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Darwin)
internal import Darwin
#endif

/// What the thread of a shared directory does: it seeks whoever owns the files, or becomes the owner; then it listens to that
/// owner, or serves.
extension CommonStore {
  /// Starts the thread.
  func start() throws {
    ended.enter()
    do { try OwnThread.start("cache-shared") { [self] in run() } } catch {
      ended.leave()
      throw error
    }
  }

  private var now: Int64 { SystemClock().now.nanoseconds }
  private var isLeaving: Bool { state.withLock(\.isLeaving) }

  private func run() {
    var failure: (any Error)?
    var pause: Int32 = 1
    while !isLeaving {
      do {
        if let (server, listener) = try own() {
          pause = 1
          failure = serve(server, listener)
        } else if let socket = try connect() {
          if try listen(to: socket) { pause = 1 }
        }
      } catch {
        refuse(error)
        pause = 200
      }
      guard !isLeaving else { break }
      // The lock is held, and nobody lets anybody in: by somebody who begins, who ends, or who does not share.
      sleep(pause)
      tick()
      pause = min(20, pause + 1)
    }
    end(failure)
  }

  private func end(_ failure: (any Error)?) {
    let (calls, closing) = state.withLock { state in
      defer {
        (state.calls, state.unsent, state.closing) = ([:], [], [])
        state.isEnded = true
        state.role = .seeking
      }
      return (Array(state.calls.values), state.closing)
    }
    CommonStores.forget(self)
    for call in calls { call.tell(.failed(closed)) }
    for continuation in closing {
      if let failure { continuation.resume(throwing: failure) } else { continuation.resume() }
    }
    opening.signal()
    ended.leave()
  }

  /// Waits for so many milliseconds, or until somebody wakes the thread.
  private func sleep(_ milliseconds: Int32) {
    var polled = [pollfd(fd: poller.descriptor, events: Int16(POLLIN), revents: 0)]
    _ = unsafe poll(&polled, 1, milliseconds)
    if polled[0].revents != 0 { drainWakes() }
  }

  private func drainWakes() {
    var given: Int32 = -1
    while unsafe withUnsafeTemporaryAllocation(
      byteCount: 256, alignment: 1,
      { memory in
        unsafe cstore_receive(poller.descriptor, memory.baseAddress, memory.count, &given) > 0
      })
    {}
  }

  /// Notes why nothing can be asked; whoever asks is told, until it goes better.
  private func refuse(_ error: any Error) {
    let refusal: CacheError
    if let error = error as? CacheError {
      refusal = error
    } else {
      let text = (error as? SystemFailure)?.text ?? String(describing: error)
      refusal = CacheError(.unusableStore, "\(text), for the store in \(directory.path)", underlying: error)
    }
    let calls = state.withLock { state in
      state.refusal = refusal
      defer { (state.calls, state.unsent, state.sent, state.waitingSince) = ([:], [], 0, nil) }
      return Array(state.calls.values)
    }
    for call in calls { call.tell(.failed(refusal)) }
    opening.signal()
  }

  // MARK: Owning

  /// Takes the lock and opens the files, and listens where others will look; `nil` if somebody else has it.
  private func own() throws -> (StoreServer, StoreFile)? {
    var listener: StoreFile?
    let store: SegmentedStore
    do {
      store = try StoreRegistry.store(
        at: settings.path, access: .readWrite, capacity: settings.capacity, durability: settings.durability,
        clock: settings.clock, calls: settings.calls, cipher: settings.cipher, isShared: true
      ) { directory in
        listener = try SharedSocket.listen(in: directory)
      }
    } catch let error as CacheError where error.code == .inUse { return nil }
    guard let listener else { throw SystemFailure("socket", ENOTSOCK) }
    store.onStanding.withLock { $0 = { [weak self] in self?.wake() } }
    let server = StoreServer(store, limit: limit, wake: { [weak self] in self?.wake() }) { [weak self] change, origin in
      self?.tellHere(change, origin)
    }
    return (server, listener)
  }

  /// Serves until this process leaves; gives the error of closing the files.
  private func serve(_ server: StoreServer, _ first: StoreFile) -> (any Error)? {
    var listener = first
    let (calls, expects) = state.withLock { state in
      state.role = .owner(server)
      (state.refusal, state.isSilent) = (nil, false)
      defer { (state.calls, state.unsent, state.sent, state.waitingSince) = ([:], [], 0, nil) }
      return (state.calls.sorted { $0.key < $1.key }.map(\.value), state.expects)
    }
    apply(expects, to: server.store)
    if expects.hearsLosses { server.store.learnKeys() }
    updateHearing(server)
    opening.signal()
    for call in calls { call.tell(.here(isAgain: call.isAgain || call.sentTo != 0)) }
    hears()
    while !isLeaving {
      var polled = [
        pollfd(fd: poller.descriptor, events: Int16(POLLIN), revents: 0),
        pollfd(fd: listener.descriptor, events: Int16(POLLIN), revents: 0),
      ]
      let guests = server.polled(now: now)
      polled += guests.map(\.poll)
      _ = unsafe poll(&polled, nfds_t(polled.count), server.isWaiting ? 100 : -1)
      if polled[0].revents != 0 { drainWakes() }
      for (position, guest) in guests.enumerated() where polled[position + 2].revents != 0 {
        server.serve(guest.guest, polled[position + 2].revents)
      }
      if polled[1].revents != 0 { admit(from: listener.descriptor, server) }
      updateHearing(server)
      // The directory was removed or emptied: others look for the socket where it stands now.
      if server.store.hasStoodAgain.exchange(false, ordering: .relaxed),
        let new = try? SharedSocket.listen(in: server.store.directory)
      {
        listener = new
      }
    }
    return letGo(server)
  }

  private func admit(from listener: Int32, _ server: StoreServer) {
    for _ in 0..<64 {
      let arrived = cstore_accept(listener)
      guard arrived >= 0 else {
        // Without descriptors left it would be asked again at once.
        if [EMFILE, ENFILE, ENOBUFS, ENOMEM].contains(errno) { sleep(20) }
        return
      }
      server.admit(FrameSocket(arrived, wake: { [weak self] in self?.wake() }), now: now)
    }
  }

  /// Lets the store tell what leaves only for as long as somebody wants to know.
  private func updateHearing(_ server: StoreServer) {
    let isWanted = server.hearsLosses || state.withLock { !$0.listeners.isEmpty }
    if isWanted { hearLosses(server) } else { unhear(server) }
  }

  /// While somebody listens, small writes are not carried out where their callers run.
  private func hearLosses(_ server: StoreServer) {
    server.store.listeners.withLock { listeners in
      guard listeners[ObjectIdentifier(self)] == nil else { return }
      listeners[ObjectIdentifier(self)] = { [weak self, weak server] loss in
        self?.tellHere(loss)
        server?.tell(loss)
      }
    }
  }

  private func unhear(_ server: StoreServer) {
    _ = server.store.listeners.withLock { $0.removeValue(forKey: ObjectIdentifier(self)) }
  }

  /// Answers what is under way, and gives the files to whoever comes next.
  private func letGo(_ server: StoreServer) -> (any Error)? {
    SharedSocket.remove(in: server.store.directory)
    let end = now + limit
    while server.running > 0, now < end {
      var polled = [pollfd(fd: poller.descriptor, events: Int16(POLLIN), revents: 0)]
      let guests = server.polled(now: now).filter { $0.poll.events & Int16(POLLOUT) != 0 }
      polled += guests.map { pollfd(fd: $0.poll.fd, events: Int16(POLLOUT), revents: 0) }
      _ = unsafe poll(&polled, nfds_t(polled.count), 5)
      if polled[0].revents != 0 { drainWakes() }
      for guest in guests { guest.guest.socket.flush() }
    }
    server.dismiss()
    unhear(server)
    let done = DispatchSemaphore(value: 0)
    let failure = Mutex<(any Error)?>(nil)
    Task(executorPreference: ServingExecutor()) {
      do { try await server.store.close() } catch { failure.withLock { $0 = error } }
      done.signal()
    }
    done.wait()
    return failure.withLock { $0 }
  }

  // MARK: Listening

  private func connect() throws -> FrameSocket? {
    // It may have been removed and made anew since.
    let directory = try StoreDirectory(directory.path, access: .readWrite, calls: settings.calls)
    let number = SharedSocket.connect(in: directory)
    guard number >= 0 else { return nil }
    let socket = FrameSocket(number, wake: { [weak self] in self?.wake() })
    guard let process = socket.peer,
      let hello = try? StoreHello(
        instance: instance, capacity: settings.capacity, isSealed: settings.cipher != nil,
        boot: settings.clock.bootIdentifier, now: settings.clock.now.nanoseconds
      ).frame()
    else { return nil }
    socket.send(hello)
    state.withLock { $0.role = .guest(socket, process: process, isWelcome: false) }
    return socket
  }

  /// Listens to the owner until it is gone; `false` if it never let this process in.
  ///
  /// - Throws: ``CacheError`` if it says why.
  private func listen(to socket: FrameSocket) throws -> Bool {
    var isWelcome = false
    var isOpen = true
    var refusal: CacheError?
    while isOpen, !isLeaving {
      var polled = [
        pollfd(fd: poller.descriptor, events: Int16(POLLIN), revents: 0),
        pollfd(
          fd: socket.descriptor, events: Int16(POLLIN | (socket.isWaitingForRoom ? POLLOUT : 0)), revents: 0),
      ]
      _ = unsafe poll(&polled, 2, patience)
      if polled[0].revents != 0 { drainWakes() }
      let events = polled[1].revents
      if events & Int16(POLLOUT) != 0 { socket.flush() }
      if events & ~Int16(POLLOUT) != 0 {
        do {
          let (frames, goesOn) = try socket.receive()
          if !frames.isEmpty { heard() }
          for frame in frames { try take(frame, from: socket, &isWelcome) }
          isOpen = goesOn
        } catch { (isOpen, refusal) = (false, error as? CacheError) }
      }
      tick()
    }
    socket.breakOff()
    isDeaf()
    state.withLock { state in
      state.role = .seeking
      state.pingedAt = nil
      // What has no answer is asked again, in the order in which it was asked.
      let numbers = state.calls.keys.sorted()
      for number in numbers where state.calls[number]?.isSent == true {
        state.calls[number]?.isSent = false
      }
      (state.unsent, state.sent) = (numbers, 0)
      if !numbers.isEmpty { state.waitingSince = now }
    }
    if let refusal { throw refusal }
    return isWelcome
  }

  /// How long to wait for a sign of the owner, in milliseconds; for ever if nobody waits for one.
  private var patience: Int32 {
    state.withLock { state in
      let isAwaited = state.waitingSince != nil || !state.ears.isEmpty || state.isSilent
      if case .guest(_, _, isWelcome: true) = state.role, !isAwaited, now - state.lastHeard > limit {
        state.isAsleep = true
        return -1
      }
      state.isAsleep = false
      return Int32(clamping: max(1, limit / 4_000_000))
    }
  }

  private func heard() {
    let (wasSilent, expects) = state.withLock { state in
      defer { (state.isSilent, state.pingedAt) = (false, nil) }
      state.lastHeard = now
      return (state.isSilent, state.expects)
    }
    // What was changed meanwhile was perhaps told, and perhaps not heeded.
    if wasSilent, expects.hearsChanges, case .guest(_, _, isWelcome: true) = state.withLock({ $0.role }) {
      tell(expects)
    }
  }

  private func take(_ frame: SharedFrame, from socket: FrameSocket, _ isWelcome: inout Bool) throws {
    switch frame.kind {
    case StoreReply.welcome where !isWelcome:
      isWelcome = true
      let owner = try StoreHello.readWelcome(try frame.load(limit: 0))
      let expects = state.withLock { state in
        if case .guest(_, let process, _) = state.role {
          state.role = .guest(socket, process: process, isWelcome: true)
        }
        (state.refusal, state.ownerInstance) = (nil, owner)
        return state.expects
      }
      // First of all, so that nothing is changed unheard.
      tell(expects)
      send(state.withLock { $0.sendable() }, to: socket)
      opening.signal()
    case StoreReply.refused where !isWelcome: throw try StoreHello.readRefusal(try frame.load(limit: 0))
    case StoreReply.changed:
      var origin: UInt64 = 0
      let change = try StoreChange(try frame.load(limit: StoreServer.longestBody(settings.capacity)), origin: &origin)
      tellHere(change, origin)
    case StoreReply.lost:
      tellHere(try SegmentedStore.Loss(try frame.load(limit: StoreServer.longestBody(settings.capacity))))
    default:
      guard isWelcome else { throw ProtocolViolation() }
      finish(frame.number)?.tell(.frame(frame))
      send(state.withLock { $0.sendable() }, to: socket)
    }
  }

  /// Notices that the owner is silent.
  private func tick() {
    enum Course {
      case ping(FrameSocket)
      case give([Call])
      case nothing
    }
    let now = now
    let course = state.withLock { state -> Course in
      let isHearing = state.isHearing && !state.ears.isEmpty
      guard let since = state.waitingSince ?? (isHearing ? state.lastHeard : state.pingedAt) else { return .nothing }
      let quiet = now - max(state.lastHeard, since)
      if quiet > limit {
        state.isSilent = true
        defer { (state.calls, state.unsent, state.sent, state.waitingSince) = ([:], [], 0, nil) }
        return .give(Array(state.calls.values))
      }
      if quiet > limit / 3, state.pingedAt == nil, case .guest(let socket, _, isWelcome: true) = state.role {
        state.pingedAt = now
        return .ping(socket)
      }
      return .nothing
    }
    switch course {
    case .nothing: return
    case .ping(let socket):
      if let ping = try? StoreRequest.ping.frame(number: 0, origin: 0, at: now, isAgain: false) { socket.send(ping) }
    case .give(let calls):
      for call in calls { call.tell(.silence) }
      isDeaf()
    }
  }
}

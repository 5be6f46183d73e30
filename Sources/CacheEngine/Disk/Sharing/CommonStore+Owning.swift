import CacheCore
import Dispatch
import Synchronization

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Darwin)
internal import Darwin
#endif

/// What the thread of a shared directory does while this process owns the files.
extension CommonStore {
  /// Takes the lock and opens the files, and listens where others will look; `nil` if somebody else has it.
  func own() throws -> (StoreServer, StoreFile)? {
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

  /// Serves until this process leaves, or another one has the lock of a directory that was made anew; gives the error of closing
  /// the files.
  func serve(_ server: StoreServer, _ first: StoreFile) -> (any Error)? {
    var listener = first
    let (calls, expects) = state.withLock { state in
      state.role = .owner(server)
      (state.refusal, state.isSilent) = (nil, false)
      defer { (state.calls, state.unsent, state.sent, state.waitingSince) = ([:], [], 0, nil) }
      return (state.calls.sorted { $0.key < $1.key }.map(\.value), state.expects)
    }
    apply(expects, to: server.store)
    if expects.hearsLosses { server.learnKeys() }
    updateHearing(server)
    opening.signal()
    for call in calls { call.tell(.here(isAgain: call.isAgain || call.sentTo != 0)) }
    hears()
    // A process that looks for the socket in vain gives up after more than twice that time.
    let glance = 2 * limit
    var looked = now
    var (look, hasServed) = (BriefLook(), false)
    // While nobody can be let in, whoever stands outside would wake the thread all the time.
    var opensAt: Int64 = 0
    while !isLeaving, !server.isReplaced.load(ordering: .relaxed) {
      let isFull = now < opensAt
      var polled = [
        pollfd(fd: poller.descriptor, events: Int16(POLLIN), revents: 0),
        // A number below 0 is passed over.
        pollfd(fd: isFull ? -1 : listener.descriptor, events: Int16(POLLIN), revents: 0),
      ]
      let guests = server.polled(now: now)
      polled += guests.map(\.poll)
      let count = nfds_t(polled.count)
      var isFound = false
      if hasServed, look.begins() {
        isFound = BriefLook.finds(within: BriefLook.forQuestion) { unsafe poll(&polled, count, 0) > 0 }
        look.ended(isFound)
      }
      let patience = isFull ? 20 : server.isWaiting ? 100 : Int32(clamping: glance / 1_000_000)
      if !isFound { _ = unsafe poll(&polled, count, patience) }
      hasServed = polled[2...].contains { $0.revents != 0 }
      if polled[0].revents != 0 { drainWakes() }
      for (position, guest) in guests.enumerated() where polled[position + 2].revents != 0 {
        server.serve(guest.guest, polled[position + 2].revents)
      }
      if polled[1].revents != 0, !admit(from: listener.descriptor, server) { opensAt = now + 20_000_000 }
      updateHearing(server)
      var isGone = server.store.hasStoodAgain.exchange(false, ordering: .relaxed)
      if now - looked >= glance {
        looked = now
        isGone = isGone || !SharedSocket.isThere(in: server.store.directory)
        if server.store.hasSuccessor { server.standAgain() }
      }
      // The directory was removed or emptied, or somebody has tidied up: others look for the socket where it stands now.
      if isGone, let new = try? SharedSocket.listen(in: server.store.directory) { listener = new }
    }
    if server.isReplaced.load(ordering: .relaxed) {
      // Whoever asks is answered by that one.
      state.withLock { $0.role = .seeking }
      isDeaf()
    } else {
      SharedSocket.remove(in: server.store.directory)
    }
    return letGo(server)
  }

  /// Lets in whoever has come; `false` if the system does not, for want of a descriptor or of memory, say.
  private func admit(from listener: Int32, _ server: StoreServer) -> Bool {
    var arrived: Int32 = 0
    for _ in 0..<64 {
      arrived = settings.calls.accept(listener)
      if arrived >= 0 {
        server.admit(FrameSocket(arrived, wake: { [weak self] in self?.wake() }), now: now)
      } else if errno != ECONNABORTED, errno != EINTR {
        // Those two are no reason to keep the others waiting: somebody hung up while they waited, or a signal came.
        return errno == EAGAIN || errno == EWOULDBLOCK
      }
    }
    return arrived >= 0
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
}

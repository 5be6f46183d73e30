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

/// What the thread of a shared directory does while another process owns the files.
extension CommonStore {
  func connect() throws -> FrameSocket? {
    // It may have been removed and made again since.
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

  /// Listens to the owner until it is gone; `false` if it never let this process in, or was gone again within the limit.
  ///
  /// - Throws: ``CacheError`` if it says why.
  func listen(to socket: FrameSocket) throws -> Bool {
    var isWelcome = false
    var isOpen = true
    var refusal: CacheError?
    let came = now
    // An owner that lets nobody in may have given the lock back.
    while isOpen, !isLeaving, isWelcome || now - came <= limit {
      var polled = [
        pollfd(fd: poller.descriptor, events: Int16(POLLIN), revents: 0),
        pollfd(
          fd: socket.descriptor, events: Int16(POLLIN | (socket.isWaitingForRoom ? POLLOUT : 0)), revents: 0),
      ]
      let looked = now
      _ = unsafe poll(&polled, 2, patience)
      if polled[0].revents != 0 { drainWakes() }
      let events = polled[1].revents
      if events & Int16(POLLOUT) != 0 { socket.flush() }
      if events & ~Int16(POLLOUT) != 0 {
        do {
          isOpen = try socket.receive { try take($0, from: socket, &isWelcome) }
        } catch { (isOpen, refusal) = (false, error as? CacheError) }
      }
      // A process that was stopped meanwhile looks first at what was answered before.
      if now - looked <= limit { tick() }
    }
    socket.breakOff()
    // What this owner answered must not be taken for the next one's answer.
    socket.endReceiving()
    isDeaf()
    for call in state.withLock({ $0.loseOwner(isWelcome ? now : nil) }) { call.tell(.silence) }
    if let refusal { throw refusal }
    return isWelcome && now - came > limit
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
    // What was changed meanwhile may have been told, and may not have been heard.
    if wasSilent, expects.hearsChanges, case .guest(_, _, isWelcome: true) = state.withLock({ $0.role }) {
      tell(expects)
    }
  }

  /// Receives what the owner sends, on the thread of one who waits for it, if that is nobody else's business just then.
  func listenBriefly(to socket: FrameSocket) {
    var isWelcome = true
    do { _ = try socket.receiveIfFree { try take($0, from: socket, &isWelcome) } } catch { socket.breakOff() }
  }

  private func take(_ frames: [SharedFrame], from socket: FrameSocket, _ isWelcome: inout Bool) throws {
    if !frames.isEmpty { heard() }
    for frame in frames { try take(frame, from: socket, &isWelcome) }
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
  func tick() {
    let now = now
    switch state.withLock({ $0.course(at: now, limit: limit) }) {
    case .nothing: return
    case .ping(let socket):
      if let ping = try? StoreRequest.ping.frame(number: 0, origin: 0, at: now, isAgain: false) { socket.send(ping) }
    case .give(let calls):
      for call in calls { call.tell(.silence) }
      isDeaf()
    }
  }
}

extension CommonStore.State {
  enum Course {
    case ping(FrameSocket)
    case give([CommonStore.Call])
    case nothing
  }

  /// Notes that the owner is gone: what has no answer is asked again, in the order in which it was asked.
  ///
  /// - Parameter moment: Now, if that owner had let this process in.
  /// - Returns: What is not asked again.
  mutating func loseOwner(_ moment: Int64?) -> [CommonStore.Call] {
    (role, pingedAt) = (.seeking, nil)
    for (number, call) in calls where call.isSent {
      calls[number]?.isSent = false
      calls[number]?.ends += 1
    }
    let given = calls.filter { $0.value.ends >= CommonStore.mostEnds }
    for number in given.keys { calls[number] = nil }
    (unsent, sent) = (calls.keys.sorted(), 0)
    if calls.isEmpty { waitingSince = nil } else { waitingSince = moment ?? waitingSince }
    return Array(given.values)
  }

  /// What to do about an owner of which nothing is heard.
  ///
  /// There is a ping in every silence: a guest that was stopped itself has only not asked. Its answer ends the silence, however late.
  mutating func course(at now: Int64, limit: Int64) -> Course {
    let isHearing = isHearing && !ears.isEmpty
    guard let since = waitingSince ?? (isHearing ? lastHeard : pingedAt) else { return .nothing }
    let quiet = now - max(lastHeard, since)
    if case .guest(let socket, _, isWelcome: true) = role {
      guard let pinged = pingedAt else {
        guard quiet > limit / 3 else { return .nothing }
        pingedAt = now
        return .ping(socket)
      }
      guard now - pinged > limit - limit / 3 else { return .nothing }
    }
    guard quiet > limit else { return .nothing }
    isSilent = true
    defer { (calls, unsent, sent, waitingSince) = ([:], [], 0, nil) }
    return .give(Array(calls.values))
  }
}

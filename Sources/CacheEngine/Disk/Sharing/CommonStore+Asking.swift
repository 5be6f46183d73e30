import CacheCore
import Dispatch
import Synchronization

/// How a process asks whoever owns the files, itself or another.
extension CommonStore {
  var storeHere: SegmentedStore? {
    state.withLock { if case .owner(let server) = $0.role { server.store } else { nil } }
  }

  func find(_ key: StoreKey, includingExpired: Bool) async throws -> FoundAnswer {
    if let store = storeHere {
      do {
        switch try await store.read(key, includingExpired: includingExpired) {
        case .found(let found): return .found(FoundValue(found))
        case .miss(let reason): return .miss(reason)
        }
      } catch let error as CacheError where hasGivenUp(store, error) {}
    }
    switch try await ask(.get(key, includingExpired: includingExpired), from: 0) {
    case .found(let found)?: return .found(found)
    case .miss(let reason)?: return .miss(reason)
    case .failed(let error)?: throw error
    case nil: return .miss(.unanswered)
    default: throw Self.nonsense
    }
  }

  func change(_ request: StoreRequest, from origin: UInt64) async throws -> Int {
    switch try await ask(request, from: origin) {
    case .count(let count)?: return count
    case .failed(let error)?: throw error
    case nil: throw silence
    default: throw Self.nonsense
    }
  }

  func verify(repairing: Bool) async throws -> StoreReport {
    switch try await ask(.verify(repairing: repairing), from: 0) {
    case .report(let report)?: return report
    case .failed(let error)?: throw error
    case nil: throw silence
    default: throw Self.nonsense
    }
  }

  func list(from place: Int, of owner: UInt64) async throws -> (entries: [ListedEntry], next: Int?, owner: UInt64) {
    switch try await ask(.list(from: UInt64(place), of: owner), from: 0) {
    case .page(let entries, let next, let owner)?: return (entries, next.map { Int(clamping: $0) }, owner)
    case .failed(let error)?: throw error
    case nil: throw silence
    default: throw Self.nonsense
    }
  }

  func created(_ key: StoreKey) throws -> Int64? {
    switch try askNow(.created(key)) {
    case .created(let created)?: return created
    case .failed(let error)?: throw error
    case nil: return nil
    default: throw Self.nonsense
    }
  }

  var usage: LevelUsage {
    learnUsage()
    return state.withLock { $0.usage }
  }

  var traffic: StoreTraffic {
    learnUsage()
    return state.withLock { $0.traffic }
  }

  private func learnUsage() {
    guard case .usage(let usage, let traffic)? = try? askNow(.usage) else { return }
    state.withLock { ($0.usage, $0.traffic) = (usage, traffic) }
  }

  private static let nonsense = CacheError(
    .diskReadFailed, "the process that writes the files gave an answer to another question")

  private var silence: CacheError {
    let owner = state.withLock { state in
      if case .guest(_, let process, _) = state.role { "process \(process), which" } else { "the process that" }
    }
    return CacheError(
      .timedOut,
      "\(owner) writes the files in \(directory.path) does not answer; if it is stopped, let it go on or end it")
  }

  /// The answer of whoever owns the files; `nil` if nobody answers.
  private func ask(_ request: StoreRequest, from origin: UInt64) async throws -> StoreReply? {
    var isAgain = false
    while true {
      if case .owner(let server) = state.withLock({ $0.role }) {
        let reply = await server.perform(request, from: origin, isAgain: isAgain)
        if case .failed(let error) = reply, hasGivenUp(server.store, error) { continue }
        return reply
      }
      let outcome = await outcome(of: request, origin, isAgain)
      switch outcome {
      case .here(let wasSent): isAgain = isAgain || wasSent
      default: return try read(outcome)
      }
    }
  }

  /// Whether a store refused what was asked because this process has not owned the files since: whoever owns them is asked.
  private func hasGivenUp(_ store: SegmentedStore, _ error: CacheError) -> Bool {
    error.code == .closed && storeHere !== store
  }

  private func outcome(of request: StoreRequest, _ origin: UInt64, _ isAgain: Bool) async -> Outcome {
    guard case .get = request else {
      return await withCheckedContinuation { continuation in
        begin(request, origin, isAgain) { continuation.resume(returning: $0) }
      }
    }
    let answer = Answer()
    if let socket = begin(request, origin, isAgain, { answer.give($0) }), state.withLock({ $0.look.begins() }) {
      let isFound = BriefLook.finds(within: BriefLook.forAnswer) {
        listenBriefly(to: socket)
        return answer.isThere
      }
      state.withLock { $0.look.ended(isFound) }
    }
    return await answer.outcome
  }

  /// The same while the thread of the caller waits.
  private func askNow(_ request: StoreRequest) throws -> StoreReply? {
    while true {
      if case .owner(let server) = state.withLock({ $0.role }) {
        switch request {
        case .created(let key): return .created(server.store.created(key))
        default: return .usage(server.store.usage, server.store.traffic)
        }
      }
      let answer = ThreadAnswer()
      begin(request, 0, false) { answer.give($0) }
      let outcome = answer.wait()
      if case .here = outcome { continue }
      return try read(outcome)
    }
  }

  private func read(_ outcome: Outcome) throws -> StoreReply? {
    switch outcome {
    case .frame(let frame):
      do {
        return try StoreReply(frame.kind, try frame.load(limit: StoreServer.longestBody(settings.capacity)))
      } catch is ProtocolViolation {
        throw Self.nonsense
      } catch let failure as SystemFailure {
        throw CacheError(.diskReadFailed, "\(failure.text), for the store in \(directory.path)", underlying: failure)
      }
    case .silence, .here: return nil
    case .failed(let error): throw error
    }
  }

  /// Sends a question, or has it sent as soon as somebody is there to answer.
  ///
  /// - Returns: Where it was sent, if its answer is the only one that is waited for.
  @discardableResult
  func begin(
    _ request: StoreRequest, _ origin: UInt64, _ isAgain: Bool, _ tell: @escaping @Sendable (Outcome) -> Void
  ) -> FrameSocket? {
    let now = SystemClock().now.nanoseconds
    enum Course {
      case tell(Outcome)
      case send(FrameSocket, [UInt64], isAlone: Bool)
      case wait
    }
    let (course, isAsleep) = state.withLock { state -> (Course, Bool) in
      if state.isLeaving { return (.tell(.failed(closed)), false) }
      if case .owner = state.role { return (.tell(.here(isAgain: false)), false) }
      if let refusal = state.refusal { return (.tell(.failed(refusal)), false) }
      if state.isSilent { return (.tell(.silence), false) }
      state.lastNumber += 1
      state.calls[state.lastNumber] = Call(
        request: request, origin: origin, isAgain: isAgain, tell: tell)
      state.unsent.append(state.lastNumber)
      state.waitingSince = state.waitingSince ?? now
      defer { state.isAsleep = false }
      guard case .guest(let socket, _, isWelcome: true) = state.role else { return (.wait, state.isAsleep) }
      return (.send(socket, state.sendable(), isAlone: state.calls.count == 1), state.isAsleep)
    }
    var answering: FrameSocket?
    switch course {
    case .tell(let outcome): tell(outcome)
    case .send(let socket, let numbers, let isAlone):
      send(numbers, to: socket)
      if isAlone { answering = socket }
    case .wait: break
    }
    // Silence has to be noticed from now on.
    if isAsleep { wake() }
    return answering
  }

  var closed: CacheError { CacheError(.closed, "the store in \(directory.path) is closed") }

  /// Sends questions whose turn it is.
  func send(_ numbers: [UInt64], to socket: FrameSocket) {
    for number in numbers {
      guard let call = state.withLock({ $0.sending(number) }) else { continue }
      do {
        let frame = try call.request.frame(
          number: number, origin: call.origin, at: SystemClock().now.nanoseconds, isAgain: call.isAgain)
        if case .file(_, let length) = frame.body, length > StoreServer.longestBody(settings.capacity) {
          throw CacheError(
            .tooLarge, "a value of \(length) bytes does not fit into a store of \(settings.capacity) bytes")
        }
        socket.send(frame)
      } catch {
        finish(number)?.tell(.failed(failure(error)))
      }
    }
  }

  /// What is told of a question that cannot be sent.
  func failure(_ error: any Error) -> CacheError {
    let text = (error as? SystemFailure)?.text ?? String(describing: error)
    return (error as? CacheError)
      ?? CacheError(.diskWriteFailed, "\(text), for the store in \(directory.path)", underlying: error)
  }

  /// Takes out a question that has its answer.
  func finish(_ number: UInt64) -> Call? {
    state.withLock { state in
      guard let call = state.calls.removeValue(forKey: number) else { return nil }
      if call.isSent { state.sent -= call.weight }
      if state.calls.isEmpty { state.waitingSince = nil }
      return call
    }
  }
}

extension CommonStore.State {
  /// Notes to whom a question is sent.
  mutating func sending(_ number: UInt64) -> CommonStore.Call? {
    guard let call = calls[number] else { return nil }
    calls[number]?.isAgain = call.isAgain || (call.sentTo != 0 && call.sentTo != ownerInstance)
    calls[number]?.sentTo = ownerInstance
    return calls[number]
  }

  /// Takes the questions that can be sent now.
  mutating func sendable() -> [UInt64] {
    var count = 0
    for number in unsent {
      let weight = calls[number]?.weight ?? 0
      guard sent + weight <= CommonStore.mostSent else { break }
      calls[number]?.isSent = true
      sent += weight
      count += 1
    }
    defer { unsent.removeFirst(count) }
    return Array(unsent.prefix(count))
  }
}

/// What a task waits for, once it has looked for it in vain.
private final class Answer: Sendable {
  private enum State {
    case awaited(CheckedContinuation<CommonStore.Outcome, Never>?)
    case given(CommonStore.Outcome)
  }

  private let state = Mutex(State.awaited(nil))

  var isThere: Bool { state.withLock { if case .given = $0 { true } else { false } } }

  func give(_ given: CommonStore.Outcome) {
    let waiting = state.withLock { state in
      defer { state = .given(given) }
      if case .awaited(let waiting) = state { return waiting }
      return nil
    }
    waiting?.resume(returning: given)
  }

  var outcome: CommonStore.Outcome {
    get async {
      await withCheckedContinuation { continuation in
        let given = state.withLock { state -> CommonStore.Outcome? in
          if case .given(let given) = state { return given }
          state = .awaited(continuation)
          return nil
        }
        if let given { continuation.resume(returning: given) }
      }
    }
  }
}

/// What a thread waits for.
private final class ThreadAnswer: Sendable {
  private let outcome = Mutex<CommonStore.Outcome?>(nil)
  private let isThere = DispatchSemaphore(value: 0)

  func give(_ given: CommonStore.Outcome) {
    outcome.withLock { $0 = given }
    isThere.signal()
  }

  func wait() -> CommonStore.Outcome {
    isThere.wait()
    return outcome.withLock { $0 } ?? .silence
  }
}

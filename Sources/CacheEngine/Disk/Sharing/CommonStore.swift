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

/// The store of a directory that several processes use, as one of them has it.
///
/// Who gets the lock of the directory owns the files, and serves the others over a socket beside them. When it ends, however it
/// ends, the system gives the lock back and the others see their connections end; one of them gets the lock then, reads the
/// log, and serves. A thread of its own seeks, serves or listens; callers send where they are, and answers are told from
/// that thread.
final class CommonStore: StoreElsewhere {
  struct Settings: Sendable {
    var path: String
    var capacity: Int
    var durability: Durability
    var clock: any CacheClock
    var calls: FileCalls
    var cipher: (any StoreCipher)?
    /// For how long an owner may be silent.
    var limit: Int64
    /// Shared with no other level of this process.
    var isApart = false
  }

  enum Role: Sendable {
    case seeking
    case owner(StoreServer)
    case guest(FrameSocket, process: Int32, isWelcome: Bool)
  }

  /// What becomes of a question.
  enum Outcome: Sendable {
    case reply(StoreReply)
    /// A frame that is still to be read.
    case frame(SharedFrame)
    /// This process owns the files now.
    case here(isAgain: Bool)
    case silence
    case failed(CacheError)
  }

  struct Call: Sendable {
    var request: StoreRequest
    var origin: UInt64
    var isSent = false
    /// The owner that it was sent to last; 0 if it never was.
    var sentTo: UInt64 = 0
    /// Another owner than the one that it is sent to may have carried it out.
    var isAgain = false
    var tell: @Sendable (Outcome) -> Void
  }

  struct State: Sendable {
    var role = Role.seeking
    var calls: [UInt64: Call] = [:]
    /// In the order in which they were asked.
    var unsent: [UInt64] = []
    var sent = 0
    var lastNumber: UInt64 = 0
    /// When something was heard last, and when somebody began to wait for the owner.
    var lastHeard: Int64
    var waitingSince: Int64?
    var isSilent = false
    var pingedAt: Int64?
    /// The thread waits until it is woken.
    var isAsleep = false
    var ownerInstance: UInt64 = 0
    /// Why nobody lets this process in, or why it cannot own the files.
    var refusal: CacheError?
    var expects = StoreExpectation()
    var ears: [UInt64: (origin: UInt64, hear: @Sendable (HeardStoreChange) -> Void)] = [:]
    var isHearing = false
    var listeners: [ObjectIdentifier: @Sendable (SegmentedStore.Loss) -> Void] = [:]
    var isLeaving = false
    var isEnded = false
    var closing: [CheckedContinuation<Void, any Error>] = []
    var usage: LevelUsage
    var traffic = StoreTraffic()
  }

  /// So many changes may be under way at once; the rest waits here.
  static let mostSent = 2_048

  let settings: Settings
  let limit: Int64
  let instance = UInt64.random(in: 1 ... .max)
  let part: CommonStores.Part
  let state: Mutex<State>
  let directory: StoreDirectory
  let (poller, waker): (StoreFile, StoreFile)
  /// Left when it is known whether the directory can be used.
  let opening = DispatchSemaphore(value: 0)
  let ended = DispatchGroup()
  /// Tells what left, for those may take their time.
  let telling = DispatchQueue(label: "CacheEngine.store.telling")

  var clock: any CacheClock { settings.clock }

  init(_ settings: Settings, _ directory: StoreDirectory) throws {
    self.settings = settings
    self.directory = directory
    limit = settings.limit
    part = CommonStores.Part(identity: directory.identity, number: settings.isApart ? instance : 0)
    state = Mutex(
      State(
        lastHeard: SystemClock().now.nanoseconds,
        expects: StoreExpectation(isSynced: settings.durability == .synced),
        usage: LevelUsage(count: 0, cost: 0, capacity: settings.capacity)))
    var pair: [Int32] = [-1, -1]
    guard unsafe cstore_pair(&pair) == 0 else { throw SystemFailure("socketpair") }
    (poller, waker) = (StoreFile(pair[0]), StoreFile(pair[1]))
  }

  /// Who serves the entries.
  var owner: StoreOwner {
    state.withLock { state in
      switch state.role {
      case .owner: .thisProcess
      case .guest(_, let process, isWelcome: true) where !state.isSilent: .process(process)
      default: .nobody
      }
    }
  }

  /// For tests: whether so many levels are told what leaves.
  func hearsLossesEverywhere(_ count: Int) -> Bool {
    guard case .owner(let server) = state.withLock({ $0.role }) else { return false }
    let here = state.withLock { $0.listeners.count }
    return here + server.lossHearers == count && !server.store.listeners.withLock { $0.isEmpty }
  }

  func wake() {
    var byte: UInt8 = 1
    _ = unsafe cstore_send(waker.descriptor, &byte, 1, -1)
  }

  // MARK: Asking

  func find(_ key: StoreKey, includingExpired: Bool) async throws -> FoundAnswer {
    if case .owner(let server) = state.withLock({ $0.role }) {
      let known = includingExpired ? nil : try server.store.readAtOnce(key)
      let answer =
        if let known { known } else { try await server.store.read(key, includingExpired: includingExpired) }
      switch answer {
      case .found(let found): return .found(FoundValue(found))
      case .miss(let reason): return .miss(reason)
      }
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
        return await server.perform(request, from: origin, isAgain: isAgain)
      }
      let outcome = await withCheckedContinuation { continuation in
        begin(request, origin, isAgain) { continuation.resume(returning: $0) }
      }
      switch outcome {
      case .here(let wasSent): isAgain = isAgain || wasSent
      default: return try read(outcome)
      }
    }
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
      let answer = Answer()
      begin(request, 0, false) { answer.give($0) }
      let outcome = answer.wait()
      if case .here = outcome { continue }
      return try read(outcome)
    }
  }

  private func read(_ outcome: Outcome) throws -> StoreReply? {
    switch outcome {
    case .reply(let reply): return reply
    case .frame(let frame):
      do {
        return try StoreReply(frame.kind, try frame.load(limit: StoreServer.longestBody(settings.capacity)))
      } catch is ProtocolViolation { throw Self.nonsense }
    case .silence, .here: return nil
    case .failed(let error): throw error
    }
  }

  /// Sends a question, or has it sent as soon as somebody is there to answer.
  private func begin(
    _ request: StoreRequest, _ origin: UInt64, _ isAgain: Bool, _ tell: @escaping @Sendable (Outcome) -> Void
  ) {
    let now = SystemClock().now.nanoseconds
    enum Course {
      case tell(Outcome)
      case send(FrameSocket, [UInt64])
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
      return (.send(socket, state.sendable()), state.isAsleep)
    }
    switch course {
    case .tell(let outcome): return tell(outcome)
    case .send(let socket, let numbers): send(numbers, to: socket)
    case .wait: break
    }
    // Silence has to be noticed from now on.
    if isAsleep { wake() }
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

  private func failure(_ error: any Error) -> CacheError {
    (error as? CacheError)
      ?? CacheError(.diskWriteFailed, (error as? SystemFailure)?.text ?? String(describing: error), underlying: error)
  }

  /// Takes a question out that has its answer.
  func finish(_ number: UInt64) -> Call? {
    state.withLock { state in
      guard let call = state.calls.removeValue(forKey: number) else { return nil }
      if call.isSent { state.sent -= 1 }
      if state.calls.isEmpty { state.waitingSince = nil }
      return call
    }
  }

  // MARK: What levels expect

  func keepExpired(for duration: Duration) {
    expect { $0.keepsExpired = max($0.keepsExpired, duration.clampedNanoseconds) }
  }

  func expectSyncedWrites() { expect { $0.isSynced = true } }

  func listen(_ level: ObjectIdentifier, _ listener: @escaping @Sendable (SegmentedStore.Loss) -> Void) {
    state.withLock { $0.listeners[level] = listener }
    expect { $0.hearsLosses = true }
    if case .owner(let server) = state.withLock({ $0.role }) { server.store.learnKeys() }
    wake()
  }

  func unlisten(_ level: ObjectIdentifier) { _ = state.withLock { $0.listeners.removeValue(forKey: level) } }

  private func expect(_ change: (inout StoreExpectation) -> Void) {
    let (role, expects, hasChanged) = state.withLock { state in
      let before = state.expects
      change(&state.expects)
      return (state.role, state.expects, before != state.expects)
    }
    guard hasChanged else { return }
    switch role {
    case .owner(let server): apply(expects, to: server.store)
    case .guest(_, _, isWelcome: true): tell(expects)
    // Whoever lets this process in is told then.
    default: break
    }
  }

  /// Tells the owner, who says when it is heard.
  func tell(_ expects: StoreExpectation) {
    begin(.expect(expects), 0, false) { [self] outcome in
      if case .frame = outcome, expects.hearsChanges { hears() }
    }
  }

  func hears() {
    let ears = state.withLock { state in
      state.isHearing = true
      return Array(state.ears.values)
    }
    for ear in ears { ear.hear(.everything) }
  }

  func isDeaf() {
    let (ears, lastHeard) = state.withLock { state in
      defer { state.isHearing = false }
      return (state.isHearing ? Array(state.ears.values) : [], state.lastHeard)
    }
    for ear in ears { ear.hear(.lost(lastHeard)) }
  }

  func apply(_ expects: StoreExpectation, to store: SegmentedStore) {
    store.keepExpired(for: .nanoseconds(expects.keepsExpired))
    if expects.isSynced { store.expectSyncedWrites() }
  }

  // MARK: Hearing

  /// Tells what others change than the level with a number, until ``stopHearing(_:)`` is called with what this gives.
  func hear(as origin: UInt64, _ ear: @escaping @Sendable (HeardStoreChange) -> Void) -> UInt64 {
    let number = UInt64.random(in: 0 ... .max)
    let isHearing = state.withLock { state in
      state.ears[number] = (origin, ear)
      return state.isHearing && state.expects.hearsChanges
    }
    if isHearing { ear(.everything) }
    expect { $0.hearsChanges = true }
    if !isHearing, case .owner = state.withLock({ $0.role }) { hears() }
    wake()
    return number
  }

  func stopHearing(_ number: UInt64) { _ = state.withLock { $0.ears.removeValue(forKey: number) } }

  func tellHere(_ change: StoreChange, _ origin: UInt64) {
    let ears = state.withLock { $0.ears.values.filter { $0.origin != origin } }
    for ear in ears { ear.hear(.change(change)) }
  }

  func tellHere(_ loss: SegmentedStore.Loss) {
    let listeners = state.withLock { Array($0.listeners.values) }
    guard !listeners.isEmpty else { return }
    telling.async { for listener in listeners { listener(loss) } }
  }

  // MARK: Leaving

  func leave() { CommonStores.leave(self) }

  func close() async throws {
    try await withCheckedThrowingContinuation { continuation in
      let isLast = CommonStores.leave(self, continuation)
      if !isLast { continuation.resume() }
    }
  }
}

/// What a level hears of a shared directory.
enum HeardStoreChange: Sendable {
  case change(StoreChange)
  /// What is changed from now on is heard.
  case everything
  /// Nothing is heard any more, since then by the boot clock.
  case lost(Int64)
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
    guard !unsent.isEmpty else { return [] }
    let room = max(0, CommonStore.mostSent - sent)
    let numbers = Array(unsent.prefix(room))
    unsent.removeFirst(numbers.count)
    sent += numbers.count
    for number in numbers { calls[number]?.isSent = true }
    return numbers
  }
}

/// What a thread waits for.
private final class Answer: Sendable {
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

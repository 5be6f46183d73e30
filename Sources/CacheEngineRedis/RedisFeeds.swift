#if Redis
import CacheEngine
import CacheEngineShared
import Synchronization

/// Those who listen for changes on a connection, and what the server was asked to tell.
final class RedisFeeds: Sendable {
  /// What a proxy in front of the server may not know, and hang up at.
  enum Question: String, Sendable {
    case track = "report changes"
    case publish = "publish changes"
  }

  private struct Listener: Sendable {
    let prefixes: [[UInt8]]
    let send: @Sendable (SharedInvalidation) -> Void
  }

  /// What is to be told to whom.
  private struct Decision: Sendable {
    let change: SharedInvalidation
    let listeners: [Listener]
  }

  private struct State: Sendable {
    var listeners: [Int: Listener] = [:]
    /// What this connection tells of.
    var connection: ObjectIdentifier?
    var tracked: Set<[UInt8]> = []
    /// Those who know that they hear.
    var told: Set<Int> = []
    /// What a connection has ended of, and none has been asked since that did not.
    var endings: Set<Question> = []
    /// Who waits for somebody to have tried whether that is still so.
    var trials: [Question: [UInt64: CheckedContinuation<Void, any Error>]] = [:]
    var lastWaiter: UInt64 = 0
    /// What is not yet told, in the order in which it was decided.
    var decided: [Decision] = []
    var isTelling = false

    mutating func next() -> Decision? {
      isTelling = !decided.isEmpty
      return isTelling ? decided.removeFirst() : nil
    }
  }

  private let names: RedisNames
  private let state = Mutex(State())

  init(_ names: RedisNames) { self.names = names }

  /// Whether the server tells by itself of names that begin so if it is asked to tell of others.
  private func covers(_ asked: [UInt8], _ prefix: [UInt8]) -> Bool {
    names.written(prefix).starts(with: names.written(asked))
  }

  var isEmpty: Bool { state.withLock { $0.listeners.isEmpty } }

  func add(_ number: Int, _ prefixes: [[UInt8]], _ send: @escaping @Sendable (SharedInvalidation) -> Void) {
    state.withLock { $0.listeners[number] = Listener(prefixes: prefixes, send: send) }
  }

  func remove(_ number: Int) {
    // What goes with it dies outside of the lock.
    let gone = state.withLock { state in
      state.told.remove(number)
      return state.listeners.removeValue(forKey: number)
    }
    _ = gone
  }

  /// Whether anybody hears by a connection.
  func isTold(on connection: RedisConnection) -> Bool {
    state.withLock { $0.connection == ObjectIdentifier(connection) && !$0.told.isEmpty }
  }

  /// Whether somebody does not know yet that he hears by a connection, be it tracked for others already or not.
  func isAwaited(on connection: RedisConnection) -> Bool {
    state.withLock { $0.connection == ObjectIdentifier(connection) && $0.told.count < $0.listeners.count }
  }

  /// What the server has yet to be asked to tell on a connection, which takes no prefix that begins with another.
  func missing(on connection: RedisConnection) -> [[UInt8]] {
    state.withLock { state in
      if state.connection != ObjectIdentifier(connection) {
        state.connection = ObjectIdentifier(connection)
        state.tracked = []
        state.told = []
      }
      let wanted = Set(state.listeners.values.flatMap(\.prefixes)).filter { prefix in
        !state.tracked.contains { covers($0, prefix) }
      }
      return wanted.filter { prefix in !wanted.contains { $0 != prefix && covers($0, prefix) } }
    }
  }

  /// All prefixes to ask the server for if these replace some that it tracks now; `nil` if they replace none.
  func widened(by prefixes: [[UInt8]]) -> [[UInt8]]? {
    let tracked = state.withLock { $0.tracked }
    let others = tracked.filter { old in !prefixes.contains { covers($0, old) } }
    return others.count == tracked.count ? nil : others + prefixes
  }

  /// The server tells of these as well: those who now hear everything are told so.
  func track(_ prefixes: [[UInt8]], on connection: RedisConnection) {
    announce(.everything(.connected)) { state in
      guard state.connection == ObjectIdentifier(connection) else { return [] }
      state.tracked = state.tracked.filter { old in !prefixes.contains { covers($0, old) } }.union(prefixes)
      let new = state.listeners.filter { number, listener in
        !state.told.contains(number)
          && listener.prefixes.allSatisfy { prefix in state.tracked.contains { covers($0, prefix) } }
      }
      state.told.formUnion(new.keys)
      return Array(new.values)
    }
  }

  /// Asks what a proxy may hang up at; if a connection has ended of that, first on one of its own, with which nothing else ends.
  ///
  /// - Throws: `CacheError` with code `CacheError.Code.refusedByServer` if that ends as well.
  func ask(
    _ question: Question, on connection: RedisConnection,
    _ body: @escaping @Sendable (RedisConnection) async throws -> Void
  ) async throws {
    try await awaitTrial(of: question, connection.settings, body)
    do { try await connection.outlive(body) } catch {
      if connection.hasEnded(of: error) { _ = state.withLock { $0.endings.insert(question) } }
      throw error
    }
  }

  /// Waits until it was tried out, if a connection has ended of a question; those who come meanwhile wait for the same trial.
  private func awaitTrial(
    of question: Question, _ settings: RedisSettings,
    _ body: @escaping @Sendable (RedisConnection) async throws -> Void
  ) async throws {
    let id = state.withLock { state in
      state.lastWaiter += 1
      return state.lastWaiter
    }
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let (isNeeded, isUnderWay) = state.withLock { state in
          guard state.endings.contains(question) else { return (false, false) }
          defer { state.trials[question, default: [:]][id] = continuation }
          return (true, state.trials[question] != nil)
        }
        guard isNeeded else { return continuation.resume() }
        if !isUnderWay { Task { await self.runTrial(of: question, settings, body) } }
        if Task.isCancelled { leaveTrial(of: question, id) }
      }
    } onCancel: {
      leaveTrial(of: question, id)
    }
  }

  private func leaveTrial(of question: Question, _ id: UInt64) {
    state.withLock { $0.trials[question]?.removeValue(forKey: id) }?.resume(throwing: CancellationError())
  }

  private func runTrial(
    of question: Question, _ settings: RedisSettings, _ body: (RedisConnection) async throws -> Void
  ) async {
    var failure: (any Error)?
    do { try await Self.tryOut(question, settings, body) } catch { failure = error }
    let waiting = state.withLock { state in
      if failure == nil { state.endings.remove(question) }
      return state.trials.removeValue(forKey: question) ?? [:]
    }
    for waiter in waiting.values {
      if let failure { waiter.resume(throwing: failure) } else { waiter.resume() }
    }
  }

  /// Whatever is answered, it is an answer, if the connection goes on.
  private static func tryOut(
    _ question: Question, _ settings: RedisSettings, _ body: (RedisConnection) async throws -> Void
  ) async throws {
    let trial = try await RedisConnection.connect(settings) { _ in
    } onClose: { _, _ in
    }
    defer { trial.close(CacheError(.closed, "it was but a trial", level: settings.name)) }
    _ = try await trial.greet(isKnown: true)
    do { try await trial.outlive(body) } catch {
      guard trial.hasEnded(of: error) else { return }
      let message =
        "at \(settings.address) connections end when the server is asked to \(question.rawValue); a proxy in front of it may not support that"
      throw CacheError(.refusedByServer, message, level: settings.name, underlying: error)
    }
  }

  /// A connection has ended.
  func lose(_ connection: RedisConnection, lastHeard: CacheInstant) {
    announce(.lost(lastHeard: lastHeard)) { state in
      guard state.connection == ObjectIdentifier(connection) else { return [] }
      defer {
        state.connection = nil
        state.told = []
      }
      return state.told.compactMap { state.listeners[$0] }
    }
  }

  func tellEverything(_ cause: InvalidationCause) {
    announce(.everything(cause)) { state in state.told.compactMap { state.listeners[$0] } }
  }

  /// Decides under the lock who is told, and tells outside of it, after all that was decided before.
  ///
  /// A thread that comes while another one tells leaves it to that one: it would overtake what that one is about to say.
  private func announce(_ change: SharedInvalidation, to decide: (inout State) -> [Listener]) {
    let tells = state.withLock { state -> Bool in
      let listeners = decide(&state)
      guard !listeners.isEmpty else { return false }
      state.decided.append(Decision(change: change, listeners: listeners))
      defer { state.isTelling = true }
      return !state.isTelling
    }
    guard tells else { return }
    while let decision = state.withLock({ $0.next() }) {
      for listener in decision.listeners { listener.send(decision.change) }
    }
  }

  func tell(_ names: [[UInt8]]) {
    let listeners = state.withLock { state in state.told.compactMap { state.listeners[$0] } }
    for listener in listeners {
      let matching = names.filter { name in listener.prefixes.contains { name.starts(with: $0) } }
      if !matching.isEmpty { listener.send(.names(matching)) }
    }
  }

  /// What was changed on this connection, which the server does not tell it.
  ///
  /// Whoever listens alone has made the change. Of several nobody knows which one did, so all are told.
  func tellOwn(_ names: [[UInt8]]) {
    let shared = state.withLock { state in
      state.listeners.count < 2
        ? []
        : names.filter { name in
          state.listeners.values.count { $0.prefixes.contains { name.starts(with: $0) } } > 1
        }
    }
    if !shared.isEmpty { tell(shared) }
  }
}

extension RedisConnection {
  /// Asks, and looks whether the connection is still there if that is refused: some proxies refuse, and hang up.
  fileprivate func outlive(_ body: (RedisConnection) async throws -> Void) async throws {
    do { try await body(self) } catch let refusal as CacheError
      where refusal.code == .refusedByServer && refusal.message != RedisNode.notAsked
    {
      do { _ = try await ask([[Array("PING".utf8)]]) } catch var error as CacheError {
        guard end != nil else { throw refusal }
        error.underlying = error.underlying ?? refusal
        throw error
      }
      throw refusal
    }
  }

  /// Whether an error is its end, and nothing that the server said.
  fileprivate func hasEnded(of error: any Error) -> Bool {
    end != nil && (error as? CacheError)?.code != .refusedByServer
  }
}
#endif

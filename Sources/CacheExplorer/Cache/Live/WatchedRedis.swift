#if Redis
import CacheEngine
import CacheEngineRedis
import CacheEngineShared
import CacheEngineTesting
import ExplorerState
import ExplorerText
import Synchronization

/// A Redis server under one level: what is heard is counted, answers are timed, and faults happen on purpose.
final class WatchedRedis: SharedStore, InvalidationBus {
  private struct State {
    weak var listener: InvalidationFeed?
    var hearing: Task<Void, Never>?
    /// Since when the server is not heard; `nil` while it is.
    var deafSince: CacheInstant?
    var deafOnPurposeSince: CacheInstant?
    var isAsked = false
    var invalidations = 0
    var doubts = 0
    /// How many changes were heard in the last seconds, by their numbers.
    var lately: [Int64: Int] = [:]
    var roundTrip: Duration?
  }

  private static let window: Int64 = 5

  private let redis: RedisStore
  private let bus: any InvalidationBus
  private let faults: FaultInjector
  private let clock: any CacheClock
  /// The server's silence is real, whatever the cache's clock says.
  private let real = SystemClock()
  private let state = Mutex(State())

  /// `bus`: Tells changes in the server's place.
  init(
    _ settings: RedisSettings, faults: FaultInjector, clock: any CacheClock, bus: (any InvalidationBus)? = nil
  ) {
    redis = RedisStore(settings)
    self.bus = bus ?? redis
    self.faults = faults
    self.clock = clock
  }

  var name: String { redis.name }

  func close() {
    redis.close()
    state.withLock { $0.hearing.take() }?.cancel()
  }

  /// How it stands with the server; what was written in vain is not known here.
  var status: SharedStatus {
    let now = real.now
    var status = SharedStatus()
    status.isConnected = redis.isConnected && !faults.fault.isDown
    status.refusal = redis.listeningError?.message
    state.withLock { state in
      status.isAsked = state.isAsked
      let since = [state.deafSince, state.deafOnPurposeSince].compactMap(\.self).min()
      status.deafFor = state.isAsked ? since.map { max(.zero, $0.duration(to: now)) } : nil
      (status.invalidations, status.doubts, status.roundTrip) = (state.invalidations, state.doubts, state.roundTrip)
      let second = now.nanoseconds / 1_000_000_000
      let heard = state.lately.reduce(0) { $0 + (second - $1.key < Self.window ? $1.value : 0) }
      status.perSecond = Double(heard) / Double(Self.window)
    }
    return status
  }

  // MARK: Store

  func timeSinceEpoch() async throws -> Duration { try await ask { try await redis.timeSinceEpoch() } }

  func read(_ names: [[UInt8]]) async throws -> [[UInt8]?] { try await ask { try await redis.read(names) } }

  func commit(
    _ changes: [SharedChange], if conditions: [SharedCondition], reading names: [[UInt8]]
  ) async throws -> [[UInt8]?]? {
    try await ask { try await redis.commit(changes, if: conditions, reading: names) }
  }

  private func ask<Answer>(_ work: () async throws -> Answer) async throws -> Answer {
    try await strike()
    let began = real.now
    let answer = try await work()
    let trip = began.duration(to: real.now)
    state.withLock { $0.roundTrip = trip }
    return answer
  }

  /// A fault; a server that is too slow on purpose is given up on like any other.
  private func strike() async throws {
    let limit = redis.settings.commandLimit
    guard let latency = faults.fault.latency, latency.upperBound > limit else {
      return try await faults.strike(level: name)
    }
    try await withThrowingTaskGroup(of: Void.self) { [faults, name, clock] group in
      group.addTask { try await faults.strike(level: name) }
      group.addTask {
        try await clock.sleep(until: clock.now.advanced(by: limit), tolerance: nil)
        throw CacheError(.timedOut, "the server did not answer within \(Quantity.text(limit))", level: name)
      }
      defer { group.cancelAll() }
      try await group.next()
    }
  }

  // MARK: Bus

  func changes(of prefixes: [[UInt8]]) -> InvalidationFeed {
    let feed = InvalidationFeed { [weak self] in self?.state.withLock { $0.hearing.take() }?.cancel() }
    let now = real.now
    // Before anything can be heard: a fast server tells at once that it does.
    state.withLock { state in
      state.listener = feed
      state.isAsked = true
      state.deafSince = now
    }
    let source = bus.changes(of: prefixes)
    let hearing = Task { [weak self] in for await change in source { self?.heard(change) } }
    state.withLock { $0.hearing = hearing }
    return feed
  }

  func heard(_ change: SharedInvalidation) {
    let second = real.now.nanoseconds / 1_000_000_000
    // Told under the lock, so that nothing is told in another order than it was noted.
    state.withLock { state in
      switch change {
      case .names(let names):
        guard state.deafOnPurposeSince == nil else { return }
        state.invalidations += names.count
        state.lately[second, default: 0] += names.count
        state.lately = state.lately.filter { second - $0.key < Self.window }
      case .everything:
        state.deafSince = nil
        guard state.deafOnPurposeSince == nil else { return }
        state.doubts += 1
      case .lost(let lastHeard): state.deafSince = state.deafSince ?? lastHeard
      }
      if state.deafOnPurposeSince == nil { state.listener?.send(change) }
    }
  }

  /// Whether nothing is heard on purpose.
  var isDeaf: Bool { state.withLock { $0.deafOnPurposeSince != nil } }

  /// Hears nothing from now on, or everything again.
  func turn(deaf isDeaf: Bool) {
    let now = real.now
    state.withLock { state in
      guard (state.deafOnPurposeSince != nil) != isDeaf else { return }
      state.deafOnPurposeSince = isDeaf ? now : nil
      guard state.deafSince == nil else { return }
      // What was said meanwhile is not known.
      state.listener?.send(isDeaf ? .lost(lastHeard: now) : .everything(.connected))
    }
  }
}
#endif

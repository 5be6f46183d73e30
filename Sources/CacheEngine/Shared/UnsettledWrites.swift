import CacheCore
import Synchronization

/// The writes of a shared level of which nobody knows what they left behind, until the store has been set right.
///
/// Whatever was to be written, the name is removed when the store answers again: meanwhile others may have written a newer
/// value, and nobody heard. What stands for many, a stamp, is renewed.
final class UnsettledWrites: Sendable {
  /// A name, and the number of the write that failed last.
  struct Names: Sendable {
    var records: [[UInt8]: UInt64] = [:]
    var stamps: [[UInt8]: UInt64] = [:]

    var count: Int { records.count + stamps.count }
    var all: [[UInt8]] { Array(records.keys) + Array(stamps.keys) }
  }

  /// What came of one round of setting names right.
  enum Progress: Sendable {
    /// Nothing is in doubt any more.
    case all
    case some
    /// There was nothing that could be set right by now.
    case none
  }

  private struct State {
    var names = Names()
    /// What stamps were to be, which failed to be renewed: where that stands, they were.
    var tried: [[UInt8]: [UInt8]] = [:]
    var number: UInt64 = 0
    var recovery: Task<Void, Never>?
    var listeners: [Listener] = []
    /// How many names are set right at once: fewer after that has failed, for one of them may be why.
    var most = UnsettledWrites.most
    /// Those that failed although the store carried out something else just before, and when, counted in trials.
    var suspects: [[UInt8]: Int] = [:]
    var trials = 0
    /// When one of them is tried again, alone, and how long after that if it fails.
    var nextTrial = CacheInstant(nanoseconds: .min)
    var pause = UnsettledWrites.shortestPause
    /// What is being set right, and who waits for the end of that in order to write.
    var repairing = Names()
    var waiting: [CheckedContinuation<Void, Never>] = []
    /// How many writes of a key in doubt are under way.
    var writing: [[UInt8]: Int] = [:]

    /// What is set right next.
    mutating func next(_ now: CacheInstant) -> Names {
      guard repairing.count == 0 else { return Names() }
      let candidates = Names(records: names.records.filter { writing[$0.key] == nil }, stamps: names.stamps)
      suspects = suspects.filter { names.records[$0.key] != nil || names.stamps[$0.key] != nil }
      let trial = now < nextTrial ? nil : suspects.filter { writing[$0.key] == nil }.min { $0.value < $1.value }?.key
      func chosen(_ names: [[UInt8]: UInt64], _ room: Int) -> [[UInt8]: UInt64] {
        var chosen: [[UInt8]: UInt64] = [:]
        for (name, number) in names where chosen.count < room {
          if trial == nil ? suspects[name] == nil : name == trial { chosen[name] = number }
        }
        return chosen
      }
      repairing.stamps = chosen(candidates.stamps, most)
      repairing.records = chosen(candidates.records, most - repairing.stamps.count)
      return repairing
    }

    /// Notes that what was being set right is, and returns who has waited for it.
    mutating func settled() -> [CheckedContinuation<Void, Never>] {
      for (id, number) in repairing.records where names.records[id] == number { names.records[id] = nil }
      for (stamp, number) in repairing.stamps where names.stamps[stamp] == number { names.stamps[stamp] = nil }
      most = min(most * 2, UnsettledWrites.most)
      if repairing.all.contains(where: { suspects[$0] != nil }) {
        (nextTrial, pause) = (CacheInstant(nanoseconds: .min), UnsettledWrites.shortestPause)
      }
      return ended()
    }

    /// Notes that this has failed, and whether the name is why.
    mutating func failed(_ now: CacheInstant, isNameWhy: Bool) -> [CheckedContinuation<Void, Never>] {
      if isNameWhy {
        trials += 1
        for name in repairing.all { suspects[name] = trials }
        nextTrial = now.advanced(by: pause)
        pause = min(pause * 2, UnsettledWrites.longestPause)
      } else {
        most = max(1, repairing.count / 2)
      }
      return ended()
    }

    private mutating func ended() -> [CheckedContinuation<Void, Never>] {
      defer { (repairing, waiting) = (Names(), []) }
      return waiting
    }
  }

  private static let (shortestPause, longestPause) = (Duration.seconds(5), Duration.seconds(300))
  private static let most = 256

  private struct Listener {
    weak var feed: InvalidationFeed?
  }

  private let store: any SharedStore
  private let namespace: SharedNamespace
  private let limit: Int
  private let tagLife: Duration
  private let clock: any CacheClock
  private let state = Mutex(State())

  init(_ store: any SharedStore, _ namespace: SharedNamespace, limit: Int, tagLife: Duration, clock: any CacheClock) {
    self.store = store
    self.namespace = namespace
    self.limit = limit
    self.tagLife = tagLife
    self.clock = clock
  }

  /// The moment: what fails later has a higher number.
  var moment: UInt64 { state.withLock { $0.number } }

  /// Tells a feed, too, what is set right: a bus need not tell this process what it changes itself.
  ///
  /// A removal may come after a write of its key that was under way when another one failed, and of which the caller was told that it
  /// succeeded: then what this process keeps above is no longer below.
  func tell(_ feed: InvalidationFeed) {
    state.withLock { state in
      state.listeners.removeAll { $0.feed == nil }
      state.listeners.append(Listener(feed: feed))
    }
  }

  var count: Int { state.withLock { $0.names.count } }

  /// For tests: how many writes wait for the end of a removal.
  var waitingCount: Int { state.withLock { $0.waiting.count } }

  /// Whether nothing can be said of what stands in the store under a key, and, if they are known, with these tags.
  func concerns(_ id: [UInt8], tags: [SharedRecord.Tag] = []) -> Bool {
    state.withLock { state in
      let names = state.names
      if names.records.isEmpty, names.stamps.isEmpty { return false }
      return names.records[id] != nil || names.stamps[namespace.stamp] != nil
        || tags.contains { names.stamps[namespace.tag($0.id)] != nil }
    }
  }

  /// Whether a write of a key failed after a moment, be it settled meanwhile or not.
  func hasFailed(since moment: UInt64) -> Bool { state.withLock { $0.number > moment } }

  /// Notes a stamp that was to be renewed, and as what.
  func add(stamp: [UInt8], as token: [UInt8]) { add { ($0.names.stamps[stamp], $0.tried[stamp]) = ($0.number, token) } }

  func add(records: [[UInt8]]) { add { state in for id in records { state.names.records[id] = state.number } } }

  private func add(_ note: (inout State) -> Void) {
    state.withLock { state in
      state.number += 1
      state.tried = state.tried.filter { state.names.stamps[$0.key] != nil }
      note(&state)
      if state.names.count > limit {
        // Too many to name: then the whole namespace goes.
        (state.names, state.tried) = (Names(stamps: [namespace.stamp: state.number]), [:])
      }
      guard state.recovery == nil else { return }
      state.recovery = Task { [weak self, clock] in
        var delay = Duration.milliseconds(50)
        while !Task.isCancelled {
          let wait = delay * Double.random(in: 0.5...1)
          do { try await clock.sleep(until: clock.now.advanced(by: wait), tolerance: nil) } catch { return }
          guard let self else { return }
          // Whatever the error: the store is asked again, less and less often.
          do {
            switch try await self.settleSome() {
            case .all: return
            case .some: delay = max(delay / 2, .milliseconds(50))
            case .none: delay = min(delay * 2, .seconds(5))
            }
          } catch { delay = min(delay * 2, .seconds(5)) }
        }
      }
    }
  }

  /// A value was written whole under a key: what failed before that does not matter any more.
  func settle(_ ids: [[UInt8]], asOf moment: UInt64) {
    state.withLock { state in
      guard !state.names.records.isEmpty else { return }
      for id in ids { if let number = state.names.records[id], number <= moment { state.names.records[id] = nil } }
    }
  }

  /// A stamp was renewed.
  func settle(stamp: [UInt8], asOf moment: UInt64) {
    state.withLock { state in
      guard let number = state.names.stamps[stamp], number <= moment else { return }
      state.names.stamps[stamp] = nil
      if stamp == namespace.stamp { state.names.records = state.names.records.filter { $0.value > moment } }
    }
  }

  /// Writes keys under stamps, and no repair undoes that: one that is under way is waited for, stamps in doubt are renewed before the
  /// write, and no key is removed before its end.
  func writing<Answer>(
    _ ids: [[UInt8]], under stamps: [[UInt8]], _ write: () async throws -> Answer
  ) async throws -> Answer {
    let doubted = try await begin(ids, stamps)
    defer {
      state.withLock { state in
        for id in doubted { state.writing[id] = state.writing[id].flatMap { $0 > 1 ? $0 - 1 : nil } }
      }
    }
    return try await write()
  }

  private func begin(_ ids: [[UInt8]], _ stamps: [[UInt8]]) async throws -> [[UInt8]] {
    enum Course {
      case write([[UInt8]])
      case renew
      case wait
    }
    while true {
      let course = state.withLock { state -> Course in
        let repairing = state.repairing
        if ids.contains(where: { repairing.records[$0] != nil }) { return .wait }
        if stamps.contains(where: { repairing.stamps[$0] != nil }) { return .wait }
        let doubted = state.names.stamps.filter { stamps.contains($0.key) }
        if !doubted.isEmpty {
          if repairing.count > 0 { return .wait }
          state.repairing.stamps = doubted
          return .renew
        }
        let keys = ids.filter { state.names.records[$0] != nil }
        for id in keys { state.writing[id, default: 0] += 1 }
        return .write(keys)
      }
      switch course {
      case .write(let keys): return keys
      case .renew: try await settle()
      case .wait:
        await withCheckedContinuation { continuation in
          let isOver = state.withLock { state in
            if state.repairing.count == 0 { return true }
            state.waiting.append(continuation)
            return false
          }
          if isOver { continuation.resume() }
        }
      }
    }
  }

  /// Sets some of the names right.
  func settleSome() async throws -> Progress {
    let now = clock.now
    let count = state.withLock { $0.next(now).count }
    if count > 0 { try await settle() }
    return state.withLock { state in
      guard state.names.count == 0 else { return count == 0 ? .none : .some }
      state.recovery = nil
      return .all
    }
  }

  /// Sets right what is noted to be.
  private func settle() async throws {
    let names = state.withLock { $0.repairing }
    var isNameWhy = false
    do {
      if names.count == 1 {
        // If the store carries this out and not what follows, it is the name.
        let nobodys = SharedChange.set(
          namespace.lease(SharedToken.random()), to: SharedToken.random(), lifetime: .seconds(1))
        _ = try await store.commit([nobodys], if: [], reading: [])
        isNameWhy = true
      }
      try await setRight(names)
    } catch {
      let now = clock.now
      let waiting = state.withLock { state in
        state.failed(now, isNameWhy: isNameWhy && !(error is CancellationError))
      }
      for waiter in waiting { waiter.resume() }
      throw error
    }
    for waiter in state.withLock({ $0.settled() }) { waiter.resume() }
  }

  private func setRight(_ names: Names) async throws {
    var changes: [SharedChange] = []
    for id in names.records.keys { changes += [.remove(namespace.record(id)), .remove(namespace.lease(id))] }
    let old = try await stampsToRenew(names.stamps)
    for stamp in old {
      changes.append(.set(stamp, to: SharedToken.random(), lifetime: stamp == namespace.stamp ? nil : tagLife))
    }
    if !old.isEmpty { changes.append(.set(namespace.tagEpoch, to: SharedToken.random(), lifetime: nil)) }
    if !changes.isEmpty { _ = try await store.commit(changes, if: [], reading: []) }
    let changed = names.records.keys.map(namespace.record) + names.stamps.keys
    for listener in state.withLock({ $0.listeners }) { listener.feed?.send(.names(changed)) }
  }

  /// The stamps but for those that were renewed, and only the answer was lost: what others wrote since then stays.
  private func stampsToRenew(_ stamps: [[UInt8]: UInt64]) async throws -> [[UInt8]] {
    let tried = state.withLock { state in state.tried.filter { stamps[$0.key] != nil } }
    if tried.isEmpty { return Array(stamps.keys) }
    let names = Array(tried.keys)
    let found = Dictionary(zip(names, try await store.read(names))) { first, _ in first }
    return stamps.keys.filter { stamp in tried[stamp] == nil || tried[stamp] != found[stamp] ?? nil }
  }

  func stop() { state.withLock { $0.recovery.take() }?.cancel() }
}

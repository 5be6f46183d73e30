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
  }

  private struct State {
    var names = Names()
    var number: UInt64 = 0
    var recovery: Task<Void, Never>?
    var listeners: [Listener] = []
    /// How many names are set right at once: fewer after that has failed, for one of them may be why.
    var most = UnsettledWrites.most
    /// Those that could not be set right even by themselves; they come last.
    var postponed: Set<[UInt8]> = []
    /// Keys whose removal is under way, and who waits for its end in order to write.
    var removing: Set<[UInt8]> = []
    var waiting: [CheckedContinuation<Void, Never>] = []
    /// How many writes of a key in doubt are under way.
    var writing: [[UInt8]: Int] = [:]

    /// What is set right next.
    mutating func next() -> Names {
      func chosen(_ names: [[UInt8]: UInt64], _ room: Int) -> [[UInt8]: UInt64] {
        var chosen: [[UInt8]: UInt64] = [:]
        for (name, number) in names where chosen.count < room {
          if writing[name] == nil, !postponed.contains(name) { chosen[name] = number }
        }
        return chosen
      }
      func chosen() -> Names {
        let stamps = chosen(names.stamps, most)
        return Names(records: chosen(names.records, most - stamps.count), stamps: stamps)
      }
      var next = chosen()
      if next.count == 0 {
        postponed = []
        next = chosen()
      }
      removing = Set(next.records.keys)
      return next
    }

    /// Notes how that went, and returns who has waited for it.
    mutating func ended(_ names: Names, isSettled: Bool) -> [CheckedContinuation<Void, Never>] {
      if isSettled {
        for (id, number) in names.records where self.names.records[id] == number { self.names.records[id] = nil }
        for (stamp, number) in names.stamps where self.names.stamps[stamp] == number { self.names.stamps[stamp] = nil }
        most = min(most * 2, UnsettledWrites.most)
      } else {
        if names.count == 1 { postponed.formUnion(Array(names.records.keys) + Array(names.stamps.keys)) }
        most = max(1, names.count / 2)
      }
      removing = []
      defer { waiting = [] }
      return waiting
    }
  }

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

  func add(records: [[UInt8]] = [], stamps: [[UInt8]] = []) {
    state.withLock { state in
      state.number += 1
      for id in records { state.names.records[id] = state.number }
      for stamp in stamps { state.names.stamps[stamp] = state.number }
      if state.names.count > limit {
        // Too many to name: then the whole namespace goes.
        state.names = Names(stamps: [namespace.stamp: state.number])
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
            if try await self.settleSome() { return }
            delay = max(delay / 2, .milliseconds(50))
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

  /// Writes keys, and no removal undoes that: one that is under way is waited for, and none begins before the end of the write.
  func writing<Answer>(_ ids: [[UInt8]], _ write: () async throws -> Answer) async rethrows -> Answer {
    let doubted = await begin(ids)
    defer {
      state.withLock { state in
        for id in doubted { state.writing[id] = state.writing[id].flatMap { $0 > 1 ? $0 - 1 : nil } }
      }
    }
    return try await write()
  }

  private func begin(_ ids: [[UInt8]]) async -> [[UInt8]] {
    while true {
      let doubted = state.withLock { state -> [[UInt8]]? in
        guard state.removing.isDisjoint(with: ids) else { return nil }
        let doubted = ids.filter { state.names.records[$0] != nil }
        for id in doubted { state.writing[id, default: 0] += 1 }
        return doubted
      }
      if let doubted { return doubted }
      await withCheckedContinuation { continuation in
        let isOver = state.withLock { state in
          if state.removing.isEmpty { return true }
          state.waiting.append(continuation)
          return false
        }
        if isOver { continuation.resume() }
      }
    }
  }

  /// Sets some of the names right, and returns whether that were all.
  func settleSome() async throws -> Bool {
    let names = state.withLock { $0.next() }
    do { try await setRight(names) } catch {
      for waiter in state.withLock({ $0.ended(names, isSettled: false) }) { waiter.resume() }
      throw error
    }
    let (waiting, isDone) = state.withLock { state in
      let waiting = state.ended(names, isSettled: true)
      let isDone = state.names.count == 0
      if isDone { state.recovery = nil }
      return (waiting, isDone)
    }
    for waiter in waiting { waiter.resume() }
    return isDone
  }

  private func setRight(_ names: Names) async throws {
    if names.count == 0 { return }
    var changes: [SharedChange] = []
    for id in names.records.keys { changes += [.remove(namespace.record(id)), .remove(namespace.lease(id))] }
    for stamp in names.stamps.keys {
      changes.append(.set(stamp, to: SharedToken.random(), lifetime: stamp == namespace.stamp ? nil : tagLife))
    }
    if !names.stamps.isEmpty { changes.append(.set(namespace.tagEpoch, to: SharedToken.random(), lifetime: nil)) }
    _ = try await store.commit(changes, if: [], reading: [])
    let changed = names.records.keys.map(namespace.record) + names.stamps.keys
    for listener in state.withLock({ $0.listeners }) { listener.feed?.send(.names(changed)) }
  }

  func stop() { state.withLock { $0.recovery.take() }?.cancel() }
}

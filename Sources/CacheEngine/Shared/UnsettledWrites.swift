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
  }

  private struct State {
    var names = Names()
    var number: UInt64 = 0
    var recovery: Task<Void, Never>?
    var listeners: [Listener] = []
  }

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
  /// A removal may come after a newer write of its key, of which the caller was told that it succeeded: then what this process
  /// keeps above is no longer below.
  func tell(_ feed: InvalidationFeed) {
    state.withLock { state in
      state.listeners.removeAll { $0.feed == nil }
      state.listeners.append(Listener(feed: feed))
    }
  }

  var count: Int { state.withLock { $0.names.records.count + $0.names.stamps.count } }

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
      if state.names.records.count + state.names.stamps.count > limit {
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
          do { if try await self.settleSome() { return } } catch { delay = min(delay * 2, .seconds(5)) }
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

  /// Sets some of the names right, and returns whether that were all.
  func settleSome() async throws -> Bool {
    let (records, stamps) = state.withLock { state in
      (Array(state.names.records.prefix(256)), Array(state.names.stamps.prefix(256)))
    }
    if !records.isEmpty || !stamps.isEmpty {
      var changes: [SharedChange] = []
      for (id, _) in records { changes += [.remove(namespace.record(id)), .remove(namespace.lease(id))] }
      for (stamp, _) in stamps {
        changes.append(
          .set(stamp, to: SharedToken.random(), lifetime: stamp == namespace.stamp ? nil : tagLife))
      }
      if !stamps.isEmpty { changes.append(.set(namespace.tagEpoch, to: SharedToken.random(), lifetime: nil)) }
      _ = try await store.commit(changes, if: [], reading: [])
      let changed = records.map { namespace.record($0.key) } + stamps.map(\.key)
      for listener in state.withLock({ $0.listeners }) { listener.feed?.send(.names(changed)) }
    }
    return state.withLock { state in
      for (id, number) in records where state.names.records[id] == number { state.names.records[id] = nil }
      for (stamp, number) in stamps where state.names.stamps[stamp] == number { state.names.stamps[stamp] = nil }
      let isDone = state.names.records.isEmpty && state.names.stamps.isEmpty
      if isDone { state.recovery = nil }
      return isDone
    }
  }

  func stop() { state.withLock { $0.recovery.take() }?.cancel() }
}

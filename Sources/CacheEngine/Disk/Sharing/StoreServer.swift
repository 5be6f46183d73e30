import CacheCore
internal import CStore
import Dispatch
import Synchronization

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// Serves the store of a directory that this process owns: to itself, and to other processes.
///
/// A guest that asks for a change says which of its changes it is. One that comes again because an answer was lost is not carried
/// out again if this owner has carried it out, nor if its key was changed since this owner took over: then it counts as carried
/// out before that change. The previous owner cannot have carried out another change of the key in between, for it answered
/// each change of a key before it let the next one begin.
final class StoreServer: Sendable {
  /// Somebody who shares the directory.
  final class Guest: Sendable {
    struct State {
      /// `nil` until it has said who it is.
      var instance: UInt64?
      var came: Int64
      var expects = StoreExpectation()
      var running = 0
    }

    let socket: FrameSocket
    let state: Mutex<State>

    init(_ socket: FrameSocket, now: Int64) {
      self.socket = socket
      state = Mutex(State(came: now))
    }
  }

  /// At most this many requests of one guest may be under way; the rest stay in its socket.
  static let mostRunning = 4_096
  /// Each guest takes a descriptor, and the files need some as well.
  static let mostGuests = min(1_024, max(16, Int(cstore_descriptor_limit()) / 4))
  /// A guest that has not said hello by then is not waited for.
  static let patience: Int64 = 5_000_000_000

  let store: SegmentedStore
  /// Tells one owner's numbers of places from another's.
  let instance = UInt64.random(in: 1 ... .max)
  let limit: Int64
  let turns = KeyTurns()
  let ledger: Mutex<StoreLedger>
  let guests = Mutex<[Guest]>([])
  let executor = ServingExecutor()
  /// Where keys are read for those who want to hear of losses: once, however many do, and no other read waits behind that.
  private let learning = DispatchQueue(label: "CacheEngine.store.learning")
  /// Where the path leads is another store now, or one that another program has the lock of.
  let isReplaced = Atomic(false)
  let wake: @Sendable () -> Void
  private let tellHere: @Sendable (StoreChange, UInt64) -> Void

  init(
    _ store: SegmentedStore, limit: Int64, wake: @escaping @Sendable () -> Void,
    tellHere: @escaping @Sendable (StoreChange, UInt64) -> Void
  ) {
    (self.store, self.limit, self.wake, self.tellHere) = (store, limit, wake, tellHere)
    ledger = Mutex(StoreLedger(graceEnd: SystemClock().now.nanoseconds + 3 * limit))
  }

  var guestCount: Int { guests.withLock { $0.count } }

  // MARK: Requests

  /// Carries out what this process asks for.
  func perform(_ request: StoreRequest, from origin: UInt64, isAgain: Bool) async -> StoreReply {
    guard let scope = request.scope else { return await carryOut(request) }
    await turns.enter(scope)
    defer { turns.leave(scope) }
    return await change(request, scope, from: origin, isAgain: isAgain)
  }

  func change(
    _ request: StoreRequest, _ scope: KeyTurns.Scope, from origin: UInt64, isAgain: Bool
  ) async -> StoreReply {
    if isAgain, let known = await outcome(ofRepeated: request, scope) { return known }
    ledger.withLock { $0.touch(scope) }
    let reply = await carryOut(request)
    // What failed may have been carried out in part; only a set whose condition did not hold has changed nothing for certain.
    if case .put = request, case .count(0) = reply { return reply }
    if let change = request.change { publish(change, from: origin) }
    return reply
  }

  /// What has become of a change that may have been carried out before; `nil` if it may be carried out now.
  private func outcome(ofRepeated request: StoreRequest, _ scope: KeyTurns.Scope) async -> StoreReply? {
    let (isTouched, isTooLate) = ledger.withLock {
      ($0.isTouched(scope), SystemClock().now.nanoseconds >= $0.graceEnd)
    }
    if isTooLate { return .failed(Self.late) }
    guard case .put(let put) = request else { return isTouched ? .count(0) : nil }
    guard put.condition != nil else { return isTouched ? .count(1) : nil }
    if isTouched { return .count(0) }
    guard case .found(let found)? = try? await store.read(put.key, includingExpired: true),
      found.entry.created == put.created, found.type == put.type, found.value == put.value
    else { return nil }
    return .count(1)
  }

  static let late = CacheError(
    .timedOut, "the process that writes the files came to the request too late, and has not carried it out")

  func carryOut(_ request: StoreRequest) async -> StoreReply {
    do {
      switch request {
      case .get(let key, let includingExpired):
        return Self.reply(try await store.read(key, includingExpired: includingExpired))
      case .put(let put):
        let isStored = try await store.put(
          put.key, type: put.type, value: put.value, created: CacheInstant(nanoseconds: put.created),
          deadline: put.deadline.map(CacheInstant.init(nanoseconds:)), cost: put.cost, tags: put.tags,
          durability: put.durability, if: put.condition)
        return .count(isStored ? 1 : 0)
      case .remove(let key, let durability):
        try await store.remove(key, durability: durability)
        return .count(1)
      case .expire(let key, let durability):
        try await store.expire(key, durability: durability)
        return .count(1)
      case .clear(let durability):
        try await store.clear(durability: durability)
        return .count(1)
      case .removeTagged(let tag, let durability):
        return .count(try await store.removeAll(tagged: tag, durability: durability))
      case .removeExpired: return .count(try await store.removeExpired())
      case .rotate(let durability): return .count(try await store.rotate(durability: durability))
      case .verify(let repairing): return .report(try await store.verify(repairing: repairing))
      case .list(let place, let owner):
        guard place == 0 || owner == instance else {
          throw CacheError(
            .diskReadFailed, "another process writes the files since the listing began; begin it again")
        }
        let (entries, next) = try await store.list(from: Int(clamping: place))
        return .page(entries.map(ListedEntry.init), next: next.map(UInt64.init), of: instance)
      case .created(let key): return .created(store.created(key))
      case .usage: return .usage(store.usage, store.traffic)
      case .expect:
        try await store.blocking(on: learning) { [store] in store.learnKeys() }
        return .count(0)
      case .ping: return .count(0)
      }
    } catch let error as CacheError {
      if [.inUse, .unusableStore].contains(error.code) {
        isReplaced.store(true, ordering: .relaxed)
        wake()
      }
      return .failed(error)
    } catch {
      return .failed(store.readFailed(error))
    }
  }

  /// Does what the next write would do in a directory that was removed, emptied or replaced: it is taken anew, or given up.
  func standAgain() { Task(executorPreference: executor) { [self] in _ = await carryOut(.removeExpired) } }

  static func reply(_ answer: SegmentedStore.Answer) -> StoreReply {
    switch answer {
    case .found(let found): .found(FoundValue(found))
    case .miss(let reason): .miss(reason)
    }
  }

  // MARK: Who hears of changes

  /// Begins to read the keys of what was there before, and waits for nothing: others are served meanwhile.
  func learnKeys() { learning.async { [store] in store.learnKeys() } }

  private func publish(_ change: StoreChange, from origin: UInt64) {
    tellHere(change, origin)
    let hearing = guests.withLock { $0.filter { guest in guest.state.withLock { $0.expects.hearsChanges } } }
    guard !hearing.isEmpty else { return }
    let frame = try? change.frame(from: origin)
    // A guest that cannot be told connects again, and then doubts everything that it holds.
    for guest in hearing { if let frame { guest.socket.send(frame) } else { guest.socket.breakOff() } }
  }

  var hearsLosses: Bool { lossHearers > 0 }

  /// How many others are told what leaves.
  var lossHearers: Int { guests.withLock { $0.count { guest in guest.state.withLock { $0.expects.hearsLosses } } } }

  /// Tells those who want to know that an entry left.
  func tell(_ loss: SegmentedStore.Loss) {
    let hearing = guests.withLock { $0.filter { guest in guest.state.withLock { $0.expects.hearsLosses } } }
    guard !hearing.isEmpty, let frame = try? loss.frame() else { return }
    for guest in hearing { guest.socket.send(frame) }
  }
}

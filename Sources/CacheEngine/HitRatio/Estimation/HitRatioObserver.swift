public import CacheMemory

public import CacheCore
import Dispatch
import Synchronization

/// Tells from the live traffic of levels what they would have answered with other capacities and other policies.
///
/// It watches observed levels by their names, and runs a ``HitRatioEstimator`` for each:
///
/// ```swift
/// let whatIf = HitRatioObserver(levels: [.init(name: "memory", capacity: 8 << 20)])
/// let memory = MemoryCacheLevel<String, Data>(capacity: 8 << 20).observed(as: "memory", by: whatIf)
/// // … and some thousand requests later:
/// for report in whatIf.reports {
///   for estimate in report.estimates { print(estimate.eviction, estimate.capacity, estimate.value, estimate.margin) }
///   if let change = report.cheapestImprovement { print("use \(change.eviction) with \(change.capacity)") }
/// }
/// ```
///
/// Entries that expire, values that are written by somebody, removals, clears and memory warnings are followed: what left the
/// real cache by any of them leaves the small ones as well. Which keys a removal by a tag or a condition took is known if the
/// level's removal listener is `removals(from:)` of the observer.
///
/// **What it costs.** Whoever uses the cache hashes the key, and notes one in so many; the small caches are asked by a queue
/// of the observer's own. It begins with every key, as far as the memory allows, and looks at half as many whenever that took
/// more than its share of the time that the requests took.
public final class HitRatioObserver: CacheObserver {
  /// A level to watch.
  public struct Level: Sendable, Hashable, Codable {
    /// The name that its events carry.
    public var name: String
    /// The most that its entries may cost together, or the most entries.
    public var capacity: Int
    /// What the capacity counts.
    public var unit: Unit
    /// Its policy.
    public var eviction: Eviction
    /// The other policies to ask about.
    public var evictions: [Eviction]
    /// The other capacities to ask about, as multiples of this one.
    public var factors: [Double]

    /// What a capacity counts.
    public enum Unit: String, Sendable, CaseIterable, Codable {
      /// What the events say that entries cost, which for data and text are bytes.
      case cost
      /// Entries, whatever they cost.
      case entries
    }

    /// Describes a level.
    ///
    /// - Parameters:
    ///   - name: The name that its events carry.
    ///   - capacity: The most that its entries may cost together, or the most entries. At least 1.
    ///   - unit: What the capacity counts.
    ///   - eviction: Its policy.
    ///   - evictions: The other policies to ask about.
    ///   - factors: The other capacities to ask about, as multiples of this one; at most 24. What is no finite number above 0 is
    ///     left out.
    public init(
      name: String, capacity: Int, unit: Unit = .cost, eviction: Eviction = .adaptive,
      evictions: [Eviction] = Eviction.all, factors: [Double] = [0.25, 0.5, 2, 4]
    ) {
      self.name = name
      self.capacity = capacity
      self.unit = unit
      self.eviction = eviction
      self.evictions = evictions
      self.factors = factors
    }
  }

  private let watches: [WatchedLevel]
  private let requestTime = RequestTime()
  private let queue = DispatchQueue(label: "cacheengine.whatif", qos: .utility)

  /// Creates an observer.
  ///
  /// - Parameters:
  ///   - levels: The levels to watch.
  ///   - share: The most of the requests' time that the estimation may take, above 0; 1 for no limit.
  ///   - memory: The most bytes that it may take, about.
  ///   - clock: The clock of the events.
  public init(
    levels: [Level], share: Double = 0.05, memory: Int = 8 << 20, clock: any CacheClock = SystemClock()
  ) {
    precondition(share > 0, "a share of the requests' time is more than nothing")
    let origin = clock.now
    let parts = max(1, levels.count)
    let requestTime = requestTime
    watches = levels.map {
      WatchedLevel(
        $0, share: share < 1 ? share / Double(parts) : share, memory: memory / parts, requestTime: requestTime,
        origin: origin)
    }
  }

  /// Records an event.
  public func record(_ event: CacheEvent) {
    switch event.kind {
    case .requestEnded(_, _, let duration):
      requestTime.nanoseconds.add(duration.clampedNanoseconds, ordering: .relaxed)
    case .lookupBegan, .requestBegan, .operated, .flightBegan, .flightJoined, .flightLeft, .flightEnded, .failed,
      .cancelled:
      return
    // For other causes each small cache evicts itself, or the request is told as a whole.
    case .removed(let cause, _) where cause != .removed: return
    case .hit, .miss, .stored, .removed, .done, .memoryWarning:
      guard let name = event.level, let watch = watches.first(where: { $0.level.name == name }) else { return }
      let isDue = watch.note(event)
      if isDue { queue.async { watch.work() } }
    }
  }

  /// The levels that are watched.
  public var levels: [Level] { watches.map(\.level) }

  /// What is known of every level that is watched, in the order in which they were given.
  public var reports: [HitRatioReport] {
    watches.map { watch in
      watch.work()
      return watch.report
    }
  }

  /// Counts from zero again, from what the small caches hold now.
  public func restart() { for watch in watches { watch.restart() } }

}

/// How long all requests together took.
private final class RequestTime: Sendable { let nanoseconds = Atomic<Int64>(0) }

/// A level, its estimator, and what was noted for it.
private final class WatchedLevel: Sendable {
  /// So many notes are worth waking somebody for, and with so many whoever notes does the work: then nobody keeps up.
  private static let batch = 256
  private static let most = 16_384
  /// Fewer notes say nothing about what one costs.
  private static let fewest = 2_048
  /// Nanoseconds that a request's own thread takes to count it and to hash its key, about.
  private static let telling = 50.0
  /// Nanoseconds that are spent before anything is judged: what is new to the processor is slow.
  private static let grace: Int64 = 2_000_000

  private struct Note {
    enum Kind { case asked, stored, removed, cleared }
    var kind: Kind
    var hash: UInt64 = 0
    /// -1: unknown.
    var cost = -1
    var lifetime: UInt32 = 0
    var time: UInt32
  }

  private struct State {
    var estimator: HitRatioEstimator
    var requests = 0
    var misses = 0
    var spent: Int64 = 0
    var pace = WorkPace()
    /// How many notes were worked off.
    var noted = 0
    /// How many of them, and how many requests, there were when the size of the sample was last judged.
    var mark: (noted: Int, requests: Int) = (0, 0)
  }

  let level: HitRatioObserver.Level
  private let share: Double
  private let origin: CacheInstant
  private let requestTime: RequestTime
  private let requests = Atomic<Int>(0)
  private let misses = Atomic<Int>(0)
  private let lookupTime = Atomic<Int64>(0)
  /// The share of the keys that is looked at, as the limit of 24 bits of their hashes.
  private let threshold: Atomic<Int>
  /// Not the clock of the events, which may stand still or leap.
  private let clock = SystemClock()
  private let notes = Mutex<[Note]>([])
  private let state: Mutex<State>

  init(
    _ level: HitRatioObserver.Level, share: Double, memory: Int, requestTime: RequestTime, origin: CacheInstant
  ) {
    self.level = level
    self.origin = origin
    self.requestTime = requestTime
    self.share = share
    let caches = 1 + level.factors.count + level.evictions.count
    let keys = max(64, GhostCaches.keys(in: memory, caches: caches))
    // The largest of the caches has to fit, and its halves beside it; what others hold beside it makes the sample smaller if it does not.
    let factor = max(1, level.factors.filter(HitRatioEstimator.isFactor).max() ?? 1)
    let largest = level.unit == .entries ? min(Double(level.capacity) * factor, 9e18) : 0
    let rate = largest > 0 ? min(1, Double(keys) / 2 / largest) : 1
    let estimator = HitRatioEstimator(
      capacity: max(1, level.capacity), eviction: level.eviction, factors: level.factors, evictions: level.evictions,
      rate: rate, maximumEntries: keys)
    threshold = Atomic(estimator.threshold)
    state = Mutex(State(estimator: estimator))
  }

  /// Notes an event; says whether there is work to be done.
  func note(_ event: CacheEvent) -> Bool {
    switch event.kind {
    case .hit(let cost, let deadline, let duration):
      requests.add(1, ordering: .relaxed)
      lookupTime.add(duration.clampedNanoseconds, ordering: .relaxed)
      guard let hash = sampled(event.key) else { return false }
      return append(
        Note(
          kind: .asked, hash: hash, cost: weight(cost), lifetime: Self.lifetime(deadline, event.time),
          time: time(of: event)))
    case .miss(let reason, let duration):
      guard reason != .refused else { return false }
      requests.add(1, ordering: .relaxed)
      misses.add(1, ordering: .relaxed)
      lookupTime.add(duration.clampedNanoseconds, ordering: .relaxed)
      guard let hash = sampled(event.key) else { return false }
      return append(Note(kind: .asked, hash: hash, time: time(of: event)))
    case .stored(_, let cost, let deadline, _):
      guard let hash = sampled(event.key) else { return false }
      return append(
        Note(
          kind: .stored, hash: hash, cost: weight(cost), lifetime: Self.lifetime(deadline, event.time),
          time: time(of: event)))
    case .removed, .done(.remove, _):
      guard let hash = sampled(event.key) else { return false }
      return append(Note(kind: .removed, hash: hash, time: time(of: event)))
    case .done(.clear, _): return append(Note(kind: .cleared, time: time(of: event)))
    case .memoryWarning(let dropped, _, _) where dropped > 0: return append(Note(kind: .cleared, time: time(of: event)))
    default: return false
    }
  }

  private func time(of event: CacheEvent) -> UInt32 {
    UInt32(truncatingIfNeeded: max(0, origin.duration(to: event.time).clampedNanoseconds / 1_000_000))
  }

  private func weight(_ cost: Int?) -> Int { level.unit == .entries ? 1 : max(0, cost ?? 1) }

  private func sampled(_ key: String?) -> UInt64? {
    guard let key else { return nil }
    let hash = HitRatioEstimator.hash(key)
    return HitRatioEstimator.isSampled(hash, threshold.load(ordering: .relaxed)) ? hash : nil
  }

  private static func lifetime(_ deadline: CacheInstant?, _ now: CacheInstant) -> UInt32 {
    guard let deadline else { return 0 }
    return UInt32(clamping: max(1, now.duration(to: deadline).clampedNanoseconds / 1_000_000))
  }

  private func append(_ note: Note) -> Bool {
    let count = notes.withLock { notes in
      notes.append(note)
      return notes.count
    }
    if count >= Self.most { work() }
    return count == Self.batch
  }

  /// Asks the small caches what was noted.
  func work() {
    state.withLock { state in
      let batch = notes.withLock { notes in
        defer { notes = [] }
        return notes
      }
      let began = clock.now
      let (requests, misses) = (requests.load(ordering: .relaxed), misses.load(ordering: .relaxed))
      state.estimator.count(requests: requests - state.requests, misses: misses - state.misses)
      (state.requests, state.misses) = (requests, misses)
      for note in batch {
        // The sample may have become smaller since.
        switch note.kind {
        case .cleared: state.estimator.removeAll()
        case .asked where state.estimator.isSampled(note.hash):
          state.estimator.sample(
            note.hash, cost: note.cost < 0 ? nil : note.cost, lifetime: note.lifetime, at: note.time)
        case .stored where state.estimator.isSampled(note.hash):
          state.estimator.store(note.hash, cost: note.cost, lifetime: note.lifetime, at: note.time)
        case .removed: state.estimator.remove(hash: note.hash)
        case .asked, .stored: break
        }
      }
      let took = began.duration(to: clock.now).clampedNanoseconds
      state.spent += state.pace.spent(on: batch.count, took: took)
      state.noted += batch.count
      hold(&state)
      threshold.store(state.estimator.threshold, ordering: .relaxed)
    }
  }

  /// Where calls are not traced, what is known is how long the level took.
  private var timeOfRequests: Int64 {
    max(requestTime.nanoseconds.load(ordering: .relaxed), lookupTime.load(ordering: .relaxed))
  }

  /// Looks at fewer keys if that takes too long.
  ///
  /// Judged by the usual pace and not by what the last pieces took, which may have been slow by chance: a sample that has
  /// become too small stays so.
  private func hold(_ state: inout State) {
    let (noted, asked) = (state.noted - state.mark.noted, state.requests - state.mark.requests)
    guard share < 1, state.spent >= Self.grace, noted >= Self.fewest, asked > 0 else { return }
    // The mean of all requests: how long those took that were noted here is not known yet.
    let took = Double(timeOfRequests) / Double(state.requests) * Double(asked)
    // What whoever asks pays is part of the share; a fifth is left for the small caches even where that is all of it.
    let room = max(share * took / 5, share * took - Self.telling * Double(asked))
    var excess = state.pace.usual * Double(noted) / max(1, room)
    state.mark = (state.noted, state.requests)
    while excess > 1 {
      state.estimator.halve()
      excess /= 2
    }
  }

  var report: HitRatioReport {
    state.withLock { state in
      let estimator = state.estimator
      let time = timeOfRequests
      return HitRatioReport(
        level: level, requests: estimator.requests, hits: estimator.requests - estimator.misses,
        samples: estimator.samples, rate: estimator.rate, bytes: estimator.bytes,
        timeSpent: .nanoseconds(state.spent),
        timeShare: time > 0 ? Double(state.spent) / Double(time) : nil, estimates: estimator.estimates,
        cheapestImprovement: estimator.cheapestImprovement, cheapestSaving: estimator.cheapestSaving)
    }
  }

  func restart() {
    work()
    state.withLock { state in
      state.estimator.restart()
    }
  }
}

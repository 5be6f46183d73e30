#if Metrics
public import CacheEngine
public import Metrics
import Synchronization

/// Reports what happens in a cache to the program's metrics system.
///
/// ```swift
/// let metrics = MetricsObserver(cache: "photos")
/// let photos = memory.observed(as: "memory", by: metrics)
///   .compose(disk.observed(as: "disk", by: metrics)).pooled(observer: metrics).traced(by: metrics)
/// ```
///
/// The dimensions are `cache`, `level`, and the one in the second column below, if there is one: they are the same for all series
/// of a figure, as some systems demand. Where no level is concerned, `level` is `none`. Keys are never among them.
///
/// | figure | counted by | what it is |
/// |---|---|---|
/// | `cache_requests` | `outcome` | reads that ended: `hit`, `miss`, `failed`, `cancelled`; `level` is who answered |
/// | `cache_request_duration` | `outcome` | a timer of them |
/// | `cache_lookups` | `outcome` | what each level answered: `hit`, `miss`, `failed`, `cancelled` |
/// | `cache_lookup_duration` | `outcome` | a timer of them |
/// | `cache_misses` | `reason` | why a level had no value |
/// | `cache_failures` | `operation` | what a level could not do: `get`, `set`, `fill`, `remove`, `clear` |
/// | `cache_stores` | `purpose` | values stored: `set`, or `fill` for copies upwards |
/// | `cache_removals` | `cause` | entries that left: `evicted`, `expired` … |
/// | `cache_loads`, `cache_loads_joined` | | loads that pools began, and callers that joined one |
/// | `cache_load_duration` | | a timer of them |
/// | `cache_operations` | `event` | what operators did: `retry`, `timeout`, `fallback`, `stale`, `queue` … |
/// | `cache_level_cost`, `cache_level_entries` | | how full a level is, for those given to ``report(_:as:)`` |
///
/// At most ``mostNames`` names of levels and as many reasons have series of their own; any further ones are counted as `other`,
/// so that a program that makes up names does not fill its metrics system. ``PrometheusPage`` needs no metrics system and
/// counts exactly.
public final class MetricsObserver: CacheObserver {
  /// How many names of levels, and how many reasons of misses, have series of their own.
  public static let mostNames = 64

  private struct Series: Hashable {
    var figure: String
    var level: String
    var word: String?
  }

  private struct State {
    var counters: [Series: Counter] = [:]
    var timers: [Series: Timer] = [:]
    var levels = BoundedNames()
    var reasons = BoundedNames()

    mutating func series(_ figure: String, _ level: String?, _ word: String?) -> Series {
      Series(figure: figure, level: level.map { levels.bounded($0) } ?? "none", word: word)
    }
  }

  private let cache: String
  private let factory: any MetricsFactory
  private let state = Mutex(State())

  /// Creates an observer.
  ///
  /// - Parameters:
  ///   - cache: The name of the cache, which all figures carry.
  ///   - factory: Where the figures go; by default the program's own, so create the observer after `MetricsSystem.bootstrap`.
  public init(cache: String, factory: any MetricsFactory = MetricsSystem.factory) {
    self.cache = cache
    self.factory = factory
  }

  /// Counts an event.
  public func record(_ event: CacheEvent) {
    let level = event.level
    switch event.kind {
    case .requestEnded(.get, let outcome, let duration):
      let (word, server) = Self.words(of: outcome)
      count("cache_requests", at: server, "outcome", word)
      time("cache_request_duration", at: server, "outcome", word, duration)
    case .hit(_, _, let duration): answered("hit", level, duration)
    case .miss(let reason, let duration):
      answered("miss", level, duration)
      count("cache_misses", at: level, "reason", reason.rawValue, isOpen: true)
    case .failed(let operation, _, let duration):
      if operation == .get { answered("failed", level, duration) }
      count("cache_failures", at: level, "operation", operation.rawValue)
    case .cancelled(.get, let duration): answered("cancelled", level, duration)
    case .stored(.set, _, _, _): count("cache_stores", at: level, "purpose", "set")
    case .stored(.backFill, _, _, _): count("cache_stores", at: level, "purpose", "fill")
    case .removed(let cause, _): count("cache_removals", at: level, "cause", cause.rawValue)
    case .flightBegan: count("cache_loads", at: level)
    case .flightJoined: count("cache_loads_joined", at: level)
    case .flightEnded(_, let duration): time("cache_load_duration", at: level, nil, nil, duration)
    case .operated: count("cache_operations", at: level, "event", event.kind.description)
    case .requestBegan, .requestEnded, .lookupBegan, .done, .cancelled, .memoryWarning, .flightLeft: break
    }
  }

  /// Reports how full a level is: call it now and then, for example before the figures are collected.
  ///
  /// - Parameters:
  ///   - usage: How full the level is; for a disk level the cost is every byte that its directory takes.
  ///   - level: The name of the level.
  public func report(_ usage: LevelUsage, as level: String) {
    let level = state.withLock { $0.levels.bounded(level) }
    let dimensions = [("cache", cache), ("level", level)]
    Gauge(label: "cache_level_cost", dimensions: dimensions, factory: factory).record(usage.cost)
    Gauge(label: "cache_level_entries", dimensions: dimensions, factory: factory).record(usage.count)
  }

  private func answered(_ outcome: String, _ level: String?, _ duration: Duration) {
    count("cache_lookups", at: level, "outcome", outcome)
    time("cache_lookup_duration", at: level, "outcome", outcome, duration)
  }

  /// `isOpen`: Levels may give words of their own.
  private func count(
    _ figure: String, at level: String?, _ name: String? = nil, _ word: String? = nil, isOpen: Bool = false
  ) {
    let (series, known) = state.withLock { state in
      let series = state.series(figure, level, isOpen ? word.map { state.reasons.bounded($0) } : word)
      return (series, state.counters[series])
    }
    // The factory is not ours, so it is called under no lock; of two that are made at once, one is kept, and counts for both.
    let counter =
      known
      ?? kept(\.counters, series, Counter(label: figure, dimensions: dimensions(of: series, name), factory: factory))
    counter.increment()
  }

  private func time(_ figure: String, at level: String?, _ name: String?, _ word: String?, _ duration: Duration) {
    let (series, known) = state.withLock { state in
      let series = state.series(figure, level, word)
      return (series, state.timers[series])
    }
    let timer =
      known ?? kept(\.timers, series, Timer(label: figure, dimensions: dimensions(of: series, name), factory: factory))
    timer.recordNanoseconds(max(0, duration.clampedNanoseconds))
  }

  /// The one of a series that is there already, or this one from now on.
  private func kept<Figure: Sendable>(
    _ figures: WritableKeyPath<State, [Series: Figure]>, _ series: Series, _ figure: Figure
  ) -> Figure {
    state.withLock { state in
      let kept = state[keyPath: figures][series] ?? figure
      state[keyPath: figures][series] = kept
      return kept
    }
  }

  private func dimensions(of series: Series, _ name: String?) -> [(String, String)] {
    var dimensions = [("cache", cache), ("level", series.level)]
    if let name, let word = series.word { dimensions.append((name, word)) }
    return dimensions
  }

  private static func words(of outcome: CacheEvent.Outcome) -> (word: String, level: String?) {
    switch outcome {
    case .hit(let level): ("hit", level)
    case .miss: ("miss", nil)
    case .done: ("hit", nil)
    case .failed: ("failed", nil)
    case .cancelled: ("cancelled", nil)
    }
  }
}

/// The first names that come; all others are `other`.
private struct BoundedNames {
  private var names: Set<String> = []

  mutating func bounded(_ name: String) -> String {
    if names.contains(name) { return name }
    guard names.count < MetricsObserver.mostNames else { return "other" }
    names.insert(name)
    return name
  }
}
#endif

#if Explorer
import CacheEngine
import CacheEngineHTTP
import CacheEngineProxy
import ExplorerCommands
import ExplorerConfiguration
import ExplorerState

/// The levels of a configuration as a store of responses, and what is told of them.
struct ServedLevels: Sendable {
  let live: LiveCache
  let store: ServedStore
  let policy: HTTPCachePolicy
  let figures: ServedFigures
  /// The most bytes of content that are stored.
  let bodyLimit: Int

  /// Opens the levels.
  ///
  /// - Throws: ``ConfigurationFailure`` if the configuration is none for a proxy, or a level cannot be opened.
  static func open(
    _ configuration: CacheConfiguration, file: String, _ terms: ServedCache.Terms, clock: any CacheClock,
    observers: [any CacheObserver]
  ) async throws -> ServedLevels {
    let problems = configuration.problemsOfServing(in: file)
    guard problems.isEmpty else { throw ConfigurationFailure(problems: problems) }
    var builder = CacheBuilder<StoredVariants>(
      clock: clock, observers: observers, whatIf: terms.isObserved ? configuration.levelsWithCapacity : [],
      whatIfShare: 0.05, isObserved: terms.isObserved)
    let (cache, opened) = try await builder.open(configuration, file: file)
    var live = opened
    var policy = HTTPCachePolicy(.shared)
    policy.storesCookies = terms.storesCookies
    let figures = ServedFigures { [policy] key in
      // Nobody is told that somebody looked.
      let stored = try? await cache.lookupIncludingExpired(key).entry?.value
      return (stored?.responses ?? []).map { ServedVariant($0, policy, at: clock.timeSinceEpoch) }
    }
    live.http = figures
    live.refusal = { refusal(of: $0) }
    return ServedLevels(
      live: live, store: ServedStore(told: cache.traced(by: builder.observer, clock: clock).normalize(), untold: cache),
      policy: policy, figures: figures,
      // One response leaves room for others.
      bodyLimit: min(terms.bodyLimit, (configuration.largestCapacity ?? 0) / 2))
  }

  /// The cache for commands: what clients have asked for before does not bring back what one removes.
  func live(behind cache: HTTPCache<ServedStore>, scheme: String, authority: String) -> LiveCache {
    var live = live
    live.address = { TargetURI(scheme: scheme, authority: authority, path: $0)?.text }
    live.purge = { key in
      // The cache removes even for a cancelled caller, for as long as its levels take.
      try await unlessCancelled {
        if let key { try await cache.remove(key) } else { try await cache.removeAll() }
      }
    }
    return live
  }

  /// Counts a request; returns its number.
  func count(_ request: ServedRequest) -> Int {
    figures.note(
      ServedExchange.Outcome(request), bytes: request.bytes, isWhole: request.isWhole, at: live.clock.now)
  }

  private static func refusal(of touched: Touched) -> String? {
    switch touched {
    case .nothing, .contents, .faults, .clock: nil
    case .configuration: "a proxy keeps its levels for as long as it runs; end it, and serve the other configuration"
    case .requests: "clients make the requests of a proxy; send some, with curl or from a browser"
    }
  }
}
#endif

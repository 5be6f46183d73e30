#if Explorer
package import CacheEngine
package import CacheEngineHTTP
package import CacheEngineProxy
package import ExplorerModel

/// The cache of a configuration behind a proxy.
package struct ServedCache: Sendable {
  /// What the proxy does, beside what the configuration says.
  package struct Terms: Sendable {
    package var settings = ProxySettings()
    package var storesCookies = false
    /// The most bytes of content that are stored.
    package var bodyLimit = 8 << 20
    /// Whether levels tell what they do; hits are quicker if they do not.
    package var isObserved = true

    package init() {}
  }

  package let live: LiveCache
  package let proxy: HTTPCacheProxy<ServedStore>

  /// Opens the levels and listens; ``HTTPCacheProxy/serve()`` answers.
  ///
  /// `report`: Told of what failed without failing a request.
  /// `observe`: Told of every request when its answer has gone out. It must not block.
  ///
  /// - Throws: ``ConfigurationFailure`` if the configuration is none for a proxy, or a level cannot be opened; `CacheError` with
  ///   code `unreachable` if the address cannot be listened at. Nothing is left open then.
  package static func open(
    _ configuration: CacheConfiguration, file: String, origin: ServerOrigin, _ terms: Terms, clock: any CacheClock,
    observers: [any CacheObserver] = [], report: @escaping @Sendable (HTTPCacheFailure) -> Void,
    observe: @escaping @Sendable (ServedRequest, ServedExchange) -> Void
  ) async throws -> ServedCache {
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
    live.refusal = { Self.refusal(of: $0) }
    let store = ServedStore(told: cache.traced(by: builder.observer, clock: clock).normalize(), untold: cache)
    // One response leaves room for others.
    let bodyLimit = min(terms.bodyLimit, (configuration.largestCapacity ?? 0) / 2)
    do {
      let proxy = try await HTTPCacheProxy(
        storing: store, origin: origin, policy: policy, settings: terms.settings, bodyLimit: bodyLimit, clock: clock,
        report: report
      ) { request in
        var exchange = ServedExchange(request, authority: origin.authority)
        figures.note(&exchange, at: clock.now)
        observe(request, exchange)
      }
      return ServedCache(live: live, proxy: proxy)
    } catch {
      try? await live.close()
      throw error
    }
  }

  private static func refusal(of touched: Touched) -> String? {
    switch touched {
    case .nothing, .contents, .faults, .clock: nil
    case .configuration: "a proxy keeps its levels for as long as it runs; end it, and serve the other configuration"
    case .requests: "clients make the requests of a proxy; send some, with curl or from a browser"
    }
  }
}

extension ServedVariant {
  init(_ response: StoredResponse, _ policy: HTTPCachePolicy, at now: Duration) {
    self.init(
      selecting: response.selectingLines, status: response.statusCode, bytes: response.body.count,
      validator: response.entityTag?.text ?? response.lastModified,
      age: response.age(at: now).map { Int($0.components.seconds) },
      left: policy.remainingLife(of: response, at: now).map { Int($0.components.seconds) })
  }
}

extension ServedExchange {
  init(_ request: ServedRequest, authority: String) {
    let outcome: Outcome =
      switch request.word {
      case "hit": .hit
      case "stale" where request.cache?.isHit == true: .stale
      case "validated": .validated
      case "collapsed": .collapsed
      case "refused": .refused
      default: .forwarded
      }
    self.init(
      number: 0, time: request.time, method: request.method, path: request.path,
      key: TargetURI(scheme: "http", authority: authority, path: request.path)?.text, status: request.status,
      outcome: outcome, bytes: request.bytes, duration: request.duration, isWhole: request.isWhole)
    reason = request.cache?.forward?.rawValue
    detail = request.cache?.detail
    isStored = request.cache?.isStored ?? false
    cacheStatus = request.cache?.text
    age = request.age
    left = request.cache?.timeToLive
  }
}
#endif

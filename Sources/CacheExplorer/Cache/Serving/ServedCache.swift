#if Explorer
package import CacheEngine
package import CacheEngineHTTP
package import CacheEngineProxy
package import ExplorerConfiguration
package import ExplorerState

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
  /// `observe`: Told of every request when its answer has gone out, and handed what makes of it what screens show. It must not
  /// block.
  ///
  /// - Throws: ``ConfigurationFailure`` if the configuration is none for a proxy, or a level cannot be opened; `CacheError` with
  ///   code `unreachable` if the address cannot be listened at. Nothing is left open then.
  package static func open(
    _ configuration: CacheConfiguration, file: String, origin: ServerOrigin, _ terms: Terms, clock: any CacheClock,
    observers: [any CacheObserver], report: @escaping @Sendable (HTTPCacheFailure) -> Void,
    observe: @escaping @Sendable (ServedRequest, () -> ServedExchange) -> Void
  ) async throws -> ServedCache {
    let levels = try await ServedLevels.open(configuration, file: file, terms, clock: clock, observers: observers)
    do {
      let proxy = try await HTTPCacheProxy(
        storing: levels.store, origin: origin, policy: levels.policy, settings: terms.settings,
        bodyLimit: levels.bodyLimit, clock: clock, report: report
      ) { request in
        let number = levels.count(request)
        observe(request) {
          ServedExchange(number, request, scheme: origin.scheme, authority: origin.authority)
        }
      }
      let live = levels.live(behind: proxy.cache, scheme: origin.scheme, authority: origin.authority)
      return ServedCache(live: live, proxy: proxy)
    } catch {
      try? await levels.live.close()
      throw error
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

extension ServedExchange.Outcome {
  init(_ request: ServedRequest) {
    self =
      switch request.word {
      case "hit": .hit
      case "stale" where request.cache?.isHit == true: .stale
      case "validated": .validated
      case "collapsed": .collapsed
      case "refused": .refused
      default: .forwarded
      }
  }
}

extension ServedExchange {
  init(_ number: Int, _ request: ServedRequest, scheme: String, authority: String) {
    self.init(
      number: number, time: request.time, method: request.method, path: request.path,
      key: TargetURI(scheme: scheme, authority: authority, path: request.path)?.text, status: request.status,
      outcome: Outcome(request), bytes: request.bytes, duration: request.duration, isWhole: request.isWhole)
    reason = request.cache?.forward?.rawValue
    detail = request.cache?.detail ?? request.fault
    refusal = request.fault == nil ? request.explanation : nil
    isStored = request.cache?.isStored ?? false
    cacheStatus = request.cache?.description
    age = request.age
    left = request.cache?.timeToLive
  }
}
#endif

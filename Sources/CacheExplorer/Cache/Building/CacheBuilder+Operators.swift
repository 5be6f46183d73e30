package import CacheEngine
package import ExplorerConfiguration

/// Puts the engine's operators around levels, as a configuration writes them.
///
/// They are not specialised: that would compile each operator anew for each kind of value, an eighth of this room's time, to save
/// about a microsecond where the level inside takes many.
extension CacheBuilder {
  @_semantics("optimize.sil.specialize.generic.never")
  func operate(
    _ operation: OperatorSpecification, on level: BasicCache<String, Value>, as name: String
  ) -> BasicCache<String, Value> {
    switch operation {
    case .pooled:
      return level.pooled(name: name, observer: observer, clock: clock).normalize()
    case .capped(let limit):
      return level.capRequests(limit, name: name, observer: observer, clock: clock).normalize()
    case .conditioned(let condition):
      return level.conditioned(name: name, observer: observer, clock: clock) { condition.holds($0) }.normalize()
    case .transformKeys(let steps):
      return level.transformKeys { (key: String) in steps.reduce(key) { $1.apply(to: $0) } }.normalize()
    case .transformValues, .postProcess, .fallback: return Value.operate(operation, on: level, as: name, in: self)
    case .expiry(let lifetime, let jitter) where jitter > 0:
      return level.expiring(after: lifetime, jitter: jitter, clock: clock).normalize()
    case .expiry(let lifetime, _):
      return level.expiring(after: lifetime, clock: clock).normalize()
    case .maximumAge(let age):
      return level.maximumAge(age, clock: clock).normalize()
    case .negative(let negative):
      return level.negativeCaching(
        for: negative.lifetime, countLimit: negative.countLimit, name: name, observer: observer, clock: clock
      ).normalize()
    case .timeout(let limit):
      return level.timeout(after: limit, name: name, observer: observer, clock: clock).normalize()
    case .retry(let retry):
      return level.retry(RetryPolicy(retry), name: name, observer: observer, clock: clock).normalize()
    case .breaker(let breaker):
      return level.circuitBreaker(
        failures: breaker.failures, reset: breaker.reset, name: name, observer: observer, clock: clock
      ).normalize()
    }
  }

  @_semantics("optimize.sil.specialize.generic.never")
  package func lanes(
    _ condition: KeyCondition, _ then: BasicCache<String, Value>, _ otherwise: BasicCache<String, Value>
  ) -> BasicCache<String, Value> {
    switchLevels(then, otherwise) { condition.holds($0) ? .first : .second }.normalize()
  }

  @_semantics("optimize.sil.specialize.generic.never")
  func revalidate(
    _ stale: StaleSpecification, _ level: BasicCache<String, Value>, from source: BasicCache<String, Value>,
    as name: String
  ) -> BasicCache<String, Value> {
    let policy = RevalidationPolicy(
      whileRevalidate: stale.whileRevalidate, ifError: stale.ifError, ahead: stale.refreshAhead,
      ifSlow: stale.ifSlow, slowAfter: stale.slowAfter)
    return level.compose(
      source, revalidating: policy, name: name, observer: OperationsOnly(observer: observer), clock: clock
    ).normalize()
  }
}

extension RetryPolicy {
  package init(_ retry: RetrySpecification) {
    self.init(
      attempts: retry.attempts, initialDelay: retry.delay, factor: retry.factor, maximumDelay: retry.maximum,
      jitter: retry.jitter)
  }
}

/// Passes on what an operator does, and not what it says of the levels inside: those tell it themselves.
private struct OperationsOnly: CacheObserver {
  let observer: any CacheObserver

  func record(_ event: CacheEvent) {
    if case .operated = event.kind { observer.record(event) }
  }
}

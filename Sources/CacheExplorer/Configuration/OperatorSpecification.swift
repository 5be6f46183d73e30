/// What an operator does to the levels that it holds.
package enum OperatorSpecification: Equatable, Sendable {
  /// Simultaneous readers share one load.
  case pooled
  case capped(limit: Int)
  case conditioned(KeyCondition)
  case transformKeys([KeyStep])
  /// In the order of writing; reads go back.
  ///
  /// With a condition only the values of keys that meet it are changed.
  case transformValues([ValueStep], when: KeyCondition? = nil)
  case postProcess([ValueStep], when: KeyCondition? = nil)
  /// `jitter`: The share of the lifetime that may be missing, evenly spread.
  case expiry(after: Duration, jitter: Double = 0)
  case maximumAge(Duration)
  case negative(NegativeSpecification)
  case timeout(after: Duration)
  case retry(RetrySpecification)
  case breaker(BreakerSpecification)
  case fallback(value: String)

  /// The word for it in the file.
  package var word: String {
    switch self {
    case .pooled: "pooled"
    case .capped: "capped"
    case .conditioned: "conditioned"
    case .transformKeys: "transformKeys"
    case .transformValues: "transformValues"
    case .postProcess: "postProcess"
    case .expiry, .maximumAge: "expiry"
    case .negative: "negative"
    case .timeout: "timeout"
    case .retry: "retry"
    case .breaker: "breaker"
    case .fallback: "fallback"
    }
  }

  package static let words = [
    "pooled", "capped", "conditioned", "transformKeys", "transformValues", "postProcess", "expiry", "negative",
    "timeout", "retry", "breaker", "fallback",
  ]
}

/// `negative: { for: 5s, count: 1000 }`.
package struct NegativeSpecification: Equatable, Sendable {
  package var lifetime: Duration
  /// How many keys are remembered.
  package var countLimit = 1_000
}

/// `retry: { attempts: 3, delay: 100ms, factor: 2, maximum: 5s, jitter: 0.5 }`.
package struct RetrySpecification: Equatable, Sendable {
  /// The first one counted.
  package var attempts = 3
  package var delay = Duration.milliseconds(100)
  package var factor = 2.0
  package var maximum = Duration.seconds(5)
  /// A share of the delay, from 0 to 1.
  package var jitter = 0.5
}

/// `breaker: { failures: 5, reset: 30s }`.
package struct BreakerSpecification: Equatable, Sendable {
  package var failures = 5
  package var reset = Duration.seconds(30)
}

/// `stale: { whileRevalidate: 30s, ifError: 10m, refreshAhead: 5s, ifSlow: 5m, slowAfter: 200ms, level: …, from: … }`.
package struct StaleSpecification: Equatable, Sendable {
  package var whileRevalidate: Duration?
  package var ifError: Duration?
  package var refreshAhead: Duration?
  package var ifSlow: Duration?
  /// How long the source may take before ``ifSlow`` counts.
  package var slowAfter = Duration.milliseconds(100)

  /// How long an expired entry must stay readable for all of this.
  package var longest: Duration? { [whileRevalidate, ifError, ifSlow].compactMap(\.self).max() }
}

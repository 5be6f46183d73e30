package import CacheEngineHitRatio

/// What `run` is asked to do.
package struct WorkloadRequest: Equatable, Sendable {
  package var name: String
  /// Requests a second, infinite for as fast as the cache answers; `nil` for the workload's own.
  package var rate: Double?
  /// How many requests; `nil` for until stopped.
  package var requests: Int?
  package var seed: UInt64?
  /// How many different keys; `nil` for the workload's own number.
  package var keys: Int?
  /// The key that everybody asks for, in workloads with one key.
  package var key: String?
  /// How uneven a Zipf distribution is; `nil` for the usual.
  package var skew: Double?
  /// The trace, in workloads that are read from a file.
  package var file: String?
  /// How it is written; `nil` to recognize it.
  package var traceFormat: TraceFormat?
  /// Its requests come when it says, and not at a rate.
  package var isTimed = false

  package init(
    name: String, rate: Double? = nil, requests: Int? = nil, seed: UInt64? = nil, keys: Int? = nil, key: String? = nil,
    skew: Double? = nil, file: String? = nil
  ) {
    self.name = name
    self.rate = rate
    self.requests = requests
    self.seed = seed
    self.keys = keys
    self.key = key
    self.skew = skew
    self.file = file
  }

  /// The requests of a file.
  package static func trace(_ file: String, as format: TraceFormat?, isTimed: Bool = false) -> WorkloadRequest {
    var request = WorkloadRequest(name: "trace", file: file)
    request.traceFormat = format
    request.isTimed = isTimed
    return request
  }
}

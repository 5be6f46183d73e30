/// What `run` is asked to do.
struct WorkloadRequest: Equatable, Sendable {
  var name: String
  /// Requests a second, infinite for as fast as the cache answers; `nil` for the workload's own.
  var rate: Double?
  /// How many requests; `nil` for until stopped.
  var requests: Int?
  var seed: UInt64?
  /// How many different keys; `nil` for the workload's own number.
  var keys: Int?
  /// The key that everybody asks for, in workloads with one key.
  var key: String?
  /// How uneven a Zipf distribution is; `nil` for the usual.
  var skew: Double?
  /// The trace, in workloads that are read from a file.
  var file: String?
}

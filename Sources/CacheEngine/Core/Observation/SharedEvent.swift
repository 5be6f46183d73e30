/// What a process heard of others through a level that they share, and which loads it holds or awaits among them.
///
/// A lease is named by eight hexadecimal digits, the same in every process that it concerns.
public enum SharedEvent: Sendable, Equatable {
  /// The copies of a key were forgotten because another process changed it; without a key all were, for this reason.
  case forgot(InvalidationCause?)
  /// What others change is not heard of any more; something was heard last at this moment.
  case deaf(since: CacheInstant)
  /// What others change is heard of from now on.
  case heard
  /// This process got the lease of a key, and loads it for all.
  case leads(lease: String)
  /// It has done so, or has failed to.
  case led(lease: String, Duration)
  /// This process waits for what another one loads.
  case follows(lease: String)
  /// It waits no longer.
  case followed(lease: String, Duration)
}

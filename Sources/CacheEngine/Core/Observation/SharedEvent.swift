/// What a process heard of others through a level that they share, and which shared loads it makes or awaits.
///
/// A lease is named by eight hexadecimal digits, the same in every process that it concerns.
public enum SharedEvent: Sendable, Equatable {
  /// The copies of a key were forgotten because another process changed it; without a key all were, for this reason.
  case forgot(InvalidationCause?)
  /// Changes by others are no longer heard; something was last heard at this moment.
  case deaf(since: CacheInstant)
  /// Changes by others are heard from now on.
  case heard
  /// This process got the lease of a key, and loads it for all.
  case leads(lease: String)
  /// It has loaded it, or has failed to.
  case led(lease: String, Duration)
  /// This process waits for the load of another one.
  case follows(lease: String)
  /// It waits no longer.
  case followed(lease: String, Duration)
}

/// The phase of a circuit breaker.
public enum CircuitPhase: String, Sendable, Codable {
  /// Everything passes.
  case closed
  /// Nothing passes.
  case open
  /// One call passes, to try whether all is well again.
  case halfOpen = "half-open"
}

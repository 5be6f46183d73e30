#if Combine || canImport(Combine)
import CacheEngineTesting

/// Tells when the last holder of its token is gone, without asking again and again.
///
/// A level that holds the token is gone when no publisher, subscription or task holds it any more.
struct Lifetime: Sendable {
  final class Token: Sendable {
    private let gate: Gate

    fileprivate init(gate: Gate) { self.gate = gate }

    deinit { gate.open() }
  }

  private let gate = Gate()

  /// To be called once.
  func token() -> Token { Token(gate: gate) }

  /// Waits until the token is gone.
  func end() async throws { try await gate.pass() }
}
#endif

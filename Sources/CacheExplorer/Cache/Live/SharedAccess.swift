package import ExplorerState

/// The store under a level that processes share, as commands and the screen use it.
package struct SharedAccess: Sendable {
  /// How it stands with it.
  package let status: @Sendable () -> SharedStatus
  /// Whether it has an entry for a key.
  let holds: @Sendable (String) async throws -> Bool
  /// Ends the lifetime of an entry for all processes.
  let expire: @Sendable (String) async throws -> Void
  /// Whether nothing is heard from it on purpose.
  let isDeaf: @Sendable () -> Bool
  /// Lets nothing be heard from it, or everything again.
  let turn: @Sendable (_ isDeaf: Bool) -> Void
}

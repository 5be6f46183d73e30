package import ExplorerState

/// Who is told what happens to a cache of another program.
package struct Follower: Sendable {
  /// Tells what happens to a cache that belongs to another program, until the task is cancelled.
  package typealias Follow = @Sendable (Follower) async -> Void

  package let post: @Sendable (Message) -> Void
  /// Puts a cache that was reached again in place of the one in use.
  package let use: @Sendable (LiveCache) async -> Void
  /// Waits, in the way that costs the program least.
  package let pause: @Sendable (Duration) async throws -> Void

  package init(
    post: @escaping @Sendable (Message) -> Void, use: @escaping @Sendable (LiveCache) async -> Void,
    pause: @escaping @Sendable (Duration) async throws -> Void
  ) {
    self.post = post
    self.use = use
    self.pause = pause
  }
}

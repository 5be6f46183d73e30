/// Who is told what happens to a cache of another program.
struct Follower: Sendable {
  /// Tells what happens to a cache that belongs to another program, until the task is cancelled.
  typealias Follow = @Sendable (Follower) async -> Void

  let post: @Sendable (Message) -> Void
  /// Puts a cache that was reached anew in place of the one in use.
  let use: @Sendable (LiveCache) async -> Void
  /// Waits, in the way that costs the program least.
  let pause: @Sendable (Duration) async throws -> Void
}

public import CStore

/// Which part of something striped the thread that runs uses.
@usableFromInline
package enum ThreadStripe {
  /// Threads beyond this number share stripes.
  @inlinable package static var count: Int { 8 }

  @inlinable
  @inline(__always)
  package static var current: Int { Int(cstore_thread_number()) & (count - 1) }

  /// Moves this thread to another stripe: somebody else uses its own.
  @usableFromInline
  @inline(never)
  package static func change() { cstore_change_thread_number() }
}

/// Waits for another thread that is nearly done.
package enum Backoff {
  /// Waits a moment: at first by going round, then by letting other threads run, and then by sleeping, since the other one may
  /// be of less priority.
  ///
  /// - Parameter round: How often the caller has waited already.
  package static func wait(_ round: UInt32) { cstore_wait(round) }
}

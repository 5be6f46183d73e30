private import CStore

/// Which part of something striped the thread that runs uses.
@usableFromInline
package enum ThreadStripe {
  /// Threads beyond this number share stripes.
  @inlinable package static var count: Int { 8 }

  @usableFromInline package static var current: Int { Int(cstore_thread_number()) & (count - 1) }

  /// Moves this thread to another stripe: somebody else uses its own.
  @usableFromInline
  @inline(never)
  package static func change() { cstore_change_thread_number() }
}

private import CStore

/// How many tasks a thread has started at once, each within the one before.
///
/// Each stands on the stack until it waits for the first time: a value that is made from another, that from a third, and so
/// on, would fill it.
@usableFromInline
enum NestedStarts {
  private static let most: UInt32 = 16

  /// Whether one more may be started here; then ``leave()`` is to be called when it has been.
  @usableFromInline
  static func enter() -> Bool { cstore_enter_start(most) }

  @usableFromInline
  static func leave() { cstore_leave_start() }
}

import Synchronization

/// What is left of a value, which dies where this is emptied.
///
/// Not where the last reference goes: whoever hands one on holds another for a moment, and may be the last.
final class Remains: Sendable {
  private let held: Mutex<(any Sendable)?>

  init(_ held: any Sendable) { self.held = Mutex(held) }

  /// Releases what is held, here and now.
  func release() { _ = held.withLock { $0.take() } }
}

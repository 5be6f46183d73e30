public import CacheCore
import Synchronization

/// Reports the changes that others make in a ``SharedStore``.
///
/// Every change of a name is reported to every process except perhaps the one that made it. If a store does not report changes by
/// itself, its ``SharedStore/commit(_:if:reading:)`` does.
public protocol InvalidationBus: Sendable {
  /// Begins to listen, and goes on until the feed is released.
  ///
  /// - Parameter prefixes: The prefixes of the names to listen for.
  /// - Returns: The changes. The first one reported is ``SharedInvalidation/everything(_:)``, when the bus has begun to hear.
  func changes(of prefixes: [[UInt8]]) -> InvalidationFeed
}

/// A report of a bus.
public enum SharedInvalidation: Sendable, Equatable {
  /// These names were changed.
  case names([[UInt8]])
  /// Any name may have been changed; what changes from now on is heard.
  case everything(InvalidationCause)
  /// Nothing is heard any more; something was last heard at that instant of the boot clock.
  case lost(lastHeard: CacheInstant)
}

/// Changes on their way from a bus to one listener.
///
/// It keeps a limited number of names: any more become one ``SharedInvalidation/everything(_:)``, and if nothing was
/// heard any more, that is reported again after it. A bus never waits.
public final class InvalidationFeed: AsyncSequence, Sendable {
  /// A report of the bus.
  public typealias Element = SharedInvalidation
  /// Never: the sequence ends when its listener is cancelled or its bus is gone.
  public typealias Failure = Never

  private struct State {
    var isEnded = false
    var waiting: [SharedInvalidation] = []
    /// How many of them were taken.
    var taken = 0
    var count = 0
    /// That nothing is heard any more, unless something was since.
    var lost: SharedInvalidation?
    var listener: CheckedContinuation<SharedInvalidation?, Never>?

    /// Has these wait in place of all others.
    mutating func begin(with all: [SharedInvalidation]) { (waiting, taken, count) = (all, 0, 0) }

    mutating func take() -> SharedInvalidation? {
      guard taken < waiting.count else { return nil }
      let change = waiting[taken]
      taken += 1
      // Only now and then, as it moves everything that waits.
      if taken * 2 > waiting.count {
        waiting.removeFirst(taken)
        taken = 0
      }
      if case .names(let names) = change { count -= names.count }
      return change
    }
  }

  private let limit: Int
  private let onEnd: @Sendable () -> Void
  private let state = Mutex(State())

  /// Creates a feed.
  ///
  /// - Parameters:
  ///   - limit: How many names may wait for the listener. At least 1.
  ///   - onEnd: Called once, when nobody listens any more.
  public init(limit: Int = 100_000, onEnd: @escaping @Sendable () -> Void = {}) {
    precondition(limit >= 1, "a feed keeps at least one name")
    self.limit = limit
    self.onEnd = onEnd
  }

  deinit { end() }

  /// Reports a change to the listener; to be called by the bus.
  ///
  /// - Parameter change: What was changed.
  public func send(_ change: SharedInvalidation) {
    let listener = state.withLock { state -> CheckedContinuation<SharedInvalidation?, Never>? in
      if state.isEnded { return nil }
      switch change {
      case .names: break
      case .everything: state.lost = nil
      case .lost: state.lost = change
      }
      if let listener = state.listener.take() { return listener }
      switch change {
      case .names(let names):
        state.count += names.count
        if state.count > limit {
          state.begin(with: [.everything(.overflow)] + [state.lost].compactMap(\.self))
        } else {
          state.waiting.append(change)
        }
      case .everything:
        // What was told before is part of it.
        state.begin(with: [change])
      case .lost:
        state.waiting.append(change)
      }
      return nil
    }
    listener?.resume(returning: change)
  }

  /// Tells the listener that there will be no more reports.
  public func end() {
    let (isFirst, listener) = state.withLock { state in
      defer { state.isEnded = true }
      return (!state.isEnded, state.listener.take())
    }
    listener?.resume(returning: nil)
    if isFirst { onEnd() }
  }

  /// The one listener's way through the feed.
  public func makeAsyncIterator() -> Iterator { Iterator(feed: self) }

  /// Waits for one change after the other.
  public struct Iterator: AsyncIteratorProtocol {
    let feed: InvalidationFeed

    /// The next change; `nil` when the listener was cancelled or the feed has ended.
    public mutating func next() async -> SharedInvalidation? {
      let feed = feed
      return await withTaskCancellationHandler {
        await withCheckedContinuation { listener in
          let (isNow, change) = feed.state.withLock { state -> (Bool, SharedInvalidation?) in
            if state.isEnded { return (true, nil) }
            if let change = state.take() { return (true, change) }
            state.listener = listener
            return (false, nil)
          }
          if isNow { listener.resume(returning: change) }
        }
      } onCancel: {
        feed.end()
      }
    }

    /// The next change; `nil` when the listener was cancelled or the feed has ended.
    public mutating func next(isolation actor: isolated (any Actor)?) async -> SharedInvalidation? { await next() }
  }
}

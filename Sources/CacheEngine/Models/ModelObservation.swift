import CacheCore

/// Keeps an observation alive: it ends with ``cancel()``, or when nobody holds this object any more.
///
/// From then on no call begins, neither for later changes nor for earlier ones that were still to be told. A call that
/// is under way on another thread ends by itself.
public final class ModelObservation: Sendable {
  private let end: @Sendable () -> Void

  init(end: @escaping @Sendable () -> Void) { self.end = end }

  deinit { end() }

  /// Ends the observation.
  ///
  /// It may be called by the observer itself, and more than once.
  public func cancel() { end() }
}

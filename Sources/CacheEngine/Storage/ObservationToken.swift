/// Ends an observation of a ``Storage``.
///
/// Letting go of a token ends nothing: an observation lasts until it is cancelled, its owner is gone, or the storage is.
public final class ObservationToken: Sendable {
  private let end: @Sendable () -> Void

  init(end: @escaping @Sendable () -> Void) { self.end = end }

  /// Ends this one observation.
  ///
  /// From then on no call begins, neither for later changes nor for earlier ones that were still to be told. It may be
  /// called by the observer itself, and more than once.
  public func cancel() { end() }
}

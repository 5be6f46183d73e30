import CacheCore

/// A live handle of one model in a ``ModelCache``: it always shows what is stored now.
///
/// A handle does not keep its cache alive. One that outlives its cache reads `nil` and stores nothing.
///
/// ```swift
/// let dune = cache.cached(Book.self, id: "dune")
/// dune.value?.title = "Dune"   // reads, changes, stores
/// ```
public struct Cached<Model: Identifiable & Sendable>: Sendable where Model.ID: Sendable {
  /// The identifier of the model.
  public let id: Model.ID

  private weak let cache: ModelCache?

  init(id: Model.ID, cache: ModelCache) {
    self.id = id
    self.cache = cache
  }

  /// The model as it is stored now, or `nil` if it is not.
  ///
  /// Storing through the handle does what ``ModelCache/insert(_:expiry:)`` does: a ``Mergeable`` model is merged with
  /// the one there. Storing `nil` is ignored. A model is stored under its own identifier, whatever that of the handle.
  public var value: Model? {
    get { cache?.value(Model.self, id: id) }
    nonmutating set {
      if let newValue { cache?.insert(newValue) }
    }
  }

  /// Calls a closure after every change of the model or of one that it points to, as
  /// ``ModelCache/observe(_:id:_:)`` does.
  ///
  /// - Parameter body: Called with the model as the change left it, `nil` once it has left.
  /// - Returns: Ends the observation when it is released. Without its cache the handle observes nothing.
  public func observe(_ body: @escaping @Sendable (Model?) -> Void) -> ModelObservation {
    cache?.observe(Model.self, id: id, body) ?? ModelObservation(end: {})
  }

  /// The states of the model from now on, as ``ModelCache/updates(of:id:bufferingPolicy:)`` gives them.
  ///
  /// - Returns: The states. Without its cache the sequence is at its end.
  public func updates() -> AsyncStream<Model?> {
    cache?.updates(of: Model.self, id: id) ?? AsyncStream { $0.finish() }
  }
}

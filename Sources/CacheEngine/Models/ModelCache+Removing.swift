import CacheDisk
import CacheMemory
import CacheCore
import Synchronization

extension ModelCache {
  /// What goes with a model that is removed.
  public enum Cascade: String, Sendable, CaseIterable {
    /// Nothing. Models that pointed to it point to nothing from then on.
    case none
    /// Every model that points to it, at any depth: with an author the books, with the books the reviews.
    case dependents
    /// Every model that it points to, at any depth, and that no other model leads to: with an order its lines, but not
    /// the articles that other orders have as well. Being observed does not keep a model from it.
    case orphans
  }

  /// Removes a model; observers of it are told `nil`, observers of what points to it are told as of any change.
  ///
  /// - Parameters:
  ///   - type: The type of the model.
  ///   - id: The identifier of the model. Removing an absent one changes nothing and calls nobody, unless models that
  ///     point to it are to go with it.
  ///   - cascade: What goes with it, in the same commit.
  /// - Returns: What was removed.
  /// - Complexity: O(1) without a cascade; with one, the number of models it comes by.
  @discardableResult
  public func remove<Model: Identifiable & Sendable>(
    _ type: Model.Type, id: Model.ID, cascade: Cascade = .none
  ) -> ModelChanges where Model.ID: Sendable {
    let key = ModelKey(type, id: id)
    return commit { graph, now in graph.remove(key, with: cascade, now: now) }
  }

  /// Removes every model; each observer of one is told `nil`.
  ///
  /// - Returns: What was removed.
  @discardableResult
  public func removeAll() -> ModelChanges {
    commit(clearing: true) { _ in [] }
  }

  /// What a clear would change now.
  func removals(besides kept: Set<ModelKey>, now: CacheInstant) -> [ModelChanges.Change] {
    state.withLock { $0.graph.stored(besides: kept) }.filter { !$0.model.isExpired(at: now) }.map {
      ModelChanges.Change(key: $0.key, kind: .removed(.cleared), oldValue: $0.model.value, newValue: nil)
    }
  }

  /// Removes every model that is neither observed nor reached from an observed one, at any depth.
  ///
  /// - Returns: What was removed.
  /// - Complexity: O(n) for n models and their relations.
  @discardableResult
  public func pruneUnobservedValues() -> ModelChanges {
    commit { graph, now in graph.prune(now: now) }
  }

  /// Removes the models whose deadline has passed; observers are notified as of any removal.
  ///
  /// Nobody sees an expired model in any case. It leaves when somebody asks for it, or when a model that it points to
  /// changes, or else now.
  ///
  /// - Returns: What was removed.
  /// - Complexity: O(n).
  @discardableResult
  public func removeExpired() -> ModelChanges {
    commit { graph, now in graph.removeAll(.expired, now: now) { $0.stored?.isExpired(at: now) ?? false } }
  }

  /// Calls ``removeExpired()`` again and again until the task is cancelled, so that observers hear of an expiry in time.
  ///
  /// - Parameter interval: How long to wait between, by the cache's clock. More than zero.
  /// - Throws: `CancellationError`, once the task is cancelled; `CacheError` with code `CacheError.Code.invalidSetting` if the
  ///   interval is not more than zero.
  public func sweep(every interval: Duration) async throws {
    try await repeated(every: interval) { removeExpired() }
  }

  /// Does something again and again, with pauses by the cache's clock, until the task is cancelled.
  func repeated(every interval: Duration, _ body: () async throws -> Void) async throws {
    // What waits for no time takes a thread for itself.
    guard interval > .zero else {
      throw CacheError(.invalidSetting, "an interval has to be more than zero; it was \(interval)")
    }
    while true {
      try await clock.sleep(until: clock.now.advanced(by: interval), tolerance: nil)
      try await body()
    }
  }
}

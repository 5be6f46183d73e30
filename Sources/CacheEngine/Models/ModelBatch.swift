import CacheDisk
import CacheMemory

public import CacheCore
import Synchronization

/// Changes that are gathered in ``ModelCache/performBatchUpdates(_:completion:)`` and committed together.
///
/// Reads see the batch's own changes first, then the cache as it is at that moment. Every change can be undone until the
/// batch ends. A view that is kept longer reads the cache and changes nothing.
///
/// It may be handed to other threads that finish within the action.
public final class ModelBatch: Sendable {
  /// A point of a batch to which it can be taken back.
  public struct Savepoint: Sendable {
    fileprivate let count: Int
  }

  private let cache: ModelCache
  private let journal = Mutex(BatchJournal())

  init(cache: ModelCache) { self.cache = cache }

  /// Stores a model when the batch ends, or merges it if it is ``Mergeable``.
  ///
  /// - Parameters:
  ///   - model: The model.
  ///   - expiry: How long it may live from now on; `nil` for the cache's own lifetime.
  public func insert<Model: Identifiable & Sendable>(_ model: Model, expiry: Expiry? = nil) where Model.ID: Sendable {
    let isMerging = Model.self is any Mergeable.Type
    let deadline = (expiry ?? cache.expiry).deadline(by: cache.clock)
    journal.withLock { $0.append(.store(model, deadline: deadline, isMerging: isMerging), to: ModelKey(of: model)) }
  }

  /// Removes a model when the batch ends.
  ///
  /// - Parameters:
  ///   - type: The type of the model.
  ///   - id: The identifier of the model.
  public func remove<Model: Identifiable & Sendable>(_ type: Model.Type, id: Model.ID) where Model.ID: Sendable {
    journal.withLock { $0.append(.remove, to: ModelKey(type, id: id)) }
  }

  /// Removes every model when the batch ends, except those that the batch stores afterwards.
  ///
  /// What others store in the meantime is removed as well.
  public func removeAll() { journal.withLock { $0.appendClear() } }

  /// Returns the model that would be stored if the batch ended now.
  ///
  /// - Parameters:
  ///   - type: The type of the model.
  ///   - id: The identifier of the model.
  /// - Returns: The model, or `nil` if it is not stored, or was removed in this batch.
  public func value<Model: Identifiable & Sendable>(_ type: Model.Type = Model.self, id: Model.ID) -> Model?
  where Model.ID: Sendable {
    let key = ModelKey(type, id: id)
    let steps = journal.withLock { $0.steps(for: key) }
    if steps.isEmpty { return cache.value(type, id: id) }
    return BatchJournal.outcome(of: steps, for: key, onto: cache.current(key, now: cache.clock.now).value)?.value
      as? Model
  }

  /// What would change if the batch ended now, in the order in which the models were first changed.
  ///
  /// What ``removeAll()`` removes comes first.
  public var changes: ModelChanges {
    let (steps, isCleared) = journal.withLock { ($0.stepsByKey, $0.isCleared) }
    let now = cache.clock.now
    var changes = isCleared ? cache.removals(besides: Set(steps.map(\.key)), now: now) : []
    changes += steps.compactMap { key, steps -> ModelChanges.Change? in
      let old = cache.current(key, now: now).value
      let new = BatchJournal.outcome(of: steps, for: key, onto: old)?.value
      if old == nil, new == nil { return nil }
      let kind: ModelChanges.Change.Kind = new == nil ? .removed(.removed) : old == nil ? .inserted : .updated
      return ModelChanges.Change(key: key, kind: kind, oldValue: old, newValue: new)
    }
    return ModelChanges(changes: changes)
  }

  /// Takes back the last change.
  ///
  /// - Returns: Whether there was one.
  @discardableResult
  public func undo() -> Bool { journal.withLock { $0.removeLast() } }

  /// The batch as it stands, to come back to with ``undo(to:)``.
  public var savepoint: Savepoint { Savepoint(count: journal.withLock { $0.count }) }

  /// Takes back every change since a savepoint.
  ///
  /// - Parameter savepoint: A savepoint of this batch. One that has itself been taken back means nothing.
  public func undo(to savepoint: Savepoint) {
    while journal.withLock({ $0.count > savepoint.count && $0.removeLast() }) {}
  }

  /// Ends the batch, and hands over what it gathered.
  func close() -> (steps: [(key: ModelKey, steps: [BatchJournal.Step])], isCleared: Bool) {
    journal.withLock { $0.close() }
  }
}

extension ModelCache {
  /// Makes many changes as one: all of them are seen together, and each observer is called once at most.
  ///
  /// The action runs at once, on this thread and under no lock; until it returns, everybody else sees the cache as it was.
  /// Then all changes are committed together, the observers are told, and the completion is called. If the action throws,
  /// nothing is changed and the completion is not called.
  ///
  /// What others store meanwhile is not lost. Models that the batch did not touch stay as the others left them. A model
  /// that it did touch becomes what the batch made of it, as if the batch had stored last: a model that does not merge
  /// is the batch's, and one that is ``Mergeable`` is what the others stored, merged with what the batch stored.
  ///
  /// ```swift
  /// cache.performBatchUpdates { batch in
  ///   batch.insert(author)
  ///   for book in books { batch.insert(book) }
  /// }
  /// ```
  ///
  /// - Parameters:
  ///   - action: Makes the changes. It may use the cache itself too, which is not part of the batch.
  ///   - completion: Called after the observers, even if nothing changed. It is called on the thread that tells the
  ///     observers: this one, before the method returns, unless other changes are just being told.
  /// - Returns: What the commit changed.
  /// - Throws: What the action throws.
  @discardableResult
  public func performBatchUpdates<Failure: Error>(
    _ action: (ModelBatch) throws(Failure) -> Void, completion: (@Sendable () -> Void)? = nil
  ) throws(Failure) -> ModelChanges {
    let batch = ModelBatch(cache: self)
    defer { _ = batch.close() }
    try action(batch)
    let (steps, isCleared) = batch.close()
    return commit(clearing: isCleared, completion: completion) { now in
      steps.map { key, steps in
        var basis: UInt64?
        var stored: (any Sendable)?
        if BatchJournal.dependsOnStored(steps) {
          let (value, version) = current(key, now: now)
          (stored, basis) = (value, version)
        }
        guard let (value, deadline) = BatchJournal.outcome(of: steps, for: key, onto: stored) else {
          return ModelEdit(key: key, outcome: .remove(.removed))
        }
        return edit(storing: value, under: key, deadline: deadline, basis: basis)
      }
    }
  }
}

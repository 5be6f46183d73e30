extension ModelCache {
  /// Removes a model; observers of it are told `nil`, observers of what points to it are told as of any change.
  ///
  /// - Parameters:
  ///   - type: The type of the model.
  ///   - id: The identifier of the model. Removing an absent one changes nothing and calls nobody.
  /// - Returns: What was removed.
  @discardableResult
  public func remove<Model: Identifiable & Sendable>(_ type: Model.Type, id: Model.ID) -> ModelChanges
  where Model.ID: Sendable {
    let key = ModelKey(type, id: id)
    return commit { _ in [ModelEdit(key: key, outcome: .remove(.removed))] }
  }

  /// Removes every model; each observer of one is told `nil`.
  ///
  /// - Returns: What was removed.
  @discardableResult
  public func removeAll() -> ModelChanges {
    commit { graph, now in graph.removeAll(now: now) }
  }
}

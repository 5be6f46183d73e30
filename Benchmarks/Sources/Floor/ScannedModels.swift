import Synchronization

/// Models in a dictionary that is searched from end to end for whatever points to a changed one, step after step: what a
/// store without an index of relations has to do.
public final class ScannedModels: Sendable {
  struct State: Sendable {
    var models: [String: (value: String, relations: Set<String>)] = [:]
    var observers: [String: @Sendable (String) -> Void] = [:]
  }

  private let state = Mutex(State())

  /// Creates an empty store.
  public init() {}

  /// Stores a model and tells who is concerned.
  public func set(_ value: String, forKey key: String, relations: Set<String> = []) {
    let calls = state.withLock { state in
      state.models[key] = (value, relations)
      var affected: Set<String> = [key]
      var step = affected
      while !step.isEmpty && !state.observers.isEmpty {
        var next: Set<String> = []
        for (other, model) in state.models where !affected.contains(other) {
          if !model.relations.isDisjoint(with: step) { next.insert(other) }
        }
        affected.formUnion(next)
        step = next
      }
      return affected.compactMap { key in
        state.observers[key].flatMap { body in state.models[key].map { (body, $0.value) } }
      }
    }
    for (body, value) in calls { body(value) }
  }

  /// Calls a closure after every change of a model or of one that it points to.
  public func observe(_ key: String, _ body: @escaping @Sendable (String) -> Void) {
    state.withLock { $0.observers[key] = body }
  }
}

import CacheDisk
import CacheCore
import Synchronization

extension ModelCache {
  /// Calls a closure after every change of a model or of one that it refers to.
  ///
  /// The model need not be stored yet. The closure is not called at once, but for commits from now on, by each of them
  /// at most once. The closure may read, store, observe and cancel; what it stores is reported after it has returned.
  ///
  /// - Parameters:
  ///   - type: The type of the model.
  ///   - id: The identifier of the model.
  ///   - body: Called with the model as the commit left it: the same as before if only a model that it refers to
  ///     changed, `nil` once it has left. It holds up the deliveries to others until it returns.
  /// - Returns: Ends the observation when it is released.
  public func observe<Model: Identifiable & Sendable>(
    _ type: Model.Type = Model.self, id: Model.ID, _ body: @escaping @Sendable (Model?) -> Void
  ) -> ModelObservation where Model.ID: Sendable {
    let key = ModelKey(type, id: id)
    let observer = state.withLock { state in
      state.lastObserver += 1
      state.observers[state.lastObserver] = { body($0 as? Model) }
      state.graph.observe(key, by: state.lastObserver)
      return state.lastObserver
    }
    return ModelObservation { [weak self] in self?.endObservation(of: key, by: observer) }
  }

  /// Calls a closure after every change of a model or of one that it refers to.
  ///
  /// - Parameters:
  ///   - model: The model, which need not be stored; only its identifier is used.
  ///   - body: Called as by ``observe(_:id:_:)``.
  /// - Returns: Ends the observation when it is released.
  public func observe<Model: Identifiable & Sendable>(
    _ model: Model, _ body: @escaping @Sendable (Model?) -> Void
  ) -> ModelObservation where Model.ID: Sendable {
    observe(Model.self, id: model.id, body)
  }

  /// The states of a model from now on: one for each commit that changed it or a model that it refers to.
  ///
  /// The observation begins with this call and not with the first `for await`, so nothing is missed in between. It ends with
  /// the iteration or the task that iterates; the sequence ends with the cache.
  ///
  /// ```swift
  /// for await book in cache.updates(of: Book.self, id: "dune") {
  ///   print(book?.title ?? "gone")
  /// }
  /// ```
  ///
  /// - Parameters:
  ///   - type: The type of the model.
  ///   - id: The identifier of the model.
  ///   - bufferingPolicy: What is kept for a slow consumer. By default the newest 16 states; `.bufferingNewest(1)` keeps
  ///     the last one only, which is enough for a screen.
  /// - Returns: The states; `nil` once the model has left.
  public func updates<Model: Identifiable & Sendable>(
    of type: Model.Type = Model.self, id: Model.ID,
    bufferingPolicy: AsyncStream<Model?>.Continuation.BufferingPolicy = .bufferingNewest(16)
  ) -> AsyncStream<Model?> where Model.ID: Sendable {
    stream(bufferingPolicy) { send in observe(type, id: id, send) }
  }

  /// Calls a closure after every commit, with everything that it changed.
  ///
  /// Commits that change nothing are not reported. What ``observe(_:id:_:)`` promises applies here as well; a listener is called
  /// after the observers of the single models.
  ///
  /// - Parameter body: Called with the changes.
  /// - Returns: Ends the observation when it is released.
  public func observeChanges(_ body: @escaping @Sendable (ModelChanges) -> Void) -> ModelObservation {
    let listener = state.withLock { state in
      state.lastObserver += 1
      state.listeners[state.lastObserver] = body
      return state.lastObserver
    }
    return ModelObservation { [weak self] in
      _ = self?.state.withLock { $0.listeners.removeValue(forKey: listener) }
    }
  }

  /// What changes from now on, commit by commit.
  ///
  /// - Parameter bufferingPolicy: What is kept for a slow consumer. By default the newest 256 commits; with `.unbounded`
  ///   all of them, as long as the consumer does not take them.
  /// - Returns: The changes of each commit, in order.
  public func changes(
    bufferingPolicy: AsyncStream<ModelChanges>.Continuation.BufferingPolicy = .bufferingNewest(256)
  ) -> AsyncStream<ModelChanges> {
    stream(bufferingPolicy) { send in observeChanges(send) }
  }

  private func endObservation(of key: ModelKey, by observer: ModelGraph.ObserverID) {
    // The closure and the key are carried out of the lock, and die out here.
    _ = state.withLock { state in
      (state.observers.removeValue(forKey: observer), state.graph.endObservation(of: key, by: observer))
    }
  }

  private func stream<Element: Sendable>(
    _ bufferingPolicy: AsyncStream<Element>.Continuation.BufferingPolicy,
    _ observe: (_ send: @escaping @Sendable (Element) -> Void) -> ModelObservation
  ) -> AsyncStream<Element> {
    let (stream, continuation) = AsyncStream.makeStream(of: Element.self, bufferingPolicy: bufferingPolicy)
    let sender = StreamSender(continuation: continuation)
    let observation = observe { sender.continuation.yield($0) }
    continuation.onTermination = { _ in observation.cancel() }
    return stream
  }
}

public import Observation

/// A model of a cache for a view to observe: a view that reads ``value`` is redrawn after every commit that changed the model or
/// one that it refers to.
///
/// ```swift
/// struct BookTitle: View {
///   @State private var book: ObservedModel<Book>
///
///   init(id: String, in cache: ModelCache) { _book = State(initialValue: ObservedModel(id: id, in: cache)) }
///   var body: some View { Text(book.value?.title ?? "gone") }
/// }
/// ```
///
/// It keeps no copy: what is read is what the cache holds at that moment. It keeps the model from being pruned as any
/// other observation does, until it is released.
@MainActor
public final class ObservedModel<Model: Identifiable & Sendable>: Observable where Model.ID: Sendable {
  /// The identifier of the model.
  public let id: Model.ID

  private let cache: ModelCache
  private let registrar = ObservationRegistrar()
  private var observation: ModelObservation?

  /// Begins to observe a model, which need not be stored yet.
  ///
  /// - Parameters:
  ///   - type: The type of the model.
  ///   - id: The identifier of the model.
  ///   - cache: Where it is stored.
  public init(_ type: Model.Type = Model.self, id: Model.ID, in cache: ModelCache) {
    self.id = id
    self.cache = cache
    observation = cache.observe(type, id: id) { [weak self] _ in
      // Commits are told on whatever thread made them; their order matters to nobody.
      Task { @MainActor in self?.noteChange() }
    }
  }

  /// The model as the cache holds it now; `nil` if it does not.
  public var value: Model? {
    registrar.access(self, keyPath: \.value)
    return cache.value(Model.self, id: id)
  }

  private func noteChange() { registrar.withMutation(of: self, keyPath: \.value) {} }
}

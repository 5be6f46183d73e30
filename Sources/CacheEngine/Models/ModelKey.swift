import CacheDisk
import CacheCore

/// Names one model in a ``ModelCache``: its type and its identifier.
///
/// Types are told apart by identity and not by name, so that `Shop.Book` and `Library.Book` never share an entry.
///
/// ```swift
/// let key = ModelKey(Book.self, id: "dune")
/// ```
public struct ModelKey: Hashable, Sendable, CustomStringConvertible {
  /// The type of the model.
  public let type: Any.Type
  /// The identifier of the model.
  public let id: any Hashable & Sendable

  // Made once and by the caller, so that no identifier is hashed under a lock.
  private let hash: Int

  /// Names the model of a type that has an identifier.
  ///
  /// - Parameters:
  ///   - type: The type of the model.
  ///   - id: The identifier of the model.
  public init<Model: Identifiable>(_ type: Model.Type, id: Model.ID) where Model.ID: Sendable {
    self.type = type
    self.id = id
    var hasher = Hasher()
    hasher.combine(ObjectIdentifier(type))
    hasher.combine(id)
    hash = hasher.finalize()
  }

  /// Names a model.
  ///
  /// - Parameter model: The model.
  public init<Model: Identifiable>(of model: Model) where Model.ID: Sendable {
    self.init(Model.self, id: model.id)
  }

  /// Whether both name the same model.
  ///
  /// An identifier that does not equal itself, with a NaN in it, say, names a model all the same: it is told by its hash.
  public static func == (left: ModelKey, right: ModelKey) -> Bool {
    left.hash == right.hash && ObjectIdentifier(left.type) == ObjectIdentifier(right.type)
      && isEqual(left.id, right.id)
  }

  /// Feeds the type and the identifier to a hasher.
  ///
  /// - Parameter hasher: The hasher.
  public func hash(into hasher: inout Hasher) { hasher.combine(hash) }

  /// The full name of the type with the identifier behind it.
  public var description: String { "\(String(reflecting: type))(\(id))" }

  private static func isEqual<ID: Hashable>(_ id: ID, _ other: any Hashable) -> Bool {
    guard let other = other as? ID else { return false }
    return other == id || id != id && other != other
  }
}

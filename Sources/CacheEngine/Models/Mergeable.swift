import CacheDisk
import CacheCore

/// A model of which several parts of an app know different fields.
///
/// A ``ModelCache`` that holds such a model does not replace it by the next one: it stores what
/// ``merged(with:)`` makes of both.
///
/// ```swift
/// struct Author: Identifiable, Mergeable {
///   let id: String
///   var name: String?
///   var biography: String?
///
///   func merged(with new: Author) -> Author {
///     Author(id: id, name: new.name ?? name, biography: new.biography ?? biography)
///   }
/// }
/// ```
public protocol Mergeable: Sendable {
  /// Makes one model of two.
  ///
  /// It may be called again with another model when somebody else stores at the same moment, so it should do nothing
  /// but compute. It never runs under a lock of the cache. The result belongs under the identifier of both.
  ///
  /// - Parameter new: The model that is being stored.
  /// - Returns: The model to store.
  func merged(with new: Self) -> Self
}

/// What is stored when a model comes to another one of its type.
func merge(_ old: any Sendable, with new: any Sendable, of type: Any.Type) -> any Sendable {
  func opened<Model: Mergeable>(_ type: Model.Type) -> any Sendable {
    guard let old = old as? Model, let new = new as? Model else { return new }
    return old.merged(with: new)
  }
  guard let type = type as? any Mergeable.Type else { return new }
  return opened(type)
}

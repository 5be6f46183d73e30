#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension Storage {
  /// A view of this storage for values of another type, written as JSON.
  ///
  /// The view shares everything with this one: tiers, observers, thread. So one storage can hold values of many types:
  ///
  /// ```swift
  /// let store = try Storage<String, Data>(
  ///   diskConfig: DiskConfig(name: "everything"), transformer: TransformerFactory.forData())
  /// let users = store.transform(to: User.self)
  /// let counts = store.transform(to: Int.self)
  /// ```
  ///
  /// A value that was stored through another view is read from its bytes: a type with the same fields reads it, any other
  /// fails.
  ///
  /// - Parameter type: The type of the view's values.
  /// - Returns: The view.
  public func transform<Other: Codable & Sendable>(to type: Other.Type = Other.self) -> Storage<Key, Other> {
    transform(by: TransformerFactory.forCodable(ofType: type))
  }

  /// A view of this storage for the bytes of its values, of whatever type.
  ///
  /// - Returns: The view.
  public func transformData() -> Storage<Key, Data> { transform(by: TransformerFactory.forData()) }

  /// A view of this storage for values of another type or form.
  ///
  /// - Parameter transformer: How the view's values become bytes, and which old shapes it reads.
  /// - Returns: The view.
  public func transform<Other: Sendable>(by transformer: Transformer<Other>) -> Storage<Key, Other> {
    Storage<Key, Other>(core: core, transformer: transformer)
  }
}

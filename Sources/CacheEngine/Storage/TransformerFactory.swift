import CacheCore
#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// Makes the usual transformers of a ``Storage``.
public enum TransformerFactory {
  /// Bytes as they are.
  ///
  /// - Returns: The transformer. It reads entries of every form.
  public static func forData() -> Transformer<Data> { Transformer(.data) }

  /// JSON, lone numbers and texts included.
  ///
  /// - Parameters:
  ///   - type: The type of the values.
  ///   - name: Names the shape of the values; `nil` for the name of the type. Whoever changes the shape changes the name,
  ///     and says how the old one is read: see ``Transformer/migrating(from:_:)``.
  /// - Returns: The transformer. What it cannot read fails with `CacheError.Code.invalidCachedData`, what it cannot
  ///   write (a number that is not finite) with `CacheError.Code.encodingFailed`.
  public static func forCodable<Value: Codable & Sendable>(
    ofType type: Value.Type = Value.self, as name: String? = nil
  ) -> Transformer<Value> {
    let json = ByteCoding<Value>.json
    return Transformer(name: name ?? json.name, toData: json.encode, fromData: json.decode)
  }

  /// Binary property lists, smaller and quicker to read than JSON where there are many numbers.
  ///
  /// The value is stored in an array of one, since a property list cannot hold a lone number or text.
  ///
  /// - Parameters:
  ///   - type: The type of the values.
  ///   - name: Names the shape of the values; `nil` for the name of the type.
  /// - Returns: The transformer. Its errors are those of ``forCodable(ofType:as:)``.
  public static func forPropertyList<Value: Codable & Sendable>(
    ofType type: Value.Type = Value.self, as name: String? = nil
  ) -> Transformer<Value> {
    let list = ByteCoding<Value>.propertyList
    return Transformer(name: name ?? list.name, toData: list.encode, fromData: list.decode)
  }
}

import CacheDisk

public import CacheCore
#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// How one type of model is kept in a ``ModelArchive``: under which name, and as which bytes.
public struct ModelCoding: Sendable {
  /// The name of the type in the archive.
  ///
  /// It outlives restarts and renamed types, so it is chosen and not taken from the source.
  public let name: String

  let type: ObjectIdentifier
  /// The identifier as text; `nil` for a model of another type.
  let encodeID: @Sendable (ModelKey) throws -> String?
  let encode: @Sendable (any Sendable) throws -> Data
  let decode: @Sendable (Data) throws -> (key: ModelKey, model: any Sendable)

  /// Keeps a type of model in a form of your own.
  ///
  /// - Parameters:
  ///   - type: The type of the model.
  ///   - name: The name of the type in the archive; no other type of it may have the same.
  ///   - coding: Turns models into bytes and back.
  ///   - id: Turns an identifier into text; different identifiers need different texts, of which those count
  ///     as the same that are equal as `String`.
  public init<Model: Identifiable & Sendable>(
    _ type: Model.Type, as name: String, coding: ByteCoding<Model>, id: @escaping @Sendable (Model.ID) throws -> String
  ) where Model.ID: Sendable {
    // As levels tell it in their keys, which begin with it.
    self.name = String(decoding: CanonicalText.bytes(of: name), as: UTF8.self)
    self.type = ObjectIdentifier(type)
    // Identifiers that are equal as text are one, so they have one name.
    encodeID = { key in
      try (key.id as? Model.ID).map { String(decoding: try ByteCoding.canonicalText.encode(id($0)), as: UTF8.self) }
    }
    encode = { model in
      guard let model = model as? Model else {
        throw CacheError(.encodingFailed, "a model of type \(Swift.type(of: model)) is not a \(Model.self)")
      }
      return try coding.encode(model)
    }
    decode = { bytes in
      let model = try coding.decode(bytes)
      return (ModelKey(of: model), model)
    }
  }

  /// Keeps a type of model as JSON.
  ///
  /// - Parameters:
  ///   - type: The type of the model.
  ///   - name: The name of the type in the archive; no other type of it may have the same.
  /// - Returns: The coding.
  public static func json<Model: Identifiable & Codable & Sendable>(_ type: Model.Type, as name: String) -> ModelCoding
  where Model.ID: Codable & Sendable {
    let ids = ByteCoding<Model.ID>.canonicalJSON
    return ModelCoding(type, as: name, coding: .json) { String(decoding: try ids.encode($0), as: UTF8.self) }
  }
}

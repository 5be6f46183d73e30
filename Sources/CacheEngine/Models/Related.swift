import CacheCore

/// Points from one model to another by its identifier, so that each model is stored once.
///
/// It is as small as the identifier, it encodes as the identifier, and two of them are equal if they point to the same
/// model. What it points to need not be stored.
///
/// ```swift
/// struct Book: Identifiable, Codable, HasCachedRelationships {
///   let id: String
///   var title: String
///   var author: Related<Author>
/// }
/// let author = book.author.value(in: cache)
/// ```
public struct Related<Model: Identifiable>: Hashable, Sendable where Model.ID: Sendable {
  /// The identifier of the model pointed to.
  public let id: Model.ID

  /// Points to the model that has an identifier.
  ///
  /// - Parameter id: The identifier.
  public init(id: Model.ID) { self.id = id }

  /// Points to a model.
  ///
  /// - Parameter model: The model; only its identifier is kept.
  public init(_ model: Model) { id = model.id }

  /// Names the model pointed to in a cache.
  public var cacheKey: ModelKey { ModelKey(Model.self, id: id) }

  /// Returns the model pointed to.
  ///
  /// - Parameter cache: The cache to look it up in.
  /// - Returns: The model, or `nil` if it is not there.
  public func value(in cache: ModelCache) -> Model? where Model: Sendable { cache.value(Model.self, id: id) }

  /// Makes a live handle of the model pointed to.
  ///
  /// - Parameter cache: The cache that the handle looks into.
  /// - Returns: The handle.
  public func cached(in cache: ModelCache) -> Cached<Model> where Model: Sendable { cache.cached(Model.self, id: id) }

  /// Whether both point to the same model.
  public static func == (left: Related, right: Related) -> Bool { left.id == right.id }

  /// Feeds the identifier to a hasher.
  ///
  /// - Parameter hasher: The hasher.
  public func hash(into hasher: inout Hasher) { hasher.combine(id) }
}

extension Related: CustomStringConvertible {
  /// The model pointed to: its type, and its identifier in brackets.
  public var description: String { "\(Model.self)(\(id))" }
}

extension Related: Encodable where Model.ID: Encodable {
  /// Writes the identifier alone.
  ///
  /// - Parameter encoder: The encoder to write to.
  /// - Throws: The encoder's error.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(id)
  }
}

extension Related: Decodable where Model.ID: Decodable {
  /// Reads the identifier alone.
  ///
  /// - Parameter decoder: The decoder to read from.
  /// - Throws: The decoder's error.
  public init(from decoder: any Decoder) throws {
    id = try decoder.singleValueContainer().decode(Model.ID.self)
  }
}

extension Related: RelationReference {}

import CacheCore

/// A model that points to others with ``Related``.
///
/// Whoever observes such a model is told when one of those it points to changes, at any depth.
///
/// Conforming is enough: the relations are found in the stored properties, also within optionals, arrays, sets,
/// dictionaries, enumerations and nested structures, but not within objects. Finding them so takes some
/// microseconds for each store; a model that is stored often, or holds large collections, names them itself:
///
/// ```swift
/// extension Book: HasCachedRelationships {
///   var relatedCacheKeys: [ModelKey] { [author.cacheKey] + sequels.map(\.cacheKey) }
/// }
/// ```
public protocol HasCachedRelationships {
  /// Names the models that this one points to directly.
  ///
  /// Asked once for each store, never under a lock of the cache. Order and repetition do not matter.
  var relatedCacheKeys: [ModelKey] { get }
}

extension HasCachedRelationships {
  /// Finds every ``Related`` in the stored properties.
  public var relatedCacheKeys: [ModelKey] { RelationFinder.relations(of: self) }
}

/// What ``Related`` is when its type is not known.
protocol RelationReference {
  var cacheKey: ModelKey { get }
}

enum RelationFinder {
  static func relations(of model: Any) -> [ModelKey] {
    var found: [ModelKey] = []
    var mirror: Mirror? = Mirror(reflecting: model)
    while let current = mirror {
      for child in current.children { collect(child.value, into: &found) }
      mirror = current.superclassMirror
    }
    return found
  }

  private static func collect(_ value: Any, into found: inout [ModelKey]) {
    if let relation = value as? any RelationReference {
      found.append(relation.cacheKey)
      return
    }
    let mirror = Mirror(reflecting: value)
    switch mirror.displayStyle {
    // Numbers and text have no style. Objects may form a ring, and are models of their own or nothing to a cache.
    case nil, .class, .foreignReference: return
    default: for child in mirror.children { collect(child.value, into: &found) }
    }
  }
}

/// What a level of a composition is made of, for those who show the composition.
package enum LevelShape {
  /// An operator as events and configurations know it.
  package struct Operation: Sendable, Equatable {
    /// The word for it: `capped`, `retry`.
    package var kind: String
    /// The name that its events carry.
    package var name: String
    /// What it was told, in a few words.
    package var setting = ""
    /// The most reads at once.
    package var limit: Int?

    package init(_ kind: String, name: String? = nil, setting: String = "", limit: Int? = nil) {
      self.kind = kind
      self.name = name ?? kind
      self.setting = setting
      self.limit = limit
    }
  }

  /// It holds values or fetches them by itself; `kind` is the word for it.
  case leaf(kind: String)
  /// It changes nothing that is worth showing.
  case wrapper(any CacheLevel)
  /// What the level inside is asked is told under a name.
  case observed(any CacheLevel, as: String, by: any CacheObserver)
  /// The calls of what is inside are told.
  case traced(any CacheLevel, by: any CacheObserver)
  /// One above the other.
  case stacked(any CacheLevel, any CacheLevel)
  case around(Operation, any CacheLevel)
  case lanes(Operation, any CacheLevel, any CacheLevel)
  /// What holds values, and the source from which they are read again.
  case stale(Operation, any CacheLevel, from: any CacheLevel)
}

/// A level that can say what it is made of.
///
/// Any other level is a leaf.
package protocol ShapedLevel: CacheLevel {
  var shape: LevelShape { get }
}

extension CacheLevel {
  /// What this level is made of, as far as it can say.
  package var shapeOrLeaf: LevelShape {
    (self as? any ShapedLevel)?.shape ?? .leaf(kind: self is any Fetcher ? "source" : "level")
  }

  /// Somebody is told what it, or a level inside it, is asked.
  var isWatched: Bool {
    switch shapeOrLeaf {
    case .leaf: false
    case .observed, .traced: true
    case .wrapper(let level), .around(_, let level): level.isWatched
    case .stacked(let one, let other), .lanes(_, let one, let other), .stale(_, let one, from: let other):
      one.isWatched || other.isWatched
    }
  }
}

// Here, since the types that levels are made of know nothing of observation.
extension BasicCache: ShapedLevel {
  package var shape: LevelShape { inner.map(LevelShape.wrapper) ?? .leaf(kind: "level") }
}

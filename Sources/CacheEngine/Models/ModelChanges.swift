import CacheDisk
import CacheMemory
import CacheCore

/// What one commit to a ``ModelCache`` changed: a store, a removal, or all of a batch.
public struct ModelChanges: Sendable, RandomAccessCollection {
  /// What happened to one model.
  public struct Change: Sendable {
    /// What happened to a model.
    public enum Kind: Sendable, Hashable {
      /// It was stored; there was none before, or one that had expired.
      case inserted
      /// It replaced another one, or was merged with it. The two may be equal.
      case updated
      /// It left.
      case removed(Cause)
    }

    /// Why a model left.
    public enum Cause: String, Sendable, CaseIterable {
      /// It was removed on request.
      case removed
      /// It was removed along with another one.
      case cascaded
      /// The cache was emptied.
      case cleared
      /// It was not observed when the cache was pruned.
      case pruned
      /// Room was needed.
      case evicted
      /// Its deadline had passed, whatever operation removed it then.
      case expired
    }

    /// Names the model.
    public let key: ModelKey
    /// What happened to it.
    public let kind: Kind

    let oldValue: (any Sendable)?
    let newValue: (any Sendable)?

    /// Returns the model as it was.
    ///
    /// - Parameter type: The type of the model.
    /// - Returns: The model, or `nil` if there was none or it is of another type.
    public func old<Model: Sendable>(_ type: Model.Type) -> Model? { oldValue as? Model }

    /// Returns the model as it is.
    ///
    /// - Parameter type: The type of the model.
    /// - Returns: The model, or `nil` if there is none, it was stored with no time to live, or it is of another type.
    public func new<Model: Sendable>(_ type: Model.Type) -> Model? { newValue as? Model }
  }

  let changes: [Change]

  /// The position of the first change.
  public var startIndex: Int { changes.startIndex }

  /// The position after the last change.
  public var endIndex: Int { changes.endIndex }

  /// The change at a position.
  ///
  /// Each model has at most one; only a model that was evicted at once because there was no room for it has two.
  public subscript(position: Int) -> Change { changes[position] }
}

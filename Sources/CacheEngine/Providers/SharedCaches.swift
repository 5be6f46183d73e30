import CacheCore
import Synchronization

/// Caches that are made when somebody first asks for them, and then are the same for everyone.
final class SharedCaches: Sendable {
  private struct Name: Hashable, Sendable {
    var name: String
    var type: ObjectIdentifier
  }

  private struct State: Sendable {
    var configuration: CacheProvider.Configuration?
    var caches: [Name: any Sendable] = [:]
    /// How many are being made.
    var making = 0
  }

  private let state = Mutex(State())

  /// Sets what caches are made with, unless there are some.
  ///
  /// - Throws: `CacheError` with code `CacheError.Code.tooLate`.
  func configure(_ configuration: CacheProvider.Configuration) throws {
    let isEarly = state.withLock { state in
      guard state.caches.isEmpty, state.making == 0 else { return false }
      state.configuration = configuration
      return true
    }
    guard isEarly else {
      throw CacheError(
        .tooLate, "a shared cache is in use already; configure the shared caches when the program starts")
    }
  }

  /// Gives the cache of a name and type, made now if there is none.
  ///
  /// It is made outside the lock, since that reads a directory: of two that are made at once, one is used by all.
  func cache<Key, Value>(
    named name: String, make: (CacheProvider.Configuration) throws -> BasicCache<Key, Value>
  ) throws -> BasicCache<Key, Value> {
    let name = Name(name: name, type: ObjectIdentifier(BasicCache<Key, Value>.self))
    let (known, configuration) = state.withLock { state in
      if state.caches[name] == nil { state.making += 1 }
      return (state.caches[name], state.configuration)
    }
    if let cache = known as? BasicCache<Key, Value> { return cache }
    defer { state.withLock { $0.making -= 1 } }
    let made = try make(configuration ?? CacheProvider.Configuration())
    let kept = state.withLock { state in
      let kept = state.caches[name] ?? made
      state.caches[name] = kept
      return kept
    }
    return kept as? BasicCache<Key, Value> ?? made
  }
}

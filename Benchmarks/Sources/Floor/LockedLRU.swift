public import Synchronization

/// The cache that one writes in an afternoon: a dictionary, a linked list of indices, one mutex.
public final class LockedLRU<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  @usableFromInline
  struct Node: Sendable {
    @usableFromInline var key: Key
    @usableFromInline var value: Value
    @usableFromInline var newer: Int
    @usableFromInline var older: Int

    @inlinable
    init(key: Key, value: Value, newer: Int, older: Int) {
      self.key = key
      self.value = value
      self.newer = newer
      self.older = older
    }
  }

  @usableFromInline
  struct State: Sendable {
    @usableFromInline var places: [Key: Int] = [:]
    @usableFromInline var nodes: [Node] = []
    @usableFromInline var newest = -1
    @usableFromInline var oldest = -1

    @inlinable
    init() {}

    @inlinable
    mutating func use(_ place: Int) {
      guard place != newest else { return }
      unlink(place)
      link(place)
    }

    @inlinable
    mutating func unlink(_ place: Int) {
      let (newer, older) = (nodes[place].newer, nodes[place].older)
      if newer < 0 { newest = older } else { nodes[newer].older = older }
      if older < 0 { oldest = newer } else { nodes[older].newer = newer }
    }

    @inlinable
    mutating func link(_ place: Int) {
      nodes[place].newer = -1
      nodes[place].older = newest
      if newest >= 0 { nodes[newest].newer = place } else { oldest = place }
      newest = place
    }
  }

  @usableFromInline let capacity: Int
  @usableFromInline let state = Mutex(State())

  /// Creates an empty cache of so many entries.
  public init(capacity: Int) { self.capacity = capacity }

  /// The value for a key, which becomes the newest.
  @inlinable
  public func get(_ key: Key) -> Value? {
    state.withLock { state in
      guard let place = state.places[key] else { return nil }
      state.use(place)
      return state.nodes[place].value
    }
  }

  /// Stores a value; the oldest leaves where there is no room.
  @inlinable
  public func set(_ value: Value, forKey key: Key) {
    state.withLock { state in
      if let place = state.places[key] {
        state.nodes[place].value = value
        return state.use(place)
      }
      var place = state.nodes.count
      if place < capacity {
        state.nodes.append(Node(key: key, value: value, newer: -1, older: -1))
      } else {
        place = state.oldest
        state.unlink(place)
        state.places[state.nodes[place].key] = nil
        state.nodes[place].key = key
        state.nodes[place].value = value
      }
      state.places[key] = place
      state.link(place)
    }
  }
}

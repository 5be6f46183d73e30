/// Which keys have which tags: a plain value.
///
/// Keys without tags cost nothing.
@usableFromInline
package struct TagIndex<Key: Hashable & Sendable>: Sendable {
  private var keysByTag: [String: Set<Key>] = [:]
  @usableFromInline package var tagsByKey: [Key: Set<String>] = [:]

  @usableFromInline
  package init() {}

  var isEmpty: Bool { tagsByKey.isEmpty && keysByTag.isEmpty }

  @inlinable
  package func tags(of key: Key) -> Set<String> { tagsByKey.isEmpty ? [] : tagsByKey[key] ?? [] }

  package func keys(with tag: String) -> Set<Key> { keysByTag[tag] ?? [] }

  @usableFromInline
  package mutating func insert(_ tags: Set<String>, for key: Key) {
    // A key that does not equal itself (NaN) would never be found again, to be removed with its entry.
    guard !tags.isEmpty, key == key else { return }
    tagsByKey[key] = tags
    for tag in tags { keysByTag[tag, default: []].insert(key) }
  }

  @usableFromInline
  package mutating func remove(_ key: Key) {
    guard !tagsByKey.isEmpty, let tags = tagsByKey.removeValue(forKey: key) else { return }
    for tag in tags {
      keysByTag[tag]?.remove(key)
      if keysByTag[tag]?.isEmpty == true { keysByTag[tag] = nil }
    }
  }
}

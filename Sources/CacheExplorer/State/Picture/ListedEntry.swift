package import CacheEngine

/// What is known of an entry that a level lists, or that a recording begins with.
package struct ListedEntry: Sendable, Codable {
  package var key: String
  package var cost: Int
  /// `nil` if nobody knows when it was stored.
  package var created: CacheInstant?
  package var deadline: CacheInstant?
  /// When it was last stored or hit; `nil` if that was not seen.
  package var used: CacheInstant?

  package init(
    key: String, cost: Int, created: CacheInstant?, deadline: CacheInstant?, used: CacheInstant? = nil
  ) {
    self.key = key
    self.cost = cost
    self.created = created
    self.deadline = deadline
    self.used = used
  }
}

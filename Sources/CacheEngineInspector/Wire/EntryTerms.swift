package import CacheEngine

/// What an entry has beside its value, so that it can be put back as it was; moments are by the clock of the events.
package struct EntryTerms: Codable, Sendable, Equatable {
  private let created: Int64
  /// `nil` for an entry that does not expire.
  private let deadline: Int64?
  private let tags: Set<String>?

  package init(created: CacheInstant, deadline: CacheInstant?, tags: Set<String>) {
    self.created = created.nanoseconds
    self.deadline = deadline?.nanoseconds
    self.tags = tags.isEmpty ? nil : tags
  }

  /// `nil` for an entry of which it is not known, or that has more tags than go into a line.
  init?(_ entry: Entry<some Sendable>) {
    let length = entry.tags.reduce(0) { $0 + $1.utf8.count }
    guard let created = entry.created, length <= WireLimits.key else { return nil }
    self.init(created: created, deadline: entry.deadline, tags: entry.tags)
  }

  /// The terms on which a value is stored that is to be such an entry.
  package var terms: StoreTerms {
    StoreTerms(
      expiry: deadline.map { .at(CacheInstant(nanoseconds: $0)) } ?? .never, tags: tags ?? [],
      created: CacheInstant(nanoseconds: created))
  }

  /// Such an entry.
  package func entry<Value>(_ value: Value) -> Entry<Value> {
    var entry = Entry(
      value, deadline: deadline.map { CacheInstant(nanoseconds: $0) }, created: CacheInstant(nanoseconds: created))
    entry.tags = tags ?? []
    return entry
  }
}

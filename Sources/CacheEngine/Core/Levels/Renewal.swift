/// The answer of a load that was given the expired entry: a new value, or that the old one is still valid.
///
/// ```swift
/// let rates = BasicFetcher<String, Rates>(renewing: { currency, old in
///   let answer = try await bank.rates(of: currency, unless: old?.validator)
///   guard let rates = answer.rates else { return .notModified(expiry: .after(.seconds(60))) }
///   return .value(rates, expiry: .after(.seconds(60)), validator: answer.version)
/// })
/// ```
public struct Renewal<Value: Sendable>: Sendable {
  /// The new value; `nil` if the old one is still valid.
  public var value: Value?
  /// The terms on which the value is stored.
  ///
  /// For a value that is still valid, terms that are not given (``StoreTerms/cost``, ``StoreTerms/tags``,
  /// ``StoreTerms/validator``) stay as they were. Its age restarts, since the source has just confirmed it.
  public var terms: StoreTerms

  /// Answers with a new value.
  ///
  /// - Parameters:
  ///   - value: The value.
  ///   - expiry: When it expires; `nil` for the default of the level that stores it.
  ///   - cost: Its cost; `nil` lets the level find out.
  ///   - tags: The tags by which it can be removed.
  ///   - validator: What to ask with next time whether it is still valid, such as an entity tag.
  /// - Returns: The answer.
  public static func value(
    _ value: Value, expiry: Expiry? = nil, cost: Int? = nil, tags: Set<String> = [], validator: String? = nil
  ) -> Renewal {
    var terms = StoreTerms(expiry: expiry, cost: cost, tags: tags)
    if let validator { terms.validator = validator }
    return Renewal(value: value, terms: terms)
  }

  /// Answers that the value of the expired entry still holds.
  ///
  /// - Parameters:
  ///   - expiry: When it expires now; `nil` for the default of the level that stores it.
  ///   - cost: What it weighs; `nil` for what is known of it.
  ///   - tags: What it can be removed by; empty for what it could be removed by before.
  ///   - validator: What to ask with the next time; `nil` for the one that it had.
  /// - Returns: The answer. To give it where there was no entry is an error of the load.
  public static func notModified(
    expiry: Expiry? = nil, cost: Int? = nil, tags: Set<String> = [], validator: String? = nil
  ) -> Renewal {
    var terms = StoreTerms(expiry: expiry, cost: cost, tags: tags)
    if let validator { terms.validator = validator }
    return Renewal(value: nil, terms: terms)
  }

  /// The value to go on with, and the terms for it.
  ///
  /// - Parameters:
  ///   - old: The entry that the load was shown.
  ///   - key: The key, for the error.
  ///   - level: Who loads, for the error.
  /// - Returns: Both.
  /// - Throws: ``CacheError`` with code ``CacheError/Code/valueNotInCache`` if nothing is said to have changed where there was
  ///   nothing.
  @usableFromInline
  package func settled<Key>(
    by old: Entry<Value>?, key: Key, level: String
  ) throws -> (value: Value, terms: StoreTerms) {
    if let value { return (value, terms) }
    guard let old else {
      throw CacheError(
        .valueNotInCache,
        "the load for the key \(CacheError.shown(key)) says that nothing has changed, but it was shown no entry; let it give a value",
        level: level)
    }
    var kept = terms
    kept.cost = terms.cost ?? old.cost
    let validator = terms.validator ?? old.validator
    if Validator.plain(terms.tags).isEmpty { kept.tags = old.tags }
    kept.validator = validator
    return (old.value, kept)
  }
}

/// How a validator is kept: as a tag, so that whatever keeps tags keeps it, on the disk and between processes as well.
enum Validator {
  static let prefix = "validator:"

  static func text(in tags: Set<String>) -> String? {
    if tags.isEmpty { return nil }
    // There is one, unless somebody has made such tags; then the first in order is as good as any.
    return tags.filter(isOne).min().map { String(Substring($0.utf8.dropFirst(prefix.utf8.count))) }
  }

  static func plain(_ tags: Set<String>) -> Set<String> { tags.filter { !isOne($0) } }

  // By bytes: to `String`, a validator may begin with what belongs to the colon before it, as an accent does.
  private static func isOne(_ tag: String) -> Bool { tag.utf8.starts(with: prefix.utf8) }

  static func put(_ validator: String?, into tags: inout Set<String>) {
    if !tags.isEmpty { tags = plain(tags) }
    if let validator { tags.insert(prefix + validator) }
  }
}

extension Entry {
  /// What to ask the source with whether the value is still valid, such as an HTTP entity tag; `nil` if there is none.
  ///
  /// It is kept as a tag, `validator:` before it, by every level that keeps tags.
  public var validator: String? {
    get { Validator.text(in: tags) }
    set { Validator.put(newValue, into: &tags) }
  }
}

extension StoreTerms {
  /// What the source can be asked with later if the value still holds; `nil` for nothing.
  ///
  /// It is kept as a tag, `validator:` before it, by every level that keeps tags.
  public var validator: String? {
    get { Validator.text(in: tags) }
    set { Validator.put(newValue, into: &tags) }
  }
}

/// A level that can make use of an expired entry: a source that is asked whether it still holds, or an operator above one.
///
/// A composition shows such a lower level what its upper one still keeps (`keepsExpired`), and operators that neither change
/// values nor merge them hand it on. Where one does not, the source is asked as for a value that was never there.
public protocol RenewingLevel<Key, Value>: CacheLevel {
  /// Whether it makes a difference to be shown an expired entry. It never changes. By default, for a fetcher, `true`.
  var renews: Bool { get }

  /// Returns the value for a key, given what a level above has kept of it.
  ///
  /// - Parameters:
  ///   - key: The key to look up.
  ///   - old: The entry that has expired above, or soon will.
  /// - Returns: An entry with its value, which may be the old one with a new deadline; or the reason for the miss.
  /// - Throws: As ``CacheLevel/lookup(_:)``. The level above keeps its entry then.
  func lookup(_ key: Key, renewing old: Entry<Value>) async throws -> Lookup<Value>
}

extension RenewingLevel where Self: Fetcher {
  /// Always `true`: a source answers differently if it is shown an expired entry.
  public var renews: Bool { true }
}

extension CacheLevel {
  /// This level, if it makes use of expired entries.
  @usableFromInline
  package var renewer: (any RenewingLevel<Key, Value>)? {
    guard let able = self as? any RenewingLevel<Key, Value>, able.renews else { return nil }
    return able
  }

  /// Shows this level an expired entry if it makes use of that, and else asks it as ever.
  func lookupIfAble(_ key: Key, renewing old: Entry<Value>) async throws -> Lookup<Value> {
    guard let renewer else { return try await lookup(key) }
    return try await renewer.lookup(key, renewing: old)
  }
}

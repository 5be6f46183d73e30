/// A value as a level found it, with what the level knows about it.
public struct Entry<Value: Sendable>: Sendable {
  /// The value.
  public var value: Value
  /// When it expires, by the clock of the level that answered; `nil` for never or unknown.
  public var deadline: CacheInstant?
  /// Its cost, if known: in bytes, unless the level was given another cost function.
  public var cost: Int?
  /// The name of the level that answered, if it has one.
  public var level: String?
  /// When it was stored, by the clock of the level that answered; `nil` if unknown.
  public var created: CacheInstant?
  /// Whether it has expired, and is returned all the same because the caller asked for stale values.
  public var isStale = false
  /// The tags by which it can be removed, if the level keeps tags.
  @inlinable public var tags: Set<String> {
    get { knownTags ?? [] }
    set { knownTags = newValue.isEmpty ? nil : newValue }
  }
  /// `nil` for none, which costs nothing to copy and to release, unlike an empty set.
  @usableFromInline package var knownTags: Set<String>?
  /// Whether it stands in for a value that was not available: a composition does not copy it upwards.
  public var isPlaceholder = false
  /// It is made of several values, and not all of their levels told tags.
  @usableFromInline var hasUntoldTags = false
  /// Its value was made on the way of the one that is kept, and cannot be turned back: nobody is to renew it.
  @usableFromInline var isProcessed = false

  /// Creates an entry.
  ///
  /// - Parameters:
  ///   - value: The value.
  ///   - deadline: When it expires; `nil` for never or unknown.
  ///   - cost: Its cost, if known.
  ///   - level: The name of the level that answers.
  ///   - created: When it was stored; `nil` if unknown.
  @inlinable
  public init(
    _ value: Value, deadline: CacheInstant? = nil, cost: Int? = nil, level: String? = nil, created: CacheInstant? = nil
  ) {
    self.value = value
    self.deadline = deadline
    self.cost = cost
    self.level = level
    self.created = created
  }

  /// An entry with all that a level may know of it, made at once: to change one afterwards is to copy it.
  @inlinable
  package init(
    _ value: Value, deadline: CacheInstant?, cost: Int, level: String, created: CacheInstant, isStale: Bool,
    tags: Set<String>?
  ) {
    self.value = value
    self.deadline = deadline
    self.cost = cost
    self.level = level
    self.created = created
    self.isStale = isStale
    knownTags = tags
  }

  /// Returns the same entry with another value, and without the cost, which was that of the first value.
  ///
  /// For operators that convert values: everything else that is known about the entry is kept.
  ///
  /// - Parameter value: The other value.
  /// - Returns: An entry with that value.
  @inlinable
  public func with<Other: Sendable>(_ value: Other) -> Entry<Other> {
    var entry = Entry<Other>(value, deadline: deadline, level: level, created: created)
    entry.isStale = isStale
    entry.knownTags = knownTags
    entry.isPlaceholder = isPlaceholder
    entry.hasUntoldTags = hasUntoldTags
    entry.isProcessed = isProcessed
    return entry
  }
}

/// The answer to a look-up: an entry, or why there is none.
public enum Lookup<Value: Sendable>: Sendable {
  /// The key was found.
  case hit(Entry<Value>)
  /// The key was not found.
  case miss(MissReason)

  /// The entry, if there is one.
  @inlinable
  public var entry: Entry<Value>? {
    if case .hit(let entry) = self { return entry }
    return nil
  }

  /// The value of the entry, without a copy of all the rest.
  @inlinable
  @inline(__always)
  package var value: Value? {
    switch self {
    case .hit(let entry): entry.value
    case .miss: nil
    }
  }

  /// Why there is no entry, if there is none.
  @inlinable
  public var missReason: MissReason? {
    if case .miss(let reason) = self { return reason }
    return nil
  }
}

/// Why a level has no value for a key.
///
/// A struct and not an enum, so that your own levels can define reasons of their own.
public struct MissReason: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
  /// The name of the reason, as shown in logs and in JSON.
  public var rawValue: String

  /// Creates a reason.
  ///
  /// - Parameter rawValue: The name of the reason.
  @inlinable
  public init(rawValue: String) { self.rawValue = rawValue }

  /// The key is not there.
  public static let absent = MissReason(rawValue: "absent")
  /// There is an entry, but its deadline has passed.
  public static let expired = MissReason(rawValue: "expired")
  /// A condition refused the key.
  public static let refused = MissReason(rawValue: "refused")
  /// There was an entry, but it was damaged and has been dropped.
  public static let damaged = MissReason(rawValue: "damaged")

  /// There was an entry, but it was not what had been sealed under this key, and has been dropped.
  public static let authenticationFailed = MissReason(rawValue: "authenticationFailed")
  /// There is an entry, but it was written by a newer version of the library, and is left alone.
  public static let newer = MissReason(rawValue: "newer")
  /// A write of the key has failed, and it is not yet known what the level holds.
  public static let unsettled = MissReason(rawValue: "unsettled")
  /// The process or server that holds the entries did not answer in time, so it is not known what there is.
  public static let unanswered = MissReason(rawValue: "unanswered")
  /// The key was missed recently, and the level inside was not asked again.
  public static let remembered = MissReason(rawValue: "remembered")
  /// There was no level to ask: in a composition, the other level decides.
  public static let nothingToAsk = MissReason(rawValue: "nothing")

  /// Whether the level says that there is no such value, and not only that it cannot tell.
  @usableFromInline var meansGone: Bool {
    ![
      .refused, .expired, .damaged, .authenticationFailed, .newer, .unsettled, .unanswered, .remembered, .nothingToAsk,
    ].contains(self)
  }

  /// The name of the reason.
  public var description: String { rawValue }
}

/// The terms on which a value is stored: its lifetime, cost, tags and purpose.
public struct StoreTerms: Sendable {
  /// Why a value is stored.
  public enum Purpose: String, Sendable {
    /// The value is set by a caller.
    case set
    /// A composition copies the value upwards from a lower level.
    case backFill
  }

  /// When the entry expires; `nil` for the level's own default.
  public var expiry: Expiry?
  /// The cost of the entry, if the caller knows it; `nil` lets the level find out.
  public var cost: Int?
  /// Why the value is stored.
  public var purpose: Purpose
  /// The expiry is already what the next level means by these terms.
  @usableFromInline var isTimed = false
  /// The tags by which the entry can be removed, in a ``TaggedLevel``.
  @inlinable public var tags: Set<String> {
    get { knownTags ?? [] }
    set { knownTags = newValue.isEmpty ? nil : newValue }
  }
  /// `nil` for none, which costs nothing to copy and to release, unlike an empty set.
  @usableFromInline package var knownTags: Set<String>?
  /// When the value was first stored, if that was earlier; `nil` for now.
  public var created: CacheInstant?
  /// The load that gave the value, if it was loaded for this store: what came since that load began wins.
  @usableFromInline package var load: (any LoadMark)?
}

extension StoreTerms {
  /// Creates terms.
  ///
  /// - Parameters:
  ///   - expiry: When the entry expires; `nil` for the level's own default.
  ///   - cost: The cost of the entry; `nil` lets the level find out.
  ///   - purpose: Why the value is stored.
  ///   - tags: The tags by which the entry can be removed.
  ///   - created: When the value was first stored, if that was earlier.
  @inlinable
  public init(
    expiry: Expiry? = nil, cost: Int? = nil, purpose: Purpose = .set, tags: Set<String> = [],
    created: CacheInstant? = nil
  ) {
    self.init(expiry: expiry, cost: cost, purpose: purpose, knownTags: tags.isEmpty ? nil : tags, created: created)
  }

  /// Those on which a composition copies an entry upwards of which it knows this.
  // Not of the entry, which would be copied.
  @inlinable
  package init(copying deadline: CacheInstant?, tags: Set<String>?, created: CacheInstant?) {
    self.init(
      expiry: deadline.map(Expiry.at) ?? .never, cost: nil, purpose: .backFill,
      knownTags: tags?.isEmpty == true ? nil : tags, created: created)
  }

  // By the initialiser that Swift gives the type, which is for this module alone: one that sets its parts in turn copies all of them at
  // its end, and so does whatever it is inlined into.
  @usableFromInline
  init(expiry: Expiry?, cost: Int?, purpose: Purpose, knownTags: Set<String>?, created: CacheInstant?) {
    self.init(
      expiry: expiry, cost: cost, purpose: purpose, isTimed: false, knownTags: knownTags, created: created, load: nil)
  }

  /// Returns the terms on which a composition copies an entry upwards, keeping its deadline and its age.
  ///
  /// - Parameters:
  ///   - deadline: The deadline of the entry found below; `nil` for never or unknown.
  ///   - tags: The tags of that entry.
  ///   - created: When that entry was stored; `nil` if unknown.
  /// - Returns: The terms.
  @inlinable
  public static func backFill(
    deadline: CacheInstant?, tags: Set<String> = [], created: CacheInstant? = nil
  ) -> StoreTerms {
    StoreTerms(expiry: deadline.map(Expiry.at) ?? .never, purpose: .backFill, tags: tags, created: created)
  }

  /// Whether what is stored on these terms may expire even in a level where nothing expires by itself.
  @inlinable package var canExpire: Bool {
    switch expiry {
    case nil, .never: false
    case .after, .date, .at: true
    }
  }

  /// The same terms for another form of the value, which weighs something else.
  @inlinable
  package var withoutCost: StoreTerms {
    var terms = self
    terms.cost = nil
    return terms
  }

  /// Returns the deadline that these terms mean for a level.
  ///
  /// A value that is set lives as long as the terms say or, without an expiry, as long as the level's default. A value that a
  /// back-fill copies keeps its deadline, shortened to the level's default.
  ///
  /// - Parameters:
  ///   - levelDefault: The level's own expiry.
  ///   - clock: The level's clock; read only if the entry can expire.
  /// - Returns: The deadline; `nil` for never.
  @inlinable
  public func deadline(levelDefault: Expiry, clock: any CacheClock) -> CacheInstant? {
    switch purpose {
    case .set: return (expiry ?? levelDefault).deadline(by: clock)
    case .backFill:
      let kept = expiry?.deadline(by: clock)
      guard let most = levelDefault.deadline(by: clock) else { return kept }
      return kept.map { min($0, most) } ?? most
    }
  }
}

/// A load that was noted where it is to be stored.
@usableFromInline
package protocol LoadMark: AnyObject, Sendable {}

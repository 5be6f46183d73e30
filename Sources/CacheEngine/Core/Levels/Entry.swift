/// A value as a level found it, with what the level knows of it.
public struct Entry<Value: Sendable>: Sendable {
  /// The value.
  public var value: Value
  /// When it expires, by the clock of the level that answered; `nil` for never or not known.
  public var deadline: CacheInstant?
  /// What it weighs, if known: bytes, unless the level was given another cost function.
  public var cost: Int?
  /// The name of the level that answered, if it has one.
  public var level: String?
  /// When it was stored, by the clock of the level that answered; `nil` for not known.
  public var created: CacheInstant?
  /// It has expired, and is given all the same because somebody asked for stale values.
  public var isStale = false
  /// What it can be removed by, if the level keeps tags.
  @inlinable public var tags: Set<String> {
    get { knownTags ?? [] }
    set { knownTags = newValue.isEmpty ? nil : newValue }
  }
  /// `nil` for none, which costs nothing to copy and to let go of, as an empty set does.
  @usableFromInline package var knownTags: Set<String>?
  /// It stands in for a value that could not be had: a composition does not copy it upwards.
  public var isPlaceholder = false
  /// It is made of several values, and not all of their levels told tags.
  @usableFromInline var hasUntoldTags = false

  /// Creates an entry.
  ///
  /// - Parameters:
  ///   - value: The value.
  ///   - deadline: When it expires; `nil` for never or not known.
  ///   - cost: What it weighs, if known.
  ///   - level: The name of the level that answers.
  ///   - created: When it was stored; `nil` for not known.
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

  /// The same entry with another value; its cost, which was that of the first one, stays behind.
  ///
  /// For operators that turn values into others: everything else that is known of the entry goes with it.
  ///
  /// - Parameter value: The other value.
  /// - Returns: An entry of it.
  @inlinable
  public func with<Other: Sendable>(_ value: Other) -> Entry<Other> {
    var entry = Entry<Other>(value, deadline: deadline, level: level, created: created)
    entry.isStale = isStale
    entry.knownTags = knownTags
    entry.isPlaceholder = isPlaceholder
    entry.hasUntoldTags = hasUntoldTags
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

  /// Why there is no entry, if there is none.
  @inlinable
  public var missReason: MissReason? {
    if case .miss(let reason) = self { return reason }
    return nil
  }
}

/// Why a level has no value for a key.
///
/// A struct and not an enum, so that levels of your own can give reasons of their own.
public struct MissReason: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
  /// The word for it, as shown in logs and in JSON.
  public var rawValue: String

  /// Creates a reason.
  ///
  /// - Parameter rawValue: The word for it.
  @inlinable
  public init(rawValue: String) { self.rawValue = rawValue }

  /// The key is not there.
  public static let absent = MissReason(rawValue: "absent")
  /// The entry was there and its deadline has passed.
  public static let expired = MissReason(rawValue: "expired")
  /// A condition refused the key.
  public static let refused = MissReason(rawValue: "refused")
  /// The entry was there but damaged; it is dropped.
  public static let damaged = MissReason(rawValue: "damaged")

  /// The entry was there, but it is not what was sealed under this key; it is dropped.
  public static let authenticationFailed = MissReason(rawValue: "authenticationFailed")
  /// The entry was written by a newer version of the library, and is left alone.
  public static let newer = MissReason(rawValue: "newer")
  /// A write of the key has failed, and it is not known yet what the level holds.
  public static let unsettled = MissReason(rawValue: "unsettled")
  /// Whoever holds the entries did not answer in time, and it is not known what there is.
  public static let unanswered = MissReason(rawValue: "unanswered")
  /// The key was missed a moment ago, and the level behind was not asked again.
  public static let remembered = MissReason(rawValue: "remembered")
  /// There was no level to ask: what a composition has above or below decides.
  public static let nothingToAsk = MissReason(rawValue: "nothing")

  /// Whether the level says that there is no such value, and not only that it cannot tell.
  @usableFromInline var meansGone: Bool {
    ![
      .refused, .expired, .damaged, .authenticationFailed, .newer, .unsettled, .unanswered, .remembered, .nothingToAsk,
    ].contains(self)
  }

  /// The word for it.
  public var description: String { rawValue }
}

/// With what conditions a value is stored.
public struct StoreTerms: Sendable {
  /// Who stores.
  public enum Purpose: String, Sendable {
    /// Somebody set the value.
    case set
    /// A composition copies upwards what a lower level held.
    case backFill
  }

  /// When the entry expires; `nil` for the level's own default.
  public var expiry: Expiry?
  /// What the entry weighs, if the one who stores knows; `nil` lets the level find out.
  public var cost: Int?
  /// Who stores.
  public var purpose: Purpose
  /// What the entry can be removed by, in a ``TaggedLevel``.
  public var tags: Set<String>
  /// When the value was first stored, if that was before; `nil` for now.
  public var created: CacheInstant?
  /// The load that gave the value, if it was loaded for this store: what came since that load began wins.
  @usableFromInline package var load: (any LoadMark)?

  /// Creates terms.
  ///
  /// - Parameters:
  ///   - expiry: When the entry expires; `nil` for the level's own default.
  ///   - cost: What the entry weighs; `nil` lets the level find out.
  ///   - purpose: Who stores.
  ///   - tags: What the entry can be removed by.
  ///   - created: When the value was first stored, if that was before.
  @inlinable
  public init(
    expiry: Expiry? = nil, cost: Int? = nil, purpose: Purpose = .set, tags: Set<String> = [],
    created: CacheInstant? = nil
  ) {
    self.expiry = expiry
    self.cost = cost
    self.purpose = purpose
    self.tags = tags
    self.created = created
  }

  /// The terms on which a composition copies an entry upwards: its deadline and its age stay.
  ///
  /// - Parameters:
  ///   - deadline: The deadline of the entry found below; `nil` for never or not known.
  ///   - tags: The tags of that entry.
  ///   - created: When that entry was stored; `nil` for not known.
  /// - Returns: The terms.
  @inlinable
  public static func backFill(
    deadline: CacheInstant?, tags: Set<String> = [], created: CacheInstant? = nil
  ) -> StoreTerms {
    StoreTerms(expiry: deadline.map(Expiry.at) ?? .never, purpose: .backFill, tags: tags, created: created)
  }

  /// The same terms for another form of the value, which weighs something else.
  @inlinable
  package var withoutCost: StoreTerms {
    var terms = self
    terms.cost = nil
    return terms
  }

  /// The deadline that these terms mean for a level.
  ///
  /// What somebody sets lives as long as asked for, or else as long as the level's default says. What a back-fill
  /// copies keeps its deadline, shortened to the level's default.
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

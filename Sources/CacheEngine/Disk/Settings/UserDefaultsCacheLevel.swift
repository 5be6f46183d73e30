public import CacheCore
#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// Holds a few small values in a settings domain.
///
/// ```swift
/// let settings = try UserDefaultsCacheLevel<String, Theme>(domain: "org.example.themes")
/// try await settings.set(.dark, forKey: "editor")
/// ```
///
/// On Apple platforms the domain is one of the system's settings store. On Linux, and wherever a directory is given, it
/// is a property list of its own: for the owner only, and replaced as a whole with every change, so that neither a
/// crash nor a full disk nor a power failure can tear it. The cost of a write therefore grows with the domain: for
/// thousands of values, or large ones, use ``DiskCacheLevel``.
///
/// The domain is held in memory too; a memory warning drops only that copy, and the next read loads it again. All
/// levels on one domain in a process share one store. Another program may write to the same domain: neither loses the
/// other's values, but what it wrote is seen here only after the next write or memory warning.
///
/// A file that is damaged is never overwritten: every call fails with ``CacheError/Code/unusableStore`` until a good
/// copy is put in its place or the level is cleared.
public final class UserDefaultsCacheLevel<Key: Hashable & Sendable, Value: Sendable>: StorageLevel, ExpiringLevel,
  ConditionalLevel
{
  /// The name of the level in errors, events and logs.
  public let name: String
  /// The lifetime of values stored without one of their own, and the longest lifetime that a back-fill may bring.
  public let expiry: Expiry
  /// What an acknowledged write survives.
  ///
  /// No write can tear what was there before, whatever this is.
  public let durability: Durability

  private let domain: SettingsDomain
  private let keyCoding: ByteCoding<Key>
  private let valueCoding: ByteCoding<Value>
  private let clock: any CacheClock

  /// Opens a domain; the call blocks while the domain is read.
  ///
  /// - Parameters:
  ///   - domain: The name of the domain: 1 to 200 letters, digits, dots, dashes and underscores of ASCII, and no dot
  ///     at the beginning, since it becomes the name of a file, the same on every file system.
  ///   - directory: The path of the directory for the property list. `nil` for the system's settings store, or on
  ///     Linux for ``standardDirectory``.
  ///   - name: The name of the level in errors, events and logs.
  ///   - expiry: The lifetime of values stored without one of their own.
  ///   - durability: What an acknowledged write survives.
  ///   - keyCoding: How keys become bytes. Equal keys must become equal bytes.
  ///   - valueCoding: How values become bytes.
  ///   - clock: The clock by which lifetimes are measured.
  /// - Throws: ``CacheError`` with code ``CacheError/Code/invalidDomain``, ``CacheError/Code/diskWriteFailed`` or
  ///   ``CacheError/Code/unusableStore`` if the directory cannot be made or belongs to somebody else.
  public convenience init(
    domain: String, directory: String? = nil, name: String = "settings", expiry: Expiry = .never,
    durability: Durability = .buffered, keyCoding: ByteCoding<Key>, valueCoding: ByteCoding<Value>,
    clock: any CacheClock = SystemClock()
  ) throws {
    try self.init(
      domain: domain, directory: directory, name: name, expiry: expiry, durability: durability, keyCoding: keyCoding,
      valueCoding: valueCoding, clock: clock, calls: FileCalls())
  }

  package init(
    domain: String, directory: String?, name: String, expiry: Expiry, durability: Durability,
    keyCoding: ByteCoding<Key>,
    valueCoding: ByteCoding<Value>, clock: any CacheClock, calls: FileCalls
  ) throws {
    self.name = name
    self.expiry = expiry
    self.durability = durability
    self.keyCoding = keyCoding
    self.valueCoding = valueCoding
    self.clock = clock
    do {
      self.domain = try Self.open(domain, in: directory, calls: calls)
    } catch var error as CacheError {
      error.level = name
      throw error
    }
  }

  /// Where property lists are kept if nothing else is said: the program's folder among the user's application data.
  ///
  /// On Linux that is `$XDG_DATA_HOME/<program>`, or `~/.local/share/<program>`.
  public static var standardDirectory: String {
    StandardDirectory.path(.applicationSupportDirectory)
  }

  private static func open(_ domain: String, in directory: String?, calls: FileCalls) throws -> SettingsDomain {
    let letters = domain.utf8.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "_"):
        true
      default: false
      }
    }
    guard letters, (1...200).contains(domain.utf8.count), !domain.hasPrefix(".") else {
      throw CacheError(
        .invalidDomain,
        "a settings domain is named by 1 to 200 ASCII letters, digits, dots, dashes and underscores, and does not "
          + "begin with a dot")
    }
    #if canImport(Darwin)
    guard let path = directory else {
      return SettingsRegistry.domain(at: .init(directory: nil, domain: domain), path: nil) {
        SettingsDefaults(domain: domain)
      }
    }
    #else
    let path = directory ?? standardDirectory
    #endif
    do {
      // Its path is absolute: a program may change its working directory.
      let folder = try StoreDirectory(path, access: .readWrite, calls: calls)
      return SettingsRegistry.domain(at: .init(directory: folder.identity, domain: domain), path: folder.path) {
        SettingsFile(directory: folder.path, domain: domain, calls: calls)
      }
    } catch let failure as SystemFailure {
      throw CacheError(
        .diskWriteFailed, "\(failure.text), for the settings directory \(path); name one that can be written",
        underlying: failure)
    }
  }

  /// Returns the value held for a key, or `nil` if there is none.
  public func get(_ key: Key) async throws -> Value? { try await lookup(key).entry?.value }

  /// Returns the entry for a key, or why there is none.
  ///
  /// - Parameter key: The key to look up.
  /// - Returns: The entry, or ``MissReason/absent`` or ``MissReason/expired``.
  /// - Throws: ``CacheError`` with code ``CacheError/Code/invalidCachedData`` for bytes that cannot be decoded or were
  ///   stored as another type, ``CacheError/Code/unusableStore`` for a damaged file, or
  ///   ``CacheError/Code/diskReadFailed``.
  public func lookup(_ key: Key) async throws -> Lookup<Value> {
    try await named {
      guard let entry = try await domain.entries()[try text(of: key)] else { return .miss(.absent) }
      let deadline = entry.deadline(by: clock)
      if let deadline, deadline <= clock.now { return .miss(.expired) }
      return .hit(
        Entry(
          try decode(entry), deadline: deadline, cost: entry.value.count, level: name,
          created: entry.created(by: clock)))
    }
  }

  /// Stores a value with the level's default lifetime.
  public func set(_ value: Value, forKey key: Key) async throws {
    try await store(value, forKey: key, terms: StoreTerms())
  }

  /// Stores a value on terms of its own; its cost is the length of its bytes.
  ///
  /// - Parameters:
  ///   - value: The value to store.
  ///   - key: The key to store it under.
  ///   - terms: How long it may live.
  /// - Throws: ``CacheError`` with code ``CacheError/Code/diskWriteFailed`` or ``CacheError/Code/unusableStore``, with
  ///   ``CacheError/Code/inUse`` if another program has not ended its own change for ten seconds, or the coding's error.
  public func store(_ value: Value, forKey key: Key, terms: StoreTerms) async throws {
    _ = try await store(value, forKey: key, terms: terms, unless: nil)
  }

  /// Stores a value if a condition holds; no other level on the domain, in whatever program, comes between.
  ///
  /// - Parameters:
  ///   - value: The value to store.
  ///   - key: The key to store it under.
  ///   - terms: How long it may live.
  ///   - condition: What must be true of the key.
  /// - Returns: Whether the value was stored.
  /// - Throws: As ``store(_:forKey:terms:)``.
  public func store(
    _ value: Value, forKey key: Key, terms: StoreTerms, if condition: StoreCondition
  ) async throws -> Bool {
    try await store(value, forKey: key, terms: terms, unless: condition == .absent ? .present : .absent)
  }

  private func store(
    _ value: Value, forKey key: Key, terms: StoreTerms, unless obstacle: StoreCondition?
  ) async throws -> Bool {
    try await named {
      let key = try text(of: key)
      let entry = SettingsEntry(
        try valueCoding.encode(value), coding: valueCoding.name, key: key,
        deadline: terms.deadline(levelDefault: expiry, clock: clock), clock: clock)
      return try await domain.edit(durability: durability) { [clock] entries in
        let isHeld = entries[key].map { !$0.isExpired(by: clock) } ?? false
        if let obstacle, obstacle.holds(isHeld: isHeld) { return 0 }
        entries[key] = entry
        return 1
      } > 0
    }
  }

  /// Removes the value for a key, from this domain and from nothing else.
  public func remove(_ key: Key) async throws {
    try await named {
      let key = try text(of: key)
      _ = try await domain.edit(durability: durability) { $0.removeValue(forKey: key) == nil ? 0 : 1 }
    }
  }

  /// Removes the entries whose keys meet a condition, all at once.
  ///
  /// - Parameter condition: Whether to remove the entry of a key.
  /// - Returns: How many entries were removed.
  /// - Throws: As ``store(_:forKey:terms:)``.
  /// - Complexity: O(n).
  @discardableResult
  public func removeAll(where condition: @escaping @Sendable (Key) -> Bool) async throws -> Int {
    try await named {
      try await domain.edit(durability: durability) { [keyCoding] entries in
        let before = entries.count
        entries = entries.filter { text, _ in !(Self.key(text, by: keyCoding).map(condition) ?? false) }
        return before - entries.count
      }
    }
  }

  /// Removes the whole domain, whatever is in it, and nothing else.
  ///
  /// - Throws: ``CacheError`` with code ``CacheError/Code/diskWriteFailed`` or ``CacheError/Code/inUse``.
  public func clear() async throws { try await named { try await domain.clear(durability: durability) } }

  /// Drops the copy in memory; the domain itself loses nothing.
  public func onMemoryWarning() async { domain.dropCopy() }

  /// How many values the domain holds, and how many bytes they have.
  public var usage: LevelUsage { domain.usage }

  /// Every entry held, in no particular order.
  ///
  /// - Returns: One summary for each entry whose key is one of this level's.
  /// - Throws: ``CacheError`` with code ``CacheError/Code/unusableStore`` or ``CacheError/Code/diskReadFailed``.
  public func contents() async throws -> [EntrySummary<Key>] {
    try await named {
      try await domain.entries().compactMap { text, entry in
        guard let key = Self.key(text, by: keyCoding) else { return nil }
        return EntrySummary(
          key: key, cost: entry.value.count, created: entry.created(by: clock), deadline: entry.deadline(by: clock))
      }
    }
  }

  /// Ends the lifetime of an entry now.
  public func expire(_ key: Key) async throws {
    try await named {
      let key = try text(of: key)
      _ = try await domain.edit(durability: durability) { entries in
        guard var entry = entries[key] else { return 0 }
        entry.expire(key: key)
        entries[key] = entry
        return 1
      }
    }
  }

  /// Drops the entries whose deadline has passed.
  @discardableResult
  public func removeExpired() async throws -> Int {
    try await named {
      try await domain.edit(durability: durability) { [clock] entries in
        let before = entries.count
        entries = entries.filter { !$0.value.isExpired(by: clock) }
        return before - entries.count
      }
    }
  }

  private func text(of key: Key) throws -> String { SettingsKey.text(Array(try keyCoding.encode(key))) }

  /// The key of an entry, unless it was stored by a level with keys of another kind.
  private static func key(_ text: String, by coding: ByteCoding<Key>) -> Key? {
    SettingsKey.bytes(text).flatMap { try? coding.decode(Data($0)) }
  }

  private func decode(_ entry: SettingsEntry) throws -> Value {
    guard entry.coding == valueCoding.name else {
      throw CacheError(
        .invalidCachedData, "the entry was stored as \(entry.coding) and is read as \(valueCoding.name)")
    }
    do { return try valueCoding.decode(entry.value) } catch let error as CacheError {
      throw error
    } catch {
      throw CacheError(.invalidCachedData, "the stored bytes are not of the type \(Value.self)", underlying: error)
    }
  }

  private func named<Answer>(_ body: () async throws -> Answer) async throws -> Answer {
    do { return try await body() } catch var error as CacheError {
      error.level = error.level ?? name
      throw error
    }
  }
}

extension UserDefaultsCacheLevel where Key == String, Value: Codable {
  /// Opens a domain for values in JSON under text keys.
  ///
  /// Keys that are equal strings are one key.
  ///
  /// - Parameters:
  ///   - domain: The name of the domain, as of a file.
  ///   - directory: The path of the directory for the property list; `nil` for the platform's own place.
  ///   - name: The name of the level in errors, events and logs.
  ///   - expiry: The lifetime of values stored without one of their own.
  ///   - durability: What an acknowledged write survives.
  ///   - clock: The clock by which lifetimes are measured.
  /// - Throws: As the initialiser with codings.
  public convenience init(
    domain: String = "CacheEngine", directory: String? = nil, name: String = "settings", expiry: Expiry = .never,
    durability: Durability = .buffered, clock: any CacheClock = SystemClock()
  ) throws {
    try self.init(
      domain: domain, directory: directory, name: name, expiry: expiry, durability: durability,
      keyCoding: .canonicalText, valueCoding: .json, clock: clock)
  }
}

extension UserDefaultsCacheLevel where Key == String, Value == Data {
  /// Opens a domain for bytes under text keys.
  ///
  /// Keys that are equal strings are one key.
  ///
  /// - Parameters:
  ///   - domain: The name of the domain, as of a file.
  ///   - directory: The path of the directory for the property list; `nil` for the platform's own place.
  ///   - name: The name of the level in errors, events and logs.
  ///   - expiry: The lifetime of values stored without one of their own.
  ///   - durability: What an acknowledged write survives.
  ///   - clock: The clock by which lifetimes are measured.
  /// - Throws: As the initialiser with codings.
  public convenience init(
    domain: String = "CacheEngine", directory: String? = nil, name: String = "settings", expiry: Expiry = .never,
    durability: Durability = .buffered, clock: any CacheClock = SystemClock()
  ) throws {
    try self.init(
      domain: domain, directory: directory, name: name, expiry: expiry, durability: durability,
      keyCoding: .canonicalText, valueCoding: .data, clock: clock)
  }
}

extension UserDefaultsCacheLevel: ShapedLevel { package var shape: LevelShape { .leaf(kind: "defaults") } }

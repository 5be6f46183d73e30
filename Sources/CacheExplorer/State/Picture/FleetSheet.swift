package import CacheEngine
package import ExplorerText

/// How several processes do that share what they cache: who holds what, who changed it, and who was told when.
///
/// Apps are called by their places in ``apps``.
package struct FleetSheet: Sendable, Equatable, Codable {
  /// A read that was answered by a copy after another process had changed the key.
  package struct StaleRead: Sendable, Equatable, Codable {
    package var key: String
    /// For how long the change was acknowledged already.
    package var by: Duration
    package var at: CacheInstant
  }

  package struct App: Sendable, Equatable, Codable {
    package var name: String
    package var pid: Int32
    package var socket: String
    /// Why there is nobody to ask any more; `nil` while there is.
    package var ended: String?
    /// Since when it answers nothing, as an app that is stopped; `nil` while it does.
    package var silentSince: CacheInstant?
    /// It says whether it hears what others change.
    package var listens = false
    /// Since when it hears nothing; `nil` while it does, and where it does not listen.
    package var deafSince: CacheInstant?
    package var copies = 0
    package var lookups = 0
    package var hits = 0
    /// Changes that it made of what is shared.
    package var changes = 0
    /// Changes of others that it was told of.
    package var told = 0
    /// The longest that passed from another’s acknowledged change until it was told.
    package var slowestTelling: Duration?
    package var staleReads = 0
    package var stalest: StaleRead?
    /// Loads that it made for all.
    package var loads = 0
    /// Loads of others that it waited for, and the longest of these waits.
    package var waits = 0
    package var longestWait: Duration?

    package init(name: String, pid: Int32, socket: String) {
      self.name = name
      self.pid = pid
      self.socket = socket
    }
  }

  package struct Copy: Sendable, Equatable, Codable {
    package var created: CacheInstant
    package var deadline: CacheInstant?

    package init(created: CacheInstant, deadline: CacheInstant?) {
      self.created = created
      self.deadline = deadline
    }
  }

  /// A change of a key, and who was told of it.
  package struct Change: Sendable, Equatable, Codable {
    package var key: String
    /// Who made it; `nil` for a process that is not attached.
    package var by: Int?
    /// When it was acknowledged; for one of a process that is not attached, when the first was told.
    package var at: CacheInstant
    /// When each app was told; `nil` for the one that made it, and for those that were not told yet.
    package var told: [CacheInstant?]
    /// It is no new value: that app loaded for all what was missing.
    package var isLoad = false
  }

  package struct Key: Sendable, Equatable, Codable {
    package var name: String
    /// What each app holds.
    package var copies: [Copy?]
    /// The last change that is known.
    package var change: Change?
  }

  /// A load that is under way for several processes.
  package struct Lease: Sendable, Equatable, Codable {
    package var id: String
    package var key: String
    /// Who loads; `nil` for a process that is not attached.
    package var leader: Int?
    package var since: CacheInstant
    package var waiting: [Int]
  }

  package var now: CacheInstant
  package var apps: [App] = []
  /// Those that were changed last first, then by name.
  package var keys: [Key] = []
  /// There are so many more.
  package var unlisted = 0
  /// The newest first.
  package var changes: [Change] = []
  package var leases: [Lease] = []
  /// So many events never came here.
  package var lost = 0
  /// The app that the other screens show.
  package var chosen = 0

  package init(now: CacheInstant) { self.now = now }

  /// How an app is called where several have one name.
  package func title(_ app: Int?) -> String {
    guard let app, apps.indices.contains(app) else { return "another" }
    let name = apps[app].name
    return apps.count { $0.name == name } > 1 ? "\(name) \(apps[app].pid)" : name
  }

  /// How long after a change an app was told; nothing if it was told before the change was acknowledged.
  package static func lag(_ change: Change, _ app: Int) -> Duration? {
    guard change.told.indices.contains(app), let told = change.told[app] else { return nil }
    return max(.zero, change.at.duration(to: told))
  }

  /// With other names in place of keys.
  package func renamed(_ name: (String) -> String) -> FleetSheet {
    var sheet = self
    for place in sheet.keys.indices {
      let other = name(sheet.keys[place].name)
      sheet.keys[place].name = other
      sheet.keys[place].change?.key = other
    }
    for place in sheet.changes.indices { sheet.changes[place].key = name(sheet.changes[place].key) }
    for place in sheet.leases.indices { sheet.leases[place].key = name(sheet.leases[place].key) }
    for place in sheet.apps.indices {
      guard let stale = sheet.apps[place].stalest else { continue }
      sheet.apps[place].stalest?.key = name(stale.key)
    }
    return sheet
  }

  /// For programs.
  package var json: JSONText {
    func milliseconds(_ duration: Duration) -> JSONText { .number(Int(duration.clampedNanoseconds / 1_000_000)) }
    func microseconds(_ duration: Duration) -> JSONText { .microseconds(nanoseconds: duration.clampedNanoseconds) }
    func ago(_ instant: CacheInstant) -> JSONText { milliseconds(max(.zero, instant.duration(to: now))) }
    func change(_ change: Change) -> JSONText {
      let told = apps.indices.compactMap { app -> JSONText? in
        Self.lag(change, app).map { .object([("app", .number(app)), ("afterMicroseconds", microseconds($0))]) }
      }
      return .object([
        ("key", .text(change.key)), ("by", change.by.map { .number($0) }),
        ("loaded", change.isLoad ? .flag(true) : nil),
        ("agoMilliseconds", ago(change.at)),
        ("told", .array(told)),
      ])
    }
    let told = apps.map { app -> JSONText in
      .object([
        ("name", .text(app.name)), ("pid", .number(Int(app.pid))), ("socket", .text(app.socket)),
        ("ended", app.ended.map(JSONText.text)), ("silentMilliseconds", app.silentSince.map(ago)),
        ("listening", app.listens ? .flag(app.deafSince == nil) : nil), ("deafMilliseconds", app.deafSince.map(ago)),
        ("copies", .number(app.copies)), ("lookups", .number(app.lookups)), ("hits", .number(app.hits)),
        ("changes", .number(app.changes)), ("told", .number(app.told)),
        ("slowestTellingMicroseconds", app.slowestTelling.map(microseconds)),
        ("staleReads", .number(app.staleReads)),
        (
          "stalest",
          app.stalest.map { stale in
            .object([
              ("key", .text(stale.key)), ("byMicroseconds", microseconds(stale.by)),
              ("agoMilliseconds", ago(stale.at)),
            ])
          }
        ), ("loads", .number(app.loads)), ("waits", .number(app.waits)),
        ("longestWaitMilliseconds", app.longestWait.map(milliseconds)),
      ])
    }
    let keys = keys.map { key -> JSONText in
      let copies = zip(apps.indices, key.copies).compactMap { app, copy -> JSONText? in
        copy.map { copy in
          .object([
            ("app", .number(app)), ("ageMilliseconds", ago(copy.created)),
            ("timeLeftMilliseconds", copy.deadline.map { milliseconds(now.duration(to: $0)) }),
          ])
        }
      }
      return .object([("key", .text(key.name)), ("copies", .array(copies)), ("change", key.change.map(change))])
    }
    let leases = leases.map { lease -> JSONText in
      .object([
        ("lease", .text(lease.id)), ("key", .text(lease.key)), ("leader", lease.leader.map { .number($0) }),
        ("sinceMilliseconds", ago(lease.since)), ("waiting", .array(lease.waiting.map { .number($0) })),
      ])
    }
    return .object([
      ("version", JSONText.version), ("apps", .array(told)), ("keys", .array(keys)), ("unlisted", .number(unlisted)),
      ("changes", .array(changes.map(change))), ("leases", .array(leases)), ("lost", .number(lost)),
    ])
  }
}

package import CacheEngine

/// Adds up what several apps tell of what they share.
///
/// Events are to come in the order of their times, whichever app they are of. A change counts from its acknowledgement: a
/// read that began after that, and that a copy of before answered, was stale for as long.
package struct FleetLedger: Sendable {
  private struct Fact: Sendable {
    /// When the copy of each app was made, as far as was seen.
    var copied: [CacheInstant?]
    /// When each app was told last that the key was changed, or changed it itself: nobody is told of what it wrote over at once.
    var told: [CacheInstant?]
    var change: FleetSheet.Change?
    /// Who loaded the key for all last, and when that ended.
    var load: (app: Int, at: CacheInstant)?
  }

  /// So many keys are kept in mind, and so many changes.
  private static let mostKeys = 10_000
  private static let mostChanges = 100
  /// Others are told of a load before it has ended, or soon after.
  private static let patience = Duration.seconds(1)
  /// So many keys are told one by one.
  private static let mostListed = 500

  /// Their copies are only those that are not in ``held``: of a long list not all are told.
  private var apps: [FleetSheet.App] = []
  /// For each app, the levels under which there are other apps as well, and those that nobody fills.
  private var shared: [Set<String>] = []
  private var sources: [Set<String>] = []
  private var held: [[String: FleetSheet.Copy]] = []
  private var facts: [String: Fact] = [:]
  private var changes: [FleetSheet.Change] = []
  private var leases: [String: FleetSheet.Lease] = [:]
  /// The apps that say by themselves whether they hear.
  private var outspoken: Set<Int> = []
  /// From when on each app tells here what happens in it.
  private var joined: [CacheInstant] = []
  /// For each app, until when events of it may be missing.
  private var gaps: [CacheInstant] = []
  private var lost = 0

  package init() {}

  /// Takes in an app, or one that is there again in the place where it was.
  ///
  /// - Parameters:
  ///   - app: What it calls itself.
  ///   - shared: The levels that it shares with others.
  ///   - sources: The levels that values come from which nobody stored.
  ///   - time: From when on it tells here what happens in it.
  ///   - gone: The place of another app that is gone, which this one gets; `nil` for one of its own.
  /// - Returns: Its place.
  package mutating func join(
    _ app: FleetSheet.App, shared: Set<String>, sources: Set<String>, at time: CacheInstant,
    inPlaceOf gone: Int? = nil
  ) -> Int {
    if let gone { disown(gone) }
    if let place = gone ?? apps.firstIndex(where: { $0.socket == app.socket }) {
      // Another process: what the one before held and heard is gone.
      forget(place)
      outspoken.remove(place)
      apps[place] = app
      (self.shared[place], self.sources[place], joined[place], gaps[place]) = (shared, sources, time, time)
      return place
    }
    apps.append(app)
    self.shared.append(shared)
    self.sources.append(sources)
    joined.append(time)
    gaps.append(time)
    held.append([:])
    for key in facts.keys {
      facts[key]?.copied.append(nil)
      facts[key]?.told.append(nil)
      facts[key]?.change?.told.append(nil)
    }
    for place in changes.indices { changes[place].told.append(nil) }
    return apps.count - 1
  }

  /// What an app changed and was told is of a process that is not attached any more.
  private mutating func disown(_ app: Int) {
    func disowned(_ change: FleetSheet.Change) -> FleetSheet.Change {
      var change = change
      if change.by == app { change.by = nil }
      change.told[app] = nil
      return change
    }
    changes = changes.map(disowned)
    for (key, fact) in facts {
      facts[key]?.change = fact.change.map(disowned)
      facts[key]?.told[app] = nil
      if fact.load?.app == app { facts[key]?.load = nil }
    }
  }

  /// An app is gone.
  package mutating func left(_ app: Int, because why: String) {
    (apps[app].ended, apps[app].silentSince) = (why, nil)
    forgetGone(app)
  }

  /// An app answers nothing any more, or does again.
  package mutating func answers(_ app: Int, silentSince: CacheInstant?) { apps[app].silentSince = silentSince }

  /// What an app told before it was gone, and was noted only after that, leaves nothing in it.
  package mutating func forgetGone(_ app: Int) {
    if apps[app].ended != nil { forget(app) }
  }

  private mutating func forget(_ app: Int) {
    forgetCopies(of: app)
    forgetLeases(of: app)
  }

  private mutating func forgetLeases(of app: Int) {
    for (id, lease) in leases {
      leases[id]?.waiting.removeAll { $0 == app }
      if lease.leader == app { leases[id] = nil }
    }
    leases = leases.filter { $0.value.leader != nil || !$0.value.waiting.isEmpty }
  }

  /// An app says whether it hears what others change.
  package mutating func hears(_ app: Int, deafSince: CacheInstant?) {
    outspoken.insert(app)
    (apps[app].listens, apps[app].deafSince) = (true, deafSince)
  }

  /// As an event tells it, which comes late, and behind which another may have been dropped.
  private mutating func heard(_ app: Int, deafSince: CacheInstant?) {
    if !outspoken.contains(app) { (apps[app].listens, apps[app].deafSince) = (true, deafSince) }
  }

  /// Events of an app never came, up to a moment.
  ///
  /// The end of a load may be among them, and so may be what would tell that a copy is not stale.
  package mutating func lose(_ count: Int, of app: Int, at time: CacheInstant) {
    lost += count
    gaps[app] = max(gaps[app], time)
    forgetLeases(of: app)
  }

  /// An app lists what it holds.
  package mutating func holds(_ app: Int, _ copies: [String: FleetSheet.Copy], count: Int) {
    // It may be gone when its answer is read.
    guard apps[app].ended == nil else { return }
    held[app] = copies
    apps[app].copies = count - copies.count
  }

  /// Takes in what happened.
  package mutating func note(_ event: CacheEvent, app: Int) {
    switch event.kind {
    case .requestEnded(.get, _, _): apps[app].lookups += 1
    case .requestEnded(.set, .done, let took), .requestEnded(.remove, .done, let took):
      if let key = event.key { changed(key, at: event.time, took, app) }
    case .operated(.shared(let told)): note(told, event, app)
    default:
      guard let level = event.level, !sources[app].contains(level), let key = event.key else {
        return cleared(event, app)
      }
      if shared[app].contains(level) { changed(key, event, app) } else { copied(key, event, app) }
    }
  }

  /// What happened to everything that a level holds.
  private mutating func cleared(_ event: CacheEvent, _ app: Int) {
    guard event.key == nil, let level = event.level, !shared[app].contains(level) else { return }
    if case .done(.clear, _) = event.kind { forgetCopies(of: app) }
  }

  private mutating func forgetCopies(of app: Int) {
    (held[app], apps[app].copies) = ([:], 0)
    for key in facts.keys { facts[key]?.copied[app] = nil }
  }

  /// What an app holds concerns others.
  private func shares(_ app: Int) -> Bool { apps[app].listens || !shared[app].isEmpty }

  /// A level that others share was written; where the whole call is told of, that says when it was acknowledged.
  private mutating func changed(_ key: String, _ event: CacheEvent, _ app: Int) {
    guard event.request == nil else { return }
    switch event.kind {
    case .stored(.set, _, _, let took), .done(.remove, let took): changed(key, at: event.time, took, app)
    default: break
    }
  }

  private mutating func changed(_ key: String, at time: CacheInstant, _ took: Duration, _ app: Int) {
    guard shares(app) else { return }
    apps[app].changes += 1
    let began = time.advanced(by: .zero - took)
    var change = FleetSheet.Change(key: key, by: app, at: time, told: Array(repeating: nil, count: apps.count))
    // Others may have been told before it was acknowledged, of this change or of one that was made beside it.
    let told = fact(key).told
    for other in apps.indices where other != app && told[other].map({ $0 >= began }) ?? false {
      change.told[other] = told[other]
      noteTelling(change, other)
    }
    // No other process made what was told since it began.
    changes.removeAll { early in
      early.key == key && (early.by == nil || early.isLoad) && early.told.contains { $0 != nil }
        && early.told.allSatisfy { $0.map { $0 >= began } ?? true }
    }
    record(change)
    facts[key]?.told[app] = time
  }

  private mutating func record(_ change: FleetSheet.Change) {
    facts[change.key] = fact(change.key)
    facts[change.key]?.change = change
    changes.append(change)
    if changes.count > Self.mostChanges { changes.removeFirst() }
  }

  /// A level of the app's own was used or filled.
  private mutating func copied(_ key: String, _ event: CacheEvent, _ app: Int) {
    switch event.kind {
    case .stored(_, _, let deadline, _):
      facts[key] = fact(key)
      facts[key]?.copied[app] = event.time
      held[app][key] = FleetSheet.Copy(created: event.time, deadline: deadline)
    case .removed(let cause, _) where cause != .replaced: gone(key, app)
    case .done(.remove, _): gone(key, app)
    case .hit(_, _, let took): hit(key, event, app, began: event.time.advanced(by: .zero - took))
    default: break
    }
  }

  private mutating func gone(_ key: String, _ app: Int) {
    held[app][key] = nil
    facts[key]?.copied[app] = nil
  }

  private mutating func hit(_ key: String, _ event: CacheEvent, _ app: Int, began: CacheInstant) {
    apps[app].hits += 1
    guard shares(app), let fact = facts[key], let change = fact.change, change.by != app, !change.isLoad,
      change.at < began, change.at > gaps[app],
      change.told[app].map({ $0 > began }) ?? true, fact.copied[app].map({ $0 < change.at }) ?? true
    else { return }
    let stale = FleetSheet.StaleRead(key: key, by: change.at.duration(to: began), at: event.time)
    apps[app].staleReads += 1
    if stale.by > apps[app].stalest?.by ?? .zero { apps[app].stalest = stale }
  }

  /// What others were told of while an app loaded for all was no change of anybody’s.
  private mutating func filled(_ key: String?, _ app: Int, at time: CacheInstant, _ took: Duration) {
    guard let key else { return }
    facts[key] = fact(key)
    facts[key]?.load = (app, time)
    guard var change = facts[key]?.change, change.by == nil, change.at >= time.advanced(by: .zero - took) else {
      return
    }
    let old = change
    (change.by, change.isLoad, change.at) = (app, true, time)
    facts[key]?.change = change
    if let place = changes.lastIndex(of: old) { changes[place] = change }
  }

  private mutating func note(_ event: SharedEvent, _ what: CacheEvent, _ app: Int) {
    let time = what.time
    switch event {
    case .heard: heard(app, deafSince: nil)
    case .deaf(let since): heard(app, deafSince: since)
    case .forgot(nil):
      guard let key = what.key else { return }
      gone(key, app)
      apps[app].told += 1
      tell(key, app, at: time)
    case .forgot:
      forgetCopies(of: app)
      for (key, fact) in facts where fact.change.map({ isOwed($0, app) }) ?? false { tell(key, app, at: time) }
    case .leads(let id):
      apps[app].loads += 1
      guard time > gaps[app] else { return }
      let known = leases[id]
      leases[id] = FleetSheet.Lease(
        id: id, key: what.key ?? "", leader: app, since: known?.since ?? time, waiting: known?.waiting ?? [])
    case .led(let id, let took):
      leases[id] = nil
      filled(what.key, app, at: time, took)
    case .follows(let id):
      apps[app].waits += 1
      guard time > gaps[app] else { return }
      var lease =
        leases[id] ?? FleetSheet.Lease(id: id, key: what.key ?? "", leader: nil, since: time, waiting: [])
      if !lease.waiting.contains(app) { lease.waiting.append(app) }
      leases[id] = lease
    case .followed(let id, let duration):
      apps[app].longestWait = max(apps[app].longestWait ?? .zero, duration)
      leases[id]?.waiting.removeAll { $0 == app }
      if leases[id]?.leader == nil, leases[id]?.waiting.isEmpty == true { leases[id] = nil }
    }
  }

  /// Whether an app has yet to be told of a change; of what was changed before it joined it may have been told long ago.
  private func isOwed(_ change: FleetSheet.Change, _ app: Int) -> Bool {
    change.by != app && change.told[app] == nil && change.at > joined[app]
  }

  /// An app was told that a key was changed.
  private mutating func tell(_ key: String, _ app: Int, at time: CacheInstant) {
    var known = fact(key)
    let last = known.told[app]
    known.told[app] = time
    facts[key] = known
    // It will no longer be told of what it overwrote a while ago.
    let own = changes.lastIndex { $0.key == key && $0.by == app && $0.at.duration(to: time) >= Self.patience }
    let listed = changes.indices[(own ?? 0)...].filter { changes[$0].key == key }
    var meant = listed.filter { isOwed(changes[$0], app) }
    if meant.isEmpty, let last {
      // A server tells of several changes at once or of one after the other: then that was of the first of them.
      let same = listed.filter { (changes[$0].by == app ? changes[$0].at : changes[$0].told[app]) == last }
      meant = Array(same.dropFirst())
    }
    for place in meant {
      changes[place].told[app] = time
      noteTelling(changes[place], app)
    }
    guard meant.isEmpty else {
      facts[key]?.change = changes.last { $0.key == key }
      return
    }
    if var change = known.change, isOwed(change, app) {
      // Others came since, and it is no longer listed.
      change.told[app] = time
      facts[key]?.change = change
      return noteTelling(change, app)
    }
    // Nobody has told of a change yet: it is under way, another process made it, or it is only the end of a load.
    var change = FleetSheet.Change(key: key, by: nil, at: time, told: Array(repeating: nil, count: apps.count))
    change.told[app] = time
    // Each app is told of a load once, including the one that made it.
    let load = known.load.flatMap { $0.at.duration(to: time) < Self.patience ? $0 : nil }
    if let load, load.app == app, last.map({ $0 < load.at }) ?? true { return }
    if let load, load.app != app, known.change.map({ !$0.isLoad || $0.at != load.at }) ?? true {
      (change.by, change.isLoad, change.at) = (load.app, true, load.at)
    }
    record(change)
  }

  private mutating func noteTelling(_ change: FleetSheet.Change, _ app: Int) {
    guard change.by != nil, !change.isLoad, let lag = FleetSheet.lag(change, app) else { return }
    apps[app].slowestTelling = max(apps[app].slowestTelling ?? .zero, lag)
  }

  private mutating func fact(_ key: String) -> Fact {
    if let known = facts[key] { return known }
    if facts.count >= Self.mostKeys {
      // Those whose change is the longest ago, and those without one, go first.
      let old = facts.sorted { ($0.value.change?.at.nanoseconds ?? .min) < ($1.value.change?.at.nanoseconds ?? .min) }
      for (key, _) in old.prefix(Self.mostKeys / 4) { facts[key] = nil }
    }
    let nobody = [CacheInstant?](repeating: nil, count: apps.count)
    return Fact(copied: nobody, told: nobody)
  }

  /// What there is to show at a moment.
  package func sheet(now: CacheInstant) -> FleetSheet {
    var sheet = FleetSheet(now: now)
    sheet.apps = apps
    for (app, copies) in held.enumerated() { sheet.apps[app].copies += copies.count }
    sheet.changes = changes.reversed()
    sheet.leases = leases.values.sorted { ($0.since.nanoseconds, $0.id) < ($1.since.nanoseconds, $1.id) }
    sheet.lost = lost
    var names = Set(held.flatMap(\.keys))
    for (key, fact) in facts where fact.change != nil { names.insert(key) }
    let sorted = names.map { (at: facts[$0]?.change?.at.nanoseconds ?? .min, name: $0) }
      .sorted { ($1.at, $0.name) < ($0.at, $1.name) }
    sheet.keys = sorted.prefix(Self.mostListed).map { _, name in
      FleetSheet.Key(name: name, copies: held.map { $0[name] }, change: facts[name]?.change)
    }
    sheet.unlisted = max(0, sorted.count - Self.mostListed)
    return sheet
  }
}

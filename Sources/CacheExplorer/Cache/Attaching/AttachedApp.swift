import CacheEngine
import CacheEngineHitRatio
import CacheEngineInspector
import CacheEngineTesting
import ExplorerCommands
import ExplorerState
import ExplorerText

/// Attaches to an app that serves its cache at a socket.
package enum AttachedApp {
  /// Connects.
  ///
  /// - Throws: ``CacheError`` that says why there is nothing to attach to.
  package static func open(_ place: AppPlace, buffer: EventBuffer) async throws -> AttachedCache {
    let session = try await AppSession.open(place, isAgain: false)
    session.begin(buffer)
    var cache = session.cache
    let follower = AppFollower(place: place) { next in
      next.begin(buffer)
      return true
    }
    cache.follow = { await follower.follow(session, $0) }
    return cache
  }
}

/// A connection to an app, and what is shown of it.
struct AppSession: Sendable {
  let client: InspectorClient
  let inlet: AppInlet
  let cache: AttachedCache
  let clock: RemoteClock
  private let observers: [any CacheObserver]

  /// `isAgain`: The app was attached to before.
  ///
  /// - Throws: ``CacheError`` that says why there is nothing to attach to.
  static func open(_ place: AppPlace, isAgain: Bool) async throws -> AppSession {
    let asked = SystemClock().now
    let (client, inlet, socket) = try await BlockingWork.runUnlessCancelled { try place.connect() }
    return AppSession(client, inlet, socket, asked: asked, isAgain: isAgain)
  }

  init(_ client: InspectorClient, _ inlet: AppInlet, _ socket: String, asked: CacheInstant, isAgain: Bool) {
    (self.client, self.inlet) = (client, inlet)
    let welcome = client.welcome
    let figures = RecentFigures()
    clock = RemoteClock(now: CacheInstant(nanoseconds: welcome.now), asked: asked, answered: SystemClock().now)
    let whatIf = HitRatioObserver(levels: welcome.levels.compactMap(\.watched), clock: clock)
    // An app of an older library tells no counts: then they are made of what came of its events.
    observers = welcome.tellsCounts == true ? [whatIf] : [figures, figures.statistics, whatIf]
    let attachment = Attachment(
      label: isAgain ? "attached again (pid \(welcome.pid))" : "attached \(welcome.pid) \(welcome.app)",
      whyReadOnly: welcome.allowsWrites
        ? nil : "\(welcome.app) lets nobody change its cache; serve it with allowsWrites: true")
    var live = LiveCache(
      cache: RemoteCache(client: client, level: nil).normalize(),
      levels: welcome.levels.map { Self.level($0, client) },
      operators: welcome.operators.map { LiveCache.Operator(name: $0.name, kind: $0.kind) }, figures: figures,
      clock: clock, openedAt: CacheInstant(nanoseconds: welcome.now), whatIf: whatIf)
    live.unseen = { inlet.droppedCount }
    live.refusal = { Self.refusal(of: $0, attachment) }
    live.glance = { try await RemoteCache(client: client, level: $1).lookup($0, atMost: ValueSight.mostBytes) }
    let chain = welcome.chain.compactMap { Self.part($0, welcome) }
    var notes = ["attached to \(welcome.app), process \(welcome.pid); figures count from now on"]
    if !welcome.tellsEvents {
      notes.append("\(welcome.app) tells of no calls: no level of its cache is observed by a CacheInspector")
    }
    if whatIf.levels.isEmpty, welcome.levels.contains(where: { $0.holdsEntries && $0.policy == nil }) {
      notes.append("\(welcome.app) tells no policies of its levels, so the What if screen has nothing to ask about")
    }
    cache = AttachedCache(
      live: live, levels: welcome.levels.map { Self.row($0, client.usage[$0.name]) },
      operators: welcome.operators.map {
        OperatorRow(name: $0.name, kind: $0.kind, setting: $0.setting, limit: $0.limit)
      },
      chain: chain.isEmpty ? welcome.levels.indices.map { .level($0) } : chain, attachment: attachment,
      title: socket.split(separator: "/").last.map(String.init) ?? socket, source: socket,
      settings: Self.settings(welcome, client.usage), notes: notes)
  }

  /// Counts from here on.
  func begin(_ buffer: EventBuffer) { inlet.open(cache.live, observers + [buffer]) { buffer.lose($0) } }

  /// As ``begin(_:)``, for one of several apps.
  func begin(_ seat: FleetSeat) { inlet.open(cache.live, observers + [seat], seat: seat) { seat.lose($0) } }
}

extension AppSession {
  /// What cannot be done to the cache of another program.
  private static func refusal(of touched: Touched, _ attachment: Attachment) -> String? {
    switch touched {
    case .nothing: nil
    case .configuration: "the cache belongs to the app; open a configuration with cache-explorer open"
    case .clock: "the clock belongs to the app and cannot be set from here"
    case .faults: "faults can be given to caches that cache-explorer opened itself"
    case .requests, .contents: attachment.whyReadOnly
    }
  }

  private static func level(_ level: ServerLine.Level, _ client: InspectorClient) -> LiveCache.Level {
    LiveCache.Level(
      name: level.name, kind: level.kind, level: RemoteCache(client: client, level: level.name).normalize(),
      storage: level.holdsEntries ? RemoteStorage(client: client, level: level.name) : nil, isSource: level.isSource,
      faults: FaultInjector(), close: { client.close() })
  }

  private static func row(_ level: ServerLine.Level, _ usage: LevelUsage?) -> LevelRow {
    let told = level.watched.map { watched in
      (watched.evictions.isEmpty ? "" : watched.eviction.name.uppercased() + " ")
        + WhatIfText.capacity(watched.capacity, watched)
    }
    var row = LevelRow(
      name: level.name, kind: level.kind, capacity: told ?? usage?.capacity.map { Format.bytes($0) } ?? level.kind,
      isOrigin: level.isSource)
    row.usage = usage
    return row
  }

  /// `nil` for what an app says wrongly.
  private static func part(_ chain: ServerLine.Chain, _ welcome: ServerLine.Welcome) -> ChainPart? {
    let parts = (chain.parts ?? []).compactMap { part($0, welcome) }
    let others = (chain.others ?? []).compactMap { part($0, welcome) }
    if let level = chain.level { return welcome.levels.indices.contains(level) ? .level(level) : nil }
    guard let index = chain.around ?? chain.lanes ?? chain.stale, welcome.operators.indices.contains(index) else {
      return nil
    }
    if chain.lanes != nil { return .lanes(index, then: parts, otherwise: others) }
    return chain.stale != nil ? .stale(index, level: parts, from: others) : .around(index, parts)
  }

  private static func settings(
    _ welcome: ServerLine.Welcome, _ usage: [String: LevelUsage]
  ) -> [ConfigurationSetting] {
    var settings = [
      ConfigurationSetting("app", nil, welcome.app), ConfigurationSetting("app", "process", "\(welcome.pid)"),
      ConfigurationSetting("app", "protocol", "version \(welcome.version)"),
      ConfigurationSetting("app", "changes", welcome.allowsWrites ? "allowed" : "refused"),
      ConfigurationSetting("app", "events", welcome.tellsEvents ? "told" : "none"),
    ]
    for level in welcome.levels {
      settings.append(ConfigurationSetting(level.name, nil, level.kind))
      if let policy = level.policy { settings.append(ConfigurationSetting(level.name, "policy", policy)) }
      if let watched = level.watched {
        settings.append(ConfigurationSetting(level.name, "capacity", WhatIfText.capacity(watched.capacity, watched)))
        continue
      }
      if let capacity = usage[level.name]?.capacity {
        settings.append(ConfigurationSetting(level.name, "capacity", Format.bytes(capacity)))
      }
      if let limit = usage[level.name]?.countLimit {
        settings.append(ConfigurationSetting(level.name, "count", "\(limit)"))
      }
    }
    for operation in welcome.operators {
      settings.append(ConfigurationSetting(operation.name, nil, operation.kind))
      if !operation.setting.isEmpty {
        settings.append(ConfigurationSetting(operation.name, "setting", operation.setting))
      }
    }
    return settings
  }
}

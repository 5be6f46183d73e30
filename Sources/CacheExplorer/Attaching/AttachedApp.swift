import ArgumentParser
import CacheEngine
import CacheEngineInspector
import CacheEngineTesting
import Synchronization

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Attaches to an app that serves its cache at a socket.
enum AttachedApp {
  /// Connects.
  ///
  /// - Throws: ``CacheError`` that says why there is nothing to attach to.
  static func open(_ path: String, buffer: EventBuffer) async throws -> AttachedCache {
    let statistics = CacheStatistics()
    let news = Mailbox<InspectorClient.News>()
    let client = try await BlockingWork.run {
      try InspectorClient.connect(to: path, as: "cache-explorer \(CacheExplorer.configuration.version)") { told in
        switch told {
        case .events(let events, let lost):
          if lost > 0 { buffer.lose(lost) }
          for event in events {
            statistics.record(event)
            buffer.record(event)
          }
        case .usage, .ended: news.post(told)
        }
      }
    }
    let welcome = client.welcome
    let attachment = Attachment(
      label: "attached \(welcome.pid) \(welcome.app)",
      whyReadOnly: welcome.allowsWrites
        ? nil : "\(welcome.app) lets nobody change its cache; it would have to serve it with allowsWrites: true")
    var live = LiveCache(
      cache: RemoteCache(client: client, level: nil).normalize(),
      levels: welcome.levels.map { level($0, client) },
      operators: welcome.operators.map { LiveCache.Operator(name: $0.name, kind: $0.kind) }, statistics: statistics,
      clock: RemoteClock(now: CacheInstant(nanoseconds: welcome.now)),
      openedAt: CacheInstant(nanoseconds: welcome.now))
    live.refusal = { refusal(of: $0, attachment) }
    let shown = live
    let chain = welcome.chain.compactMap { part($0, welcome) }
    var notes = ["attached to \(welcome.app), process \(welcome.pid); figures count from now on"]
    if !welcome.tellsEvents {
      notes.append("\(welcome.app) tells of no calls: no level of its cache is observed by a CacheInspector")
    }
    return AttachedCache(
      live: shown, levels: welcome.levels.map { row($0, client.usage[$0.name]) },
      operators: welcome.operators.map {
        OperatorRow(name: $0.name, kind: $0.kind, setting: $0.setting, limit: $0.limit)
      },
      chain: chain.isEmpty ? welcome.levels.indices.map { .level($0) } : chain, attachment: attachment,
      title: path.split(separator: "/").last.map(String.init) ?? path, source: path,
      settings: settings(welcome, client.usage), notes: notes
    ) { post in
      await follow(news, attachment, shown, post)
    }
  }

  private static func follow(
    _ news: Mailbox<InspectorClient.News>, _ attachment: Attachment, _ live: LiveCache,
    _ post: @Sendable (Message) -> Void
  ) async {
    while !Task.isCancelled {
      for told in await news.take() {
        switch told {
        case .usage(let usage): post(.usage(usage))
        case .ended(let why):
          var attachment = attachment
          attachment.ended = why
          attachment.whyReadOnly = "\(why); what is shown is what was known last"
          post(.attachment(attachment))
          let line = LogLine(
            time: live.clock.timeSinceEpoch, level: .warning, source: "explorer",
            text: "\(why); what is shown is what was known last, q leaves")
          post(.log([line], lost: 0))
        case .events: break
        }
      }
    }
  }

  /// What cannot be done to the cache of another program.
  private static func refusal(of command: Command, _ attachment: Attachment) -> String? {
    switch command {
    case .load, .reload: return "the cache belongs to the app; open a configuration with cache-explorer open"
    case .speed, .advance: return "the clock belongs to the app and cannot be set from here"
    case .fault: return "faults can be given to caches that cache-explorer opened itself"
    case .run: return attachment.whyReadOnly
    default: return command.changesCache ? attachment.whyReadOnly : nil
    }
  }

  private static func level(_ level: ServerLine.Level, _ client: InspectorClient) -> LiveCache.Level {
    LiveCache.Level(
      name: level.name, kind: level.kind, level: RemoteCache(client: client, level: level.name).normalize(),
      storage: level.holdsEntries ? RemoteStorage(client: client, level: level.name) : nil, isSource: level.isSource,
      faults: FaultInjector(), close: { client.close() })
  }

  private static func row(_ level: ServerLine.Level, _ usage: LevelUsage?) -> LevelRow {
    var row = LevelRow(
      name: level.name, kind: level.kind, capacity: usage?.capacity.map { Format.bytes($0) } ?? level.kind,
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

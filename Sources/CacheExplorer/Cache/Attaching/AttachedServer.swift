import CacheEngine
import CacheEngineRedis
import CacheEngineTesting
import ExplorerCommands
import ExplorerState
import ExplorerText

#if Redis
/// Shows a running Redis or Valkey server, and changes nothing in it.
package enum AttachedServer {
  private static let whyReadOnly =
    "a server is looked at and not changed; open a configuration with a redis level to write to it"
  /// Between two looks at the keys, each of which costs the server some milliseconds for thousands of them.
  private static let pause = 10

  /// Whether a place is the address of a server.
  package static func isAddress(_ place: String) -> Bool {
    place.hasPrefix("redis://") || place.hasPrefix("redis+unix://") || place.hasPrefix("rediss://")
  }

  /// Asks the server how it does, and for its keys.
  ///
  /// - Parameters:
  ///   - address: `redis://user:password@host:6379/0`.
  ///   - mostKeys: How many keys are looked at.
  ///   - buffer: Told of what is read by commands.
  /// - Returns: The server as a cache of one level.
  /// - Throws: ``CacheError`` that says why it cannot be looked at; the password stands in none.
  package static func open(_ address: String, mostKeys: Int, buffer: EventBuffer) async throws -> AttachedCache {
    let server = InspectedServer(try RedisSettings(url: address), mostKeys: mostKeys)
    do {
      try await server.look()
      try await server.lookAtKeys()
    } catch let error as CacheError {
      // A failed connection and a refusal say where themselves.
      let place = error.message.contains(server.address) ? "" : "\(server.address): "
      let question = error.code == .timedOut ? "; is it a Redis server?" : ""
      throw CacheError(error.code, "\(place)\(error.message)\(question)")
    }
    let figures = RecentFigures()
    let clock = SystemClock()
    let observer = CacheObservers([figures, figures.statistics, buffer, TranscriptObserver()])
    let observed = server.normalize().observed(as: server.name, by: observer, clock: clock).normalize()
    let traced = observed.traced(by: observer, clock: clock).normalize()
    var level = LiveCache.Level(
      name: server.name, kind: "redis", level: traced, storage: server, isSource: false, faults: FaultInjector(),
      close: { server.close() })
    level.isDated = false
    var live = LiveCache(
      cache: traced, levels: [level], operators: [], figures: figures, clock: clock, openedAt: clock.now)
    live.refusal = refusal
    live.monitor = { try await server.monitor(for: $0) }
    let sheet = server.sheet
    var row = LevelRow(
      name: server.name, kind: "redis", capacity: sheet.server.mostBytes.map { Format.bytes($0) } ?? "server")
    row.usage = server.usage
    return AttachedCache(
      live: live, levels: [row], operators: [], chain: [.level(0)],
      attachment: Attachment(label: "server, read-only", whyReadOnly: whyReadOnly), title: server.address,
      source: server.address, settings: settings(sheet.server),
      notes: [
        "\(server.address) is \(sheet.server.product) \(sheet.server.version) with \(Format.counted(sheet.server.keys, "key"))",
        "\(Format.counted(sheet.sample.keys, "key")) looked at\(sheet.sample.isAll ? ", which are all" : "")",
      ], subject: .server,
      follow: { [live] in await follow(server, live, $0) },
      report: { mask in
        let sheet = server.sheet
        return mask.map { mask in sheet.renamed { mask.name(of: $0) }.json } ?? sheet.json
      },
      refresh: {
        do { try await server.look() } catch { server.note(problem: String(describing: error)) }
        return [.keyspace(server.sheet)]
      })
  }

  /// Asks once a second how the server does, and for its keys now and then.
  private static func follow(_ server: InspectedServer, _ live: LiveCache, _ follower: Follower) async {
    server.announce(by: { log($0, .notice, live, follower) })
    defer { server.announce(by: nil) }
    follower.post(.keyspace(server.sheet))
    var (seconds, complaint) = (0, nil as String?)
    while !Task.isCancelled {
      do { try await follower.pause(.seconds(1)) } catch { return }
      seconds += 1
      do {
        try await server.look()
        if seconds.isMultiple(of: pause) {
          try await server.lookAtKeys()
          if let contents = try await live.level(named: server.name)?.contents() {
            follower.post(.snapshot(level: server.name, contents))
          }
        }
        if complaint != nil { log("the server answers again", .notice, live, follower) }
        complaint = nil
      } catch is CancellationError {
        return
      } catch {
        let text = (error as? CacheError)?.message ?? String(describing: error)
        server.note(problem: text)
        if text != complaint { log(text, .warning, live, follower) }
        complaint = text
      }
      follower.post(.keyspace(server.sheet))
      follower.post(.usage(live.usage))
    }
  }

  private static func log(_ text: String, _ level: LogLevel, _ live: LiveCache, _ follower: Follower) {
    let line = LogLine(time: live.clock.timeSinceEpoch, level: level, source: InspectedServer.title, text: text)
    follower.post(.log([line], lost: 0))
  }

  private static func refusal(of touched: Touched) -> String? {
    switch touched {
    case .nothing: nil
    case .configuration: "a server has no configuration; open one with cache-explorer open"
    case .clock: "the clock of a server is its own and cannot be set"
    case .contents, .faults, .requests: whyReadOnly
    }
  }

  private static func settings(_ server: KeyspaceSheet.Server) -> [ConfigurationSetting] {
    [
      ConfigurationSetting("server", nil, server.address),
      ConfigurationSetting("server", "version", "\(server.product) \(server.version)"),
      ConfigurationSetting("server", "role", server.role),
      ConfigurationSetting("server", "maxmemory", server.mostBytes.map { Format.bytes($0) } ?? "no limit"),
      ConfigurationSetting("server", "maxmemory-policy", server.policy),
    ]
  }
}
#endif

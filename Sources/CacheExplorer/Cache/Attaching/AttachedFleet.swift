import CacheEngine
import CacheEngineInspector
import ExplorerState
import ExplorerText
import Synchronization

/// Attaches to several apps that share what they cache, and shows them side by side.
///
/// One of them is shown on all other screens as if it were attached to alone.
package final class AttachedFleet: Sendable {
  private struct State {
    /// By the place of the app.
    var sessions: [AppSession] = []
    /// The sockets that are followed, or about to be.
    var sockets: Set<String> = []
  }

  /// More columns than this have room nowhere.
  static let most = 16
  /// So many entries of each level are asked for.
  private static let mostEntries = 1_000
  private static let pace = Duration.milliseconds(500)

  private let places: [AppPlace]
  private let buffer: EventBuffer
  private let watch = FleetWatch()
  private let state = Mutex(State())
  private let choices = Mailbox<Int>()

  private init(_ places: [AppPlace], _ buffer: EventBuffer) {
    self.places = places
    self.buffer = buffer
  }

  /// Connects to all apps that listen; where one does, to that alone.
  ///
  /// - Parameters:
  ///   - paths: Sockets, and directories of them.
  ///   - buffer: Told of what happens in the app that the other screens show.
  /// - Returns: The first app, with the others beside it.
  /// - Throws: ``CacheError`` if nobody listens.
  package static func open(_ paths: [String], buffer: EventBuffer) async throws -> AttachedCache {
    let fleet = AttachedFleet(paths.map(AppPlace.init(path:)), buffer)
    var failure: (any Error)?
    for socket in fleet.places.flatMap(\.sockets).prefix(most) {
      do { _ = try await fleet.sit(socket) } catch {
        // One that a process left behind is no app.
        if (error as? CacheError)?.code != .unreachable || paths.contains(socket) { failure = failure ?? error }
      }
    }
    let sessions = fleet.state.withLock { $0.sessions }
    if paths.count == 1, sessions.count < 2, failure == nil {
      // Of several sockets one at the most is served: then that app is shown, and nothing beside it.
      for session in sessions { session.client.close() }
      return try await AttachedApp.open(AppPlace(path: paths[0]), buffer: buffer)
    }
    guard let first = fleet.state.withLock({ $0.sessions.first }) else {
      throw failure
        ?? CacheError(
          .unreachable,
          "nobody listens at any socket in \(paths.joined(separator: ", ")); start an app that serves there")
    }
    await fleet.list()
    let count = fleet.state.withLock { $0.sessions.count }
    var cache = first.cache
    cache.notes = ["\(count) apps are attached; F shows them side by side, and the other screens \(first.name)"]
    if let failure { cache.notes.append("\((failure as? CacheError)?.message ?? String(describing: failure))") }
    cache.subject = .fleet
    cache.follow = { await fleet.follow($0) }
    cache.choose = { fleet.choices.post($0) }
    cache.report = { fleet.watch.sheet().json }
    cache.refresh = {
      await fleet.list()
      return [.fleet(fleet.watch.sheet())]
    }
    return cache
  }

  /// Connects to an app and gives it its place.
  private func sit(_ socket: String) async throws -> AppSession {
    let session = try await AppSession.open(AppPlace(path: socket), isAgain: false)
    sit(session)
    return session
  }

  private func sit(_ session: AppSession) {
    let welcome = session.client.welcome
    let place = watch.join(
      FleetSheet.App(name: welcome.app, pid: welcome.pid, socket: session.cache.source),
      shared: Set(welcome.levels.filter { $0.kind == "shared" }.map(\.name)),
      sources: Set(welcome.levels.filter(\.isSource).map(\.name)))
    state.withLock { state in
      state.sockets.insert(session.cache.source)
      if place < state.sessions.count { state.sessions[place] = session } else { state.sessions.append(session) }
    }
    let seat = FleetSeat(watch: watch, place: place, clock: session.clock, buffer: buffer)
    session.begin(seat)
  }

  // MARK: Following

  private func follow(_ follower: Follower) async {
    follower.post(.fleet(watch.sheet()))
    await withTaskGroup(of: Void.self) { group in
      for session in state.withLock({ $0.sessions }) {
        group.addTask { await self.follow(session, follower) }
      }
      group.addTask { await self.choose(follower) }
      var turns = 0
      var told: FleetSheet?
      while !Task.isCancelled {
        do { try await follower.pause(Self.pace) } catch { break }
        turns += 1
        if turns.isMultiple(of: 2) { await list() }
        if turns.isMultiple(of: 4) {
          for session in await newcomers(follower) { group.addTask { await self.follow(session, follower) } }
        }
        let sheet = watch.sheet()
        // Ages alone need not be told twice a second.
        var same = told
        same?.now = sheet.now
        if sheet != same || turns.isMultiple(of: 2) { follower.post(.fleet(sheet)) }
        told = sheet
      }
      group.cancelAll()
    }
  }

  /// Attaches to apps that have come since.
  private func newcomers(_ follower: Follower) async -> [AppSession] {
    let known = state.withLock { $0.sockets }
    var sessions: [AppSession] = []
    for socket in places.flatMap(\.sockets) where !known.contains(socket) && known.count + sessions.count < Self.most {
      do {
        let session = try await sit(socket)
        let welcome = session.client.welcome
        log("attached to \(welcome.app) (pid \(welcome.pid)) as well", session, follower)
        sessions.append(session)
      } catch {
        // Nobody listens there, or not to us; the next look tries again.
      }
    }
    return sessions
  }

  /// Follows one app through all its lives.
  private func follow(_ session: AppSession, _ outer: Follower) async {
    let socket = session.cache.source
    guard let place = state.withLock({ $0.sessions.firstIndex { $0.cache.source == socket } }) else { return }
    let mine = Follower { message in
      if case .attachment(let attachment) = message, let why = attachment.ended {
        self.watch.left(place, because: why)
      }
      // What the log says of an app is worth knowing wherever one looks.
      if case .log = message { return outer.post(message) }
      if self.watch.chosen == place { outer.post(message) }
    } use: { live in
      if self.watch.chosen == place { await outer.use(live) }
    } pause: { pause in
      try await outer.pause(pause)
    }
    let follower = AppFollower(place: AppPlace(path: socket)) { next in
      self.sit(next)
    }
    await follower.follow(session, mine)
  }

  /// Shows another app on the other screens, whenever somebody wants that.
  private func choose(_ follower: Follower) async {
    while !Task.isCancelled {
      guard let place = await choices.take().last,
        let session = state.withLock({ $0.sessions.indices.contains(place) ? $0.sessions[place] : nil })
      else { continue }
      watch.chosen = place
      await follower.use(session.cache.live)
      follower.post(.attachedAgain(session.cache.attachment, session.cache.replacement))
      follower.post(.fleet(watch.sheet()))
    }
  }

  private func log(_ text: String, _ session: AppSession, _ follower: Follower) {
    let time = session.cache.live.clock.timeSinceEpoch
    follower.post(.log([LogLine(time: time, level: .notice, source: "explorer", text: text)], lost: 0))
  }

  /// Asks every app what it holds in levels of its own.
  private func list() async {
    let sessions = state.withLock { $0.sessions }
    await withTaskGroup(of: Void.self) { group in
      for (place, session) in sessions.enumerated() where session.client.ending == nil {
        group.addTask { [watch] in
          guard let (copies, count) = await session.copies(atMost: Self.mostEntries) else { return }
          watch.holds(place, copies, count: count)
        }
      }
    }
  }
}

extension AppSession {
  var name: String { client.welcome.app }

  /// What the app holds in levels of its own, the topmost copy of each key; `nil` if it does not say.
  fileprivate func copies(atMost most: Int) async -> (copies: [String: FleetSheet.Copy], count: Int)? {
    var copies: [String: FleetSheet.Copy] = [:]
    var count = 0
    for level in client.welcome.levels where level.holdsEntries && level.kind != "shared" {
      let storage = RemoteStorage(client: client, level: level.name)
      let entries: [EntrySummary<String>]
      do { entries = try await storage.entries(atMost: most) { _ in true } } catch { return nil }
      // How full it is may be told later than what it holds.
      count += entries.count < most ? entries.count : max(most, storage.usage.count)
      for entry in entries where copies[entry.key] == nil {
        copies[entry.key] = FleetSheet.Copy(
          created: clock.here(entry.created), deadline: entry.deadline.map { clock.here($0) })
      }
    }
    return (copies, count)
  }
}

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
    /// What there is to say of apps that are gone, and of those that do not answer, by their places.
    var gone: [Int: Attachment] = [:]
    var silent: [Int: Attachment] = [:]

    func holds(_ place: Int, for socket: String) -> Bool { sessions[place].cache.source == socket }

    /// Places of apps that are gone, which others may have.
    func spare(but chosen: Int) -> [Int] { gone.keys.filter { $0 != chosen }.sorted() }
  }

  /// So many entries of each level are asked for.
  private static let mostEntries = 1_000
  private static let pace = Duration.milliseconds(500)
  /// For so long an app is waited for that does not say what it holds: it may be stopped.
  private static let patience = Duration.seconds(1)

  private let places: [AppPlace]
  private let most: Int
  private let buffer: EventBuffer
  private let watch = FleetWatch()
  private let state = Mutex(State())
  private let choices = Mailbox<Int>()

  private init(_ places: [AppPlace], _ most: Int, _ buffer: EventBuffer) {
    self.places = places
    self.most = most
    self.buffer = buffer
  }

  /// Connects to all apps that listen; where one does, to that alone.
  ///
  /// - Parameters:
  ///   - paths: Sockets, and directories of them.
  ///   - most: How many apps are shown; more columns than 16 have room nowhere.
  ///   - buffer: Told of what happens in the app that the other screens show.
  /// - Returns: The first app, with the others beside it.
  /// - Throws: ``CacheError`` if nobody listens.
  package static func open(
    _ paths: [String], atMost most: Int = 16, buffer: EventBuffer
  ) async throws -> AttachedCache {
    let fleet = AttachedFleet(paths.map(AppPlace.init(path:)), most, buffer)
    var failure: (any Error)?
    var named: Set<String> = []
    var sockets = fleet.places.flatMap(\.sockets).filter { named.insert($0).inserted }[...]
    while !sockets.isEmpty, case let room = fleet.state.withLock({ most - $0.sessions.count }), room > 0 {
      let some = Array(sockets.prefix(room))
      sockets = sockets.dropFirst(room)
      for (socket, result) in zip(some, await connect(to: some)) {
        do { _ = fleet.sit(try result.get()) } catch {
          // One that a process left behind is no app.
          if (error as? CacheError)?.code != .unreachable || paths.contains(socket) { failure = failure ?? error }
        }
      }
    }
    let sessions = fleet.state.withLock { $0.sessions }
    if paths.count == 1, sessions.count < 2, failure == nil {
      // At most one of several sockets is served: then that app is shown, and nothing beside it.
      for session in sessions { session.client.close() }
      return try await AttachedApp.open(AppPlace(path: paths[0]), buffer: buffer)
    }
    guard let first = fleet.state.withLock({ $0.sessions.first }) else {
      throw failure
        ?? CacheError(
          .unreachable,
          "nobody listens at any socket in \(paths.joined(separator: ", ")); start an app that serves there")
    }
    fleet.noteSilent(await fleet.list())
    let count = fleet.state.withLock { $0.sessions.count }
    var cache = first.cache
    cache.notes = ["\(count) apps are attached; F shows them side by side, and the other screens \(first.name)"]
    if let failure { cache.warnings = ["\((failure as? CacheError)?.message ?? String(describing: failure))"] }
    cache.subject = .fleet
    cache.follow = { await fleet.follow($0) }
    cache.choose = { fleet.choices.post($0) }
    cache.report = { mask in
      let sheet = fleet.watch.sheet()
      return mask.map { mask in sheet.renamed { mask.name(of: $0) }.json } ?? sheet.json
    }
    cache.refresh = {
      fleet.noteSilent(await fleet.list())
      fleet.noteGone()
      return [.fleet(fleet.watch.sheet())]
    }
    return cache
  }

  /// Connects to several at once, so that of those which are stopped none waits for another.
  private static func connect(to sockets: [String]) async -> [Result<AppSession, any Error>] {
    await withTaskGroup(of: (Int, Result<AppSession, any Error>).self) { group in
      for (number, socket) in sockets.enumerated() {
        group.addTask {
          do { return (number, .success(try await AppSession.open(AppPlace(path: socket), isAgain: false))) } catch {
            return (number, .failure(error))
          }
        }
      }
      var results: [(Int, Result<AppSession, any Error>)] = []
      for await result in group { results.append(result) }
      return results.sorted { $0.0 < $1.0 }.map(\.1)
    }
  }

  /// Gives an app its place: one of its own, or where all are taken that of an app that is gone.
  ///
  /// `before`: The place where it was, which another app may have by now.
  ///
  /// - Returns: Whether it has one.
  private func sit(_ session: AppSession, before: Int? = nil) -> Bool {
    let (welcome, socket) = (session.client.welcome, session.cache.source)
    let place = state.withLock { state -> Int? in
      var freed: Int?
      if let before {
        guard state.holds(before, for: socket) else { return nil }
      } else if state.sessions.count >= most {
        guard let spare = state.spare(but: watch.chosen).first else { return nil }
        freed = spare
        state.sockets.remove(state.sessions[spare].cache.source)
      }
      // If two come at once, each has the same place here and there.
      let place = watch.join(
        FleetSheet.App(name: welcome.app, pid: welcome.pid, socket: socket),
        shared: Set(welcome.levels.filter { $0.kind == "shared" }.map(\.name)),
        sources: Set(welcome.levels.filter(\.isSource).map(\.name)),
        at: session.clock.here(CacheInstant(nanoseconds: welcome.now)), inPlaceOf: freed)
      state.sockets.insert(socket)
      (state.gone[place], state.silent[place]) = (nil, nil)
      if place < state.sessions.count { state.sessions[place] = session } else { state.sessions.append(session) }
      return place
    }
    guard let place else { return false }
    let seat = FleetSeat(watch: watch, place: place, clock: session.clock, buffer: buffer)
    session.begin(seat)
    return true
  }

  // MARK: Following

  private func follow(_ follower: Follower) async {
    follower.post(.fleet(watch.sheet()))
    await withTaskGroup(of: Void.self) { group in
      for session in state.withLock({ $0.sessions }) {
        group.addTask { await self.follow(session, follower) }
      }
      group.addTask { await self.choose(follower) }
      group.addTask { await self.seek(follower) }
      var turns = 0
      var told: FleetSheet?
      while !Task.isCancelled {
        do { try await follower.pause(Self.pace) } catch { break }
        turns += 1
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

  /// Attaches to apps that come.
  ///
  /// Nobody waits for one that is stopped, and one task at a time tries it.
  private func seek(_ follower: Follower) async {
    await withDiscardingTaskGroup { group in
      while !Task.isCancelled {
        do { try await follower.pause(Self.pace * 4) } catch { break }
        for socket in newcomers() { group.addTask { await self.meet(socket, follower) } }
      }
      group.cancelAll()
    }
  }

  /// The sockets that have come since, which count as followed from now on.
  private func newcomers() -> [String] {
    // In any order, so that sockets at which nobody listens any more do not keep others from their turn.
    let sockets = places.flatMap(\.sockets).shuffled()
    return state.withLock { state in
      let spare = state.spare(but: watch.chosen).count
      return sockets.filter { state.sockets.count - spare < most && state.sockets.insert($0).inserted }
    }
  }

  /// Attaches to an app as well, and follows it.
  private func meet(_ socket: String, _ follower: Follower) async {
    let session: AppSession
    do { session = try await AppSession.open(AppPlace(path: socket), isAgain: false) } catch {
      // Nobody listens there, or not to us; the next look tries again.
      _ = state.withLock { $0.sockets.remove(socket) }
      return
    }
    guard sit(session) else {
      // An app that was gone is there again.
      _ = state.withLock { $0.sockets.remove(socket) }
      return session.client.close()
    }
    let welcome = session.client.welcome
    log("attached to \(welcome.app) (pid \(welcome.pid)) as well", session, follower)
    await follow(session, follower)
  }

  /// Follows one app through all its lives, until another has its place.
  private func follow(_ session: AppSession, _ outer: Follower) async {
    let socket = session.cache.source
    guard let place = state.withLock({ $0.sessions.firstIndex { $0.cache.source == socket } }) else { return }
    let isHere: @Sendable () -> Bool = { self.state.withLock { $0.holds(place, for: socket) } }
    let isShown: @Sendable () -> Bool = {
      self.state.withLock { $0.holds(place, for: socket) && self.watch.chosen == place }
    }
    let mine = Follower { message in
      if case .attachment(let attachment) = message { self.note(attachment, of: place, for: socket) }
      // What the log says of an app is worth knowing wherever one looks.
      if case .log = message { return outer.post(message) }
      if isShown() { outer.post(message) }
    } use: { live in
      if isShown() { await outer.use(live) }
    } pause: { pause in
      try await outer.pause(pause)
      if !isHere() { throw CancellationError() }
    }
    let follower = AppFollower(place: AppPlace(path: socket)) { self.sit($0, before: place) }
    await withTaskGroup(of: Void.self) { group in
      group.addTask { await self.keepListing(place, outer) }
      await follower.follow(session, mine)
      group.cancelAll()
    }
  }

  /// Notes that an app is gone, does not answer, or does again.
  private func note(_ attachment: Attachment, of place: Int, for socket: String) {
    state.withLock { state in
      guard state.holds(place, for: socket) else { return }
      if let why = attachment.ended {
        (state.gone[place], state.silent[place]) = (attachment, nil)
        watch.left(place, because: why)
      } else {
        let isSilent = attachment.silentSince != nil
        state.silent[place] = isSilent ? attachment : nil
        watch.answers(place, silentSince: isSilent ? state.sessions[place].client.heardAt : nil)
      }
    }
  }

  /// Asks an app again and again what it holds.
  ///
  /// One that is stopped keeps no other app waiting, and is not asked once more before it has answered.
  private func keepListing(_ place: Int, _ follower: Follower) async {
    while !Task.isCancelled {
      do { try await follower.pause(Self.pace * 2) } catch { return }
      await list(place)
    }
  }

  /// Shows another app on the other screens, whenever somebody wants that.
  private func choose(_ follower: Follower) async {
    while !Task.isCancelled {
      guard let place = await choices.take().last else { continue }
      let chosen = state.withLock { state -> AppSession? in
        guard state.sessions.indices.contains(place) else { return nil }
        // From now on no other app gets the place.
        watch.chosen = place
        return state.sessions[place]
      }
      guard let session = chosen else { continue }
      await follower.use(session.cache.live)
      let attachment = state.withLock { $0.gone[place] ?? $0.silent[place] } ?? session.cache.attachment
      follower.post(.attachedAgain(attachment, session.cache.replacement))
      follower.post(.fleet(watch.sheet()))
    }
  }

  private func log(_ text: String, _ session: AppSession, _ follower: Follower) {
    let time = session.cache.live.clock.timeSinceEpoch
    follower.post(.log([LogLine(time: time, level: .notice, source: "explorer", text: text)], lost: 0))
  }

  /// Asks every app what it holds in levels of its own; of one that does not answer in time what it told last stays.
  ///
  /// - Returns: The places of those that did not answer.
  private func list() async -> Set<Int> {
    let count = state.withLock { $0.sessions.count }
    return await withTaskGroup(of: Int?.self) { group in
      for place in 0..<count {
        group.addTask {
          await self.list(place)
          return place
        }
      }
      group.addTask {
        try? await ContinuousClock().sleep(for: Self.patience)
        return nil
      }
      var waiting = Set(0..<count)
      while !waiting.isEmpty, case let place?? = await group.next() { waiting.remove(place) }
      group.cancelAll()
      return waiting
    }
  }

  /// Notes which apps did not say in time what they hold, so that nobody takes it for nothing.
  private func noteSilent(_ places: Set<Int>) {
    let sessions = state.withLock { $0.sessions }
    for place in places { watch.answers(place, silentSince: sessions[place].client.heardAt) }
  }

  /// Notes which apps are gone, of which nobody tells where they are not followed.
  private func noteGone() {
    state.withLock { state in
      for (place, session) in state.sessions.enumerated() where state.gone[place] == nil {
        guard let why = session.client.ending else { continue }
        var attachment = session.cache.attachment
        attachment.ended = why
        state.gone[place] = attachment
        watch.left(place, because: why)
      }
    }
  }

  private func list(_ place: Int) async {
    let session = state.withLock { $0.sessions[place] }
    guard session.client.ending == nil, let (copies, count) = await session.copies(atMost: Self.mostEntries) else {
      return
    }
    watch.holds(place, copies, count: count)
    watch.answers(place, silentSince: nil)
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

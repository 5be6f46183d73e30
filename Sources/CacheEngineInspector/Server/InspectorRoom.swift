import CacheEngine
import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

extension InspectorLoop {
  /// The connections, and what is done with them; used by the thread only.
  struct Room {
    let loop: InspectorLoop
    var connections: [UInt64: Connection] = [:]
    private var lastID: UInt64 = 0
    private var lastEvents = ContinuousClock.now - InspectorLoop.pace
    private var lastSurvey = ContinuousClock.now
    private var buffer = [UInt8](repeating: 0, count: 65_536)
    /// There are events that were not handed over yet.
    private var hasEvents = false
    /// Nobody is let in before, since the system would not let them in, for want of a descriptor, say.
    private var opens: ContinuousClock.Instant?

    init(loop: InspectorLoop) { self.loop = loop }

    private var cache: InspectedCache { loop.cache }
    private var ring: EventRing { loop.cache.inspector.ring }

    /// How long the thread may sleep, in milliseconds.
    var timeout: Int32 {
      let isGreeting = connections.values.contains { if case .greeting = $0.phase { true } else { false } }
      let hasOpen = connections.values.contains { if case .open = $0.phase { true } else { false } }
      if hasOpen, hasEvents { return 50 }
      return hasOpen || isGreeting || isClosed || connections.values.contains(where: \.wantsToWrite) ? 1_000 : -1
    }

    /// Whether those who come have to wait outside.
    var isClosed: Bool { opens != nil }

    // MARK: Who comes and goes

    mutating func welcomeAll(_ accept: () -> UnixSocket.Arrival) {
      while true {
        let descriptor: Descriptor
        switch accept() {
        case .somebody(let somebody): descriptor = somebody
        case .nobody: return
        case .noRoom:
          // They stay where they are, and the system would say so again at once.
          opens = ContinuousClock.now + InspectorLoop.pause
          return
        }
        lastID += 1
        var connection = Connection(id: lastID, descriptor: descriptor)
        let user = UnixSocket.peerUser(of: descriptor)
        if user != geteuid() {
          connection.refuse(
            ServerLine.Refusal(
              code: "owner",
              message: "\(loop.terms.name) runs as user \(geteuid()) and you as \(user.map { "\($0)" } ?? "unknown"); "
                + "attach as the user who runs it"))
        } else if connections.count >= InspectorLoop.mostConnections {
          connection.refuse(
            ServerLine.Refusal(
              code: "busy",
              message: "\(InspectorLoop.mostConnections) are attached to \(loop.terms.name) already; end one of them"))
        }
        let isThere = connection.flush()
        if isThere { connections[lastID] = connection }
      }
    }

    private mutating func end(_ id: UInt64) {
      guard let connection = connections.removeValue(forKey: id) else { return }
      for task in connection.asks.values { task.cancel() }
      if connection.isAttached { left() }
    }

    private func left() {
      cache.inspector.listenerLeft()
      loop.state.withLock { $0.attached -= 1 }
    }

    mutating func closeAll() {
      let goodbye = ServerLine.Refusal(code: "closed", message: "\(loop.terms.name) has stopped serving this cache")
      for (id, connection) in connections {
        var connection = connection
        if case .open = connection.phase {
          connection.send(ServerLine(refused: goodbye))
          _ = connection.flush()
        }
        end(id)
      }
    }

    // MARK: What comes

    /// `isGone`: The other side has hung up, and takes nothing any more.
    mutating func serve(_ id: UInt64, isGone: Bool) {
      guard var connection = connections.removeValue(forKey: id) else { return }
      var isThere = !isGone || connection.wantsToRead
      if connection.wantsToRead { isThere = read(&connection) }
      if isThere { isThere = connection.flush() }
      connections[id] = connection
      if !isThere { end(id) }
    }

    private mutating func read(_ connection: inout Connection) -> Bool {
      switch connection.descriptor.read(into: &buffer) {
      case .later: return true
      case .ended: return false
      case .moved(let count):
        do {
          connection.waiting += try connection.reader.take(buffer[..<count], limit: WireLimits.line)
        } catch {
          connection.refuse(
            ServerLine.Refusal(code: "line", message: "a line may have \(error.limit) bytes; yours has more"))
          return true
        }
        understand(&connection)
        return true
      }
    }

    /// Carries out the lines that wait, as many as there is room for.
    private mutating func understand(_ connection: inout Connection) {
      while !connection.waiting.isEmpty, connection.asks.count < Connection.mostAsks, !connection.isFull {
        let bytes = connection.waiting.removeFirst()
        guard let line = try? Wire.read(ClientLine.self, from: bytes) else {
          return connection.refuse(
            ServerLine.Refusal(
              code: "line", message: "this is no line of the protocol: one JSON object a line, as its article says"))
        }
        switch connection.phase {
        case .greeting: greet(&connection, line)
        case .open: if let ask = line.ask { begin(ask, &connection) }
        case .closing: return
        }
      }
    }

    private mutating func greet(_ connection: inout Connection, _ line: ClientLine) {
      guard let hello = line.hello else {
        return connection.refuse(ServerLine.Refusal(code: "line", message: "the first line says hello"))
      }
      guard let version = loop.terms.versions.shared(with: hello.versions) else {
        let isNewer = hello.versions.oldest > loop.terms.versions.newest
        return connection.refuse(
          ServerLine.Refusal(
            code: "version",
            message: "\(loop.terms.name) speaks version \(loop.terms.versions.text) of the protocol and you speak "
              + "\(hello.versions.text); "
              + (isNewer ? "build the app with a newer CacheEngine" : "install a newer cache-explorer"),
            versions: loop.terms.versions))
      }
      connection.phase = .open
      connection.isAttached = true
      loop.state.withLock { $0.attached += 1 }
      cache.inspector.listenerCame()
      connection.place = ring.end
      connection.counted = cache.inspector.statistics.snapshot.withoutStates
      connection.send(ServerLine(welcome: welcome(version)))
      connection.usage = cache.usage
      connection.hearing = cache.hearing
      connection.send(ServerLine(usage: connection.usage, hearing: connection.hearing))
    }

    private func welcome(_ version: Int) -> ServerLine.Welcome {
      ServerLine.Welcome(
        version: version, app: loop.terms.name, pid: getpid(), allowsWrites: loop.terms.allowsWrites,
        tellsEvents: cache.tellsEvents, tellsCounts: true, now: loop.clock.now.nanoseconds,
        wall: loop.clock.timeSinceEpoch.clampedNanoseconds, levels: cache.levels, operators: cache.operators,
        chain: cache.chain)
    }

    // MARK: Questions

    private mutating func begin(_ ask: ClientLine.Ask, _ connection: inout Connection) {
      guard connection.asks[ask.id] == nil else {
        return connection.refuse(
          ServerLine.Refusal(code: "line", message: "question \(ask.id) is under way already; give each a new number"))
      }
      if ask.what == AskWord.entries.rawValue, let from = ask.from, from > 0 {
        let listing = connection.listing
        guard let listing, listing.level == ask.level, listing.entries.indices.contains(from) else {
          return connection.send(
            ServerLine(answer: .failed(ask.id, "there is no list to go on with; ask from 0")))
        }
        return page(Listing(level: listing.level, entries: listing.entries), from: from, ask.id, &connection)
      }
      if ask.what == AskWord.more.rawValue {
        return connection.send(ServerLine(answer: connection.piece(ask, at: ContinuousClock.now)))
      }
      let (loop, id) = (loop, connection.id)
      let work = AskWork(cache: cache, allowsWrites: loop.terms.allowsWrites, app: loop.terms.name)
      connection.asks[ask.id] = Task {
        let (answer, rest) = await work.answer(ask)
        let line = Wire.bytes((answer.events ?? [])[...]) { events in
          var answer = answer
          answer.events = answer.events.map { _ in Array(events) }
          return ServerLine(answer: answer)
        }
        loop.finish(Finished(connection: id, ask: ask.id, line: line, rest: rest))
      }
    }

    private func page(
      _ listing: Listing, from: Int, _ ask: Int, _ connection: inout Connection
    ) {
      var answer = ServerLine.Answer(id: ask, outcome: "done")
      let bytes = Wire.bytes(listing.entries[from...].prefix(WireLimits.page)) { entries in
        answer.entries = Array(entries)
        answer.next = entries.endIndex < listing.entries.count ? entries.endIndex : nil
        return ServerLine(answer: answer)
      }
      connection.listing = answer.next == nil ? nil : (listing.level, listing.entries)
      connection.send(bytes)
    }

    mutating func takeFinished(_ all: [Finished]) {
      for finished in all {
        guard var connection = connections.removeValue(forKey: finished.connection) else { continue }
        connection.asks[finished.ask] = nil
        // Whoever did something sees it in events, counts and figures when the answer comes.
        var isThere = true
        if case .open = connection.phase { isThere = tellEvents(&connection) }
        tellUsage(cache.usage, &connection)
        switch finished.rest {
        case .list(let listing)?: page(listing, from: 0, finished.ask, &connection)
        case .value(let bytes)?:
          connection.keep(bytes, for: finished.ask, at: ContinuousClock.now)
          connection.send(finished.line)
        case nil: connection.send(finished.line)
        }
        understand(&connection)
        isThere = isThere && connection.flush()
        connections[finished.connection] = connection
        if !isThere { end(finished.connection) }
      }
    }

    // MARK: What is told

    /// Hands over events and how full the levels are, each in its pace.
    mutating func tell(at now: ContinuousClock.Instant = .now) {
      let patience = loop.terms.patience
      for (id, connection) in connections where connection.since.duration(to: now) > patience {
        if case .greeting = connection.phase { end(id) }
      }
      for id in connections.keys { connections[id]?.forget(after: patience * 2, at: now) }
      for (id, connection) in connections where connection.isStuck(for: patience * 6, at: now) { end(id) }
      if let opens, opens <= now { self.opens = nil }
      guard connections.values.contains(where: { if case .open = $0.phase { true } else { false } }) else {
        hasEvents = false
        return
      }
      if lastSurvey.duration(to: now) >= InspectorLoop.survey {
        lastSurvey = now
        tellUsage()
      }
      guard !hasEvents || lastEvents.duration(to: now) >= InspectorLoop.pace else { return }
      lastEvents = now
      hasEvents = false
      for id in connections.keys.sorted() {
        guard var connection = connections.removeValue(forKey: id) else { continue }
        var isThere = true
        if case .open = connection.phase { isThere = tellEvents(&connection) }
        connections[id] = connection
        if !isThere { end(id) }
      }
    }

    private mutating func tellEvents(_ connection: inout Connection) -> Bool {
      var hasMore = true
      // No more in one turn than the ring holds, so that a quick client cannot keep the thread.
      var turns = 64
      var isNews = false
      while hasMore, turns > 0, !connection.isFull {
        turns -= 1
        let batch = ring.read(from: &connection.place, atMost: WireLimits.batch)
        hasMore = batch.hasMore
        connection.lost += batch.lost
        guard !batch.events.isEmpty || connection.lost > 0 else { break }
        var events = batch.events.map { WireEvent($0) }[...]
        repeat {
          var told = 0
          let bytes = Wire.bytes(events) { part in
            told = part.count
            return ServerLine(events: ServerLine.Events(lost: Int(clamping: connection.lost), list: Array(part)))
          }
          connection.send(bytes)
          connection.lost = 0
          events = events.dropFirst(max(1, told))
        } while !events.isEmpty
        isNews = true
        guard connection.flush() else { return false }
      }
      if isNews {
        let counts = cache.inspector.statistics.snapshot
        connection.send(ServerLine(counts: counts.since(connection.counted)))
        connection.counted = counts
        guard connection.flush() else { return false }
      }
      // After news the next look comes in due time, however soon the next event is; only an idle connection asks to be woken.
      if isNews || !ring.await(from: connection.place) { hasEvents = true }
      return true
    }

    private mutating func tellUsage() {
      let usage = cache.usage
      for id in connections.keys.sorted() {
        guard var connection = connections[id] else { continue }
        tellUsage(usage, &connection)
        let isThere = connection.flush()
        connections[id] = connection
        if !isThere { end(id) }
      }
    }

    private func tellUsage(_ usage: [String: ServerLine.Usage], _ connection: inout Connection) {
      let hearing = cache.hearing
      guard case .open = connection.phase, !connection.isFull,
        connection.usage != usage || connection.hearing != hearing
      else { return }
      let line = ServerLine(
        usage: connection.usage == usage ? nil : usage, hearing: connection.hearing == hearing ? nil : hearing)
      (connection.usage, connection.hearing) = (usage, hearing)
      connection.send(line)
    }
  }
}

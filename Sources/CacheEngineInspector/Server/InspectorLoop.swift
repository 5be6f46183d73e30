import CacheEngine
import Synchronization

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// The thread that serves a cache at a socket.
///
/// It alone reads, writes and keeps the connections. Questions to the cache run in tasks of their own and come back by way
/// of `state`.
final class InspectorLoop: Sendable {
  struct Terms: Sendable {
    var name: String
    var allowsWrites: Bool
    var versions: ProtocolVersions
    /// For so long somebody may be silent before the greeting, for twice as long between two pieces of a value, and for six
    /// times as long leave lying what was sent.
    var patience: Duration
  }

  struct State {
    var isStopping = false
    var attached = 0
    /// What tasks have finished: the connection, the question, the line, and what is left to give.
    var finished: [Finished] = []
  }

  struct Finished: Sendable {
    var connection: UInt64
    var ask: Int
    var line: [UInt8]
    var rest: Rest?
  }

  /// What an answer is only the beginning of.
  enum Rest: Sendable {
    case list(Listing)
    case value(Data)
  }

  struct Listing: Sendable {
    var level: String
    var entries: [ServerLine.Entry]
  }

  /// More are told to come back later.
  static let mostConnections = 8
  /// Between two batches of events, and between two looks at how full the levels are.
  static let pace = Duration.milliseconds(50)
  static let survey = Duration.seconds(1)
  /// Before somebody is let in again after there was no room for them.
  static let pause = Duration.seconds(1)

  let cache: InspectedCache
  let terms: Terms
  private let listener: UnixSocket.Listener
  private let (woken, waker): (Descriptor, Descriptor)
  let state = Mutex(State())
  let clock: any CacheClock = SystemClock()

  init(
    _ cache: InspectedCache, at path: String, terms: Terms,
    pair: () throws -> (Descriptor, Descriptor) = UnixSocket.pair
  ) throws {
    self.cache = cache
    self.terms = terms
    // Last of all the socket, whose file would be left behind.
    (woken, waker) = try pair()
    listener = try UnixSocket.listen(at: path)
  }

  var attachedCount: Int { state.withLock { $0.attached } }

  func start() throws {
    do { try OwnThread.start("cache-inspector") { [self] in run() } } catch {
      UnixSocket.removeFile(of: listener)
      throw CacheError(.unusableSocket, "no thread is left to serve \(listener.path); end some or raise the limit")
    }
  }

  /// Ends the thread soon; the socket is gone at once.
  func stop() {
    let isFirst = state.withLock { state in
      defer { state.isStopping = true }
      return !state.isStopping
    }
    guard isFirst else { return }
    UnixSocket.removeFile(of: listener)
    wake()
  }

  /// If the pipe is full the thread is awake already.
  private func wake() { _ = waker.write([1]) }

  func finish(_ finished: Finished) {
    state.withLock { $0.finished.append(finished) }
    wake()
  }

  // MARK: The thread

  private func run() {
    var room = Room(loop: self)
    let id = UInt64(UInt(bitPattern: ObjectIdentifier(self).hashValue))
    let waker = waker
    cache.inspector.ring.addWaker(id) { _ = waker.write([1]) }
    while !(state.withLock { $0.isStopping }) {
      room.takeFinished(takeFinished())
      room.tell()
      wait(&room)
    }
    cache.inspector.ring.removeWaker(id)
    room.closeAll()
  }

  private func takeFinished() -> [Finished] {
    state.withLock { state in
      defer { state.finished = [] }
      return state.finished
    }
  }

  private func wait(_ room: inout Room) {
    let ids = room.connections.keys.sorted()
    var polled = [
      pollfd(fd: woken.number, events: Int16(POLLIN), revents: 0),
      // A number below 0 is passed over.
      pollfd(fd: room.isClosed ? -1 : listener.descriptor.number, events: Int16(POLLIN), revents: 0),
    ]
    for id in ids {
      guard let connection = room.connections[id] else { continue }
      let events = (connection.wantsToRead ? POLLIN : 0) | (connection.wantsToWrite ? POLLOUT : 0)
      polled.append(pollfd(fd: connection.descriptor.number, events: Int16(events), revents: 0))
    }
    let timeout = room.timeout
    if unsafe poll(&polled, nfds_t(polled.count), timeout) < 0 {
      // Interrupted, or no memory is left; either way nothing is known of anybody.
      if errno != EINTR { usleep(100_000) }
      return
    }
    if polled[0].revents != 0 {
      var drain = [UInt8](repeating: 0, count: 256)
      while case .moved = woken.read(into: &drain) {}
    }
    for (id, entry) in zip(ids, polled.dropFirst(2)) where entry.revents != 0 {
      room.serve(id, isGone: entry.revents & Int16(POLLHUP | POLLERR | POLLNVAL) != 0)
    }
    if polled[1].revents != 0 { room.welcomeAll { UnixSocket.accept(from: listener) } }
  }
}

package import CacheEngine
import Dispatch
import Synchronization

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The side of the one who looks: connects to a socket and asks.
///
/// A thread of its own reads; what comes by itself is told where it comes in.
package final class InspectorClient: Sendable {
  /// What the app tells by itself.
  package enum News: Sendable {
    case events([CacheEvent], lost: Int)
    /// What the app counted since it last said so.
    case counts(CacheStatistics.Snapshot)
    case usage([String: LevelUsage])
    /// Since when the app hears nothing of what other processes change; `nil` while it hears them.
    case hearing(deafSince: CacheInstant?)
    /// The app is gone, or serves no more; said for a person.
    case ended(String)
  }

  private struct State {
    var asks: [Int: CheckedContinuation<ServerLine.Answer, any Error>] = [:]
    var lastAsk = 0
    var ending: String?
    var usage: [String: LevelUsage] = [:]
  }

  package let welcome: ServerLine.Welcome
  private let descriptor: Descriptor
  private let tell: @Sendable (News) -> Void
  private let state = Mutex(State())
  /// When the app last said anything, in nanoseconds of this side's clock.
  private let heard = Atomic<Int64>(SystemClock().now.nanoseconds)
  /// Writes one line after the other: an app that is stopped takes none, and Swift's threads are few.
  private let writing = DispatchQueue(label: "CacheEngine.inspector.asking")

  /// Connects and says hello; blocks for some seconds at the most, so call it where that may be.
  ///
  /// - Throws: `CacheError` that says why not.
  package static func connect(
    to path: String, as client: String, versions: ProtocolVersions = .current,
    tell: @escaping @Sendable (News) -> Void
  ) throws -> InspectorClient {
    let descriptor = try UnixSocket.connect(to: path, waiting: .seconds(5))
    return try greet(over: descriptor, path: path, as: client, versions: versions, tell: tell)
  }

  /// Says hello over a connection and waits for the welcome.
  ///
  /// An app that refuses may have hung up before the hello is written; what it said is read all the same.
  static func greet(
    over descriptor: Descriptor, path: String, as client: String, versions: ProtocolVersions,
    patience: Duration = .seconds(5), tell: @escaping @Sendable (News) -> Void
  ) throws -> InspectorClient {
    let hello = ClientLine(hello: ClientLine.Hello(versions: versions, client: client))
    let isGreeted = descriptor.writeAll(Wire.bytes(hello))
    var incoming = Incoming(descriptor: descriptor)
    let line: ServerLine
    do {
      line = try incoming.next(before: ContinuousClock.now + patience)
    } catch .timedOut {
      throw CacheError(.timedOut, "the app at \(path) does not answer; it may be stopped, or busy for long")
    } catch {
      guard isGreeted else { throw CacheError(.disconnected, "the app at \(path) hung up; try again") }
      throw CacheError(.disconnected, "what listens at \(path) does not speak this protocol; is it another program’s?")
    }
    if let refused = line.refused {
      let code: CacheError.Code =
        switch refused.code {
        case "version": .incompatibleProtocol
        case "owner": .foreignPeer
        case "busy": .inUse
        default: .disconnected
        }
      throw CacheError(code, refused.message)
    }
    guard let welcome = line.welcome else {
      throw CacheError(.disconnected, "what listens at \(path) does not speak this protocol; is it another program’s?")
    }
    descriptor.setTimeouts(seconds: 0)
    let made = InspectorClient(welcome: welcome, descriptor: descriptor, tell: tell)
    let rest = incoming
    do { try OwnThread.start("cache-attached") { [weak made] in Self.read(rest, for: { made }) } } catch {
      throw CacheError(.unreachable, "no thread is left to read from \(path)")
    }
    return made
  }

  private init(welcome: ServerLine.Welcome, descriptor: Descriptor, tell: @escaping @Sendable (News) -> Void) {
    self.welcome = welcome
    self.descriptor = descriptor
    self.tell = tell
  }

  deinit { descriptor.shutDown() }

  /// Why there is nobody to ask any more; `nil` while there is.
  package var ending: String? { state.withLock { $0.ending } }

  /// How full the levels were when the app last said so.
  package var usage: [String: LevelUsage] { state.withLock { $0.usage } }

  /// When the app last said anything, by this side's clock.
  package var heardAt: CacheInstant { CacheInstant(nanoseconds: heard.load(ordering: .relaxed)) }

  /// Asks for a sign of life, for which ``heardAt`` waits: an app answers this at once, unless it is stopped.
  package func knock() {
    var ask = ClientLine.Ask(.more)
    ask.id = nextAsk()
    write(Wire.bytes(ClientLine(ask: ask)))
  }

  /// Hangs up.
  package func close() { descriptor.shutDown() }

  /// Asks, and waits for the answer.
  ///
  /// - Throws: `CacheError` with code `disconnected` if the app is gone; `CancellationError`.
  package func ask(_ ask: ClientLine.Ask) async throws -> ServerLine.Answer {
    let id = nextAsk()
    var ask = ask
    ask.id = id
    let bytes = Wire.bytes(ClientLine(ask: ask))
    guard bytes.count <= WireLimits.line else {
      throw CacheError(.tooLarge, "a value of \(ask.value?.count ?? 0) bytes cannot be sent; send a smaller one")
    }
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let refusal: (any Error)? = state.withLock { state in
          if Task.isCancelled { return CancellationError() }
          if let ending = state.ending { return CacheError(.disconnected, ending) }
          state.asks[id] = continuation
          return nil
        }
        if let refusal { return continuation.resume(throwing: refusal) }
        write(bytes)
      }
    } onCancel: {
      take(id)?.resume(throwing: CancellationError())
    }
  }

  /// Asks for a value, as much of it as is wanted, a piece at a time.
  ///
  /// - Returns: The answer; its `size` tells how many bytes the value has if that is more than was given.
  /// - Throws: As ``ask(_:)``.
  package func read(_ ask: ClientLine.Ask, atMost most: Int) async throws -> ServerLine.Answer {
    var first = ask
    first.limit = min(most, WireLimits.piece)
    first.keeps = most > WireLimits.piece ? true : nil
    var answer = try await self.ask(first)
    var more = ClientLine.Ask(.more)
    more.of = answer.id
    var value = answer.value ?? Data()
    while answer.next == value.count, value.count < most {
      more.from = value.count
      more.limit = min(most - value.count, WireLimits.piece)
      let piece = try await self.ask(more)
      // An app that could not wait any longer gives no more, and what came is the beginning.
      guard let bytes = piece.value, !bytes.isEmpty else { break }
      value += bytes
      answer.next = piece.next
    }
    let size = answer.size ?? value.count
    // An app that knows of no limit gives more than was wanted.
    value = value.prefix(most)
    answer.size = size > value.count ? size : nil
    if answer.value != nil { answer.value = value }
    return answer
  }

  private func nextAsk() -> Int {
    state.withLock { state in
      state.lastAsk += 1
      return state.lastAsk
    }
  }

  private func write(_ bytes: [UInt8]) {
    writing.async { [descriptor] in if !descriptor.writeAll(bytes) { descriptor.shutDown() } }
  }

  private func take(_ id: Int) -> CheckedContinuation<ServerLine.Answer, any Error>? {
    state.withLock { $0.asks.removeValue(forKey: id) }
  }

  // MARK: The thread

  private static func read(_ incoming: Incoming, for client: () -> InspectorClient?) {
    var incoming = incoming
    var ending = "the app has ended, or hung up"
    while true {
      do {
        let line = try incoming.next()
        guard let client = client() else { return }
        if let refused = line.refused {
          ending = refused.message
          break
        }
        client.take(line)
      } catch {
        if case .unreadable = error { ending = "the app sent what is no line of the protocol" }
        break
      }
    }
    client()?.end(ending)
  }

  private func take(_ line: ServerLine) {
    heard.store(SystemClock().now.nanoseconds, ordering: .relaxed)
    if let usage = line.usage {
      let usage = usage.mapValues {
        LevelUsage(
          count: WireLimits.counted($0.count), cost: WireLimits.counted($0.cost),
          capacity: $0.capacity.map { max(0, $0) }, countLimit: $0.countLimit.map { max(0, $0) })
      }
      state.withLock { $0.usage = usage }
      tell(.usage(usage))
    }
    if let hearing = line.hearing {
      tell(.hearing(deafSince: hearing.deafSince.map { CacheInstant(nanoseconds: $0) }))
    }
    if let events = line.events {
      tell(.events(events.list.compactMap(\.event), lost: WireLimits.counted(events.lost)))
    }
    if let counts = line.counts { tell(.counts(counts)) }
    if let answer = line.answer { take(answer.id)?.resume(returning: answer) }
  }

  private func end(_ why: String) {
    let asks = state.withLock { state in
      defer { state.asks = [:] }
      state.ending = why
      return state.asks
    }
    for continuation in asks.values { continuation.resume(throwing: CacheError(.disconnected, why)) }
    descriptor.shutDown()
    tell(.ended(why))
  }
}

/// The lines that come, read one at a time by one thread.
private struct Incoming: Sendable {
  enum Failure: Error { case ended, timedOut, unreadable }

  let descriptor: Descriptor
  private var reader = LineReader()
  private var lines: [[UInt8]] = []
  private var buffer = [UInt8](repeating: 0, count: 65_536)

  init(descriptor: Descriptor) { self.descriptor = descriptor }

  /// `end`: When no more is waited for; each piece that comes may be waited for in full.
  mutating func next(before end: ContinuousClock.Instant? = nil) throws(Failure) -> ServerLine {
    while lines.isEmpty {
      if let end, end <= ContinuousClock.now { throw .timedOut }
      switch descriptor.read(into: &buffer) {
      case .later: throw .timedOut
      case .ended: throw .ended
      case .moved(let count):
        do { lines = try reader.take(buffer[..<count], limit: WireLimits.line) } catch { throw .unreadable }
      }
    }
    let line = lines.removeFirst()
    do { return try Wire.read(ServerLine.self, from: line) } catch { throw .unreadable }
  }
}

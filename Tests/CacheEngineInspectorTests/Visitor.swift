import CacheEngine
import Foundation
import Synchronization

@testable import CacheEngineInspector

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// Somebody who is attached, with everything that was told, for a test to wait for.
final class Visitor: Sendable {
  struct Told: Sendable {
    var events: [CacheEvent] = []
    var lost = 0
    var usage: [String: LevelUsage] = [:]
    var counts = CacheStatistics.Snapshot()
    var ending: String?
    var hearing: [CacheInstant?] = []
  }

  let client: InspectorClient

  init(_ path: String, versions: ProtocolVersions = .current) async throws {
    let box = Box()
    client = try await Visitor.elsewhere {
      try InspectorClient.connect(to: path, as: "test", versions: versions) { box.take($0) }
    }
    self.box = box
  }

  private let box: Box

  var told: Told { box.told }

  func wait(until test: @escaping @Sendable (Told) -> Bool) async { await box.wait(until: test) }

  func ask(_ word: AskWord, level: String? = nil, key: String? = nil, value: String? = nil) async throws
    -> ServerLine.Answer
  {
    var ask = ClientLine.Ask(word, level: level, key: key)
    ask.value = value.map { Data($0.utf8) }
    return try await client.ask(ask)
  }

  /// Blocking calls have no place on the threads of tasks.
  static func elsewhere<Answer: Sendable>(_ work: @escaping @Sendable () throws -> Answer) async throws -> Answer {
    try await withCheckedThrowingContinuation { continuation in
      DispatchQueue.global().async { continuation.resume(with: Result(catching: work)) }
    }
  }

  private final class Box: Sendable {
    private struct State {
      var told = Told()
      var watchers: [(test: @Sendable (Told) -> Bool, continuation: CheckedContinuation<Void, Never>)] = []
    }

    private let state = Mutex(State())

    var told: Told { state.withLock { $0.told } }

    func take(_ news: InspectorClient.News) {
      let ready = state.withLock { state in
        switch news {
        case .events(let events, let lost):
          state.told.events += events
          state.told.lost += lost
        case .counts(let counts): state.told.counts += counts
        case .usage(let usage): state.told.usage = usage
        case .hearing(let deafSince): state.told.hearing.append(deafSince)
        case .ended(let why): state.told.ending = why
        }
        let told = state.told
        let ready = state.watchers.filter { $0.test(told) }.map(\.continuation)
        state.watchers.removeAll { $0.test(told) }
        return ready
      }
      for continuation in ready { continuation.resume() }
    }

    func wait(until test: @escaping @Sendable (Told) -> Bool) async {
      await withCheckedContinuation { continuation in
        let isReady = state.withLock { state in
          if test(state.told) { return true }
          state.watchers.append((test, continuation))
          return false
        }
        if isReady { continuation.resume() }
      }
    }
  }
}

/// Serves a cache to a test, which is not hung up on if it gets no turn for long.
func serveCache(
  _ cache: some CacheLevel, at path: String, name: String? = nil, allowsWrites: Bool = false,
  versions: ProtocolVersions = .current
) throws -> InspectorServer {
  try CacheInspector.serve(
    cache, at: path, name: name, allowsWrites: allowsWrites, versions: versions, patience: .seconds(600))
}

/// A folder for sockets that is there for as long as a test runs; its path is short, as a socket's has to be.
struct SocketFolder: ~Copyable {
  let path: String

  init() throws {
    path = "/tmp/ce-\(UUID().uuidString.prefix(8))"
    try FileManager.default.createDirectory(
      atPath: path, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
  }

  var socket: String { "\(path)/cache.sock" }

  deinit { try? FileManager.default.removeItem(atPath: path) }
}

/// A bare connection, for what no client would send.
struct RawConnection: ~Copyable {
  private let descriptor: Descriptor

  init(_ path: String) async throws {
    descriptor = try await Visitor.elsewhere { try UnixSocket.connect(to: path, waiting: .seconds(60)) }
  }

  func send(_ text: String) { _ = descriptor.writeAll(Array(text.utf8)) }
  func send(_ bytes: [UInt8]) { _ = descriptor.writeAll(bytes) }

  /// Reads until so many events were received or told to be lost.
  func events(until total: Int) async throws -> (received: Int, lost: Int) {
    let descriptor = descriptor
    return try await Visitor.elsewhere {
      var (reader, buffer) = (LineReader(), [UInt8](repeating: 0, count: 65_536))
      var (received, lost) = (0, 0)
      while received + lost < total, case .moved(let count) = descriptor.read(into: &buffer) {
        for line in try reader.take(buffer[..<count], limit: WireLimits.line) {
          guard let events = try Wire.read(ServerLine.self, from: line).events else { continue }
          received += events.list.count
          lost += events.lost
        }
      }
      return (received, lost)
    }
  }

  /// Everything that comes before the other side hangs up.
  func rest() async throws -> String {
    let descriptor = descriptor
    return try await Visitor.elsewhere {
      var (bytes, buffer) = ([UInt8](), [UInt8](repeating: 0, count: 65_536))
      while case .moved(let count) = descriptor.read(into: &buffer) { bytes += buffer[..<count] }
      return String(decoding: bytes, as: UTF8.self)
    }
  }
}

/// A cache of two levels that tell an inspector.
struct Stack: Sendable {
  let inspector: CacheInspector
  let memory: MemoryCacheLevel<String, Data>
  let cache: BasicCache<String, Data>

  init(capacity: Int = 16_384, memory room: Int = 1 << 20) {
    let inspector = CacheInspector(capacity: capacity)
    memory = MemoryCacheLevel<String, Data>(
      name: "memory", capacity: room, removalListener: inspector.removals(from: "memory"))
    let source = BasicFetcher<String, Data>(name: "source") { key in
      key.hasPrefix("no") ? nil : Data("value of \(key)".utf8)
    }
    cache = memory.observed(as: "memory", by: inspector)
      .compose(source.pooled(observer: inspector).observed(as: "source", by: inspector))
      .traced(by: inspector).normalize()
    self.inspector = inspector
  }
}

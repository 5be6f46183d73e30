#if Redis
import CacheEngine
import CacheEngineRedis
import CacheEngineShared
import CacheEngineTesting
import Foundation
import Synchronization
import TestRedis
import TestSupport
import Testing

/// Long histories with faults by chance: what was promised is looked at while they go on, and when all is quiet.
///
/// `REDIS_ROUNDS` says how many are played, and `REDIS_SEED` with which one it begins.
@Suite(.enabled(if: TestRedis.isInstalled, Comment(rawValue: TestRedis.whyNot)), .timeLimit(.minutes(60)))
struct RedisHistoryTests {
  private static let rounds = ProcessInfo.processInfo.environment["REDIS_ROUNDS"].flatMap { Int($0) } ?? 3
  private static let seed = ProcessInfo.processInfo.environment["REDIS_SEED"].flatMap { UInt64($0) } ?? 1

  @Test("G1 G2 G3 G4 G5 G6 G7 G8 histories of several processes, a server that fails in every way, and strangers")
  func histories() async throws {
    for round in 0..<Self.rounds {
      let seed = Self.seed &+ UInt64(round)
      do { try await RedisHistory(seed: seed).play() } catch {
        Issue.record("REDIS_SEED=\(seed): \(error)")
      }
    }
  }
}

/// What was written and read, in which order.
private final class HistoryLog: Sendable {
  struct Write {
    /// What it was written under, or with; a clear has neither.
    var key: String?
    var tags: Set<String> = []
    var isRemovalByTag = false
    var process: Int
    var begin: Int
    /// When it was acknowledged, if it was.
    var end: Int?
  }

  private struct State {
    var moment = 0
    /// By their numbers, which are also the values.
    var writes: [Int: Write] = [:]
    var violations: [String] = []
    var failures = 0
    var reads = 0
  }

  private let state = Mutex(State())

  var moment: Int {
    state.withLock { state in
      state.moment += 1
      return state.moment
    }
  }
  var count: Int { state.withLock { $0.reads + $0.writes.count } }
  var failures: Int { state.withLock { $0.failures } }
  var violations: [String] { state.withLock { $0.violations } }

  func begin(_ key: String?, tags: Set<String> = [], isRemovalByTag: Bool = false, process: Int) -> Int {
    state.withLock { state in
      state.moment += 1
      state.writes[state.moment] = Write(
        key: key, tags: tags, isRemovalByTag: isRemovalByTag, process: process, begin: state.moment)
      return state.moment
    }
  }

  func end(_ number: Int, isAcknowledged: Bool) {
    state.withLock { state in
      state.moment += 1
      if isAcknowledged { state.writes[number]?.end = state.moment } else { state.failures += 1 }
    }
  }

  func failRead() { state.withLock { $0.failures += 1 } }

  func violate(_ text: String) { state.withLock { $0.violations.append(text) } }

  /// Looks at a value that was found under a key by who asked at a moment.
  ///
  /// Of a process only its own writes are considered, for others it need not have heard of yet; when all is quiet, everybody's.
  func read(_ value: Int?, _ key: String, at moment: Int, by process: Int?, _ what: String) {
    state.withLock { state in
      state.reads += 1
      guard let value else { return }
      guard let write = state.writes[value], write.key == key else {
        return state.violations.append("\(what): \(value) was never written under \(key)")
      }
      // What nobody acknowledged may have been carried out at any time.
      guard let end = write.end else { return }
      let later = state.writes.first { number, other in
        guard let otherEnd = other.end, other.begin > end, otherEnd < moment, number != value else { return false }
        if let process, other.process != process { return false }
        if other.isRemovalByTag { return !other.tags.isDisjoint(with: write.tags) }
        return other.key == nil || other.key == key
      }
      if let later {
        state.violations.append("\(what): \(key) is \(value), which \(later.key) had replaced (\(later.value))")
      }
    }
  }
}

private struct RedisHistory: Sendable {
  typealias Promises = RedisPromisesTests
  typealias Process = Promises.Process

  enum Fault: CaseIterable {
    case restart, stop, pause, killConnections, killListeners, evict, flush, flood, foreign, swap
  }

  let seed: UInt64
  let log = HistoryLog()
  private static let keys = (0..<8).map { "k\($0)" }
  private static let pooled = (0..<3).map { "p\($0)" }

  func play() async throws {
    var generator = SeededGenerator(seed: seed)
    let redis = try await TestRedis()
    let hearsByChannel = (0..<Int.random(in: 2...3, using: &generator)).map { _ in
      switch seed % 3 {
      case 0: false
      case 1: true
      default: Bool.random(using: &generator)
      }
    }
    var processes: [Process] = []
    for isByChannel in hearsByChannel {
      processes.append(
        try await Process(redis) {
          $0.commandLimit = .milliseconds(500)
          $0.pauses = .milliseconds(2)...Duration.milliseconds(50)
          if isByChannel { $0.invalidations = .channel }
        })
    }
    let faults = (0..<Int.random(in: 3...6, using: &generator)).map { _ in
      Fault.allCases.randomElement(using: &generator) ?? .flush
    }
    let (origin, count, done) = (Origin(), processes.count, Tally())
    let seeds = (0..<16).map { _ in generator.next() }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for (number, process) in processes.enumerated() {
        for worker in 0..<4 {
          group.addTask { [self] in
            var generator = SeededGenerator(seed: seeds[number * 4 + worker])
            for _ in 0..<60 { await self.act(number, process, origin, &generator) }
            done.add()
          }
        }
      }
      group.addTask { [self] in
        var generator = SeededGenerator(seed: seeds[15])
        for (place, fault) in faults.enumerated() {
          let begin = (place + 1) * count * 240 / (faults.count + 1)
          try await turns { log.count >= begin / 2 }
          // Nobody fails any more once all have done what they had to do.
          try await commit(fault, redis, &generator) { done.count == count * 4 }
        }
      }
      try await group.waitForAll()
    }
    try await rest(processes, redis, origin, hearsByChannel)
    for violation in log.violations { Issue.record("REDIS_SEED=\(seed), \(faults): \(violation)") }
  }

  // MARK: What processes do

  /// What stands behind the shared level, and is never wrong.
  final class Origin: Sendable {
    private let values = Mutex<[String: Int]>([:])
    subscript(key: String) -> Int? {
      get { values.withLock { $0[key] } }
      set { values.withLock { $0[key] = newValue } }
    }
    func raise(_ key: String) { values.withLock { $0[key, default: 0] += 1 } }
  }

  private func act(_ number: Int, _ process: Process, _ origin: Origin, _ generator: inout SeededGenerator) async {
    let key = Self.keys.randomElement(using: &generator) ?? "k0"
    let tag = Bool.random(using: &generator) ? "x" : "y"
    switch Int.random(in: 0..<20, using: &generator) {
    case 0...5:
      let tags: Set<String> = Bool.random(using: &generator) ? [tag] : []
      let value = log.begin(key, tags: tags, process: number)
      await end(value) { try await process.cache.set(value, forKey: key, tags: tags) }
    case 6, 7:
      let value = log.begin(key, process: number)
      await end(value) { try await process.cache.remove(key) }
    case 8 where Int.random(in: 0..<4, using: &generator) == 0:
      let value = log.begin(nil, process: number)
      await end(value) { try await process.cache.clear() }
    case 9 where Bool.random(using: &generator):
      let value = log.begin(nil, tags: [tag], isRemovalByTag: true, process: number)
      await end(value) { try await process.cache.removeAll(tagged: tag) }
    case 10:
      // A new value behind, and then the old one is removed.
      let name = Self.pooled.randomElement(using: &generator) ?? "p0"
      origin.raise(name)
      do { try await process.shared.remove(name) } catch { log.failRead() }
    case 11, 12:
      let name = Self.pooled.randomElement(using: &generator) ?? "p0"
      let pool = BasicFetcher<String, Int> { key in
        let value = origin[key] ?? 0
        for _ in 0..<3 { await Task.yield() }
        return value
      }.sharedPool(process.shared, lease: .milliseconds(200), observer: nil)
      do {
        if try await pool.get(name) == nil { log.violate("G6: what stands behind was not loaded") }
      } catch { log.failRead() }
    default:
      let moment = log.moment
      do { log.read(try await process.cache.get(key), key, at: moment, by: number, "G1, process \(number)") } catch {
        log.failRead()
      }
    }
  }

  private func end(_ number: Int, _ work: () async throws -> some Any) async {
    do {
      _ = try await work()
      log.end(number, isAcknowledged: true)
    } catch { log.end(number, isAcknowledged: false) }
  }

  // MARK: What fails

  private func commit(
    _ fault: Fault, _ redis: TestRedis, _ generator: inout SeededGenerator, isOver: () -> Bool
  ) async throws {
    func raw(_ work: (RawRedis) async throws -> Void) async {
      // Whoever is thrown out, or finds nobody, has done what he could.
      do { try await work(try await RawRedis(redis)) } catch {}
    }
    let key = Self.keys.randomElement(using: &generator) ?? "k0"
    let (here, there) = ("test:r:\(key)", "test:r:\(Self.keys.randomElement(using: &generator) ?? "k1")")
    switch fault {
    case .restart:
      redis.kill()
      let before = log.failures
      try await turns { log.failures > before + 2 || isOver() }
      try await redis.start()
    case .stop:
      redis.stop()
      let before = log.failures
      try await turns { log.failures > before || isOver() }
      redis.resume()
    case .pause:
      // Some within the limit for a command, and some beyond.
      let (time, kind) = (
        Int.random(in: 100..<900, using: &generator), Bool.random(using: &generator) ? "ALL" : "WRITE"
      )
      await raw { _ = try await $0.ask("CLIENT", "PAUSE", "\(time)", kind) }
    case .killConnections: await raw { _ = try await $0.ask("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes") }
    case .killListeners: await raw { _ = try await $0.ask("CLIENT", "KILL", "TYPE", "pubsub") }
    case .evict:
      let names = ["test:s:", "test:t:x", "test:g:", here, there, "test:l:p0", "test:l:\(key)"]
      let gone = names.filter { _ in Bool.random(using: &generator) }
      await raw { raw in for name in gone { _ = try await raw.ask("DEL", name) } }
    case .flush: await raw { _ = try await $0.ask("FLUSHALL") }
    case .flood:
      await raw { raw in
        _ = try await raw.ask(
          "EVAL", "for i = 1, 20000 do redis.call('SET', 'test:r:flood' .. i, i) end return 1", "0")
      }
    case .foreign:
      await raw { raw in
        for name in [here, "test:s:", "test:t:y"] { _ = try await raw.ask("SET", name, "no record of ours") }
      }
    case .swap: await raw { _ = try await $0.ask("EVAL", Self.swap, "2", here, there) }
    }
  }

  /// What is whole, but under the name of another.
  private static let swap = """
    local record = redis.call('GET', KEYS[1])
    if record then redis.call('SET', KEYS[2], record) end
    return 1
    """

  // MARK: When all is quiet

  private func rest(_ processes: [Process], _ redis: TestRedis, _ origin: Origin, _ hearsByChannel: [Bool]) async throws
  {
    try await turns {
      processes.allSatisfy { $0.shared.unsettledCount == 0 && $0.cache.coherence.deafSince == nil }
    }
    let looker = try RedisPromisesTests.Shared(redis.store(), namespace: "test", valueCoding: .json)
    // The last change that anybody hears of: everybody has a copy of this, and loses it.
    try await looker.set(-1, forKey: "last")
    for process in processes {
      try await turns {
        _ = try await process.cache.get("last")
        return process.cache.peek("last") == -1
      }
    }
    try await looker.set(-2, forKey: "last")
    for process in processes { try await turns { process.cache.peek("last") != -1 } }
    for key in Self.keys {
      let below = try await looker.get(key)
      log.read(below, key, at: .max, by: nil, "G5 G7 below")
      for (number, process) in processes.enumerated() {
        log.read(process.cache.peek(key), key, at: .max, by: nil, "G1 G2, process \(number)")
        // What strangers did to the store only the server tells. What was given up may be carried out even now.
        if hearsByChannel[number] { continue }
        do { try await turns { try await process.cache.get(key) == looker.get(key) } } catch {
          log.violate("G2: process \(number) goes on with another \(key) than is below")
        }
      }
    }
    for name in Self.pooled {
      let filled = try await looker.get(name)
      if let filled, filled != origin[name] ?? 0 {
        log.violate("G8: \(name) is \(filled), and behind it stands \(origin[name] ?? 0)")
      }
    }
    // Of all processes one loads.
    let loads = Tally()
    try await withThrowingTaskGroup(of: Int?.self) { group in
      for process in processes {
        let pool = BasicFetcher<String, Int> { _ in loads.add() }
          .sharedPool(process.shared, lease: .seconds(600), observer: nil)
        for _ in 0..<5 { group.addTask { try await pool.get("cold") } }
      }
      for try await value in group where value != 1 { log.violate("G6: a caller got \(value ?? 0)") }
    }
    if loads.count != 1 { log.violate("G6: \(loads.count) loads") }
  }
}
#endif

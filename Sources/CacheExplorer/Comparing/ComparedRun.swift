import CacheEngine
import CacheEngineHitRatio
import ExplorerCache
import ExplorerCommands
import ExplorerConfiguration
import ExplorerState
import Synchronization

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// One run of a trace through a cache that begins empty, and what was measured.
struct ComparedRun: Sendable {
  var requests = 0
  var values: [ComparedMeasure: Double] = [:]
  var problem: TraceProblem?
  /// How many requests of the trace are no reads.
  var skipped = 0

  /// Runs it in a folder that does not exist yet, and does not afterwards.
  ///
  /// `number`: Simulated sources draw other numbers in each run, and the same for both sides.
  static func of(
    _ configuration: CacheConfiguration, file: String, _ request: WorkloadRequest, drive: TraceDrive,
    folder: String, number: Int
  ) async throws -> ComparedRun {
    try FileManager.default.createDirectory(
      atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let workload = try Workload(request)
    let clock = AdjustableClock()
    clock.speed = drive.speed
    let latency = RequestLatency()
    let live = try await CacheBuilder.build(
      configuration.moved(to: folder, run: number), file: file, clock: clock, observers: [latency])
    let began = clock.now
    let report = await WorkloadRunner(live: live).run(workload, requests: nil, rate: nil, clients: drive.clients)
    var run = ComparedRun(requests: report.requests, problem: report.problem, skipped: workload.skipped)
    run.note(live, latency.histogram, failures: report.failures, time: began.duration(to: clock.now))
    try await live.close()
    return run
  }

  private mutating func note(_ live: LiveCache, _ latency: LatencyHistogram, failures: Int, time: Duration) {
    let counts = live.statistics.snapshot
    let sources = Set(live.levels.filter(\.isSource).map(\.name))
    func set(_ kind: ComparedMeasure.Kind, _ value: Double?, of level: String? = nil) {
      values[ComparedMeasure(kind: kind, level: level)] = value
    }
    set(.hitRate, live.hitShare)
    // Without a source it is the client who makes what is missing.
    let calls = sources.isEmpty ? counts.missed : sources.reduce(0) { $0 + (counts.levels[$1]?.lookups ?? 0) }
    set(.sourceCalls, Double(calls))
    set(.failures, Double(failures))
    note(latency, of: nil)
    set(.time, Double(time.clampedNanoseconds))
    for level in live.levels {
      let count = counts.levels[level.name] ?? CacheStatistics.Level()
      let answered = count.hits + count.misses.values.reduce(0, +)
      if !level.isSource { set(.hitRate, answered > 0 ? Double(count.hits) / Double(answered) : nil, of: level.name) }
      if let usage = level.storage?.usage {
        set(.entries, Double(usage.count), of: level.name)
        set(.bytes, Double(usage.cost), of: level.name)
      }
      note(count.latency, of: level.name)
    }
  }

  private mutating func note(_ histogram: LatencyHistogram, of level: String?) {
    for (kind, share) in [(ComparedMeasure.Kind.median, 0.5), (.slowest, 0.99)] {
      values[ComparedMeasure(kind: kind, level: level)] = histogram.percentile(share).map {
        Double($0.clampedNanoseconds)
      }
    }
  }
}

/// How long reads of the whole cache take.
private final class RequestLatency: CacheObserver {
  private let state = Mutex(LatencyHistogram())

  var histogram: LatencyHistogram { state.withLock { $0 } }

  func record(_ event: CacheEvent) {
    guard case .requestEnded(.get, _, let duration) = event.kind else { return }
    state.withLock { $0.record(duration) }
  }
}

extension CacheConfiguration {
  /// The same cache with its files below a folder, and simulated sources that draw other numbers in each run.
  func moved(to folder: String, run: Int) -> CacheConfiguration {
    var copy = self
    copy.levels = levels.map { $0.moved(to: folder, run: run) }
    return copy
  }
}

extension LevelSpecification {
  fileprivate func moved(to folder: String, run: Int) -> LevelSpecification {
    func moved(_ levels: [LevelSpecification]) -> [LevelSpecification] { levels.map { $0.moved(to: folder, run: run) } }
    var copy = self
    switch kind {
    case .disk(var disk):
      disk.directory = folder + "/\(name)"
      copy.kind = .disk(disk)
    case .defaults(var defaults):
      defaults.directory = folder + "/\(name)"
      copy.kind = .defaults(defaults)
    case .redis(let redis): copy.kind = .redis(redis.apart(as: "\(UInt32.random(in: .min ... .max))-\(run)"))
    case .origin(var origin):
      origin.seed &+= UInt64(run)
      copy.kind = .origin(origin)
    case .around(let operation, let inner): copy.kind = .around(operation, moved(inner))
    case .lanes(let condition, let then, let otherwise):
      copy.kind = .lanes(condition, then: moved(then), otherwise: moved(otherwise))
    case .stale(let stale, let level, let from): copy.kind = .stale(stale, level: moved(level), from: moved(from))
    case .memory, .network, .empty: break
    }
    return copy
  }
}

extension LiveCache {
  /// What share of the reads a level above the source answered; `nil` if none has ended.
  var hitShare: Double? {
    let counts = statistics.snapshot
    let sources = Set(levels.filter(\.isSource).map(\.name))
    let ended = counts.served.values.reduce(0, +) + counts.missed + counts.failed
    let served = counts.served.reduce(0) { $0 + (sources.contains($1.key) ? 0 : $1.value) }
    return ended > 0 ? Double(served) / Double(ended) : nil
  }
}

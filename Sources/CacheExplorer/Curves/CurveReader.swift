import CacheEngine
import CacheEngineHitRatio
import ExplorerCache
import ExplorerConfiguration
import ExplorerText

/// Reads a whole trace, and replays it at every capacity of a level.
enum CurveReader {
  /// Replays the trace at a level, the first that has a capacity if none is named; `-` is standard input.
  static func report(
    of path: String, as format: TraceFormat?, on configuration: CacheConfiguration, level name: String?
  ) async throws -> CurveReport {
    let level = try level(name, of: configuration)
    let trace = try await BlockingWork.runUnlessCancelled { try read(path, format) }
    guard !trace.keys.isEmpty else {
      throw ProgramFailure.noRequest(in: StandardStreams.name(of: path), skipped: trace.skipped)
    }
    let evictions = [level.eviction] + level.evictions.filter { $0 != level.eviction }
    let policies = evictions.compactMap { SimulatedPolicy(rawValue: $0.name) } + [.optimum]
    let isWeighed = level.unit == .cost && trace.sizes != nil
    let assumed = level.unit == .cost && trace.sizes == nil ? size(configuration) : nil
    let capacities = MissRatioCurve.capacities(around: level.capacity)
    let curve: MissRatioCurve
    if let assumed {
      // Values of one size: so many of them fit.
      let entries = capacities.map { max(1, $0 / assumed) }
      let counted = await MissRatioCurve(trace: trace, capacities: entries, policies: policies)
      curve = counted.spread(over: capacities, entries: entries)
    } else {
      curve = await MissRatioCurve(trace: trace, capacities: capacities, policies: policies, isWeighed: isWeighed)
    }
    return CurveReport(
      trace: path, format: trace.format, requests: trace.keys.count, skipped: trace.skipped, distinct: trace.distinct,
      level: level, assumedSize: assumed, curve: curve, policies: policies)
  }

  private static func level(_ name: String?, of configuration: CacheConfiguration) throws -> HitRatioObserver.Level {
    let levels = configuration.levelsWithCapacity
    guard let name else {
      if let first = levels.first { return first }
      throw ProgramFailure(.usage, "error: no level of this cache has a capacity; add a memory or a disk level")
    }
    if let level = levels.first(where: { $0.name == name }) { return level }
    throw ProgramFailure(
      .usage,
      "error: no level “\(name)” has a capacity; \(NearestName.remedy(for: name, among: levels.map(\.name)))")
  }

  /// The size of a value that the trace does not tell: what the source gives, or what a client would store.
  private static func size(_ configuration: CacheConfiguration) -> Int {
    for level in configuration.allLevels {
      if case .origin(let origin) = level.kind { return max(1, (origin.size.lowerBound + origin.size.upperBound) / 2) }
    }
    return WorkloadRunner.usualSize
  }

  private static func read(_ path: String, _ format: TraceFormat?) throws -> RequestTrace {
    do {
      return try RequestTrace(reading: path, format: format) { request, name throws(TraceProblem) in
        try TraceReader.size(of: request, in: name).map { UInt32(clamping: $0) }
      }
    } catch { throw ProgramFailure(.usage, "\(error)") }
  }
}

extension MissRatioCurve {
  /// The ratios of so many entries, for the capacities in bytes that hold as many.
  fileprivate func spread(over bytes: [Int], entries: [Int]) -> MissRatioCurve {
    let places = entries.map { entries in capacities.firstIndex(of: entries) ?? 0 }
    return MissRatioCurve(capacities: bytes, hitRatios: hitRatios.mapValues { ratios in places.map { ratios[$0] } })
  }
}

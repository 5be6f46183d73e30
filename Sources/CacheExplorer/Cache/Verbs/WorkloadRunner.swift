package import CacheEngine
package import CacheEngineHitRatio

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Sends the requests of a workload to a cache.
package struct WorkloadRunner: Sendable {
  /// How a run ended.
  package struct Report: Sendable {
    package var requests = 0
    package var failures = 0
    /// Why a trace ended too early.
    package var problem: TraceProblem?
  }

  /// So many requests may be under way at once; a slow cache then slows the workload down.
  static let mostUnderWay = 256

  /// Requests that are less apart than this come together: to wake for each of ten thousand a second would cost as much as they
  /// do.
  private static let beat = 0.01

  /// The size of a value of which nobody says how large it is.
  package static let usualSize = 1_024

  package let live: LiveCache

  package init(live: LiveCache) {
    self.live = live
  }

  /// Runs until the requested number of requests is done, a trace has ended, or the task is cancelled.
  ///
  /// `rate`: Requests a second; `nil` for as fast as the cache answers. A delay of more than a second, as when the clock was moved
  /// forwards or the program was stopped, is not made up for.
  /// `clients`: So many requests at most are under way at once; `nil` for what fits the workload.
  /// `end`: From when on no request is sent; `nil` for never.
  package func run(
    _ workload: Workload, requests: Int?, rate: Double?, clients: Int? = nil, until end: CacheInstant? = nil
  ) async -> Report {
    var workload = workload
    var report = Report()
    var began = live.clock.now
    let most =
      clients ?? (workload.isHerd ? max(Self.mostUnderWay, min(requests ?? 0, 100_000)) : Self.mostUnderWay)
    await withTaskGroup(of: Bool.self) { group in
      var underWay = 0
      func reap(_ isGood: Bool?) {
        guard let isGood else { return }
        underWay -= 1
        if !isGood { report.failures += 1 }
      }
      while !Task.isCancelled, report.requests < requests ?? .max {
        if let rate, rate.isFinite, report.requests % max(1, Int(min(rate * Self.beat, 1e6))) == 0 {
          let due = began.advanced(by: .nanoseconds(Int64(min(Double(report.requests) / rate * 1e9, 9e18))))
          do { try await live.clock.sleep(until: due, tolerance: nil) } catch { break }
          let late = due.duration(to: live.clock.now)
          if late > .seconds(live.pace?.speed ?? 1) { began = began.advanced(by: late) }
        }
        if let end, live.clock.now >= end { break }
        while underWay >= most { reap(await group.next()) }
        let step: Workload.Step?
        do throws(TraceProblem) { step = try workload.next() } catch {
          report.problem = error
          break
        }
        guard let step else { break }
        if case .load(_, _, let time?) = step {
          // A request that the trace lists too late is sent at once.
          do { try await live.clock.sleep(until: began.advanced(by: time), tolerance: nil) } catch { break }
        }
        report.requests += 1
        if most == 1 {
          if await !perform(step) { report.failures += 1 }
        } else {
          group.addTask { await perform(step) }
          underWay += 1
        }
      }
      if Task.isCancelled { group.cancelAll() }
      while underWay > 0 { reap(await group.next()) }
    }
    return report
  }

  private func perform(_ step: Workload.Step) async -> Bool {
    do {
      switch step {
      case .get(let key): _ = try await live.cache.get(key)
      case .set(let key, let bytes): try await live.cache.set(Data(repeating: 0x2e, count: bytes), forKey: key)
      case .load(let key, let bytes, _): try await TraceReader.$size.withValue(bytes) { try await load(key, bytes) }
      }
      return true
    } catch {
      return error is CancellationError
    }
  }

  /// Asks for a value as a client does: the levels fetch it if they can, else the client makes it and stores it.
  private func load(_ key: String, _ bytes: Int?) async throws {
    guard try await live.cache.get(key) == nil, !live.hasSource else { return }
    try await live.cache.set(Data(repeating: 0x2e, count: bytes ?? Self.usualSize), forKey: key)
  }
}

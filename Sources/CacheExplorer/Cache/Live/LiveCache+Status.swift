import CacheEngine
import CacheEngineTesting
import ExplorerState
import ExplorerText

extension LiveCache {
  /// How every level does, a sentence for each, for somebody who listens or has no table to look at.
  package var status: String {
    let counts = statistics.snapshot
    let ended = counts.requests - counts.pending
    var lines = [
      "\(counts.requests == 1 ? "There was" : "There were") \(Format.counted(counts.requests, "request")): \(Format.count(counts.missed)) missed, "
        + "\(Format.count(counts.failed)) failed and \(Format.count(max(0, counts.pending))) are under way."
    ]
    for level in levels {
      let count = counts.levels[level.name] ?? CacheStatistics.Level()
      let served = counts.served[level.name] ?? 0
      var parts = ["\(level.name) served \(Format.percent(served, of: ended))% of them"]
      if ended == 0 { parts = ["\(level.name) was not asked yet"] }
      if count.lookups > 0 {
        parts.append(
          "\(count.hits) of its \(Format.counted(count.lookups, "look-up")) \(count.hits == 1 ? "was a hit" : "were hits")"
        )
      }
      if let usage = level.storage?.usage {
        parts.append("it holds \(usage.count) \(usage.count == 1 ? "entry" : "entries"), \(usage.amount)")
      }
      let latency = count.latency
      if let middle = latency.percentile(0.5), let high = latency.percentile(0.99) {
        parts.append(
          "half of its answers take at most \(Format.latency(nanoseconds: middle.clampedNanoseconds)), "
            + "99 of 100 at most \(Format.latency(nanoseconds: high.clampedNanoseconds))")
      }
      if count.errors > 0 { parts.append(Format.counted(count.errors, "look-up") + " failed") }
      if count.writeErrors > 0 { parts.append(Format.counted(count.writeErrors, "write") + " failed") }
      if let shared = level.shared { parts.append(shared.status().sentence) }
      if let owner = level.owner?() { parts.append("its files are served by \(owner.words)") }
      if let fault = level.fault { parts.append("it has a fault: \(fault)") }
      lines.append(parts.joined(separator: "; ") + ".")
    }
    if counts.pool.executions > 0 {
      lines.append(
        "Pools made \(Format.counted(counts.pool.executions, "load")), "
          + "which \(Format.counted(counts.pool.joined, "more caller")) shared.")
    }
    if let pace, pace.speed != 1 { lines.append("Time passes \(Format.number(pace.speed)) times as fast.") }
    return lines.joined(separator: "\n")
  }
}

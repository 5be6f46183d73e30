import CacheEngine

@testable import CacheExplorer
@testable import ExplorerModel
@testable import ExplorerState

/// What must add up at every moment.
enum Conservation {
  /// What does not add up; `nil` if everything does.
  static func fault(in picture: Picture) -> String? {
    for (level, traffic) in zip(picture.levels, picture.traffic) {
      let open = traffic.cancelled + traffic.pending
      if traffic.lookups != traffic.answered + open {
        return "\(level.name): \(traffic.lookups) look-ups, \(traffic.answered) answered, \(open) cancelled or open"
      }
      if Int(traffic.latency.count) != traffic.answered - traffic.refused {
        return "\(level.name): \(traffic.latency.count) latencies of \(traffic.answered) answers"
      }
    }
    let reads = picture.requests.count
    let whole = reads.ended + reads.joined + reads.cancelled + reads.pending
    if whole != reads.requests { return "\(reads.requests) reads, of which \(whole) are accounted for" }
    let writes = reads.writes
    if writes.requests != writes.done + writes.failed + writes.cancelled + writes.pending { return "writes: \(writes)" }
    return nil
  }
}

import CacheEngine

@testable import CacheExplorer

/// What must add up at every moment.
enum Conservation {
  /// What does not add up; `nil` if everything does.
  static func fault(in picture: Picture) -> String? {
    for (level, traffic) in zip(picture.levels, picture.traffic) {
      let answered = traffic.hits + traffic.misses + traffic.refused + traffic.errors
      let open = traffic.cancelled + traffic.pending + traffic.unanswered
      if traffic.lookups != answered + open {
        return "\(level.name): \(traffic.lookups) look-ups, \(answered) answered, \(open) cancelled or open"
      }
      if traffic.pending < 0 { return "\(level.name): \(traffic.pending) pending" }
      if traffic.hitLatency.count + traffic.missLatency.count != traffic.latency.count {
        return "\(level.name): latencies of hits and misses are not all latencies"
      }
    }
    let reads = picture.requests.reads
    let served = picture.requests.servedBy.values.reduce(0, +)
    // A hit of a level without a name is served, and by nobody that could be listed.
    let whole = reads.served + picture.requests.writes.served
    if served > whole { return "served by levels \(served), of \(whole)" }
    for tally in [reads, picture.requests.writes] where tally.requests != tally.ended + tally.pending + tally.unanswered
    {
      return
        "\(tally.requests) requests, \(tally.ended) ended, \(tally.pending) pending, \(tally.unanswered) unanswered"
    }
    let underWay = picture.requests.pending.count
    if underWay != reads.pending + picture.requests.writes.pending { return "\(underWay) requests are under way" }
    return nil
  }

  /// The same for traffic of real levels with names: the parts of “served by” are all that was served.
  static func faultOfRealTraffic(in picture: Picture) -> String? {
    if let fault = fault(in: picture) { return fault }
    let reads = picture.requests.reads
    let served = picture.requests.servedBy.values.reduce(0, +)
    let whole = served + reads.joined + reads.missed + reads.failed + reads.cancelled + reads.pending + reads.unanswered
    return whole == reads.requests ? nil : "\(reads.requests) reads, of which \(whole) are accounted for"
  }
}

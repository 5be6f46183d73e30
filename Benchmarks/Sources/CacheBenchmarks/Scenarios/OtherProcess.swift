import CacheEngine

/// What a cache in the same process costs beside a server on the same machine, which is asked through a socket.
///
/// The servers are peers that are programs of their own: the first row is ours, the other rows are theirs.
enum OtherProcess {
  static func comparisons(rounds: Int) async throws -> [Comparison] {
    let keys = Workload.textKeys(100_000)
    let requests = Workload.zipf(keys.count, requests: 1 << 18, seed: 7)
    let memory = DrivenLevel(level: MemoryCacheLevel<String, Int>(capacity: keys.count * 4), keys: keys)
    for number in keys.indices { try await memory.set(number) }
    return [(Work.get, "get, hit"), (.set, "set, overwriting")].map { work, name in
      var comparison = Comparison(
        title: "\(name), String keys, \(keys.count) entries, a cache in another process",
        scenario: work == .get ? "server-get 1" : "server-set 1", operations: 40_000, rounds: rounds)
      comparison.add("MemoryCacheLevel", work, memory, requests, threads: 1)
      // A server's work is not in the processor time of who asks it.
      comparison.isByWallClock = true
      return comparison
    }
  }
}

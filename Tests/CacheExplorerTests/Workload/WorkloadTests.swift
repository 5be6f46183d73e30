import Testing

@testable import CacheExplorer

@Suite struct WorkloadTests {
  private func steps(_ name: String, _ count: Int, seed: UInt64 = 1, keys: Int? = nil) throws -> [Workload.Step] {
    var workload = try #require(Workload(WorkloadRequest(name: name, seed: seed, keys: keys)))
    return (0..<count).map { _ in workload.next() }
  }

  @Test("the same seed gives the same requests, another one others", arguments: ["uniform", "zipf", "mixed"])
  func seeded(name: String) throws {
    #expect(try steps(name, 200) == steps(name, 200))
    #expect(try steps(name, 200) != steps(name, 200, seed: 2))
  }

  @Test("loop goes round, scan never comes back, burst wants one key")
  func orders() throws {
    #expect(try steps("loop", 5, keys: 2) == ["0", "1", "0", "1", "0"].map { .get("key:\($0)") })
    #expect(try Set(steps("scan", 500).map { "\($0)" }).count == 500)
    #expect(try Set(steps("burst", 50).map { "\($0)" }).count == 1)
  }

  @Test("zipf draws every rank as often as its probability says")
  func zipf() {
    let zipf = Zipf(count: 50, skew: 0.99)
    var generator = SplitMix64(seed: 3)
    var counts = [Int](repeating: 0, count: 50)
    let draws = 200_000
    for _ in 0..<draws { counts[zipf.rank(using: &generator)] += 1 }
    for (rank, count) in counts.enumerated() {
      let expected = zipf.probability(of: rank) * Double(draws)
      // Six standard deviations of a binomial count.
      #expect(abs(Double(count) - expected) < 6 * expected.squareRoot(), "rank \(rank)")
    }
  }

  @Test("there is no workload of another name")
  func unknown() {
    #expect(Workload(WorkloadRequest(name: "zpif")) == nil)
    #expect(Set(Workload.names).count == Workload.names.count)
  }
}

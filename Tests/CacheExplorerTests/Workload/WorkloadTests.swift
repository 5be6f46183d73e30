import CacheEngineTesting
import CacheEngine
import CacheEngineHitRatio
import Testing

@testable import ExplorerCache
@testable import ExplorerCommands
@testable import ExplorerConfiguration
@testable import ExplorerModel
@testable import ExplorerState
@testable import ExplorerText

extension Workload {
  /// The names of those that need no file.
  static var made: [String] { WorkloadTable.names.filter { $0 != "trace" } }
}

struct WorkloadTests {
  private func steps(_ request: WorkloadRequest, _ count: Int) throws -> [Workload.Step] {
    var workload = try Workload(request)
    return try (0..<count).compactMap { _ in try workload.next() }
  }

  @Test("A workload is the same for the same seed", arguments: Workload.made)
  func deterministic(name: String) throws {
    let request = WorkloadRequest(name: name, seed: 7)
    #expect(try steps(request, 500) == steps(request, 500))
  }

  @Test("Another seed gives another workload, where chance has a part", arguments: ["zipf", "uniform", "mixed"])
  func seeds(name: String) throws {
    #expect(
      try steps(WorkloadRequest(name: name, seed: 7), 100) != steps(WorkloadRequest(name: name, seed: 8), 100))
  }

  @Test("Without a seed a workload is the same every time", arguments: Workload.made)
  func noSeed(name: String) throws {
    #expect(try steps(WorkloadRequest(name: name), 50) == steps(WorkloadRequest(name: name), 50))
  }

  @Test("The ranks of a Zipf distribution are drawn as often as they should be", arguments: [0.5, 0.99, 1.3])
  func zipf(skew: Double) {
    let zipf = Zipf(count: 100, skew: skew)
    var generator = SeededGenerator(seed: 11)
    let draws = 200_000
    var counts = [Int](repeating: 0, count: 100)
    for _ in 0..<draws { counts[zipf.rank(using: &generator)] += 1 }
    for (rank, count) in counts.enumerated() {
      let expected = zipf.probability(of: rank) * Double(draws)
      // Six standard deviations: a wrong distribution is far outside, a right one never.
      #expect(abs(Double(count) - expected) <= 6 * expected.squareRoot(), "rank \(rank)")
    }
  }

  @Test("The probabilities of a Zipf distribution sum to one and fall as the power says")
  func probabilities() {
    let zipf = Zipf(count: 1_000, skew: 1)
    let all = (0..<1_000).map(zipf.probability)
    #expect(abs(all.reduce(0, +) - 1) < 1e-9)
    #expect(abs(all[0] / all[9] - 10) < 1e-6)
    #expect(Zipf(count: 1, skew: 1).probability(of: 0) == 1)
  }

  @Test("A scan never asks twice, a loop goes round")
  func order() throws {
    #expect(try steps(WorkloadRequest(name: "scan", keys: 3), 5) == (0..<5).map { .get("key:\($0)") })
    #expect(try steps(WorkloadRequest(name: "loop", keys: 3), 5) == [0, 1, 2, 0, 1].map { .get("key:\($0)") })
  }

  @Test("Everybody in a burst wants the one key that is asked for")
  func burst() throws {
    #expect(try steps(WorkloadRequest(name: "burst"), 3) == [.get("key:0"), .get("key:0"), .get("key:0")])
    #expect(try steps(WorkloadRequest(name: "burst", key: "a b"), 2) == [.get("a b"), .get("a b")])
    #expect(try Workload(WorkloadRequest(name: "burst")).isHerd)
    #expect(try !Workload(WorkloadRequest(name: "zipf")).isHerd)
  }

  @Test("Uniform requests reach every key and no other")
  func uniform() throws {
    let steps = try steps(WorkloadRequest(name: "uniform", keys: 10), 2_000)
    for number in 0..<10 {
      let count = steps.count { $0 == .get("key:\(number)") }
      #expect((120...280).contains(count), "key \(number)")
    }
    #expect(steps.allSatisfy { if case .get = $0 { true } else { false } })
  }

  @Test("About every twentieth request of the mixed workload is a set of a modest size")
  func mixed() throws {
    var sizes: [Int] = []
    for step in try steps(WorkloadRequest(name: "mixed"), 20_000) {
      if case .set(_, let bytes) = step { sizes.append(bytes) }
    }
    #expect((800...1_200).contains(sizes.count))
    #expect(sizes.allSatisfy { (256...8_192).contains($0) })
  }

  @Test("There is no workload of an unknown name, and no two of one name")
  func names() throws {
    #expect(throws: CommandFailure.self) { try Workload(WorkloadRequest(name: "elephant")) }
    #expect(Set(WorkloadTable.names).count == WorkloadTable.names.count)
    #expect(WorkloadTable.all.map(\.name) == WorkloadTable.names)
    #expect(WorkloadTable.all.allSatisfy { !$0.line.isEmpty })
    for name in Workload.made { #expect(try Workload(WorkloadRequest(name: name)).defaultRate > 0) }
  }

  @Test("The random numbers are those of the paper")
  func numbers() {
    var generator = SeededGenerator(seed: 1_234_567)
    #expect(
      (0..<3).map { _ in generator.next() } == [
        6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423,
      ])
  }

  @Test("A trace is a workload of its lines, and ends with them")
  func trace() throws {
    let folder = try TemporaryFolder()
    let file = try folder.write("# t\na\t5\nb\n", to: "trace")
    var workload = try Workload(WorkloadRequest(name: "trace", file: file))
    #expect(try workload.next() == .load("a", bytes: 5))
    #expect(try workload.next() == .load("b", bytes: nil))
    #expect(try workload.next() == nil)
    #expect(throws: CommandFailure.self) { try Workload(WorkloadRequest(name: "trace")) }
    #expect(throws: TraceProblem.self) { try Workload(WorkloadRequest(name: "trace", file: "/no/such/file")) }
  }

  @Test("A configuration gives no file to a workload that reads none, and so never ends")
  func fileless() {
    let text = "levels: [memory]\nworkload: { name: zipf, file: t.gz }"
    let problem = "c.yaml:2:25: error: “file” of workload: zipf does not use it; leave it out; it is for trace"
    let failure = #expect(throws: ConfigurationFailure.self) {
      try ConfigurationReader.read(text, file: "c.yaml", folder: "/")
    }
    #expect(failure?.description == problem)
  }

  @Test("A larger skew asks for the first keys more often, and none for all alike")
  func skew() throws {
    func first(_ skew: Double) throws -> Int {
      try steps(WorkloadRequest(name: "zipf", keys: 100, skew: skew), 20_000).count { $0 == .get("key:0") }
    }
    #expect(abs(try first(0) - 200) < 90)
    #expect(try first(2) > first(0.99) && first(0.99) > first(0))
  }

  @Test("The words for a rate and a skew are numbers within bounds, or max")
  func words() throws {
    #expect(try WorkloadTable.rate("12.5") == 12.5)
    #expect(try WorkloadTable.rate("max") == .infinity)
    for text in ["0", "-1", "inf", "nan", "1e12", "fast"] {
      #expect(throws: QuantityError.self) { try WorkloadTable.rate(text) }
    }
    for text in ["-1", "11", "nan"] { #expect(throws: QuantityError.self) { try WorkloadTable.skew(text) } }
  }
}

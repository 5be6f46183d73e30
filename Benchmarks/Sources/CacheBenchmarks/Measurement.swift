/// Subjects that do the same work, measured in turn, round after round, so that a change of the machine's speed meets
/// all of them alike.
struct Comparison {
  struct Subject {
    let name: String
    let run: (_ operations: Int) async throws -> Void
  }

  struct Row: Codable {
    let name: String
    /// Nanoseconds an operation, one for each round.
    var samples: [Double]

    var median: Double { samples.sorted()[samples.count / 2] }
    var least: Double { samples.min() ?? .nan }
    var most: Double { samples.max() ?? .nan }
  }

  let title: String
  /// What peers that are programs of their own call the work; `nil` where there are none.
  var scenario: String?
  var operations: Int
  var rounds: Int
  var subjects: [Subject] = []

  init(title: String, scenario: String? = nil, operations: Int, rounds: Int) {
    self.title = title
    self.scenario = scenario
    self.operations = operations
    self.rounds = rounds
  }

  mutating func add(_ name: String, _ run: @escaping (_ operations: Int) async throws -> Void) {
    subjects.append(Subject(name: name, run: run))
  }

  /// Adds a subject that as many tasks drive at once; a sample is the time of each of them.
  mutating func add(
    _ name: String, threads: Int, _ run: @escaping @Sendable (_ worker: Int, _ operations: Int) async throws -> Void
  ) {
    guard threads > 1 else { return add(name) { try await run(0, $0) } }
    add(name) { operations in
      try await withThrowingTaskGroup(of: Void.self) { group in
        for worker in 0..<threads { group.addTask { try await run(worker, operations) } }
        try await group.waitForAll()
      }
    }
  }

  /// Measures every subject; the first one is what the others are compared with.
  func run() async throws -> [Row] {
    var samples = [[Double]](repeating: [], count: subjects.count)
    let clock = ContinuousClock()
    for round in 0...rounds {
      for (index, subject) in subjects.enumerated() {
        let began = clock.now
        try await subject.run(operations)
        let nanoseconds = began.duration(to: clock.now) / .nanoseconds(1)
        // The first round warms up.
        if round > 0 { samples[index].append(nanoseconds / Double(operations)) }
      }
    }
    return zip(subjects, samples).map { Row(name: $0.name, samples: $1) }
  }
}

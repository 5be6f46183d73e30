import Foundation

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

    /// Adds the samples of a second run, made at another time, to those of the first.
    static func joined(_ first: [Row], _ second: [Row]) -> [Row] {
      first.map { row in
        var row = row
        row.samples += second.first { $0.name == row.name }?.samples ?? []
        return row
      }
    }
  }

  let title: String
  /// Whether work is measured by the time that passes, and not by the processor's time.
  ///
  /// Others on the machine change that less; work of several threads, or with sleep in it, cannot be measured so.
  var isByWallClock = false
  /// Whether what the work touches fits into the processor's caches, so that others on the machine change it little.
  var isInProcessorCaches = false
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
    isByWallClock = threads > 1
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
    let clock = isByWallClock ? CLOCK_MONOTONIC : CLOCK_PROCESS_CPUTIME_ID
    for _ in 0..<rounds {
      for (index, subject) in subjects.enumerated() {
        // What ran before has filled the processor's caches; peers that are programs of their own find theirs warm.
        try await subject.run(operations)
        let began = Self.read(clock)
        try await subject.run(operations)
        let nanoseconds = Double(Self.read(clock) - began)
        samples[index].append(nanoseconds / Double(operations))
      }
    }
    return zip(subjects, samples).map { Row(name: $0.name, samples: $1) }
  }

  private static func read(_ clock: clockid_t) -> Int {
    var time = timespec()
    clock_gettime(clock, &time)
    return time.tv_sec * 1_000_000_000 + time.tv_nsec
  }
}

/// Subjects that do the same work, measured in turn, round after round, so that a change of the machine's speed meets
/// all of them alike.
struct Comparison {
  struct Subject {
    let name: String
    let run: (_ operations: Int) async throws -> Void
  }

  struct Row {
    let name: String
    /// Nanoseconds an operation, one for each round.
    let samples: [Double]

    var median: Double { samples.sorted()[samples.count / 2] }
    var least: Double { samples.min() ?? .nan }
    var most: Double { samples.max() ?? .nan }
  }

  let title: String
  let operations: Int
  let rounds: Int
  var subjects: [Subject] = []

  mutating func add(_ name: String, _ run: @escaping (_ operations: Int) async throws -> Void) {
    subjects.append(Subject(name: name, run: run))
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

func pad(_ text: String, _ width: Int) -> String { text + String(repeating: " ", count: max(0, width - text.count)) }

func decimal(_ value: Double, _ digits: Int = 1) -> String {
  let scale = [1.0, 10, 100][digits]
  let scaled = Int((value * scale).rounded())
  guard digits > 0 else { return String(scaled) }
  let fraction = String(abs(scaled) % Int(scale))
  return "\(scaled / Int(scale)).\(String(repeating: "0", count: digits - fraction.count))\(fraction)"
}

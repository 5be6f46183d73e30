import CacheEngine

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Seeded work on a store: sets of all lengths, removals, reads, now and then a clear or a reopening.
struct Job {
  let directory: String
  let durability: Durability
  /// Room for everything that the job stores, so that nothing may be missed; or less.
  let isRoomy: Bool
  var calls = FileCalls()
  var keysEach = 12
  var tasks = 4
  /// What is known of an operation that threw.
  ///
  /// With a disk that is gone it cannot be taken back.
  var failure = History.Outcome.failed

  var capacity: Int { isRoomy ? 64 << 20 : 2 << 20 }

  func open(_ access: StoreAccess = .readWrite) throws -> DiskCacheLevel<String, Data> {
    try DiskCacheLevel(
      directory: directory, capacity: capacity, name: "torture", expiry: .never, keepsExpired: .zero,
      durability: durability, access: access, keyCoding: .utf8, valueCoding: .data, clock: SystemClock(),
      removalListener: nil, calls: calls)
  }

  /// Works for so many rounds, or until it is killed.
  ///
  /// - Throws: ``Failure`` if a promise is broken while it works.
  func run(seed: UInt64, rounds: Int, operations: Int = 25, recorder: Recorder) async throws {
    var level = try open()
    var generator = SeededGenerator(seed: seed)
    for _ in 0..<rounds {
      let seeds = (0..<tasks).map { _ in generator.next() }
      let current = level
      try await withThrowingTaskGroup(of: Void.self) { group in
        for (task, seed) in seeds.enumerated() {
          group.addTask { try await work(task, seed, operations, on: current, recorder) }
        }
        try await group.waitForAll()
      }
      switch Int.random(in: 0..<12, using: &generator) {
      case 0: await attempt("*", .clear, recorder) { _ in try await level.clear() }
      case 1:
        try? await level.close()
        level = try open()
      default: break
      }
    }
    try? await level.close()
  }

  private func work(
    _ task: Int, _ seed: UInt64, _ operations: Int, on level: DiskCacheLevel<String, Data>, _ recorder: Recorder
  ) async throws {
    var generator = SeededGenerator(seed: seed)
    for _ in 0..<operations {
      let key = "\(task)/\(Int.random(in: 0..<keysEach, using: &generator))"
      switch Int.random(in: 0..<10, using: &generator) {
      case 0..<6:
        let length =
          switch Int.random(in: 0..<20, using: &generator) {
          case 0: Int.random(in: 20_000...400_000, using: &generator)
          case 1..<4: Int.random(in: 3_000...12_000, using: &generator)
          default: Int.random(in: 20...700, using: &generator)
          }
        await attempt(key, .set(length: length), recorder) {
          try await level.set(History.value($0), forKey: key)
        }
      case 6: await attempt(key, .remove, recorder) { _ in try await level.remove(key) }
      default:
        guard let found = try? await level.lookup(key) else { continue }
        if found.missReason == .damaged { throw Failure("\(key) was damaged while the store was open") }
        if let problem = recorder.objection(to: found.entry?.value, for: key, mayEvict: !isRoomy) {
          throw Failure("while it was open: \(problem)")
        }
      }
    }
  }

  private func attempt(
    _ key: String, _ work: History.Work, _ recorder: Recorder, _ body: (History.Operation) async throws -> Void
  ) async {
    let operation = recorder.begin(key, work)
    do {
      try await body(operation)
      recorder.end(operation, .acknowledged)
    } catch { recorder.end(operation, failure) }
  }

  /// Compares a store with its history.
  ///
  /// - Throws: ``Failure`` with every promise that is broken.
  func verify(_ history: History, access: StoreAccess = .readWrite) async throws {
    var problems: [String] = []
    let level = try open(access)
    for key in history.keys.sorted() {
      let found = try await level.lookup(key)
      if found.missReason == .damaged { problems.append("\(key) is damaged") }
      if let problem = history.objection(to: found.entry?.value, for: key, mayEvict: !isRoomy) {
        problems.append(problem)
      }
    }
    let strangers = Set(try await level.contents().map(\.key)).subtracting(history.keys)
    if !strangers.isEmpty { problems.append("keys that were never set: \(strangers.sorted())") }
    let report = try await level.verify()
    if !report.isSound { problems.append("the store is not sound: \(report)") }
    if access == .readWrite, report.strayCount > 0 { problems.append("files that nobody needs: \(report.strays)") }
    try await level.close()
    let allocated = Disk.allocatedBytes(in: directory)
    if allocated > capacity + 1 << 20 { problems.append("\(allocated) bytes on the disk of \(capacity) allowed") }
    if !problems.isEmpty { throw Failure(problems.joined(separator: "\n")) }
  }
}

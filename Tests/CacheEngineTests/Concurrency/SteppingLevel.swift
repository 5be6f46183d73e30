import CacheEngine

/// A level around another that takes its time before and after each call, and that may fail on either side.
struct SteppingLevel<Base: CacheLevel>: LevelDecorator {
  enum Faults: Sendable { case none, reads, writes, readsAndWrites }

  let base: Base
  let pace: Pace
  var faults = Faults.none
  /// Whether the level may answer at once.
  var peeks = true
  /// Whether it may be waited for as one that stores at once.
  var storesAtOnce = true

  func get(_ key: Base.Key) async throws -> Base.Value? { try await lookup(key).entry?.value }

  func peek(_ key: Base.Key) -> Base.Value? { peeks ? base.peek(key) : nil }

  func lookup(_ key: Base.Key) async throws -> Lookup<Base.Value> {
    try await step(mayFail: failsReads) { try await base.lookup(key) }
  }

  func set(_ value: Base.Value, forKey key: Base.Key) async throws {
    try await store(value, forKey: key, terms: StoreTerms())
  }

  func store(_ value: Base.Value, forKey key: Base.Key, terms: StoreTerms) async throws {
    try await step(mayFail: failsWrites) { try await base.store(value, forKey: key, terms: terms) }
  }

  func remove(_ key: Base.Key) async throws { try await step(mayFail: failsWrites) { try await base.remove(key) } }

  func clear() async throws { try await step(mayFail: failsWrites) { try await base.clear() } }

  private func removingSome(_ call: () async throws -> Int) async throws -> Int {
    try await step(mayFail: failsWrites, call)
  }

  private var failsReads: Bool { faults == .reads || faults == .readsAndWrites }
  private var failsWrites: Bool { faults == .writes || faults == .readsAndWrites }

  private func step<Answer>(mayFail: Bool, _ call: () async throws -> Answer) async throws -> Answer {
    try await hesitate(mayFail: mayFail)
    let answer = try await call()
    try await hesitate(mayFail: mayFail)
    return answer
  }

  private func hesitate(mayFail: Bool) async throws {
    for _ in 0..<pace.random(0..<3) { await pace.pause() }
    if pace.random(0..<2) == 0 { try Task.checkCancellation() }
    if mayFail, pace.random(0..<12) == 0 { throw CacheError(.simulated, "a planted fault") }
  }
}

extension SteppingLevel: ConditionalLevel where Base: ConditionalLevel {
  func store(
    _ value: Base.Value, forKey key: Base.Key, terms: StoreTerms, if condition: StoreCondition
  ) async throws -> Bool {
    try await step(mayFail: failsWrites) { try await base.store(value, forKey: key, terms: terms, if: condition) }
  }
}

extension SteppingLevel: BulkLevel {
  func lookup(_ keys: [Base.Key]) async throws -> [BulkAnswer<Base.Key, Base.Value>] {
    try await step(mayFail: failsReads) {
      var answers: [BulkAnswer<Base.Key, Base.Value>] = []
      for key in keys { answers.append(BulkAnswer(key: key, result: .success(try await base.lookup(key)))) }
      return answers
    }
  }

  func store(_ entries: [(key: Base.Key, value: Base.Value)], terms: StoreTerms) async throws {
    for (key, value) in entries { try await store(value, forKey: key, terms: terms) }
  }

  func remove(_ keys: [Base.Key]) async throws { for key in keys { try await remove(key) } }
}

extension SteppingLevel: TaggedLevel, SelectiveRemoval where Base: TaggedLevel & SelectiveRemoval {
  func removeAll(tagged tag: String) async throws -> Int {
    try await removingSome { try await base.removeAll(tagged: tag) }
  }

  func removeAll(where condition: @escaping @Sendable (Base.Key) -> Bool) async throws -> Int {
    try await removingSome { try await base.removeAll(where: condition) }
  }
}

/// Where the tasks of a test run, and who decides what comes next.
enum Pace: Sendable {
  /// A seed decides every step.
  case scheduled(SeededScheduler)
  /// All threads of the machine run; a seed decides the operations only.
  case free(SeededScheduler)

  var executor: (any TaskExecutor)? {
    if case .scheduled(let scheduler) = self { return scheduler }
    return nil
  }

  func pause() async {
    switch self {
    case .scheduled(let scheduler): await scheduler.pause()
    case .free: await Task.yield()
    }
  }

  func random(_ range: Range<Int>) -> Int {
    switch self {
    case .scheduled(let scheduler), .free(let scheduler): scheduler.random(range)
    }
  }
}

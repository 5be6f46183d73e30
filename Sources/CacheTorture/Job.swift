#if Explorer
import CacheEngineTesting
import CacheEngine

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Seeded work on a store: sets of all lengths, removals, reads, now and then a clear or a reopening.
struct Job {
  let directory: String
  let tier: Tier
  /// Room for everything that the job stores at the same time, so that nothing may be missed; or less.
  ///
  /// Even then, far more is written than there is room for, so that the log is reclaimed.
  let isRoomy: Bool
  /// The least there is: few writes fill it.
  var capacity = 1 << 20
  var calls = FileCalls()
  var tasks = 4
  /// After one of how many rounds the store is cleared, and after one of how many it is opened again.
  var pauses = 12
  /// What is known of an operation that threw.
  ///
  /// With a disk that is gone it cannot be taken back.
  var failure = History.Outcome.failed
  /// A wait for the disk fails now and then.
  ///
  /// Where that costs an opening, the next one has to succeed; where it costs a closing, there is no checkpoint.
  var isDiskFailing = false

  /// Which of how many processes this is that work on the directory at once.
  var share: (worker: Int, of: Int)?

  /// The store forces entries out at three quarters of its room, and for want of better at 57 %.
  private var keysEach: Int { (isRoomy ? 24 : 160) / tasks }
  private var longest: Int { capacity / 32 * (isRoomy ? 3 : 12) / 8 }

  /// What a sweep works with: the least room, in a directory whose parent has to be made too.
  static func small(_ folder: String, _ tier: Tier, isRoomy: Bool, _ calls: FileCalls, tasks: Int) -> Job {
    Job(directory: folder + "/parent/store", tier: tier, isRoomy: isRoomy, calls: calls, tasks: tasks, pauses: 6)
  }

  func open(_ access: StoreAccess = .readWrite, _ durability: Durability? = nil) throws -> DiskCacheLevel<String, Data>
  {
    func open() throws -> DiskCacheLevel<String, Data> {
      try DiskCacheLevel(
        directory: directory, capacity: capacity, name: "torture", expiry: .never, keepsExpired: .zero,
        durability: durability ?? tier.durabilities[0], access: access, keyCoding: .utf8, valueCoding: .data,
        clock: SystemClock(), removalListener: nil, calls: calls,
        // Machines under torture are slow: a process that is only late must not be taken for a silent one.
        sharing: share == nil ? .exclusive : .acrossProcesses(silence: .seconds(30)))
    }
    do { return try open() } catch let error as CacheError where isDiskFailing && error.code == .diskWriteFailed {
      return try open()
    }
  }

  /// A level for each durability, all over one store.
  func openAll() throws -> [DiskCacheLevel<String, Data>] { try tier.durabilities.map { try open(.readWrite, $0) } }

  /// Works for so many rounds, or until it is killed.
  ///
  /// - Throws: ``Failure`` if a promise is broken while it works.
  func run(
    seed: UInt64, rounds: Int, operations: Int = 25, recorder: Recorder,
    beforeClosing: ([DiskCacheLevel<String, Data>]) async throws -> Void = { _ in }
  ) async throws {
    var levels = try openAll()
    var generator = SeededGenerator(seed: seed)
    for _ in 0..<rounds {
      let seeds = (0..<tasks).map { _ in generator.next() }
      let current = levels
      try await withThrowingTaskGroup(of: Void.self) { group in
        for (task, seed) in seeds.enumerated() {
          group.addTask { try await work(task, seed, operations, on: current, recorder) }
        }
        try await group.waitForAll()
      }
      let level = levels[Int.random(in: 0..<levels.count, using: &generator)]
      switch Int.random(in: 0..<pauses, using: &generator) {
      case 0 where share == nil:
        try await attempt("*", .clear, on: level, recorder) { _ in try await level.clear() }
      case 1:
        for level in levels { try? await level.close() }
        levels = try openAll()
      default: break
      }
      try checkRoom()
    }
    try await beforeClosing(levels)
    for level in levels { try? await level.close() }
  }

  private func work(
    _ task: Int, _ seed: UInt64, _ operations: Int, on levels: [DiskCacheLevel<String, Data>], _ recorder: Recorder
  ) async throws {
    var generator = SeededGenerator(seed: seed)
    for _ in 0..<operations {
      if let share, Int.random(in: 0..<4, using: &generator) == 0 {
        let level = levels[Int.random(in: 0..<levels.count, using: &generator)]
        try await meetOthers(share, on: level, recorder, &generator)
      }
      let place = Int.random(in: 0..<keysEach, using: &generator)
      let key = (share.map { "\($0.worker)." } ?? "") + "\(task)/\(place)"
      // A quarter is left alone, and is copied when its segment is reclaimed.
      let stays = place >= keysEach / 4 * 3 && (try? levels[0].contains(key)) == true
      let level = levels[Int.random(in: 0..<levels.count, using: &generator)]
      switch Int.random(in: 0..<20, using: &generator) {
      case 0..<12 where !stays:
        try await attempt(key, .set(length: length(&generator)), on: level, recorder) {
          try await level.set(History.value($0), forKey: key)
        }
      case 12 where !stays: try await attempt(key, .remove, on: level, recorder) { _ in try await level.remove(key) }
      case 13 where !stays: try await attempt(key, .remove, on: level, recorder) { _ in try await level.expire(key) }
      default:
        guard let found = try await look(key, level) else { continue }
        if found.missReason == .damaged { throw Failure("\(key) was damaged while the store was open") }
        if let problem = recorder.objection(to: found.entry?.value, for: key, mayEvict: !isRoomy) {
          throw Failure("while it was open: \(problem)")
        }
      }
    }
  }

  /// Works until the store has written own files and reclaimed segments and, if its room is tight, evicted entries.
  ///
  /// - Returns: How often it started over for that.
  /// - Throws: ``Failure`` if a promise is broken, or if it does not come to that.
  @discardableResult
  func runUntilAllIsDone(seed: UInt64, rounds: Int, operations: Int, recorder: Recorder) async throws -> Int {
    let counter = FaultyCalls(calls)
    var job = self
    job.calls = counter.calls
    var evicted = 0
    for run in 1...24 {
      try await job.run(seed: seed &+ UInt64(run), rounds: rounds, operations: operations, recorder: recorder)
      evicted += try await job.verify(recorder.history)
      if counter.ownFiles > 0, counter.reclaimed > 0, isRoomy || evicted > 0 { return run }
    }
    throw Failure(
      "\(counter.ownFiles) own files, \(counter.reclaimed) segments reclaimed, \(evicted) evicted: too little")
  }

  /// Values that share a page, those that take several, and those with files of their own.
  private func length(_ generator: inout SeededGenerator) -> Int {
    let threshold = capacity / 128
    return switch Int.random(in: 0..<12, using: &generator) {
    case 0..<(isRoomy ? 2 : 5): Int.random(in: threshold...longest, using: &generator)
    case 5..<7: Int.random(in: 3_000...threshold, using: &generator)
    default: Int.random(in: 20...700, using: &generator)
    }
  }

  private func attempt(
    _ key: String, _ work: History.Work, on level: DiskCacheLevel<String, Data>, _ recorder: Recorder,
    _ body: (History.Operation) async throws -> Void
  ) async throws {
    let operation = recorder.begin(key, work, level.durability)
    do {
      try await body(operation)
      recorder.end(operation, .acknowledged)
    } catch {
      // Whoever owns the files may be killed, and nobody is to notice.
      if share != nil { throw Failure("\(operation.work) of \(key) failed: \(error)") }
      recorder.end(operation, failure)
    }
  }

  private func look(_ key: String, _ level: DiskCacheLevel<String, Data>) async throws -> Lookup<Data>? {
    do {
      let found = try await level.lookup(key)
      if found.missReason == .unanswered { throw Failure("nobody answered for \(key)") }
      return found
    } catch {
      if share != nil { throw Failure("a look at \(key) failed: \(error)") }
      return nil
    }
  }

  /// Writes keys that others write too, and looks at what others wrote: whole, and never what was replaced before.
  private func meetOthers(
    _ share: (worker: Int, of: Int), on level: DiskCacheLevel<String, Data>, _ recorder: Recorder,
    _ generator: inout SeededGenerator
  ) async throws {
    let key = "hot/\(Int.random(in: 0..<2, using: &generator))"
    if Bool.random(using: &generator) {
      let number = recorder.hotNumber() * share.of + share.worker
      let operation = History.Operation(number: number, key: key, work: .set(length: length(&generator)))
      do { try await level.set(History.value(operation), forKey: key) } catch {
        throw Failure("a set of \(key) failed: \(error)")
      }
    }
    let began = recorder.lookBegan()
    guard let found = try await look(key, level)?.entry?.value else { return }
    if let problem = History.objection(toSeen: found, for: key) { throw Failure(problem) }
    if let number = Ledger.number(in: found), let problem = recorder.objection(toSeen: number, of: key, since: began) {
      throw Failure(problem)
    }
  }

  /// - Throws: ``Failure`` if the files take more than they may.
  func checkRoom() throws {
    let allocated = Disk.allocatedBytes(in: directory)
    if allocated > capacity { throw Failure("\(allocated) bytes on the disk of \(capacity) allowed") }
  }

  /// Compares a store with its history, and gives how many entries had to go for others.
  ///
  /// - Throws: ``Failure`` with every promise that is broken.
  @discardableResult
  func verify(_ history: History, access: StoreAccess = .readWrite, of others: [History] = []) async throws -> Int {
    var problems: [String] = []
    let level = try open(access)
    var evicted = 0
    for key in history.keys.sorted() {
      let found = try await level.lookup(key)
      if found.entry == nil, !history.allowed(key, mayEvict: false).contains(nil) { evicted += 1 }
      if found.missReason == .damaged { problems.append("\(key) is damaged") }
      if let problem = history.objection(to: found.entry?.value, for: key, mayEvict: !isRoomy) {
        problems.append(problem)
      }
    }
    let known = others.reduce(history.keys) { $0.union($1.keys) }
    let strangers = Set(try await level.contents().map(\.key).filter { !$0.hasPrefix("hot/") }).subtracting(known)
    if !strangers.isEmpty { problems.append("keys that were never set: \(strangers.sorted())") }
    let report = try await level.verify()
    if !report.isSound { problems.append("the store is not sound: \(report)") }
    if access == .readWrite, report.strayCount > 0 { problems.append("files that nobody needs: \(report.strays)") }
    do { try await level.close() } catch let error as CacheError where isDiskFailing { _ = error }
    do { try checkRoom() } catch let failure as Failure { problems.append(failure.description) }
    if !problems.isEmpty { throw Failure(problems.joined(separator: "\n")) }
    return evicted
  }

  /// Opens what a cut left, and gives which set each key holds, or may hold from now on.
  ///
  /// What was evicted may come back, since the log still tells of it.
  ///
  /// - Throws: ``Failure`` with every promise that is broken, by the second opinion.
  func holdings(_ ledger: Ledger, at moment: Int) async throws -> [String: Set<Int?>] {
    let level = try open()
    var problems: [String] = []
    var found: [String: Set<Int?>] = [:]
    do {
      for key in ledger.keys.sorted() {
        let value = try await level.get(key)
        found[key] = [value.flatMap(Ledger.number)]
        if value == nil, !isRoomy { found[key]?.formUnion(ledger.allowed(key, at: moment)) }
        if let problem = ledger.objection(to: value, for: key, at: moment, mayEvict: !isRoomy) {
          problems.append("\(problem) [\(ledger.story(of: key))]")
        }
      }
      let strangers = Set(try await level.contents().map(\.key)).subtracting(ledger.keys)
      if !strangers.isEmpty { problems.append("keys that were never set: \(strangers.sorted())") }
      let report = try await level.verify()
      // Where nobody waits for the disk, the lock may come there without the records whose file it names; it is told then.
      let isSound = tier == .buffered ? !report.damaged.contains { !$0.key.isEmpty } : report.isSound
      // Nor are the heads of its log there for certain; and in every tier a value's file may come there before the head of the first
      // segment. While nobody can say whose a value's file is, it stays, and is counted.
      let mayStray = tier == .buffered || report.entries == 0
      if !isSound || !mayStray && report.strayCount > 0 { problems.append("the store is not sound: \(report)") }
      try checkRoom()
    } catch { problems.append("\(error)") }
    do { try await level.close() } catch { problems.append("it does not close: \(error)") }
    if !problems.isEmpty { throw Failure(problems.joined(separator: "\n")) }
    return found
  }
}
#endif

import CacheEngine
import CacheEngineTesting
import Foundation
import Synchronization
import Testing
@testable import CacheMemory
@testable import CacheCore

/// All that a memory level can be told of an entry, together, against a plain dictionary.
@Suite(.timeLimit(.minutes(10))) struct MemoryModelTests {
  /// Equal by a part of it alone, and of two hashes in all.
  struct Key: Hashable, Sendable {
    let number: Int
    let remark: Int

    static func == (one: Key, other: Key) -> Bool { one.number == other.number }
    func hash(into hasher: inout Hasher) { hasher.combine(number % 2) }

    static let coding = ByteCoding<Key>(
      name: "key", encode: { Data([UInt8($0.number)]) }, decode: { Key(number: Int($0[$0.startIndex]), remark: 0) })
  }

  private struct Held {
    var value: Int
    var cost: Int
    var created: CacheInstant
    var end: CacheInstant?
    var used: CacheInstant
    var tags: Set<String>
    var isPinned = false
  }

  /// The options of a level, and what it should hold.
  private struct Model {
    var expiry: Duration?
    var keepsExpired: Duration
    var timeToIdle: Duration?
    var held: [Int: Held] = [:]

    func deadline(_ entry: Held) -> CacheInstant? {
      let unused = timeToIdle.map(entry.used.advanced)
      return [entry.end, unused].compactMap(\.self).min()
    }

    func isAlive(_ entry: Held, at now: CacheInstant) -> Bool { deadline(entry).map { $0 > now } ?? true }

    func isKept(_ entry: Held, at now: CacheInstant) -> Bool {
      deadline(entry).map { $0.advanced(by: keepsExpired) > now } ?? true
    }

    mutating func drop(at now: CacheInstant) { held = held.filter { isKept($0.value, at: now) } }

    mutating func store(_ value: Int, _ key: Int, _ terms: StoreTerms, at now: CacheInstant) {
      let own: CacheInstant?
      switch terms.expiry {
      case .after(let lifetime): own = now.advanced(by: lifetime)
      case .at(let end): own = end
      case .never: own = nil
      default: own = terms.purpose == .set ? expiry.map(now.advanced) : nil
      }
      let usual = terms.purpose == .backFill ? expiry.map(now.advanced) : nil
      held[key] = Held(
        value: value, cost: max(0, terms.cost ?? 1), created: terms.created ?? now,
        end: [own, usual].compactMap(\.self).min(), used: now, tags: terms.tags,
        isPinned: held[key]?.isPinned ?? false)
    }
  }

  @Test("every option and every operation together agree with a dictionary", arguments: 0..<24)
  func agrees(seed: UInt64) async throws {
    var lot = SeededGenerator(seed: seed)
    let clock = ManualClock()
    let file = FileManager.default.temporaryDirectory.appending(path: "snapshot-\(UUID().uuidString)").path
    defer { try? FileManager.default.removeItem(atPath: file) }
    let left = Mutex(0)
    let isTold = seed % 3 > 0
    let listener: @Sendable (Removal<Key>) -> Void = { _ in left.withLock { $0 += 1 } }
    func choice(_ durations: [Duration?]) -> Duration? { durations.randomElement(using: &lot) ?? nil }
    var model = Model(
      expiry: choice([nil, .milliseconds(70)]), keepsExpired: choice([.zero, .milliseconds(40)]) ?? .zero,
      timeToIdle: choice([nil, .milliseconds(50)]))
    let parts = Int.random(in: 0..<2, using: &lot) == 0 ? 1 : 4
    let eviction = try #require(Eviction.all.randomElement(using: &lot))
    func level() -> MemoryCacheLevel<Key, Int> {
      MemoryCacheLevel(
        "memory", .max, nil, eviction, model.expiry.map(Expiry.after) ?? .never, model.keepsExpired, model.timeToIdle,
        clock, isTold ? listener : nil, nil,
        division: LevelDivision(parts: parts, mostUndivided: parts == 1 ? .max : 14))
    }
    var tested = level()
    var stored = 0
    for step in 0..<1_000 {
      clock.advance(by: .microseconds(Int.random(in: 0..<6_000, using: &lot)))
      let now = clock.now
      model.drop(at: now)
      let number = Int.random(in: 0..<24, using: &lot)
      let key = Key(number: number, remark: step)
      let alive = model.held[number].flatMap { model.isAlive($0, at: now) ? $0 : nil }
      func use() { if alive != nil { model.held[number]?.used = now } }
      switch Int.random(in: 0..<30, using: &lot) {
      case 0:
        #expect(try await tested.get(key) == alive?.value)
        use()
      case 1:
        #expect(tested.peek(key) == alive?.value)
        use()
      case 2:
        #expect(tested[key] == alive?.value)
        use()
      case 3, 4:
        use()
        try check(await tested.lookup(key), alive.map { (model.held[number] ?? $0, false) }, model)
      case 5, 6:
        use()
        try check(
          await tested.lookupIncludingExpired(key), model.held[number].map { ($0, alive == nil) }, model)
      case 7:
        if let entry = tested.peekEntry(key) { try check(.hit(entry), alive.map { ($0, false) }, model) }
      case 8: #expect(tested.contains(key) == (alive != nil))
      case 9:
        #expect(tested.pin(key) == (alive != nil))
        if alive != nil { model.held[number]?.isPinned = true }
      case 10:
        let wasPinned = model.held[number]?.isPinned ?? false
        // What is over may still be pinned, until somebody looks.
        if tested.unpin(key) != wasPinned, model.held[number] != nil { Issue.record("the pin of \(number) at \(step)") }
        model.held[number]?.isPinned = false
      case 11: #expect(tested.isPinned(key) == (model.held[number]?.isPinned ?? false))
      case 12:
        try await tested.remove(key)
        model.held[number] = nil
      case 13:
        try await tested.expire(key)
        if alive != nil { model.held[number]?.end = now }
      case 14: try await tested.removeExpired()
      case 15:
        try await tested.removeAll(tagged: "red")
        model.held = model.held.filter { !$0.value.tags.contains("red") }
      case 16 where step % 4 == 0:
        try await tested.removeAll { $0.number % 5 == 0 }
        model.held = model.held.filter { $0.key % 5 != 0 }
      case 17 where step % 16 == 0:
        if step % 32 == 0 { try await tested.clear() } else { await tested.onMemoryWarning() }
        model.held = [:]
      case 18:
        let removes = step % 3 == 0
        let new = tested.update(key) { present in
          #expect(present == alive?.value)
          return removes ? nil : (present ?? 0) + 1
        }
        if let new {
          use()
          model.store(new, number, StoreTerms(), at: now)
          stored += 1
        } else {
          model.held[number] = nil
        }
      case 19:
        let condition = step % 2 == 0 ? StoreCondition.absent : .present
        let isStored = try await tested.store(step, forKey: key, terms: StoreTerms(), if: condition)
        #expect(isStored == condition.holds(isHeld: alive != nil))
        if isStored {
          model.store(step, number, StoreTerms(), at: now)
          stored += 1
        }
      case 20 where step % 8 == 0:
        let count = try await tested.snapshot(to: file, keys: Key.coding, values: .json)
        #expect(count == model.held.values.count { model.isAlive($0, at: now) })
        try await tested.clear()
        tested = level()
        let report = try await tested.restore(from: file, keys: Key.coding, values: .json)
        #expect(report == SnapshotRestoration(restored: count))
        stored += count
        model.held = model.held.filter { model.isAlive($0.value, at: now) }
        for number in model.held.keys {
          model.held[number]?.used = now
          model.held[number]?.isPinned = false
        }
      case 21: tested.resize(capacity: .max, countLimit: step % 2 == 0 ? nil : 1_000)
      default:
        var terms = StoreTerms()
        switch Int.random(in: 0..<6, using: &lot) {
        case 0: terms.expiry = .after(.milliseconds(Int.random(in: -2..<90, using: &lot)))
        case 1: terms.expiry = .never
        case 2: terms = .backFill(deadline: now.advanced(by: .milliseconds(Int.random(in: -5..<90, using: &lot))))
        case 3: terms.created = now.advanced(by: .milliseconds(Int.random(in: -90..<5, using: &lot)))
        default: break
        }
        if step % 3 == 0 { terms.tags = step % 2 == 0 ? ["red"] : ["red", "blue"] }
        if step % 5 == 0 { terms.cost = [-1, 0, 7, 1 << 40].randomElement(using: &lot) }
        if step % 2 == 0 {
          try await tested.store(step, forKey: key, terms: terms)
        } else {
          #expect(tested.storeAtOnce(step, forKey: key, terms: terms))
        }
        model.store(step, number, terms, at: now)
        stored += 1
      }
      let listed = try await tested.contents()
      let living = listed.filter { summary in summary.deadline.map { $0 > now } ?? true }
      #expect(
        Set(living.map(\.key.number)) == Set(model.held.filter { model.isAlive($0.value, at: now) }.keys), "at \(step)")
      for summary in living {
        let entry = try #require(model.held[summary.key.number])
        #expect(summary.created == entry.created && summary.cost == entry.cost, "at \(step)")
        #expect(summary.deadline == model.deadline(entry), "at \(step)")
      }
      #expect(tested.usage.count == listed.count && tested.usage.cost == listed.reduce(0) { $0 + $1.cost })
      #expect(!isTold || stored == listed.count + left.withLock { $0 }, "at \(step)")
      #expect(tested.flaw == nil, "at \(step)")
    }
  }

  /// Is counted while it lives, and uses the level when it dies.
  private final class Token: Sendable {
    private let world: World

    init(_ world: World) {
      self.world = world
      world.alive.add(1, ordering: .relaxed)
    }

    deinit {
      world.alive.subtract(1, ordering: .relaxed)
      _ = world.level.withLock { $0 }?.peek(3)
    }
  }

  private final class World: Sendable {
    let alive = Atomic(0)
    let stored = Atomic(0)
    let left = Atomic(0)
    let level = Mutex<MemoryCacheLevel<Int, Token>?>(nil)
  }

  @Test(
    "nothing is lost, kept twice or held up where all happens at once, and listeners and values use the level",
    arguments: Eviction.all, [nil, Duration.milliseconds(20)])
  func tumult(_ eviction: Eviction, timeToIdle: Duration?) async throws {
    let world = World()
    let clock = ManualClock()
    let listener: @Sendable (Removal<Int>) -> Void = { removal in
      world.left.add(1, ordering: .relaxed)
      let level = world.level.withLock { $0 }
      _ = level?.contains(removal.key)
      if removal.cause == .evicted, removal.key % 8 == 0 { level?[removal.key] = nil }
    }
    let level = MemoryCacheLevel<Int, Token>(
      "memory", 300, 200, eviction, .after(.milliseconds(90)), .milliseconds(10), timeToIdle, clock, listener, nil,
      division: LevelDivision(parts: 4, mostUndivided: 100))
    world.level.withLock { $0 = level }
    await withTaskGroup(of: Void.self) { group in
      for worker in 0..<3 {
        group.addTask {
          var lot = SeededGenerator(seed: UInt64(worker))
          for step in 0..<1_000 {
            let key = Int.random(in: 0..<400, using: &lot)
            switch Int.random(in: 0..<12, using: &lot) {
            case 0: _ = level.peek(key)
            case 1: _ = level[key]
            case 2: level.pin(key)
            case 3: level.unpin(key)
            case 4: try? await level.remove(key)
            case 5: try? await level.expire(key)
            case 6:
              if level.update(key, { $0 == nil || step % 3 > 0 ? Token(world) : nil }) != nil {
                world.stored.add(1, ordering: .relaxed)
              }
            case 7:
              let isStored = try? await level.store(
                Token(world), forKey: key, terms: StoreTerms(cost: step % 5), if: step % 2 == 0 ? .absent : .present)
              if isStored == true { world.stored.add(1, ordering: .relaxed) }
            default:
              let terms = StoreTerms(
                expiry: step % 4 == 0 ? .after(.milliseconds(step % 30)) : nil,
                cost: step % 50 == 0 ? .max : step % 7, tags: step % 3 == 0 ? ["red"] : [])
              try? await level.store(Token(world), forKey: key, terms: terms)
              world.stored.add(1, ordering: .relaxed)
            }
          }
        }
      }
      group.addTask {
        for step in 0..<150 {
          switch step % 8 {
          case 0: level.resize(capacity: 0)
          case 1: level.resize(capacity: step % 3 == 0 ? .max : 300, countLimit: 200)
          case 2: level.resize(countLimit: step % 16 == 2 ? 0 : nil)
          case 3: level.resize(countLimit: 50)
          case 4: _ = try? await level.removeAll(tagged: "red")
          case 5: _ = try? await level.removeExpired()
          case 6 where step % 5 == 0: try? await level.clear()
          case 7 where step % 5 == 0: await level.onMemoryWarning()
          default: level.resize(capacity: 300, countLimit: 200)
          }
          clock.advance(by: .milliseconds(1))
        }
      }
    }
    #expect(level.flaw == nil)
    let held = try await level.contents().count
    #expect(world.alive.load(ordering: .relaxed) == held)
    #expect(world.stored.load(ordering: .relaxed) == held + world.left.load(ordering: .relaxed))
    try await level.clear()
    #expect(world.alive.load(ordering: .relaxed) == 0 && level.usage.cost == 0)
    world.level.withLock { $0 = nil }
  }

  private func check(_ answer: Lookup<Int>, _ expected: (entry: Held, isStale: Bool)?, _ model: Model) throws {
    guard let expected else { return #expect(answer.entry == nil) }
    let entry = try #require(answer.entry)
    #expect(entry.value == expected.entry.value && entry.isStale == expected.isStale)
    #expect(entry.deadline == model.deadline(expected.entry) && entry.created == expected.entry.created)
    #expect(entry.cost == expected.entry.cost && entry.tags == expected.entry.tags)
  }
}

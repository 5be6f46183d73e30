import CacheEngine
import CacheEngineTesting
import Synchronization
import Testing

/// Many keys in one question are answered as each of them by itself, and leave the same behind.
@Suite(.timeLimit(.minutes(10))) struct BulkAnswerTests {
  typealias Memory = MemoryCacheLevel<Int, Int>

  /// Memory that answers many questions at once, of which some keys fail.
  private struct Table: LevelDecorator, BulkLevel, SelectiveRemoval, TaggedLevel {
    let base: Memory
    let failing: Failing

    final class Failing: Sendable {
      let keys = Mutex<Set<Int>>([])
    }

    private func work(_ key: Int) throws {
      if failing.keys.withLock({ $0.contains(key) }) { throw CacheError(.simulated, "\(key)") }
    }
    func get(_ key: Int) async throws -> Int? { try await lookup(key).entry?.value }
    func lookup(_ key: Int) async throws -> Lookup<Int> {
      try work(key)
      return try await base.lookup(key)
    }
    func lookupIncludingExpired(_ key: Int) async throws -> Lookup<Int> {
      try work(key)
      return try await base.lookupIncludingExpired(key)
    }
    func lookup(_ keys: [Int]) async throws -> [BulkAnswer<Int, Int>] {
      var answers: [BulkAnswer<Int, Int>] = []
      for key in keys {
        do { answers.append(BulkAnswer(key: key, result: .success(try await lookup(key)))) } catch {
          answers.append(BulkAnswer(key: key, result: .failure(error)))
        }
      }
      return answers
    }
    func store(_ entries: [(key: Int, value: Int)], terms: StoreTerms) async throws {
      for (key, value) in entries { try await base.store(value, forKey: key, terms: terms) }
    }
    func remove(_ keys: [Int]) async throws { for key in keys { try await base.remove(key) } }
  }

  /// A stack, its memories from the top down, and the keys that fail in it.
  private struct Stack {
    let cache: any BulkLevel<Int, Int>
    let memories: [Memory]
    let failing: [Table.Failing]

    init(_ kind: Int, _ clock: ManualClock) {
      func memory(_ lifetime: Duration? = nil) -> Memory {
        Memory(expiry: lifetime.map(Expiry.after) ?? .never, keepsExpired: .seconds(1_000), clock: clock)
      }
      let (upper, middle, lower) = (memory(.seconds(5)), memory(), memory())
      let (own, other) = (Table.Failing(), Table.Failing())
      let table = Table(base: lower, failing: own)
      switch kind {
      case 0: cache = upper.compose(table, observer: nil, clock: clock)
      case 1: cache = upper.compose(middle.compose(table, observer: nil, clock: clock), observer: nil, clock: clock)
      case 2:
        // Not at once, so that a copy is a task of its own.
        cache = Table(base: upper, failing: other).compose(
          table.optional(observer: nil), backFill: .awaited, observer: nil, clock: clock)
      case 3:
        cache = upper.expiring(after: .seconds(3), clock: clock).compose(
          middle.negativeCaching(for: .seconds(4), clock: clock).compose(table, observer: nil, clock: clock),
          observer: nil, clock: clock)
      default:
        cache = upper.conditioned { $0 % 3 > 0 }.compose(
          middle.fallback { key, error in key % 4 == 0 && error == nil ? -1 : nil }
            .compose(table, observer: nil, clock: clock), observer: nil, clock: clock)
      }
      memories = [upper, middle, lower]
      failing = [own, other]
    }

    func read(_ keys: [Int], inBulk: Bool) async throws -> [String] {
      func told(_ result: Result<Lookup<Int>, any Error>) -> String {
        switch result {
        case .success(.hit(let entry)):
          "\(entry.value) \(entry.deadline?.nanoseconds ?? 0) \(entry.created?.nanoseconds ?? 0) \(entry.isStale) \(entry.tags)"
        case .success(.miss(let reason)): reason.rawValue
        case .failure(let error): "\(error)"
        }
      }
      if inBulk { return try await cache.lookup(keys).map { "\($0.key): \(told($0.result))" } }
      var answers: [Int: String] = [:]
      for key in keys where answers[key] == nil {
        do { answers[key] = told(.success(try await cache.lookup(key))) } catch { answers[key] = told(.failure(error)) }
      }
      return keys.map { "\($0): \(answers[$0] ?? "")" }
    }

    var held: [[String]] {
      get async throws {
        var held: [[String]] = []
        for memory in memories {
          held.append(
            try await memory.contents().map {
              "\($0.key) \(memory.peek($0.key) ?? 0) \($0.deadline?.nanoseconds ?? 0) \($0.created.nanoseconds)"
            }.sorted())
        }
        return held
      }
    }
  }

  @Test("random questions are answered alike", arguments: 0..<5, 0..<6)
  func alike(kind: Int, seed: Int) async throws {
    var lot = SeededGenerator(seed: UInt64(seed))
    let clock = ManualClock()
    let (bulk, single) = (Stack(kind, clock), Stack(kind, clock))
    for step in 0..<250 {
      let keys = (0..<Int.random(in: 0..<8, using: &lot)).map { _ in Int.random(in: 0..<16, using: &lot) }
      let choice = Int.random(in: 0..<12, using: &lot)
      let lifetime: Duration = .seconds(Int.random(in: 1..<6, using: &lot))
      let place = Int.random(in: 0..<3, using: &lot)
      var said: [[String]] = []
      for stack in [bulk, single] {
        switch choice {
        case 0..<5: said.append(try await stack.read(keys, inBulk: stack.memories[0] === bulk.memories[0]))
        case 5:
          let terms = StoreTerms(expiry: step % 2 == 0 ? .after(lifetime) : nil, tags: step % 3 == 0 ? ["red"] : [])
          if stack.memories[0] === bulk.memories[0] {
            try await stack.cache.store(keys.map { ($0, step + $0) }, terms: terms)
          } else {
            for key in keys { try await stack.cache.store(step + key, forKey: key, terms: terms) }
          }
        case 6:
          if stack.memories[0] === bulk.memories[0] {
            try await stack.cache.remove(keys)
          } else {
            for key in keys { try await stack.cache.remove(key) }
          }
        case 7:
          for key in keys {
            try await stack.memories[place].store(step, forKey: key, terms: StoreTerms(expiry: .after(lifetime)))
          }
        case 8: for key in keys { try await stack.memories[place].remove(key) }
        case 9: for failing in stack.failing { failing.keys.withLock { $0 = Set(keys) } }
        case 10: for failing in stack.failing { failing.keys.withLock { $0 = [] } }
        default: break
        }
      }
      if choice == 11 { clock.advance(by: .seconds(1)) }
      if said.count == 2 { #expect(said[0] == said[1], "step \(step): \(keys)") }
      #expect(try await bulk.held == single.held, "step \(step): \(choice) \(keys)")
    }
  }
}

import CacheEngine
import CacheEngineTesting
import Testing

/// What a read through a composition gives, in a form that can be compared.
private enum Outcome: Equatable {
  case hit(Int)
  case miss(MissReason)
  case failed(String)

  init<Level: CacheLevel>(_ level: Level, _ key: String) async where Level.Key == String, Level.Value == Int {
    do {
      switch try await level.lookup(key) {
      case .hit(let entry): self = .hit(entry.value)
      case .miss(let reason): self = .miss(reason)
      }
    } catch let error as CacheError {
      self = .failed(error.message)
    } catch {
      self = .failed("\(error)")
    }
  }
}

@Suite struct EmptyLevelTests {
  typealias Level = ScriptedLevel<String, Int>

  /// A level of a random sort: it holds some keys, misses, fails, or refuses writes.
  private static func level(_ number: Int, _ generator: inout SeededGenerator) -> Level {
    let held = Set((0..<4).filter { _ in Bool.random(using: &generator) }.map { "k\($0)" })
    let fails = Int.random(in: 0..<3, using: &generator) == 0
    let refusesWrites = Int.random(in: 0..<4, using: &generator) == 0
    let reason: MissReason = Bool.random(using: &generator) ? .absent : .expired
    return Level(
      name: "level \(number)",
      onSet: { _, _ in if refusesWrites { throw CacheError(.simulated, "full \(number)") } },
      onGet: { key in
        if held.contains(key) { return .hit(Entry(number)) }
        if fails { throw CacheError(.simulated, "down \(number)") }
        return .miss(reason)
      })
  }

  @Test(
    "the empty level is neutral, above and below, for hits, misses with their reason, and errors", arguments: 0..<50)
  func identity(seed: UInt64) async throws {
    var generator = SeededGenerator(seed: seed)
    let level = Self.level(1, &generator)
    let empty = EmptyLevel<String, Int>()
    for key in (0..<4).map({ "k\($0)" }) {
      let alone = await Outcome(level, key)
      #expect(await Outcome(empty.compose(level, observer: nil), key) == alone)
      #expect(await Outcome(level.compose(empty, observer: nil), key) == alone)
    }
  }

  @Test("a write through a composition with the empty level writes the level once, and fails when it fails")
  func identityOfWrites() async throws {
    let level = Level()
    let empty = EmptyLevel<String, Int>()
    try await empty.compose(level).set(1, forKey: "a")
    try await level.compose(empty).set(2, forKey: "a")
    #expect(level.calls == [.set("a", .set), .set("a", .set)])
    let broken = Level(onSet: { _, _ in throw CacheError(.simulated, "full") })
    let failure = await #expect(throws: CacheError.self) { try await broken.compose(empty).set(1, forKey: "a") }
    #expect(failure?.failures.count == 1)
  }

  @Test("C28 how a composition is bracketed changes no get, no set and no back-fill", arguments: 0..<100)
  func associativity(seed: UInt64) async throws {
    func run(_ bracketing: (Level, Level, Level) -> BasicCache<String, Int>) async -> ([Outcome], [[Level.Call]]) {
      var generator = SeededGenerator(seed: seed)
      let levels = (0..<3).map { Self.level($0, &generator) }
      let stack = bracketing(levels[0], levels[1], levels[2])
      var outcomes: [Outcome] = []
      for _ in 0..<6 {
        let key = "k\(Int.random(in: 0..<4, using: &generator))"
        switch Int.random(in: 0..<3, using: &generator) {
        case 0:
          let isWritten = (try? await stack.set(7, forKey: key)) != nil
          outcomes.append(isWritten ? .hit(7) : .failed("set"))
        case 1: try? await stack.remove(key)
        default: outcomes.append(await Outcome(stack, key))
        }
      }
      return (outcomes, levels.map(\.calls))
    }
    let left = await run { $0.compose($1, observer: nil).compose($2, observer: nil).normalize() }
    let right = await run { $0.compose($1.compose($2, observer: nil), observer: nil).normalize() }
    #expect(left.0 == right.0)
    #expect(left.1 == right.1)
  }

  @Test("an empty level below hides no error from who asks for stale values either")
  func errorOfStaleRead() async throws {
    let failing = Level(name: "failing") { _ in throw CacheError(.simulated, "down") }
    for cache in [failing.compose(EmptyLevel()).normalize(), EmptyLevel().compose(failing).normalize()] {
      await #expect(throws: CacheError.self) { try await cache.lookupIncludingExpired("a") }
    }
  }
}

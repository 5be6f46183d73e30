import CacheEngine
@testable import CacheEngineModels
import CacheEngineTesting
import TestSupport
import Testing

/// Random operations, compared with a dictionary that is searched from end to end for every question.
@Suite struct ModelPropertyTests {
  struct Thing: Identifiable, Equatable, HasCachedRelationships {
    let id: Int
    var number: Int
    var related: [Int]

    var relatedCacheKeys: [ModelKey] { related.map { ModelKey(Thing.self, id: $0) } }
  }

  struct Tally: Identifiable, Equatable, Mergeable {
    let id: Int
    var numbers: [Int]

    func merged(with new: Tally) -> Tally { Tally(id: id, numbers: numbers + new.numbers) }
  }

  /// What a cache is to do, done in the simplest way.
  struct Naive {
    var things: [Int: Thing] = [:]
    var tallies: [Int: Tally] = [:]

    func reached(from start: Set<Int>) -> Set<Int> {
      var reached = start
      while true {
        let next = reached.union(reached.flatMap { things[$0]?.related ?? [] })
        if next == reached { return reached }
        reached = next
      }
    }

    func dependents(of changed: Set<Int>) -> Set<Int> {
      changed.union(things.keys.filter { !reached(from: [$0]).isDisjoint(with: changed) })
    }

    /// Who is told when some things change, by the relations as they are afterwards.
    func told(_ changed: Set<Int>, observed: [Int: Int]) -> [Told] {
      dependents(of: changed).sorted().flatMap { id in
        Array(repeating: Told(id: id, thing: things[id]), count: observed[id] ?? 0)
      }
    }
  }

  struct Told: Equatable {
    let id: Int
    let thing: Thing?
  }

  @Test("P1 P5 P17 P18 P25 P27 P29 P30 P32 P36 P42 random operations agree with full scans", arguments: 0..<40)
  func agreesWithFullScans(seed: Int) {
    var random = SeededGenerator(seed: UInt64(seed))
    let cache = ModelCache()
    var naive = Naive()
    let calls = Calls<Told>()
    var observations: [(id: Int, observation: ModelObservation)] = []
    var number = 0
    let ids = 12

    func thing() -> Thing {
      number += 1
      let related = (0..<Int.random(in: 0...3, using: &random)).map { _ in Int.random(in: 0..<ids, using: &random) }
      return Thing(id: Int.random(in: 0..<ids, using: &random), number: number, related: related)
    }
    func check(_ changed: Set<Int>, _ operation: String) {
      let observed = Dictionary(grouping: observations, by: \.id).mapValues(\.count)
      let told = calls.take().sorted { $0.id < $1.id }
      #expect(told == naive.told(changed, observed: observed), "seed \(seed), \(operation)")
      for id in 0..<ids {
        #expect(cache.value(Thing.self, id: id) == naive.things[id], "seed \(seed), \(operation)")
      }
      for id in 0..<3 { #expect(cache.value(Tally.self, id: id) == naive.tallies[id]) }
      let known = Set(naive.things.keys).union(naive.things.values.flatMap(\.related)).union(observations.map(\.id))
      #expect(cache.nodeCount == known.count + naive.tallies.count, "seed \(seed), \(operation)")
      #expect(cache.count == naive.things.count + naive.tallies.count)
    }

    for _ in 0..<300 {
      switch Int.random(in: 0..<12, using: &random) {
      case 0...3:
        let thing = thing()
        cache.insert(thing)
        naive.things[thing.id] = thing
        check([thing.id], "insert \(thing)")
      case 4:
        let id = Int.random(in: 0..<ids, using: &random)
        let changed: Set<Int> = naive.things.removeValue(forKey: id) == nil ? [] : [id]
        cache.remove(Thing.self, id: id)
        check(changed, "remove \(id)")
      case 5:
        let id = Int.random(in: 0..<ids, using: &random)
        observations.append((id, cache.observe(Thing.self, id: id) { calls.append(Told(id: id, thing: $0)) }))
        check([], "observe \(id)")
      case 6:
        if let position = observations.indices.randomElement(using: &random) { observations.remove(at: position) }
        check([], "let go")
      case 7:
        let kept = naive.reached(from: Set(observations.map(\.id)))
        naive.things = naive.things.filter { kept.contains($0.key) }
        naive.tallies = [:]
        cache.pruneUnobservedValues()
        check([], "prune")
      case 8:
        let tally = Tally(id: Int.random(in: 0..<3, using: &random), numbers: [number])
        naive.tallies[tally.id] = naive.tallies[tally.id]?.merged(with: tally) ?? tally
        #expect(cache.insert(tally) == naive.tallies[tally.id])
        check([], "tally")
      case 9:
        let before = naive
        var pending = naive
        cache.performBatchUpdates { batch in
          for _ in 0..<Int.random(in: 0...6, using: &random) {
            if Int.random(in: 0..<3, using: &random) == 0 {
              let id = Int.random(in: 0..<ids, using: &random)
              pending.things[id] = nil
              batch.remove(Thing.self, id: id)
            } else if Int.random(in: 0..<10, using: &random) == 0 {
              (pending.things, pending.tallies) = ([:], [:])
              batch.removeAll()
            } else if Bool.random(using: &random) {
              let thing = thing()
              pending.things[thing.id] = thing
              batch.insert(thing)
              if Int.random(in: 0..<4, using: &random) == 0 {
                pending = before
                while batch.undo() {}
              }
            } else {
              let tally = Tally(id: 0, numbers: [number])
              pending.tallies[0] = pending.tallies[0]?.merged(with: tally) ?? tally
              batch.insert(tally)
            }
            for id in 0..<ids { #expect(batch.value(Thing.self, id: id) == pending.things[id]) }
            #expect(batch.value(Tally.self, id: 0) == pending.tallies[0])
          }
        }
        // Every store has a number of its own, so what was stored differs from what was there.
        let changed = (0..<ids).filter { before.things[$0] != pending.things[$0] }
        naive = pending
        check(Set(changed), "batch")
      case 10:
        let id = Int.random(in: 0..<ids, using: &random)
        let doomed = naive.dependents(of: [id]).filter { naive.things[$0] != nil }
        for id in doomed { naive.things[id] = nil }
        cache.remove(Thing.self, id: id, cascade: .dependents)
        check(doomed, "cascade to dependents of \(id)")
      default:
        let id = Int.random(in: 0..<ids, using: &random)
        guard naive.things[id] != nil else { continue }
        let inside = naive.reached(from: [id])
        var rest = naive
        rest.things[id] = nil
        let kept = rest.reached(from: Set(rest.things.keys).subtracting(inside))
        let doomed = inside.subtracting(kept).union([id]).filter { naive.things[$0] != nil }
        for id in doomed { naive.things[id] = nil }
        cache.remove(Thing.self, id: id, cascade: .orphans)
        check(doomed, "cascade to orphans of \(id)")
      }
    }
  }

  @Test("under random load the limits hold whenever something unobserved is left", arguments: 0..<20)
  func limitsHold(seed: Int) {
    var random = SeededGenerator(seed: UInt64(seed))
    let cache = ModelCache(countLimit: 8)
    var naive = Naive()
    var observations: [(id: Int, observation: ModelObservation)] = []
    let listener = Calls<ModelChanges>()
    let listening = cache.observeChanges { listener.append($0) }
    for number in 0..<400 {
      switch Int.random(in: 0..<6, using: &random) {
      case 0:
        let id = Int.random(in: 0..<30, using: &random)
        observations.append((id, cache.observe(Thing.self, id: id) { _ in }))
      case 1:
        if let position = observations.indices.randomElement(using: &random) { observations.remove(at: position) }
      default:
        let related = (0..<Int.random(in: 0...2, using: &random)).map { _ in Int.random(in: 0..<30, using: &random) }
        let thing = Thing(id: Int.random(in: 0..<30, using: &random), number: number, related: related)
        cache.insert(thing)
        var evicted: Set<Int> = []
        for change in listener.take().joined() {
          let id = change.new(Thing.self)?.id ?? change.old(Thing.self)?.id ?? -1
          naive.things[id] = change.new(Thing.self)
          if change.kind == .removed(.evicted) { evicted.insert(id) }
        }
        // A commit brings the count within the limit, or leaves nothing but what observed models reach.
        let kept = naive.reached(from: Set(observations.map(\.id)))
        let unobserved = naive.things.keys.filter { !kept.contains($0) }
        #expect(cache.count <= 8 || unobserved.isEmpty, "seed \(seed)")
        #expect(evicted.isDisjoint(with: kept), "seed \(seed)")
        #expect(cache.count == naive.things.count)
      }
    }
    listening.cancel()
  }

  @Test("P47 stores, reads, observations, batches and prunes of many threads at once end in order")
  func mixedLoad() async {
    let cache = ModelCache(countLimit: 64)
    let done = Gate()
    await withTaskGroup(of: Void.self) { group in
      for thread in 0..<6 {
        group.addTask {
          var random = SeededGenerator(seed: UInt64(thread))
          var observations: [ModelObservation] = []
          for number in 0..<300 {
            let id = Int.random(in: 0..<100, using: &random)
            switch Int.random(in: 0..<10, using: &random) {
            case 0...2: cache.insert(Thing(id: id, number: number, related: [(id + 1) % 100, (id * 7) % 100]))
            case 3: cache.insert(Tally(id: id % 4, numbers: [1]))
            case 4: _ = cache.cached(Thing.self, id: id).value
            case 5:
              observations.append(
                cache.observe(Thing.self, id: id) { thing in
                  if let thing, thing.number % 50 == 0 { _ = cache.value(Thing.self, id: (id + 1) % 100) }
                  if thing?.number == 7 { cache.insert(Tally(id: 9, numbers: [id])) }
                })
            case 6: if !observations.isEmpty { observations.removeFirst() }
            case 7: cache.pruneUnobservedValues()
            case 8: cache.remove(Thing.self, id: id, cascade: number % 2 == 0 ? .none : .orphans)
            default:
              cache.performBatchUpdates { batch in
                for offset in 0..<4 { batch.insert(Thing(id: (id + offset) % 100, number: number, related: [id])) }
                batch.insert(Tally(id: id % 4, numbers: [2]))
              }
            }
          }
        }
      }
    }
    cache.performBatchUpdates { _ in
    } completion: {
      done.open()
    }
    try? await done.pass()
    cache.pruneUnobservedValues()
    #expect(cache.count == 0)
    #expect(cache.nodeCount == 0)
  }
}

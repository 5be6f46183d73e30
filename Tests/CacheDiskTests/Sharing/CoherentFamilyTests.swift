import CacheEngine
import CacheEngineShared
import CacheEngineTesting
import Foundation
import TestSupport
import Testing

/// Several processes, each with a memory above what all share, compared with a plain dictionary.
///
/// A failure names its seed: `CACHEENGINE_SEED=n` runs that one alone, and `CACHEENGINE_TRIALS=n` runs so many.
@Suite(.timeLimit(.minutes(10))) struct CoherentFamilyTests {
  enum Kind: CaseIterable {
    /// A directory that this process has for itself.
    case exclusive
    /// A directory, all of its levels in this process.
    case directory
    /// A directory, each of its levels as in a process of its own.
    case apart
    case store
  }

  private typealias Memory = MemoryCacheLevel<String, Int>

  /// A process: in which way it is asked, what it shares with the others, and whether its memory still has a key.
  private struct Member {
    var cache: BasicCache<String, Int>
    var shared: BasicCache<String, Int>
    var holds: @Sendable (String) -> Bool
    var hears: @Sendable () -> Bool
    /// How many changes of single keys it has heard of.
    var heard: @Sendable () -> Int
  }

  private struct Found {
    var value: Int
    var deadline: Int?
    var tag: String?
  }

  @Test(
    "whoever of them changes something, once that is heard all answer what is there, however they are asked",
    arguments: Kind.allCases)
  func agree(kind: Kind) async throws {
    for seed in seeds {
      if let difference = try await difference(kind, seed) {
        Issue.record("seed \(seed): \(difference)")
        return
      }
    }
  }

  private var seeds: Range<UInt64> {
    let environment = ProcessInfo.processInfo.environment
    if let seed = environment["CACHEENGINE_SEED"].flatMap(UInt64.init) { return seed..<seed + 1 }
    return 0..<(environment["CACHEENGINE_TRIALS"].flatMap(UInt64.init) ?? 20)
  }

  private func difference(_ kind: Kind, _ seed: UInt64) async throws -> String? {
    var lot = SeededGenerator(seed: seed)
    let (clock, folder) = (ManualClock(), DiskFolder())
    let store = SimulatedSharedStore(clock: clock)
    var disks: [DiskCacheLevel<String, Int>] = []
    func disk() throws -> DiskCacheLevel<String, Int> {
      var sharing = kind == .exclusive ? .exclusive : StoreSharing.acrossProcesses(silence: .seconds(600))
      sharing.isApart = kind == .apart
      let disk = try DiskCacheLevel<String, Int>(jsonIn: folder.path, sharing: sharing, clock: clock)
      disks.append(disk)
      return disk
    }
    func member(_ name: String) throws -> Member {
      guard kind == .store else {
        let shared = try disk()
        return wrap(
          Memory(clock: clock).compose(shared, coherence: Coherence(shared), observer: nil, clock: clock),
          shared.normalize(), clock, by: &lot)
      }
      let client = store.client(name)
      let shared = try SharedCacheLevel<String, Int>(client, namespace: "all", valueCoding: .json, clock: clock)
      return wrap(
        Memory(clock: clock).compose(shared, coherence: Coherence(client, of: shared), observer: nil, clock: clock),
        shared.normalize(), clock, by: &lot)
    }
    let members = try (0..<3).map { try member("\($0)") }
    for member in members { try await turns { member.hears() } }
    let outsider =
      kind == .store
      ? try SharedCacheLevel<String, Int>(
        store.client("outsider"), namespace: "all", valueCoding: .json, clock: clock
      ).normalize() : try disk().normalize()
    var (plain, now, story): ([String: Found], Int, [String]) = ([:], 0, [])
    for step in 0..<40 {
      // Nothing is under way: what all hold now they do not hold any more when they hear of it.
      var heard = members.map { $0.heard() }
      try await outsider.set(-1, forKey: "fence")
      for (member, heard) in zip(members, heard) { try await turns { member.heard() > heard } }
      for member in members { _ = try await member.cache.get("fence") }
      heard = members.map { $0.heard() }
      let writer = Int.random(in: 0..<4, using: &lot)
      let key = ["a", "b", "c"][Int.random(in: 0..<3, using: &lot)]
      let tag = Bool.random(using: &lot) ? "red" : "blue"
      // The outsider has no memory; a member may go round its own.
      let isAround = writer < 3 && Int.random(in: 0..<4, using: &lot) == 0
      let level = writer == 3 ? outsider : isAround ? members[writer].shared : members[writer].cache
      let lifetime = Bool.random(using: &lot) ? Int.random(in: 1...9, using: &lot) : nil
      let terms = StoreTerms(
        expiry: lifetime.map { .after(.seconds($0)) }, tags: Int.random(in: 0..<3, using: &lot) == 0 ? [tag] : [])
      let new = Found(value: step, deadline: lifetime.map { now + $0 }, tag: terms.tags.first)
      func isThere() -> Bool { plain[key].map { $0.deadline ?? .max > now } ?? false }
      switch Int.random(in: 0..<12, using: &lot) {
      case 0..<5:
        story.append("\(writer) sets \(key) to \(step) for \(lifetime ?? 0) \(terms.tags)")
        try await level.store(step, forKey: key, terms: terms)
        plain[key] = new
      case 5..<7:
        let condition: StoreCondition = Bool.random(using: &lot) ? .absent : .present
        story.append("\(writer) sets \(key) to \(step) for \(lifetime ?? 0) \(terms.tags) if \(condition)")
        let isStored = try await level.store(step, forKey: key, terms: terms, if: condition)
        if isStored != (isThere() == (condition == .present)) { return "\(isStored)\n\(story.joined(separator: "\n"))" }
        if isStored { plain[key] = new }
      case 7:
        story.append("\(writer) removes \(key)")
        try await level.remove(key)
        plain[key] = nil
      case 8:
        story.append("\(writer) removes \(tag)")
        try await level.removeAll(tagged: tag)
        plain = plain.filter { $0.value.tag != tag }
      case 9 where Bool.random(using: &lot):
        story.append("\(writer) clears")
        try await level.clear()
        plain = [:]
      default:
        story.append("time passes")
        now += 2
        clock.advance(by: .seconds(2))
      }
      if isAround { story.append("round its memory") }
      // What is heard is in order: who has heard of the last change has heard of all.
      try await outsider.set(step, forKey: "fence")
      for (member, heard) in zip(members, heard) {
        try await turns { !member.holds("fence") && member.heard() > heard }
      }
      for key in ["a", "b", "c"] {
        let expected = plain[key].flatMap { $0.deadline ?? .max > now ? $0.value : nil }
        for (number, member) in members.enumerated() where number != writer || !isAround {
          let answers = [
            try await member.cache.get(key), try await member.cache.lookup(key).entry?.value,
            try await member.cache.get(key), try await member.shared.get(key),
          ]
          if answers.contains(where: { $0 != expected }) {
            return
              "\(number) answers \(answers) for \(key) in place of \(expected ?? -1)\n\(story.joined(separator: "\n"))"
          }
        }
      }
      // Who goes round its own memory is not told of that, and has to forget by itself.
      if isAround { try await members[writer].cache.invalidateAll() }
    }
    for disk in disks.reversed() { try await disk.close() }
    return nil
  }

  /// With something around it.
  private func wrap<Lower: CacheLevel>(
    _ level: CoherentLevel<Memory, Lower>, _ shared: BasicCache<String, Int>, _ clock: ManualClock,
    by lot: inout SeededGenerator
  ) -> Member where Lower: ConditionalLevel & TaggedLevel {
    let cache =
      switch Int.random(in: 0..<5, using: &lot) {
      case 0: level.pooled().normalize()
      case 1: level.observed(as: "all", by: CacheStatistics(), clock: clock).pooled().normalize()
      case 2: level.timeout(after: .seconds(600), clock: clock).retry().capRequests(4).normalize()
      case 3: level.circuitBreaker(clock: clock).pooled().conditioned { _ in true }.normalize()
      default: level.normalize()
      }
    return Member(
      cache: cache, shared: shared, holds: { level.base.upper.peek($0) != nil },
      hears: { level.coherence.deafSince == nil && level.coherence.everything > 0 },
      heard: { level.coherence.keys })
  }
}

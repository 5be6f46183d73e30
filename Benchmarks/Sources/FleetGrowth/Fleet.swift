import CacheEngine
import CacheEngineShared
import CacheEngineTesting
import Foundation
import Synchronization

/// So many processes above one server: the real levels on virtual time.
struct Fleet: Sendable {
  typealias Memory = MemoryCacheLevel<String, Int>
  typealias Shared = SharedCacheLevel<String, Int>

  /// A process with memory above the server, which hears of changes.
  struct Process: Sendable {
    let number: Int
    let shared: Shared
    let cache: CoherentLevel<Memory, Shared>
    let server: VirtualServer

    init(_ number: Int, _ server: VirtualServer, keys: Int) throws {
      let client = server.client(number)
      self.number = number
      self.server = server
      shared = try Shared(client, namespace: "fleet", valueCoding: .json, clock: server.time)
      cache = Memory(countLimit: keys * 2, clock: server.time)
        .compose(shared, coherence: Coherence(client, of: shared), observer: nil, clock: server.time)
    }

    var hasHeard: Bool {
      let report = cache.coherence
      return report.keys + report.tags + report.everything >= server.told(number)
    }
  }

  /// What became of a key that all processes miss at once.
  struct Herd: Sendable {
    var loads = 0
    var commands = 0
    /// After what time the last process had its value.
    var last = Duration.zero
  }

  /// What became of processes that read and write for a while.
  struct Work: Sendable {
    /// Reads, after the first half of the run, and those of them that were answered above.
    var reads = 0
    var hits = 0
    var load = VirtualServer.Load()
    var elapsed = Duration.zero
    /// Answers from above with a value in whose place another one was heard to stand.
    var stale = 0

    var hitRatio: Double { reads == 0 ? 0 : Double(hits) / Double(reads) }
    /// The share of its time that the server was busy; above 1 it fell behind.
    var utilization: Double { load.busy / elapsed }
    var pushesPerSecond: Double { Double(load.pushes) / (elapsed / .seconds(1)) }
  }

  let count: Int
  let seed: UInt64
  var costs = VirtualServer.Costs()
  /// How long the source takes to load a value.
  var loading = Duration.milliseconds(200)
  /// How many keys there are, all asked for equally often.
  var keys = 50
  /// How often a process asks or writes in a second.
  var rate = 10.0
  /// Which share of that are writes.
  var writes = 0.01

  init(_ count: Int, seed: UInt64) {
    self.count = count
    self.seed = seed
  }

  /// All processes ask for one key at the same moment, as after a restart.
  func herd() async throws -> Herd {
    let time = VirtualTime()
    let server = VirtualServer(costs, time)
    let loads = Mutex(0)
    let last = Mutex(Duration.zero)
    let source = BasicFetcher<String, Int> { [loading] _ in
      loads.withLock { $0 += 1 }
      try await time.sleep(until: time.now.advanced(by: loading), tolerance: nil)
      return 7
    }
    let pools = try (0..<count).map { number in
      source.sharedPool(try Process(number, server, keys: 1).shared, observer: nil, clock: time)
    }
    let begin = time.now
    try await time.run(count) { number in
      guard try await pools[number].get("cold") == 7 else { throw Wrong(what: "a process got no value") }
      let passed = begin.duration(to: time.now)
      last.withLock { $0 = max($0, passed) }
    }
    return Herd(loads: loads.withLock { $0 }, commands: server.load.commands, last: last.withLock { $0 })
  }

  /// All processes read and write, so many times each.
  func work(requests: Int) async throws -> Work {
    let time = VirtualTime()
    let server = VirtualServer(costs, time)
    let processes = try (0..<count).map { try Process($0, server, keys: keys) }
    try await settle(processes)
    try await time.run(1) { [self] _ in
      for key in 0..<keys { try await processes[0].cache.set(0, forKey: "k\(key)") }
    }
    try await settle(processes)
    let (begin, before) = (time.now, server.load)
    let result = Mutex(Work())
    // The values of each key, as their writes were acknowledged and heard.
    let written = Mutex(Array(repeating: [0], count: keys))
    try await time.run(count) { [self] number in
      var generator = SeededGenerator(seed: seed &+ UInt64(number))
      let cache = processes[number].cache
      for request in 0..<requests {
        // As often as not sooner than the mean: requests come by chance.
        let pause = -log(Double.random(in: 0x1p-53...1, using: &generator)) / rate
        try await time.sleep(until: time.now.advanced(by: .seconds(pause)), tolerance: nil)
        let key = Int.random(in: 0..<keys, using: &generator)
        guard Double.random(in: 0..<1, using: &generator) >= writes else {
          let value = request * count + number + 1
          try await cache.set(value, forKey: "k\(key)")
          try await settle(processes)
          written.withLock { $0[key].append(value) }
          continue
        }
        let known = written.withLock { $0[key] }
        let above = cache.peek("k\(key)")
        let found: Int?
        if let above { found = above } else { found = try await cache.get("k\(key)") }
        guard let found else { throw Wrong(what: "k\(key) is gone") }
        let isMeasured = request >= requests / 2
        result.withLock { result in
          if isMeasured { result.reads += 1 }
          if isMeasured, above != nil { result.hits += 1 }
          if above != nil, known.contains(found), known.last != found { result.stale += 1 }
        }
      }
    }
    var work = result.withLock { $0 }
    let load = server.load
    work.load = VirtualServer.Load(
      commands: load.commands - before.commands, pushes: load.pushes - before.pushes, busy: load.busy - before.busy)
    work.elapsed = begin.duration(to: time.now)
    return work
  }

  /// Waits until everybody has heard what he was told.
  private func settle(_ processes: [Process]) async throws {
    for process in processes { while !process.hasHeard { await Task.yield() } }
  }

  struct Wrong: Error { var what: String }
}

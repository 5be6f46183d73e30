#if Redis
import CacheEngine
import CacheEngineShared
import CacheEngineTesting
import Foundation
import TestRedis
import TestSupport
import Testing

@testable import CacheEngineRedis

/// What is promised of processes that share a cluster of three servers, and more while it changes.
@Suite(
  .enabled(if: TestRedis.isInstalled, Comment(rawValue: TestRedis.whyNot)), .serialized, .timeLimit(.minutes(10)))
struct RedisClusterTests {
  private typealias Shared = SharedCacheLevel<String, Int>
  private typealias Memory = MemoryCacheLevel<String, Int>

  private struct Process {
    let store: RedisStore
    let shared: Shared
    let cache: CoherentLevel<Memory, Shared>

    init(
      _ cluster: TestCluster, _ namespace: String, at server: Int,
      _ change: (inout RedisSettings) -> Void = { _ in }
    ) async throws {
      store = cluster.store(server, change)
      shared = try Shared(store, namespace: namespace, valueCoding: .json)
      let coherence = Coherence(store, of: shared, whileDeaf: .serve(for: .milliseconds(1)))
      cache = Memory().compose(shared, coherence: coherence, observer: nil)
      try await hears()
    }

    func hears() async throws { try await turns { cache.coherence.deafSince == nil } }
  }

  /// What a call takes that may not hang: far above its limits, for this machine may be busy, and far below for ever.
  @discardableResult
  private func soon<Answer>(_ what: String, _ work: () async throws -> Answer) async throws -> Answer {
    let begin = ContinuousClock.now
    defer { #expect(begin.duration(to: .now) < .seconds(20), "\(what)") }
    return try await work()
  }

  private func isDone(_ work: () async throws -> some Sendable) async throws -> Bool {
    do { _ = try await work() } catch is CacheError { return false }
    return true
  }

  /// What a call gives when the servers of a changing cluster agree that it is there.
  private func answer<Answer>(_ work: () async throws -> Answer) async throws -> Answer {
    var answer: Answer?
    try await turns {
      do { answer = try await work() } catch is CacheError { return false }
      return true
    }
    return try #require(answer)
  }

  /// Stores a value as soon as that is possible, and nothing is removed that failed before.
  private func write(_ value: Int, _ key: String, _ process: Process) async throws {
    try await turns {
      guard process.shared.unsettledCount == 0 else { return false }
      return try await isDone { try await process.cache.set(value, forKey: key) }
    }
  }

  @Test("a server of a cluster leads to the others: what is written at one is read at another, and is heard of")
  func follows() async throws {
    let cluster = try await TestCluster()
    for primary in 0..<3 {
      let namespace = try cluster.namespace(of: primary)
      let (here, there) = (
        try await Process(cluster, namespace, at: 0), try await Process(cluster, namespace, at: (primary + 1) % 3)
      )
      #expect(here.store.hearsBy == .tracking && here.store.isConnected)
      try await here.cache.set(1, forKey: "a", tags: ["t"])
      #expect(try await there.cache.get("a") == 1)
      try await there.cache.set(2, forKey: "a", tags: ["t"])
      try await turns { here.cache.peek("a") == nil }
      #expect(try await here.cache.get("a") == 2)
      #expect(try await !here.cache.store(3, forKey: "a", terms: StoreTerms(), if: .absent))
      try await there.cache.removeAll(tagged: "t")
      try await turns { here.cache.peek("a") == nil }
      #expect(try await here.cache.get("a") == nil)
      try await there.cache.set(4, forKey: "b")
      try await here.cache.clear()
      #expect(try await there.shared.get("b") == nil)
      // All of a namespace is at one server, in braces.
      guard case .array(let names) = try await cluster.ask(primary, "KEYS", "*") else { return #expect(Bool(false)) }
      #expect(!names.isEmpty && names.allSatisfy { $0.string?.hasPrefix("{\(namespace)}:") == true })
      _ = try await cluster.ask(primary, "FLUSHALL")
    }
  }

  @Test("names of several slots are read with one question for each, and changed together in none")
  func bulk() async throws {
    let cluster = try await TestCluster()
    let store = cluster.store()
    let names = (0..<60).map { Array("ns\($0):r:a".utf8) }
    for (number, name) in names.enumerated() where number % 3 != 0 {
      _ = try await store.commit([.set(name, to: [UInt8(number)], lifetime: nil)], if: [], reading: [])
    }
    #expect(try await store.read(names) == (0..<60).map { $0 % 3 == 0 ? nil : [UInt8($0)] })
    let error = await #expect(throws: CacheError.self) {
      try await store.commit(names.map { .remove($0) }, if: [], reading: [])
    }
    #expect(error?.code == .refusedByServer && error?.message.contains("slots of a cluster") == true)
    let shared = try Shared(store, namespace: try cluster.namespace(of: 1), valueCoding: .json)
    try await shared.store((0..<100).map { ("k\($0)", $0) }, terms: StoreTerms())
    let answers = try await shared.lookup((0..<101).map { "k\($0)" })
    #expect(try answers.map { try $0.result.get().entry?.value } == (0..<100).map { $0 } + [nil])
  }

  @Test(
    "G1 G2 while a namespace moves from server to server, its entries are read and written, and nobody serves old ones")
  func migration() async throws {
    let cluster = try await TestCluster()
    let namespace = try cluster.namespace(of: 0)
    var all: [Process] = []
    for number in 0..<3 { all.append(try await Process(cluster, namespace, at: number)) }
    let (next, reads, writes, over) = (Tally(), Tally(), Tally(), Tally())
    for number in 0..<60 { try await all[0].cache.set(next.add(), forKey: "k\(number)") }
    try await withThrowingTaskGroup(of: Void.self) { [all] group in
      for process in all {
        for worker in 0..<4 {
          group.addTask {
            while over.count == 0 {
              let key = "k\(Int.random(in: 0..<80))"
              // Half of them write as well, and wait while the slot is on its way.
              switch Int.random(in: worker < 2 ? 4..<10 : 0..<10) {
              case 0...2:
                try await process.cache.set(next.add(), forKey: key)
                writes.add()
              case 3: try await process.cache.remove(key)
              default:
                _ = try await process.cache.get(key)
                reads.add()
              }
            }
          }
        }
      }
      for (from, to) in [(0, 1), (1, 2), (2, 0)] {
        let before = reads.count
        try await cluster.move(namespace, from: from, to: to) {
          // Names that are there, and names that are nowhere, are read while the slot is on its way.
          try await turns { reads.count > before + 50 }
          for key in ["k1", "k2", "k70", "never"] { _ = try await all[0].shared.get(key) }
        }
        let done = writes.count
        try await turns { writes.count > done + 20 }
      }
      over.add()
      try await group.waitForAll()
    }
    for process in all { try await process.hears() }
    // What was told before this has been heard when this has.
    for process in all { _ = try await process.cache.get("zz") }
    try await all[0].shared.set(-1, forKey: "zz")
    try await turns { all.allSatisfy { $0.cache.peek("zz") == nil } }
    for number in 0..<80 {
      let below = try await all[1].shared.get("k\(number)")
      for (place, process) in all.enumerated() {
        if let above = process.cache.peek("k\(number)") { #expect(above == below, "process \(place), k\(number)") }
      }
    }
    #expect(all.allSatisfy { $0.shared.unsettledCount == 0 })
  }

  @Test("a write waits while half of what it needs is elsewhere, and then fails: its key is a miss until it is settled")
  func waitsInVain() async throws {
    let cluster = try await TestCluster()
    let namespace = try cluster.namespace(of: 0)
    let shared = try Shared(
      cluster.store { $0.commandLimit = .milliseconds(300) }, namespace: namespace, valueCoding: .json)
    for number in 0..<40 { try await shared.set(number, forKey: "k\(number)") }
    try await cluster.move(namespace, from: 0, to: 2) { () async throws in
      for number in 0..<40 { #expect(try await shared.get("k\(number)") == number) }
      let error = await #expect(throws: CacheError.self) { try await shared.set(7, forKey: "k3") }
      #expect(error?.code == .refusedByServer && error?.message.contains("on its way") == true)
      #expect(try await shared.lookup("k3").missReason == .unsettled)
    }
    try await turns { shared.unsettledCount == 0 }
    #expect(try await shared.get("k3") == nil)
    #expect(try await shared.get("k4") == 4)
    try await shared.set(8, forKey: "k3")
    #expect(try await shared.get("k3") == 8)
  }

  @Test(
    "G2 G4 G5 a primary is gone, or stopped: nothing hangs, and when its replica has its place all is as before",
    arguments: [true, false])
  func failOver(isKilled: Bool) async throws {
    let cluster = try await TestCluster(replicas: 1)
    let (namespace, other) = (try cluster.namespace(of: 0), try cluster.namespace(of: 1))
    func change(_ settings: inout RedisSettings) {
      settings.commandLimit = .milliseconds(500)
      settings.connectLimit = .milliseconds(500)
    }
    let (here, there) = (
      try await Process(cluster, namespace, at: 0, change), try await Process(cluster, namespace, at: 1, change)
    )
    let elsewhere = try await Process(cluster, other, at: 2, change)
    for key in ["a", "b"] { try await write(1, key, here) }
    try await write(5, "a", elsewhere)
    // The replica has it all.
    func info(_ server: Int, _ name: String) async throws -> Substring? {
      let lines = try await cluster.ask(server, "INFO", "replication").string?.split(whereSeparator: \.isNewline)
      return lines?.first { $0.hasPrefix(name) }?.split(separator: ":").last
    }
    try await turns { try await info(0, "master_repl_offset") == info(3, "slave_repl_offset") }
    #expect(try await answer { try await there.cache.get("a") } == 1)
    if isKilled { cluster.servers[0].kill() } else { cluster.servers[0].stop() }
    // Until the replica has taken over, calls fail; each within its limits.
    func isWritten() async throws -> Bool {
      try await soon("a write") { try await isDone { try await there.shared.set(2, forKey: "a") } }
    }
    try await turns { try await !isWritten() }
    try await turns { try await isWritten() }
    #expect(try await info(3, "role") == "master")
    for process in [here, there] {
      try await process.hears()
      try await turns { process.shared.unsettledCount == 0 }
    }
    #expect(try await answer { try await here.cache.get("a") } != 1)
    #expect(try await answer { try await here.cache.get("b") } == 1)
    #expect(try await answer { try await elsewhere.shared.get("a") } == 5)
    // What comes back is a replica, and is not written to.
    if !isKilled {
      cluster.servers[0].resume()
      try await turns { try await info(0, "role") == "slave" }
    }
    try await write(6, "c", there)
    #expect(try await answer { try await here.cache.get("c") } == 6)
    try await write(7, "c", here)
    try await turns { there.cache.peek("c") == nil }
    #expect(try await answer { try await there.cache.get("c") } == 7)
  }

  @Test("G6 G8 one load for all processes of a cluster, and what was loaded before a write is not filled in")
  func leases() async throws {
    let cluster = try await TestCluster()
    let namespace = try cluster.namespace(of: 2)
    let (gate, loads) = (Gate(), Tally())
    let origin = BasicFetcher<String, Int> { _ in
      loads.add()
      try await gate.pass()
      return 7
    }
    let pools = try (0..<3).map { number in
      origin.sharedPool(
        try Shared(cluster.store(number), namespace: namespace, valueCoding: .json), lease: .seconds(600))
    }
    async let values = withThrowingTaskGroup(of: Int?.self) { group in
      for pool in pools { for _ in 0..<20 { group.addTask { try await pool.get("cold") } } }
      return try await group.reduce(into: [Int?]()) { $0.append($1) }
    }
    await gate.arrivals(1)
    gate.open()
    #expect(try await values == Array(repeating: 7, count: 60))
    #expect(loads.count == 1)
    let late = Gate()
    let slow = BasicFetcher<String, Int> { _ in
      try await late.pass()
      return 1
    }.sharedPool(try Shared(cluster.store(), namespace: namespace, valueCoding: .json), observer: nil)
    let there = try Shared(cluster.store(1), namespace: namespace, valueCoding: .json)
    let reader = Task { try await slow.get("a") }
    await late.arrivals(1)
    try await there.set(2, forKey: "a")
    late.open()
    #expect(try await reader.value == 1)
    #expect(try await there.get("a") == 2)
  }

  @Test("another address is asked where the first one does not answer; several that are no cluster are refused")
  func addresses() async throws {
    let cluster = try await TestCluster()
    cluster.servers[0].kill()
    let namespace = try cluster.namespace(of: 1)
    var settings = cluster.settings(0, [1, 2])
    let store = RedisStore(settings)
    let shared = try Shared(store, namespace: namespace, valueCoding: .json)
    try await shared.set(1, forKey: "a")
    #expect(try await shared.get("a") == 1)
    // Who only listens finds another one as well.
    settings.others = [settings.others[1]]
    let deaf = RedisStore(settings)
    var feed = deaf.changes(of: [Array("\(namespace):r:".utf8)]).makeAsyncIterator()
    let gone = await #expect(throws: CacheError.self) {
      try await RedisStore(cluster.settings(0)).read([Array("\(namespace):r:a".utf8)])
    }
    #expect(gone?.code == .unreachable)
    // One primary is gone for good, and nobody in its place: not all is heard.
    let lost = try cluster.namespace(of: 0)
    let error = await #expect(throws: CacheError.self) {
      try await store.read([Array("\(lost):r:a".utf8)])
    }
    #expect(error?.code == .unreachable || error?.code == .refusedByServer, "\(String(describing: error))")
    try await cluster.servers[0].start()
    #expect(await feed.next() == .everything(.connected))

    let (one, two) = (try await TestRedis(), try await TestRedis())
    var apart = RedisSettings(.socket(one.socket))
    apart.others = [.socket(two.socket)]
    let refused = await #expect(throws: CacheError.self) { try await RedisStore(apart).read([[1]]) }
    #expect(refused?.code == .invalidSetting && refused?.message.contains("are for a cluster") == true)
    #expect(
      try RedisSettings(url: "redis://one:7000,[::1]:7001,two/0").others == [
        .host("::1", port: 7_001), .host("two", port: 6_379),
      ])
  }

  @Test(
    "who waits for a server that the cluster has no more is told so, and so is who comes later; the store is not closed"
  )
  func gone() async throws {
    let server = try await HostileServer { _, command in
      command[0] == "HELLO" ? .say(HostileServer.greeting) : .silence
    }
    let node = RedisNode(server.store().settings, instance: [1], role: .member)
    let waiting = Task { try await node.read([[1]]) }
    try await turns { server.commands.contains { $0[0] == "MGET" } }
    node.close(CacheError(.unreachable, "no such primary"))
    for read in [waiting, Task { try await node.read([[1]]) }] {
      let error = await #expect(throws: CacheError.self) { try await read.value }
      #expect(error?.code == .unreachable && error?.message == "no such primary")
    }
  }

  @Test("a cluster that lies about itself is an error, and no circle")
  func lies() async throws {
    let greeting = "%3\r\n+server\r\n+redis\r\n+version\r\n+7.0.0\r\n+mode\r\n+cluster\r\n"
    for text in ["", "nonsense", "1 :0@0 master - 0 0 1 connected 0-99999", "1 x:1@2 slave - 0 0 1 connected"] {
      let server = try await HostileServer { _, command in
        .say(command[0] == "HELLO" ? greeting : "$\(text.utf8.count)\r\n\(text)\r\n")
      }
      let error = await #expect(throws: CacheError.self) { try await server.store().read([[1]]) }
      #expect(error?.code == .unreachable && error?.message.contains("says that it has slot") == true)
    }
    let port = try TestRedis.freePort()
    let nodes = "1 127.0.0.1:\(port)@1 myself,master - 0 0 1 connected 0-16383\n"
    for (reply, words) in [
      ("-MOVED 1 127.0.0.1:\(port)\r\n", "redirect to each other"), ("-ASK 1 :\(port)\r\n", "redirect to each other"),
      ("-MOVED 1\r\n", "MOVED"), ("-CLUSTERDOWN The cluster is down\r\n", "has lost servers"),
      ("-MOVED 1 127.0.0.1:1\r\n", "cannot be reached"),
    ] {
      let server = try await HostileServer(port: port) { _, command in
        switch command[0] {
        case "HELLO": .say(greeting)
        case "CLUSTER": .say("$\(nodes.utf8.count)\r\n\(nodes)\r\n")
        case "ASKING": .say("+OK\r\n")
        default: .say(reply)
        }
      }
      let error = await #expect(throws: CacheError.self) { try await server.store().read([[1]]) }
      #expect(error?.message.contains(words) == true, "\(String(describing: error))")
      try await server.close()
    }
  }
}
#endif

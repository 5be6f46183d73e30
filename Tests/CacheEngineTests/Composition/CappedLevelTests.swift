import CacheEngine
import CacheEngineTesting
import Synchronization
import Testing
@testable import CacheCore

@Suite struct CappedLevelTests {
  let observer = RecordingObserver()

  /// A level that is held up until the gate of the key is opened, and that notes in which order keys were read.
  private final class Held: Sendable {
    let gates: [Int: Gate]
    let order = Mutex<[Int]>([])
    init(_ keys: Range<Int>) { gates = Dictionary(uniqueKeysWithValues: keys.map { ($0, Gate()) }) }
    var level: ScriptedLevel<Int, Int> {
      ScriptedLevel { key in
        self.order.withLock { $0.append(key) }
        try await self.gates[key]?.pass()
        if key == 99 { throw CacheError(.simulated, "down") }
        return .hit(Entry(key))
      }
    }
  }

  private func queued(_ key: Int) async { await observer.event { $0.key == "\(key)" && $0.isQueued } }

  @Test("at most so many read at once, and the others get their places in the order in which they came")
  func caps() async throws {
    let held = Held(0..<5)
    let cache = held.level.capRequests(2, observer: observer)
    var readers: [Task<Int?, any Error>] = []
    for key in 0..<5 {
      readers.append(Task { try await cache.get(key) })
      if key < 2 { await held.gates[key]?.arrivals(1) } else { await queued(key) }
    }
    expect(cache.load == (running: 2, waiting: 3))
    #expect(held.order.withLock { $0 } == [0, 1])
    for key in 0..<5 {
      held.gates[key]?.open()
      #expect(try await readers[key].value == key)
    }
    #expect(held.order.withLock { $0 } == [0, 1, 2, 3, 4])
    expect(cache.load == (running: 0, waiting: 0))
  }

  @Test("a read that fails gives its place back")
  func failureGivesBack() async throws {
    let held = Held(0..<1)
    let cache = held.level.capRequests(1)
    for _ in 0..<3 { await #expect(throws: CacheError.self) { try await cache.get(99) } }
    expect(cache.load == (running: 0, waiting: 0))
  }

  @Test("a caller that is cancelled while it waits leaves the line, and those behind it move up")
  func cancelledLeaves() async throws {
    let held = Held(0..<3)
    let cache = held.level.capRequests(1, observer: observer)
    let first = Task { try await cache.get(0) }
    await held.gates[0]?.arrivals(1)
    let second = Task { try await cache.get(1) }
    await queued(1)
    let third = Task { try await cache.get(2) }
    await queued(2)
    second.cancel()
    await #expect(throws: CancellationError.self) { try await second.value }
    expect(cache.load == (running: 1, waiting: 1))
    held.gates[0]?.open()
    held.gates[2]?.open()
    _ = try await first.value
    #expect(try await third.value == 2)
    #expect(held.order.withLock { $0 } == [0, 2])
  }

  /// Cancels a task when it is told that somebody waits.
  private final class Canceller: CacheObserver {
    let task = Mutex<Task<Int?, any Error>?>(nil)
    func record(_ event: CacheEvent) { if event.isQueued { task.withLock { $0 }?.cancel() } }
  }

  @Test("a caller that is cancelled just before it waits leaves the line, too")
  func cancelledBeforeWaiting() async throws {
    let held = Held(0..<1)
    let canceller = Canceller()
    let cache = held.level.capRequests(1, observer: canceller)
    let first = Task { try await cache.get(0) }
    await held.gates[0]?.arrivals(1)
    let start = Gate()
    let second = Task {
      try await start.pass()
      return try await cache.get(1)
    }
    canceller.task.withLock { $0 = second }
    start.open()
    await #expect(throws: CancellationError.self) { try await second.value }
    expect(cache.load == (running: 1, waiting: 0))
    held.gates[0]?.open()
    #expect(try await first.value == 0)
  }

  @Test("a caller that is cancelled while it reads gives its place to the next")
  func cancelledReader() async throws {
    let held = Held(0..<2)
    let cache = held.level.capRequests(1, observer: observer)
    let first = Task { try await cache.get(0) }
    await held.gates[0]?.arrivals(1)
    let second = Task { try await cache.get(1) }
    await queued(1)
    first.cancel()
    await #expect(throws: CancellationError.self) { try await first.value }
    held.gates[1]?.open()
    #expect(try await second.value == 1)
  }

  @Test(
    "what is read through a cap from within one of its reads has that one's place, which comes back when both have ended"
  )
  func readsWithin() async throws {
    let gate = Gate()
    let cap = Mutex<BasicCache<Int, Int>?>(nil)
    defer { cap.withLock { $0 = nil } }
    let source = ScriptedLevel<Int, Int> { key in
      guard key < 10 else {
        try await gate.pass()
        return .hit(Entry(key))
      }
      let inner = cap.withLock { $0 }
      if key == 1 {
        async let one = inner?.get(10)
        async let other = inner?.get(11)
        return .hit(Entry(try await (one ?? 0) + (other ?? 0)))
      }
      // What is left behind has the place as long as it lasts.
      _ = Task { try await inner?.get(12) }
      await gate.arrivals(3)
      return .hit(Entry(2))
    }
    let cache = source.capRequests(1)
    cap.withLock { $0 = cache.normalize() }
    let first = Task { try await cache.get(1) }
    await gate.arrivals(2)
    expect(cache.load == (running: 1, waiting: 0))
    let second = Task { try await cache.get(2) }
    gate.open()
    #expect(try await first.value == 21)
    #expect(try await second.value == 2)
    while cache.load.running > 0 { await Task.yield() }
    expect(cache.load == (running: 0, waiting: 0))
    #expect(try await cache.get(13) == 13)
  }

  @Test("writes, removals, clears and warnings do not wait")
  func writesPass() async throws {
    let held = Held(0..<1)
    let level = held.level
    let cache = level.capRequests(1)
    let reader = Task { try await cache.get(0) }
    await held.gates[0]?.arrivals(1)
    try await cache.set(1, forKey: 1)
    try await cache.remove(1)
    try await cache.clear()
    await cache.onMemoryWarning()
    #expect(level.calls.suffix(4) == [.set(1, .set), .remove(1), .clear, .warn])
    held.gates[0]?.open()
    _ = try await reader.value
  }

  @Test("whatever comes and goes, the cap is never exceeded, and every place comes back", arguments: 0..<20)
  func neverExceeded(seed: UInt64) async throws {
    let running = Mutex((now: 0, most: 0))
    let level = ScriptedLevel<Int, Int> { key in
      running.withLock {
        $0.now += 1
        $0.most = max($0.most, $0.now)
      }
      defer { running.withLock { $0.now -= 1 } }
      for _ in 0..<(key % 4) { await Task.yield() }
      if key % 7 == 0 { throw CacheError(.simulated, "down") }
      return .hit(Entry(key))
    }
    let cache = level.capRequests(3)
    var generator = SeededGenerator(seed: seed)
    let doomed = (0..<60).map { _ in Int.random(in: 0..<4, using: &generator) == 0 }
    await withTaskGroup { group in
      for (key, isDoomed) in doomed.enumerated() {
        group.addTask {
          let reader = Task { try await cache.get(key) }
          if isDoomed { reader.cancel() }
          _ = try? await reader.value
        }
      }
    }
    #expect(running.withLock { $0.most } <= 3)
    expect(cache.load == (running: 0, waiting: 0))
  }

  @Test("the line is served in order, whoever gives up")
  func line() {
    var line = WaitingLine(places: 1)
    let ids = (0..<300).map { _ in line.enter() }
    #expect(ids[0].isAdmitted && !ids[1].isAdmitted)
    for (_, waiter) in ids.enumerated().dropFirst() where waiter.id % 3 == 0 { line.giveUp(waiter.id) }
    var served: [UInt64] = []
    while let next = line.leave() { served.append(next) }
    #expect(served == ids.dropFirst().map(\.id).filter { $0 % 3 != 0 })
    #expect(line.isEmpty)
  }

  @Test("P17 those who gave up are forgotten, also where no place ever comes back")
  func forgets() {
    var line = WaitingLine(places: 1)
    _ = line.enter()
    let patient = line.enter()
    for _ in 0..<10_000 {
      let caller = line.enter()
      line.giveUp(caller.id)
    }
    #expect(line.noted < 200)
    #expect(line.leave() == patient.id)
    #expect(line.leave() == nil)
    #expect(line.isEmpty)
  }
}

extension CacheEvent {
  var isQueued: Bool {
    if case .operated(.queued) = kind { return true }
    return false
  }
}

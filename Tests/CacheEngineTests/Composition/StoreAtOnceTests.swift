import CacheEngine
import CacheEngineTesting
import Dispatch
import Synchronization
import TestSupport
import Testing
@testable import CacheCore

/// Stores that a composition carries out where it is asked to.
@Suite(.timeLimit(.minutes(10))) struct StoreAtOnceTests {
  typealias Memory = MemoryCacheLevel<String, Int>

  let memory = Memory()
  let disk = Memory(name: "disk")

  /// Where a store waits until it may go on.
  private final class Halt: Sendable {
    private let reached = Atomic(false)
    private let goOn = DispatchSemaphore(value: 0)

    var isReached: Bool { reached.load(ordering: .acquiring) }

    func wait() {
      reached.store(true, ordering: .releasing)
      goOn.wait()
    }

    func end() { goOn.signal() }
  }

  @Test("a store that is carried out at once, and that a clear went past meanwhile, is not served from above")
  func passedByAClear() async throws {
    let halt = Halt()
    let cache = Prompt(base: memory, memory: memory, hold: halt.wait).compose(disk)
    let turn = cache.gate.beginWrite("a")
    let began = cache.gate.currentPhase
    let written = Mutex<ComposedLevel<Prompt<Memory>, Memory>.Written?>(nil)
    try OwnThread.start("store") {
      let done = cache.storeAtOnce(1, "a", StoreTerms(), since: began)
      written.withLock { $0 = done }
    }
    try await turns { halt.isReached }
    let clear = Task { try await cache.clear() }
    // The clear is done below, and waits for who is above.
    try await turns { cache.gate.state.withLock { !$0.draining.isEmpty } }
    #expect(disk.peek("a") == nil)
    halt.end()
    try await clear.value
    #expect(memory.peek("a") == nil)
    try await turns { written.withLock { $0 != nil } }
    #expect(written.withLock { $0 } == .lower)
    try await cache.storeInBoth(1, "a", StoreTerms(), since: began, but: .lower)
    cache.gate.endWrite("a", turn)
    #expect(memory.peek("a") == nil)
    #expect(cache.gate.isIdle)
  }

  @Test("a copy upwards that is made at once, and that a clear went past meanwhile, is not served from above")
  func copyPassedByAClear() async throws {
    let halt = Halt()
    let cache = Prompt(base: memory, memory: memory, hold: halt.wait).compose(disk)
    let ticket = cache.gate.beginRead("a")
    let step = Mutex<Result<KeepingStep, any Error>?>(nil)
    try OwnThread.start("copy") {
      let done = Result { try cache.keepAtOnce(.hit(Entry(1)), "a", ticket, dropping: .nothing) }
      step.withLock { $0 = done }
    }
    try await turns { halt.isReached }
    let clear = Task { try await cache.clear() }
    try await turns { cache.gate.state.withLock { !$0.draining.isEmpty } }
    halt.end()
    try await clear.value
    #expect(memory.peek("a") == nil)
    try await turns { step.withLock { $0 != nil } }
    #expect(try step.withLock { try $0?.get() } == .copy)
    try await cache.keep(.hit(Entry(1)), "a", ticket, dropping: .nothing, by: .copy)
    cache.gate.endRead("a", ticket)
    #expect(memory.peek("a") == nil)
    #expect(cache.gate.isIdle)
  }

  @Test("while a clear is at work below nothing is stored at once")
  func duringAClear() async throws {
    let gate = Gate()
    let slow = HookedLevel(base: disk, onClear: { try await gate.pass() })
    let cache = memory.compose(Prompt(base: slow, memory: disk))
    let before = cache.gate.currentPhase
    let clear = Task { try await cache.clear() }
    await gate.arrivals(1)
    for phase in [before, cache.gate.currentPhase] {
      #expect(cache.storeAtOnce(1, "a", StoreTerms(), since: phase) == .neither)
    }
    #expect(memory.peek("a") == nil)
    #expect(disk.peek("a") == nil)
    gate.open()
    try await clear.value
  }

  @Test("a composition stores at once below memory, unless its lower level does not or the key has another's turn")
  func composed() async throws {
    let cache = memory.compose(disk)
    #expect(cache.storeAtOnce(1, forKey: "a", terms: StoreTerms()))
    #expect(memory.peek("a") == 1)
    #expect(disk.peek("a") == 1)
    let turn = cache.gate.beginWrite("a")
    #expect(!cache.storeAtOnce(2, forKey: "a", terms: StoreTerms()))
    cache.gate.endWrite("a", turn)
    #expect(!memory.compose(HookedLevel(base: disk)).storeAtOnce(2, forKey: "a", terms: StoreTerms()))
    #expect(!HookedLevel(base: memory).compose(disk).storeAtOnce(2, forKey: "a", terms: StoreTerms()))
    #expect(memory.peek("a") == 1)
    #expect(disk.peek("a") == 1)
    #expect(cache.gate.isIdle)
  }

  @Test("a composition that stores at once takes back above what a clear went past that did not wait for it")
  func composedPassedByAClear() async throws {
    let halt = Halt()
    let cache = Prompt(base: memory, memory: memory, hold: halt.wait).compose(disk)
    let isStored = Mutex<Bool?>(nil)
    try OwnThread.start("store") {
      let done = cache.storeAtOnce(1, forKey: "a", terms: StoreTerms())
      isStored.withLock { $0 = done }
    }
    try await turns { halt.isReached }
    let clear = Task { try await cache.clear() }
    try await turns { cache.gate.state.withLock { !$0.draining.isEmpty } }
    clear.cancel()
    await #expect(throws: CancellationError.self) { try await clear.value }
    halt.end()
    try await turns { isStored.withLock { $0 != nil } }
    #expect(isStored.withLock { $0 } == true)
    #expect(memory.peek("a") == nil)
    #expect(cache.gate.isIdle)
  }

  @Test("a level that stores only when it is waited for is stored in once, whichever the other one is")
  func onlyOne() async throws {
    let stores = Mutex<[Int]>([])
    let awaited = HookedLevel(base: disk, onStore: { _, value in stores.withLock { $0.append(value) } })
    try await memory.compose(awaited).set(1, forKey: "a")
    try await awaited.compose(memory).set(2, forKey: "a")
    #expect(stores.withLock { $0 } == [1, 2])
    #expect(memory.counts.stored == 2)
    #expect(memory.peek("a") == 2)
    #expect(disk.peek("a") == 2)
  }
}

/// A level that stores in memory at once, before which it holds still.
private struct Prompt<Base: CacheLevel>: LevelDecorator where Base.Key == String, Base.Value == Int {
  let base: Base
  let memory: MemoryCacheLevel<String, Int>
  var hold: @Sendable () -> Void = {}
  var storesAtOnce: Bool { true }
  func get(_ key: String) async throws -> Int? { try await base.get(key) }
  func storeAtOnce(_ value: Int, forKey key: String, terms: StoreTerms) -> Bool {
    hold()
    return memory.storeAtOnce(value, forKey: key, terms: terms)
  }
}

extension Prompt: ImmediateLevel {
  func removeAtOnce(_ key: String) { memory.removeAtOnce(key) }
}

import CacheEngine
@testable import CacheEngineCashier
import CacheEngineTesting
import Foundation
import Synchronization
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10))) struct CashierPersistenceTests {
  private let bench = CashierBench()

  @Test("S12 S14 what is persistent is read from its file when memory is dropped, and after a kill")
  func persistent() async throws {
    let cashier = try await bench.open()
    try await cashier.set("a", forKey: "text")
    try await cashier.set(Data(repeating: 1, count: 2 << 20), forKey: "long")
    await cashier.onMemoryWarning()
    #expect(try await cashier.string(forKey: "text") == "a")
    let next = try await bench.openAfterKill()
    #expect(try await next.string(forKey: "text") == "a")
    #expect(try await next.data(forKey: "long") == Data(repeating: 1, count: 2 << 20))
  }

  @Test("S13 S14 what is not persistent is gone when memory is dropped, and is not there for a new process")
  func notPersistent() async throws {
    let cashier = try await bench.open()
    try await cashier.changeSettings { $0.isPersistent = false }
    try await cashier.set("a", forKey: "text")
    #expect(try await cashier.string(forKey: "text") == "a")
    #expect(try await bench.openAfterKill().string(forKey: "text") == nil)
    await cashier.onMemoryWarning()
    #expect(try await cashier.string(forKey: "text") == nil)
    #expect(try await cashier.isValid(forKey: "text") == false)
  }

  @Test("S13 a value that stays in memory takes the place of one in a file, which does not come back")
  func noOldValue() async throws {
    let cashier = try await bench.open()
    try await cashier.set("old", forKey: "a")
    try await cashier.set("old", forKey: "b")
    try await cashier.setInMemory("new", forKey: "a")
    try await cashier.changeSettings { $0.isPersistent = false }
    try await cashier.set("new", forKey: "b")
    #expect(try await cashier.string(forKey: "a") == "new")
    #expect(try await cashier.string(forKey: "b") == "new")
    await cashier.onMemoryWarning()
    for key in ["a", "b"] {
      #expect(try await cashier.string(forKey: key) == nil)
      #expect(try await bench.openAfterKill().string(forKey: key) == nil)
    }
  }

  @Test("what was persistent when it was stored stays so when it is refreshed under another setting")
  func refreshKeepsPlace() async throws {
    let cashier = try await bench.open()
    try await cashier.set("a", forKey: "key")
    try await cashier.changeSettings { $0.isPersistent = false }
    try await cashier.refreshValidation(forKey: "key")
    #expect(try await bench.openAfterKill().string(forKey: "key") == "a")
  }

  @Test("S17 after clear-all every key is nil and not valid, in memory, on file and in a new process")
  func clearing() async throws {
    let cashier = try await bench.open()
    for number in 0..<30 { try await cashier.set(number, forKey: "\(number)") }
    try await cashier.setInMemory(1, forKey: "memory")
    try await cashier.clear()
    let next = try await bench.openAfterKill()
    for key in (0..<30).map(String.init) + ["memory"] {
      #expect(try await cashier.value(Int.self, forKey: key) == nil)
      #expect(try await cashier.isValid(forKey: key) == false)
      #expect(try await next.value(Int.self, forKey: key) == nil)
    }
    try await cashier.set(1, forKey: "1")
    #expect(try await bench.openAfterKill().value(Int.self, forKey: "1") == 1)
  }

  @Test("S42 memory pressure drops what is in memory and nothing else")
  func pressure() async throws {
    let cashier = try await bench.open()
    let source = ManualPressureSource()
    let listening = cashier.listenToMemoryWarnings(from: source)
    try await cashier.set("a", forKey: "file")
    try await cashier.setInMemory("b", forKey: "memory")
    source.send(.warning)
    try await turns { try await cashier.valueInMemory(String.self, forKey: "memory") == nil }
    #expect(try await cashier.string(forKey: "file") == "a")
    listening.cancel()
  }

  @Test("P14 S21 a link in the place of the cache's files is not followed")
  func links() async throws {
    let cashier = try await bench.open()
    try await cashier.set("a", forKey: "key")
    try await cashier.close()
    let victim = bench.folder.path + "/victim"
    try Data("untouched".utf8).write(to: URL(filePath: victim))
    for name in try bench.files where name != "victim" {
      let path = bench.folder.path + "/" + name
      try FileManager.default.removeItem(atPath: path)
      try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: victim)
    }
    if let next = try? await bench.open() {
      _ = try? await next.string(forKey: "key")
      try? await next.set("b", forKey: "key")
      try? await next.changeSettings { $0.lifespan = .seconds(1) }
      try? await next.clear()
      try? await next.close()
    }
    #expect(try Data(contentsOf: URL(filePath: victim)) == Data("untouched".utf8))
  }

  @Test("P14 a folder that others can write to is refused")
  func openFolder() async throws {
    let folder = CashierLocation.purgeable(in: bench.folder.path).folder(of: "news")
    try FileManager.default.createDirectory(atPath: folder + "/entries", withIntermediateDirectories: true)
    try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: folder + "/entries")
    let error = await #expect(throws: CacheError.self) { try await bench.open() }
    #expect(error?.code == .unusableStore)
  }

  @Test("S44 who reads while others write gets a whole value, from memory, from files and after a kill at any moment")
  func wholeValues() async throws {
    let cashier = try await bench.open(memoryCapacity: 0)
    let values = (0..<4).map { Data(repeating: UInt8($0), count: 300_000 + $0 * 1_000) }
    try await cashier.set(values[0], forKey: "key")
    try await withThrowingTaskGroup(of: Void.self) { group in
      for value in values {
        group.addTask { for _ in 0..<10 { try await cashier.set(value, forKey: "key") } }
        group.addTask {
          for _ in 0..<20 {
            let read = try await cashier.data(forKey: "key")
            #expect(read.map(values.contains) == true)
          }
        }
      }
      group.addTask {
        for _ in 0..<3 {
          // Files may come and go while they are copied one by one, which no kill can do; settings and log do not.
          guard let copy = try? bench.copy() else { continue }
          let read = try await bench.open(in: copy).data(forKey: "key")
          #expect(read.map(values.contains) != false)
        }
      }
      try await group.waitForAll()
    }
  }

  @Test("S45 storing, reading, refreshing and clearing from many threads loses no timestamp and no value")
  func concurrently() async throws {
    let cashier = try await bench.open(memoryCapacity: 4_000)
    try await cashier.changeSettings { $0.lifespan = .seconds(60) }
    let keys = (0..<8).map { "key \($0)" }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for worker in 0..<8 {
        group.addTask {
          for round in 0..<60 {
            let key = keys[(worker * 7 + round) % keys.count]
            switch (worker + round) % 6 {
            case 0, 1: try await cashier.set("\(key): \(round)", forKey: key)
            case 2: try await cashier.refreshValidation(forKey: key)
            case 3: if round % 20 == 3 { try await cashier.clear() } else { await cashier.onMemoryWarning() }
            default:
              guard let entry = try await cashier.entry(String.self, forKey: key) else { continue }
              #expect(entry.value.hasPrefix("\(key): "))
              #expect(entry.isValid)
            }
          }
        }
      }
      try await group.waitForAll()
    }
    bench.clock.advance(by: .seconds(50))
    for key in keys { try await cashier.set("last", forKey: key) }
    bench.clock.advance(by: .seconds(30))
    let next = try await bench.openAfterKill()
    for key in keys {
      #expect(try await cashier.isValid(forKey: key))
      #expect(try await next.isValid(forKey: key))
    }
  }

  @Test("S45 a refresh never brings back the value that another thread has just replaced")
  func refreshLosesNothing() async throws {
    let cashier = try await bench.open()
    try await cashier.set(0, forKey: "key")
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask {
        for number in 1...300 {
          try await cashier.set(number, forKey: "key")
          let read = try await cashier.value(Int.self, forKey: "key")
          #expect(read == number)
        }
      }
      for _ in 0..<2 {
        group.addTask {
          for _ in 0..<300 { try await cashier.refreshValidation(forKey: "key") }
        }
      }
      try await group.waitForAll()
    }
    #expect(try await bench.openAfterKill().value(Int.self, forKey: "key") == 300)
  }

  @Test("a set that throws leaves the old value, in memory and in the file")
  func failedSet() async throws {
    let faults = FaultSwitch()
    var opening = CashierOpening(
      id: "news", location: .purgeable(in: bench.folder.path), clock: bench.clock, observer: bench.observer)
    opening.calls = faults.calls
    let cashier = try await Cashier.open(opening)
    try await cashier.set("old", forKey: "key")
    faults.failFrom(0)
    await #expect(throws: CacheError.self) { try await cashier.set("new", forKey: "key") }
    #expect(try await cashier.string(forKey: "key") == "old")
    await #expect(throws: CacheError.self) { try await cashier.setInMemory("new", forKey: "key") }
    #expect(try await cashier.string(forKey: "key") == "old")
    await cashier.onMemoryWarning()
    #expect(try await cashier.string(forKey: "key") == "old")
    faults.failFrom(nil)
    try await cashier.set("new", forKey: "key")
    #expect(try await cashier.string(forKey: "key") == "new")
    try await cashier.close()
  }

  @Test("what memory alone would hold and cannot is refused, and the old value stays")
  func tooLargeForMemory() async throws {
    let cashier = try await bench.open(memoryCapacity: 1_000)
    try await cashier.set("old", forKey: "key")
    let error = await #expect(throws: CacheError.self) {
      try await cashier.setInMemory("new", forKey: "key", cost: 1_001)
    }
    #expect(error?.code == .tooLarge)
    try await cashier.changeSettings { $0.isPersistent = false }
    await #expect(throws: CacheError.self) { try await cashier.set(Data(count: 1_001), forKey: "key") }
    #expect(try await cashier.string(forKey: "key") == "old")
    try await cashier.set(Data(count: 1_000), forKey: "key")
    #expect(try await cashier.data(forKey: "key")?.count == 1_000)
    try await cashier.close()
  }

  @Test("whether an entry is valid, and since when, is known without reading its value")
  func validWithoutReading() async throws {
    let reads = Calls<Int>()
    var opening = CashierOpening(
      id: "news", location: .purgeable(in: bench.folder.path), clock: bench.clock, observer: bench.observer)
    let real = FileCalls()
    unsafe opening.calls.read = { file, memory, offset in
      reads.append(memory.count)
      return unsafe real.read(file, memory, offset)
    }
    let cashier = try await Cashier.open(opening)
    try await cashier.changeSettings { $0.lifespan = .seconds(60) }
    try await cashier.set(Data(count: 1 << 20), forKey: "key")
    let stored = try await cashier.lastUpdate(forKey: "key")
    await cashier.onMemoryWarning()
    _ = reads.take()
    #expect(try await cashier.isValid(forKey: "key"))
    #expect(try await cashier.lastUpdate(forKey: "key") == stored)
    bench.clock.advance(by: .seconds(60))
    #expect(try await !cashier.isValid(forKey: "key"))
    #expect(try await !cashier.isValid(forKey: "absent"))
    #expect(reads.all == [])
    try await cashier.close()
    await #expect(throws: CacheError.self) { try await cashier.isValid(forKey: "key") }
  }

  @Test("whoever closes a cache that is being closed waits until its files are released, and is told how that ended")
  func closingTwice() async throws {
    let faults = FaultSwitch()
    var opening = CashierOpening(
      id: "news", location: .purgeable(in: bench.folder.path), clock: bench.clock, observer: bench.observer)
    opening.calls = faults.calls
    let cashier = try await Cashier.open(opening)
    try await cashier.set("a", forKey: "key")
    let gate = Gate()
    let holder = Task { try await CashierRegistry.hold(cashier.folder) { try await gate.pass() } }
    await gate.arrivals(1)
    let closing = Task.immediate { try await cashier.close() }
    let isOver = Atomic(false)
    // It runs here until it has to wait.
    let again = Task.immediate {
      defer { isOver.store(true, ordering: .sequentiallyConsistent) }
      try await cashier.close()
    }
    let isOverAtOnce = isOver.load(ordering: .sequentiallyConsistent)
    #expect(!isOverAtOnce)
    faults.failFrom(0)
    gate.open()
    for task in [closing, again] {
      await #expect { try await task.value } throws: { ($0 as? CacheError)?.code == .diskWriteFailed }
    }
    #expect(!CashierRegistry.knows(cashier.folder))
    try await holder.value
  }
}

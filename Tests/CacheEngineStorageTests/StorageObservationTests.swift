import CacheEngine
import CacheEngineStorage
import CacheEngineTesting
import Foundation
import TestSupport
import Testing

#if canImport(Glibc)
import Glibc
#endif

@Suite(.timeLimit(.minutes(10))) struct StorageObservationTests {
  typealias User = StorageBench.User
  typealias Change = StorageChange<String>
  let bench = StorageBench()

  @Test("H68 a store observer sees what happens, in order", arguments: StorageBench.Tiers.allCases)
  func changes(tiers: StorageBench.Tiers) throws {
    let storage = try bench.open(tiers)
    let witness = Witness<Change>()
    storage.addStorageObserver(witness) { $0.see($1) }
    try storage.setObject(bench.ada, forKey: "a")
    try storage.setObject(bench.ada, forKey: "b")
    try storage.removeObject(forKey: "a")
    try storage.removeObject(forKey: "never there")
    try storage.removeExpiredObjects()
    try storage.removeAll()
    #expect(witness.seen == [.add("a"), .add("b"), .remove("a"), .removeExpired, .removeAll])
    try storage.close()
  }

  @Test("H69 nothing is delivered after the observing object is gone")
  func goneOwner() throws {
    let storage = try bench.inMemory()
    let calls = Calls<String>()
    var owner: Witness<Change>? = Witness()
    storage.addStorageObserver(try #require(owner)) { _, _ in calls.append("store") }
    storage.addObserver(try #require(owner), forKey: "a") { _, _ in calls.append("key") }
    try storage.setObject(bench.ada, forKey: "a")
    #expect(calls.take() == ["key", "store"])
    owner = nil
    try storage.setObject(bench.ada, forKey: "a")
    #expect(calls.all == [])
  }

  @Test("H70 all store observers are told; each is cancelled by its token, or all at once")
  func severalObservers() throws {
    let storage = try bench.inMemory()
    let witnesses = (0..<3).map { _ in Witness<Change>() }
    let tokens = witnesses.map { storage.addStorageObserver($0) { $0.see($1) } }
    try storage.setObject(bench.ada, forKey: "a")
    tokens[1].cancel()
    tokens[1].cancel()
    try storage.setObject(bench.ada, forKey: "b")
    storage.removeAllStorageObservers()
    try storage.setObject(bench.ada, forKey: "c")
    #expect(witnesses.map(\.seen) == [[.add("a"), .add("b")], [.add("a")], [.add("a"), .add("b")]])
  }

  @Test(
    "H71 H72 a key observer sees only its key: first nothing before, then the old value",
    arguments: StorageBench.Tiers.allCases)
  func keyObserver(tiers: StorageBench.Tiers) throws {
    let storage = try bench.open(tiers)
    let witness = Witness<KeyChange<User>>()
    storage.addObserver(witness, forKey: "a") { $0.see($1) }
    try storage.setObject(bench.ada, forKey: "a")
    try storage.setObject(bench.ada, forKey: "b")
    if tiers == .both { try storage.removeInMemoryObject(forKey: "a") }
    try storage.setObject(bench.grace, forKey: "a")
    try storage.removeObject(forKey: "a")
    #expect(
      witness.seen == [
        .edit(before: nil, after: bench.ada), .edit(before: bench.ada, after: bench.grace), .remove(cause: .removed),
      ])
    try storage.close()
  }

  @Test(
    "H73 H81 clearing expired objects tells the key observer once, and each tier's loss is reported",
    arguments: StorageBench.Tiers.allCases)
  func expiry(tiers: StorageBench.Tiers) throws {
    let storage = try bench.open(tiers)
    let (keys, all) = (Witness<KeyChange<User>>(), Witness<Change>())
    try storage.setObject(bench.ada, forKey: "a", expiry: .seconds(1))
    storage.addObserver(keys, forKey: "a") { $0.see($1) }
    storage.addStorageObserver(all) { $0.see($1) }
    bench.clock.advance(by: .seconds(1))
    try storage.removeExpiredObjects()
    #expect(keys.seen == [.remove(cause: .expired)])
    let losses: [Change] =
      switch tiers {
      case .memory: [.lost("a", from: .memory, cause: .expired)]
      case .disk: [.lost("a", from: .disk, cause: .expired)]
      case .both: [.lost("a", from: .memory, cause: .expired), .lost("a", from: .disk, cause: .expired)]
      }
    #expect(all.seen == losses + [.removeExpired])
    try storage.close()
  }

  @Test("H81 an expiry that a read finds is reported, and one tier's expiry is no removal while the other lives")
  func expiryAtRead() async throws {
    let storage = try bench.open(User.self, memory: MemoryConfig(expiry: .seconds(1)))
    let (keys, all) = (Witness<KeyChange<User>>(), Witness<Change>())
    try storage.setObject(bench.ada, forKey: "a")
    storage.addObserver(keys, forKey: "a") { $0.see($1) }
    storage.addStorageObserver(all) { $0.see($1) }
    let changes = storage.changes()
    bench.clock.advance(by: .seconds(1))
    #expect(try storage.object(forKey: "a") == bench.ada)
    for await _ in changes.prefix(1) {}
    #expect(all.seen == [.lost("a", from: .memory, cause: .expired)])
    #expect(keys.seen == [])
    try storage.close()
  }

  @Test("evictions are reported with their cause, in memory and on the disk")
  func evictions() throws {
    let disk = DiskConfig(name: "store", maxSize: 1 << 20, directory: bench.folder.path)
    let storage = try bench.open(Data.self, disk: disk, memory: MemoryConfig(countLimit: 1))
    let (keys, all) = (Witness<KeyChange<Data>>(), Witness<Change>())
    storage.addObserver(keys, forKey: "0") { $0.see($1) }
    storage.addStorageObserver(all) { $0.see($1) }
    for number in 0..<40 { try storage.setObject(Data(count: 60_000), forKey: "\(number)") }
    #expect(all.seen.contains(.lost("0", from: .memory, cause: .evicted)))
    #expect(all.seen.contains(.lost("0", from: .disk, cause: .evicted)))
    #expect(keys.seen == [.edit(before: nil, after: Data(count: 60_000)), .remove(cause: .evicted)])
    try storage.close()
  }

  @Test("a memory warning is reported as such, and is a removal where there is no disk", arguments: [false, true])
  func memoryWarning(hasDisk: Bool) async throws {
    let storage = try bench.open(hasDisk ? .both : .memory)
    let (keys, all) = (Witness<KeyChange<User>>(), Witness<Change>())
    try storage.setObject(bench.ada, forKey: "a")
    storage.addObserver(keys, forKey: "a") { $0.see($1) }
    storage.addStorageObserver(all) { $0.see($1) }
    await storage.onMemoryWarning()
    #expect(all.seen == [.lost("a", from: .memory, cause: .memoryWarning)])
    #expect(keys.seen == (hasDisk ? [] : [.remove(cause: .memoryWarning)]))
    try await storage.async.close()
  }

  @Test("H74 remove-all tells every key observer")
  func removeAll() throws {
    let storage = try bench.inMemory()
    let witnesses = ["a", "b"].map { key in
      let witness = Witness<KeyChange<User>>()
      storage.addObserver(witness, forKey: key) { $0.see($1) }
      return witness
    }
    try storage.setObject(bench.ada, forKey: "a")
    try storage.removeAll()
    #expect(witnesses[0].seen == [.edit(before: nil, after: bench.ada), .remove(cause: .cleared)])
    #expect(witnesses[1].seen == [.remove(cause: .cleared)])
  }

  #if canImport(Glibc)
  @Test("H74 remove-all tells that everything is gone, also where what else it does in the folder fails")
  func removeAllInPart() throws {
    var directory = bench.folder.path
    while directory.utf8.count < 3_850 { directory += "/" + String(repeating: "d", count: 200) }
    let storage = try bench.open(disk: DiskConfig(name: "s", directory: directory))
    try storage.setObject(bench.ada, forKey: "a")
    let (keys, all) = (Witness<KeyChange<User>>(), Witness<Change>())
    storage.addObserver(keys, forKey: "a") { $0.see($1) }
    storage.addStorageObserver(all) { $0.see($1) }
    // It looks like another library's, and its path is longer than any path that the system takes.
    let folder = unsafe Glibc.open(directory + "/s", O_RDONLY)
    let name = "0cc175b9c0f1b6a831c399e269772661." + String(repeating: "x", count: 220)
    let file = unsafe openat(folder, name, O_CREAT | O_WRONLY, 0o600)
    try #require(file >= 0)
    defer {
      _ = unsafe unlinkat(folder, name, 0)
      for descriptor in [file, folder] { close(descriptor) }
    }
    #expect(throws: CacheError.self) { try storage.removeAll() }
    #expect(try storage.object(forKey: "a") == nil)
    #expect(all.seen == [.removeAll])
    #expect(keys.seen == [.remove(cause: .cleared)])
    try storage.close()
  }
  #endif

  @Test("H75 H76 all observers of a key are told; they are dropped by token, by key, or all at once")
  func severalKeyObservers() throws {
    let storage = try bench.inMemory(Int.self)
    let witnesses = (0..<4).map { _ in Witness<KeyChange<Int>>() }
    let token = storage.addObserver(witnesses[0], forKey: "a") { $0.see($1) }
    storage.addObserver(witnesses[1], forKey: "a") { $0.see($1) }
    storage.addObserver(witnesses[2], forKey: "b") { $0.see($1) }
    storage.addObserver(witnesses[3], forKey: "c") { $0.see($1) }
    func store(_ number: Int) throws { for key in ["a", "b", "c"] { try storage.setObject(number, forKey: key) } }
    try store(1)
    #expect(witnesses.map(\.seen.count) == [1, 1, 1, 1])
    token.cancel()
    try store(2)
    #expect(witnesses.map(\.seen.count) == [1, 2, 2, 2])
    storage.removeObservers(forKey: "a")
    try store(3)
    #expect(witnesses.map(\.seen.count) == [1, 2, 3, 3])
    storage.removeAllKeyObservers()
    try store(4)
    #expect(witnesses.map(\.seen.count) == [1, 2, 3, 3])
  }

  @Test("H77 cancelling an old token leaves a newer observer of that key in place")
  func oldTokens() throws {
    let storage = try bench.inMemory(Int.self)
    let witness = Witness<KeyChange<Int>>()
    let old = storage.addObserver(witness, forKey: "a") { $0.see($1) }
    storage.removeObservers(forKey: "a")
    storage.addObserver(witness, forKey: "a") { $0.see($1) }
    old.cancel()
    try storage.setObject(1, forKey: "a")
    #expect(witness.seen == [.edit(before: nil, after: 1)])
  }

  @Test("H78 a change through another typed view is observed, with values where they can be read")
  func otherView() throws {
    let users = try bench.open()
    let (keys, all) = (Witness<KeyChange<User>>(), Witness<Change>())
    users.addObserver(keys, forKey: "a") { $0.see($1) }
    users.addStorageObserver(all) { $0.see($1) }
    let bytes = users.transformData()
    try bytes.setObject(Data(#"{"name":"Ada","age":36}"#.utf8), forKey: "a")
    try users.transform(to: Int.self).setObject(7, forKey: "a")
    try bytes.removeObject(forKey: "a")
    #expect(
      keys.seen == [
        .edit(before: nil, after: bench.ada), .edit(before: bench.ada, after: nil), .remove(cause: .removed),
      ])
    #expect(all.seen == [.add("a"), .add("a"), .remove("a")])
    try users.close()
  }

  @Test("H79 a failed store notifies nobody")
  func failedStore() throws {
    let storage = try bench.open(Double.self)
    let (keys, all) = (Witness<KeyChange<Double>>(), Witness<Change>())
    storage.addObserver(keys, forKey: "a") { $0.see($1) }
    storage.addStorageObserver(all) { $0.see($1) }
    #expect(throws: CacheError.self) { try storage.setObject(.infinity, forKey: "a") }
    try storage.close()
    #expect(throws: CacheError.self) { try storage.setObject(1, forKey: "a") }
    #expect(keys.seen == [])
    #expect(all.seen == [])
  }

  @Test("H80 dropping only the copy in memory is a kind of event of its own, and no removal while the disk has it")
  func droppedCopy() throws {
    for tiers in [StorageBench.Tiers.memory, .both] {
      let storage = try bench.open(tiers)
      let (keys, all) = (Witness<KeyChange<User>>(), Witness<Change>())
      try storage.setObject(bench.ada, forKey: "a")
      storage.addObserver(keys, forKey: "a") { $0.see($1) }
      storage.addStorageObserver(all) { $0.see($1) }
      try storage.removeInMemoryObject(forKey: "a")
      try storage.removeInMemoryObject(forKey: "never there")
      #expect(all.seen == [.removeInMemory("a")])
      #expect(keys.seen == (tiers == .memory ? [.remove(cause: .removed)] : []))
      try storage.close()
    }
  }

  @Test("an observer may cancel itself, and the others are told all the same")
  func cancelsItself() throws {
    let storage = try bench.inMemory(Int.self)
    let (first, second) = (Witness<Change>(), Witness<Change>())
    let tokens = Calls<ObservationToken>()
    tokens.append(
      storage.addStorageObserver(first) { witness, change in
        witness.see(change)
        tokens.all.first?.cancel()
      })
    storage.addStorageObserver(second) { $0.see($1) }
    for key in ["a", "b"] { try storage.setObject(1, forKey: key) }
    #expect(first.seen == [.add("a")])
    #expect(second.seen == [.add("a"), .add("b")])
  }

  @Test("sequences begin when they are made, and end with the storage")
  func sequences() async throws {
    var storage: Storage<String, Int>? = try bench.inMemory(Int.self)
    let all = try #require(storage?.changes())
    let one = try #require(storage?.changes(forKey: "a"))
    for (number, key) in ["a", "b", "a"].enumerated() { try storage?.setObject(number, forKey: key) }
    storage = nil
    var seen: [Change] = []
    for await change in all { seen.append(change) }
    #expect(seen == [.add("a"), .add("b"), .add("a")])
    var changes: [KeyChange<Int>] = []
    for await change in one { changes.append(change) }
    #expect(changes == [.edit(before: nil, after: 0), .edit(before: 0, after: 2)])
  }

  @Test("a slow consumer of a sequence keeps the newest changes, as many as its buffer holds")
  func boundedSequences() async throws {
    var storage: Storage<String, Int>? = try bench.inMemory(Int.self)
    let byDefault = try #require(storage?.changes())
    let newest = try #require(storage?.changes(forKey: "a", bufferingPolicy: .bufferingNewest(1)))
    for number in 0..<1_000 { try storage?.setObject(number, forKey: number == 999 ? "last" : "a") }
    storage = nil
    var seen: [Change] = []
    for await change in byDefault { seen.append(change) }
    #expect(seen.count == 256)
    #expect(seen.last == .add("last"))
    var changes: [KeyChange<Int>] = []
    for await change in newest { changes.append(change) }
    #expect(changes == [.edit(before: 997, after: 998)])
  }

  @Test("who stops iterating is told nothing any more")
  func endedSequence() async throws {
    let storage = try bench.inMemory(Int.self)
    let sequence = storage.changes()
    let task = Task {
      for await _ in sequence {}
    }
    task.cancel()
    await task.value
    try storage.setObject(1, forKey: "a")
    var iterator = sequence.makeAsyncIterator()
    #expect(await iterator.next() == nil)
  }
}

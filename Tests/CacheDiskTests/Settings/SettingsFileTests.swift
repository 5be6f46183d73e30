import CacheEngine
import CacheEngineTesting
import Dispatch
import Foundation
import Synchronization
import TestSupport
import Testing
@testable import CacheDisk

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

@Suite(.timeLimit(.minutes(10))) struct SettingsFileTests {
  private typealias Level = UserDefaultsCacheLevel<String, Data>

  private let folder = DiskFolder()

  private func open(durability: Durability = .buffered, calls: FileCalls = FileCalls()) throws -> Level {
    try Level(
      domain: "d", directory: folder.path, name: "settings", expiry: .never, durability: durability,
      keyCoding: .canonicalText, valueCoding: .data, clock: SystemClock(), calls: calls)
  }

  private func value(_ text: String) -> Data { Data(text.utf8) }

  private func mode(_ name: String) throws -> Int {
    let attributes = try FileManager.default.attributesOfItem(atPath: folder.path + "/" + name)
    return try #require(attributes[.posixPermissions] as? Int)
  }

  @Test("C145 the file and its folder are for the owner only")
  func isPrivate() async throws {
    try await open().set(value("1"), forKey: "a")
    #expect(folder.names == ["d.plist"])
    #expect(try mode("d.plist") == 0o600)
    #expect(try mode("") == 0o700)
  }

  @Test("The file is a property list whose keys a person can read")
  func isReadable() async throws {
    try await open().set(value("1"), forKey: "café 100%")
    let list = try unsafe PropertyListSerialization.propertyList(from: folder.bytes(of: "d.plist"), format: nil)
    let entries = try #require((list as? [String: Any])?["entries"] as? [String: [String: Any]])
    #expect(Array(entries.keys) == ["café 100%25"])
    #expect(entries.values.first?["value"] as? Data == value("1"))
  }

  @Test("A file that is nested so deep that it would overflow the stack is a damaged one")
  func isShallow() async throws {
    try await open().set(value("1"), forKey: "a")
    let deep = "<plist>" + String(repeating: "<array>", count: 100_000)
    try Data(deep.utf8).write(to: URL(fileURLWithPath: folder.path + "/d.plist"))
    let error = await #expect(throws: CacheError.self) { try await open().get("a") }
    #expect(error?.code == .unusableStore)
  }

  @Test(
    "S44 a change that fails at any step leaves what was there, and nothing beside it",
    arguments: ["open", "write", "sync", "rename"])
  func failsWhole(step: String) async throws {
    let isBroken = Mutex(false)
    let calls = Self.calls(failing: step) { isBroken.withLock { $0 } }
    let level = try open(calls: calls)
    try await level.set(value("old"), forKey: "a")
    isBroken.withLock { $0 = true }
    for change in [
      { try await level.set(value("new"), forKey: "a") }, { try await level.set(value("more"), forKey: "b") },
    ] as [() async throws -> Void] {
      let error = await #expect(throws: CacheError.self) { try await change() }
      #expect(error?.code == .diskWriteFailed)
      #expect(error?.description.contains("No space left on device, for the settings in") == true)
    }
    isBroken.withLock { $0 = false }
    #expect(try await level.get("a") == value("old"))
    #expect(try await level.get("b") == nil)
    #expect(folder.names == ["d.plist"])
    try await level.set(value("new"), forKey: "a")
    #expect(try await level.get("a") == value("new"))
  }

  @Test("a signal that comes in the midst of any system call is not noticed")
  func signals() async throws {
    let turn = Mutex(0)
    let isInterrupted: @Sendable () -> Bool = {
      let isNow = turn.withLock { turn in
        turn += 1
        return turn % 2 == 1
      }
      if isNow { errno = EINTR }
      return isNow
    }
    let real = FileCalls()
    var calls = real
    calls.open = { isInterrupted() ? -1 : real.open($0, $1, $2) }
    calls.link = { isInterrupted() ? -1 : real.link($0, $1, $2) }
    calls.unlink = { isInterrupted() ? -1 : real.unlink($0, $1) }
    calls.rename = { isInterrupted() ? -1 : real.rename($0, $1, $2) }
    calls.sync = { isInterrupted() ? -1 : real.sync($0) }
    calls.status = { isInterrupted() ? nil : real.status($0) }
    calls.lock = { $1 != LOCK_UN && isInterrupted() ? -1 : real.lock($0, $1) }
    let level = try open(durability: .synced, calls: calls)
    for text in ["1", "2"] {
      try await level.set(value(text), forKey: "a")
      #expect(try await level.get("a") == value(text))
    }
    try await level.remove("a")
    #expect(try await open().get("a") == nil)
    #expect(turn.withLock { $0 } > 30)
  }

  @Test("The bytes are on the disk before they take the old ones' place; the name is too where that is asked for")
  func syncs() async throws {
    let order = Mutex<[String]>([])
    var calls = FileCalls()
    let real = FileCalls()
    calls.sync = { descriptor in
      order.withLock { $0.append("sync") }
      return real.sync(descriptor)
    }
    calls.rename = { directory, old, new in
      order.withLock { $0.append("rename") }
      return real.rename(directory, old, new)
    }
    do {
      let level = try open(calls: calls)
      try await level.set(value("1"), forKey: "a")
    }
    // The first sync is that of the directory above, which has a new name in it.
    #expect(order.withLock { $0 } == ["sync", "sync", "rename"])
    do {
      let level = try open(durability: .synced, calls: calls)
      try await level.set(value("2"), forKey: "a")
    }
    #expect(order.withLock { $0 } == ["sync", "sync", "rename", "sync", "rename", "sync"])
  }

  @Test("A synced removal of what another has removed, buffered, is acknowledged once that removal is on the disk")
  func syncsWhatIsThere() async throws {
    let fails = Mutex(false)
    let real = FileCalls()
    var calls = FileCalls()
    calls.sync = { file in
      guard fails.withLock({ $0 }) else { return real.sync(file) }
      errno = EIO
      return -1
    }
    let buffered = try open(calls: calls)
    try await buffered.set(value("1"), forKey: "a")
    try await buffered.remove("a")
    let synced = try open(durability: .synced, calls: calls)
    fails.withLock { $0 = true }
    try await buffered.remove("a")
    await expectError(.diskWriteFailed) { try await synced.remove("a") }
    fails.withLock { $0 = false }
    try await synced.remove("a")
  }

  @Test(
    "A synced change whose folder could not be synced has not taken effect, in memory or in the file",
    arguments: [0, 1])
  func takenBack(count: Int) async throws {
    let isRenamed = Mutex(false)
    let fails = Mutex(false)
    let real = FileCalls()
    var calls = FileCalls()
    calls.rename = { folder, old, new in
      isRenamed.withLock { $0 = true }
      return real.rename(folder, old, new)
    }
    calls.unlink = { folder, name in
      if name == "d.plist" { isRenamed.withLock { $0 = true } }
      return real.unlink(folder, name)
    }
    calls.sync = { file in
      guard fails.withLock({ $0 }), isRenamed.withLock({ $0 }) else { return real.sync(file) }
      errno = EIO
      return -1
    }
    let level = try open(durability: .synced, calls: calls)
    if count > 0 { try await level.set(Data("old".utf8), forKey: "a") }
    let old = count > 0 ? Data("old".utf8) : nil
    let changes: [() async throws -> Void] = [
      { try await level.set(Data("new".utf8), forKey: "a") }, { try await level.clear() },
    ]
    for change in changes.prefix(count + 1) {
      isRenamed.withLock { $0 = false }
      fails.withLock { $0 = true }
      await expectError(.diskWriteFailed) { try await change() }
      fails.withLock { $0 = false }
      #expect(try await level.get("a") == old)
      await level.onMemoryWarning()
      #expect(try await level.get("a") == old)
    }
    try await level.set(Data("newest".utf8), forKey: "a")
    #expect(try await level.get("a") == Data("newest".utf8))
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["d.plist"])
  }

  @Test("Of changes that come together, what is too large fails alone")
  func tooLarge() async throws {
    let isHeld = Mutex(false)
    let held = DispatchSemaphore(value: 0)
    let (entered, enter) = AsyncStream.makeStream(of: Void.self)
    let real = FileCalls()
    var calls = FileCalls()
    calls.sync = { file in
      if isHeld.withLock({ $0 }) {
        enter.finish()
        held.wait()
      }
      return real.sync(file)
    }
    let level = try open(calls: calls)
    isHeld.withLock { $0 = true }
    let first = Task { try await level.set(value("1"), forKey: "first") }
    for await _ in entered {}
    // While the first one is being written, these have to wait.
    let large = Task.immediate { try await level.set(Data(count: 65 << 20), forKey: "large") }
    let small = Task.immediate { try await level.set(value("2"), forKey: "small") }
    isHeld.withLock { $0 = false }
    held.signal()
    try await first.value
    await expectError(.tooLarge) { try await large.value }
    try await small.value
    #expect(try await open().contents().map(\.key).sorted() == ["first", "small"])
  }

  @Test("A file of impossible length is refused without being read, and is gone after a clear")
  func sparse() async throws {
    let level = try open()
    try await level.set(Data("old".utf8), forKey: "a")
    #expect(unsafe truncate(folder.path + "/d.plist", 1 << 40) == 0)
    await level.onMemoryWarning()
    await expectError(.unusableStore) { _ = try await level.get("a") }
    await expectError(.unusableStore) { try await level.set(Data(), forKey: "a") }
    try await level.clear()
    #expect(try await level.get("a") == nil)
  }

  @Test("What is no file in the file's place fails every call with an error of the cache's own")
  func noFile() async throws {
    let level = try open()
    try FileManager.default.createDirectory(atPath: folder.path + "/d.plist", withIntermediateDirectories: true)
    await level.onMemoryWarning()
    await expectError(.diskReadFailed) { _ = try await level.get("a") }
    await expectError(.diskReadFailed) { try await level.set(Data(), forKey: "a") }
    await expectError(.diskReadFailed) { try await level.remove("a") }
    await expectError(.diskWriteFailed) { try await level.clear() }
  }

  @Test("A damaged file is an error for every call, and stays as it is until the level is cleared")
  func damaged() async throws {
    let level = try open()
    try await level.set(value("1"), forKey: "a")
    let whole = try folder.bytes(of: "d.plist")
    for bytes in [Data(), Data("no list".utf8), whole.dropLast(1), whole.prefix(whole.count / 2)] {
      try folder.write(bytes, to: "d.plist")
      await level.onMemoryWarning()
      for call in [
        { _ = try await level.get("a") }, { _ = try await level.get("b") },
        { try await level.set(value("2"), forKey: "a") }, { try await level.remove("a") },
        { _ = try await level.contents() }, { try await level.removeExpired() },
      ] as [() async throws -> Void] {
        let error = await #expect(throws: CacheError.self) { try await call() }
        #expect(error?.code == .unusableStore)
        #expect(error?.description.contains("clear the level") == true)
      }
      #expect(try folder.bytes(of: "d.plist") == bytes)
    }
    let again = try open()
    await #expect(throws: CacheError.self) { try await again.get("a") }
    try await again.clear()
    try await again.set(value("3"), forKey: "a")
    #expect(try await level.get("a") == value("3"))
    try folder.write(whole, to: "d.plist")
    await level.onMemoryWarning()
    #expect(try await level.get("a") == value("1"))
  }

  @Test("Whichever byte of the file is damaged, nobody is given a wrong value or a wrong miss")
  func anyByte() async throws {
    let level = try open()
    try await level.set(value("the value"), forKey: "a key")
    let whole = try folder.bytes(of: "d.plist")
    for position in whole.indices {
      var bytes = whole
      bytes[position] ^= 0x04
      try folder.write(bytes, to: "d.plist")
      await level.onMemoryWarning()
      do {
        #expect(try await level.get("a key") == value("the value"), "byte \(position)")
      } catch let error as CacheError {
        #expect(error.code == .unusableStore)
      }
    }
  }

  @Test("A list of a newer version is left alone")
  func newer() async throws {
    let list: [String: Any] = ["version": 2, "entries": [String: Any]()]
    let bytes = try PropertyListSerialization.data(fromPropertyList: list, format: .binary, options: 0)
    _ = try open()
    try folder.write(bytes, to: "d.plist")
    let level = try open()
    let error = await #expect(throws: CacheError.self) { try await level.set(value("1"), forKey: "a") }
    #expect(error?.message.contains("newer version") == true)
    #expect(try folder.bytes(of: "d.plist") == bytes)
  }

  @Test("What a crash left beside the file is in nobody's way, and links are not followed")
  func leftovers() async throws {
    let level = try open()
    try folder.write(value("half a li"), to: "d.plist.new")
    try await level.set(value("1"), forKey: "a")
    #expect(folder.names == ["d.plist"])
    try folder.write(value("precious"), to: "victim")
    try FileManager.default.createSymbolicLink(atPath: folder.path + "/d.plist.new", withDestinationPath: "victim")
    try await level.set(value("2"), forKey: "a")
    #expect(try folder.bytes(of: "victim") == value("precious"))
    try folder.remove("d.plist")
    try FileManager.default.createSymbolicLink(atPath: folder.path + "/d.plist", withDestinationPath: "victim")
    await level.onMemoryWarning()
    let error = await #expect(throws: CacheError.self) { try await level.get("a") }
    #expect(error?.code == .diskReadFailed)
  }

  @Test("A folder that was removed comes back with the next set")
  func removedFolder() async throws {
    let level = try open()
    try await level.set(value("1"), forKey: "a")
    try FileManager.default.removeItem(atPath: folder.path)
    try await level.set(value("2"), forKey: "b")
    await level.onMemoryWarning()
    #expect(try await level.get("b") == value("2"))
  }

  @Test("A folder that cannot be made, or that others can write to, is an error that names it")
  func badFolder() throws {
    let error = #expect(throws: CacheError.self) { try Level(domain: "d", directory: "/proc/nothing/here") }
    #expect(error?.description.hasPrefix("settings: ") == true)
    #expect(error?.description.contains("/proc/nothing/here; name one that can be written") == true)
    try FileManager.default.createDirectory(
      atPath: folder.path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o777])
    #expect(unsafe chmod(folder.path, 0o777) == 0)
    #expect(throws: CacheError.self) { try open() }
  }

  @Test("Programs that change one domain keep each other's values")
  func programs() async throws {
    // Two stores that do not know of each other, as two processes have them.
    let stores = (0..<2).map { _ in
      SettingsDomain(SettingsFile(directory: folder.path, domain: "d", calls: FileCalls()))
    }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for (number, store) in stores.enumerated() {
        group.addTask {
          for index in 0..<50 {
            let key = "\(number) \(index)"
            let entry = SettingsEntry(Data(), coding: "data", key: key, deadline: nil, clock: SystemClock())
            _ = try await store.edit(durability: .buffered) { entries in
              entries[key] = entry
              return 1
            }
          }
        }
      }
      try await group.waitForAll()
    }
    stores[0].dropCopy()
    #expect(try await stores[0].entries().count == 100)
    #expect(!stores[0].isUnread)
  }

  private func expectError(
    _ code: CacheError.Code, sourceLocation: SourceLocation = #_sourceLocation, _ body: () async throws -> Void
  ) async {
    let error = await #expect(throws: CacheError.self, sourceLocation: sourceLocation) { try await body() }
    #expect(error?.code == code, sourceLocation: sourceLocation)
  }

  private static func calls(failing step: String, if isBroken: @escaping @Sendable () -> Bool) -> FileCalls {
    @Sendable func fails(_ name: String) -> Bool {
      guard step == name, isBroken() else { return false }
      errno = ENOSPC
      return true
    }
    let real = FileCalls()
    var calls = FileCalls()
    // Opening for reading goes on; a new file cannot be made.
    calls.open = { $2 & O_CREAT != 0 && fails("open") ? -1 : real.open($0, $1, $2) }
    unsafe calls.write = { unsafe fails("write") ? -1 : real.write($0, $1, $2) }
    calls.sync = { fails("sync") ? -1 : real.sync($0) }
    calls.rename = { fails("rename") ? -1 : real.rename($0, $1, $2) }
    return calls
  }
}

import CacheEngine
import CacheEngineTesting
import Foundation
import Synchronization
import TestSupport
import Testing
@testable import CacheDisk

/// What a store does when the disk refuses something, or the directory goes.
@Suite(.timeLimit(.minutes(10))) struct DiskStandingTests {
  typealias Level = DiskCacheLevel<String, Data>

  let folder = DiskFolder()

  private func open(
    _ durability: Durability = .buffered, access: StoreAccess = .readWrite, calls: FileCalls = FileCalls()
  ) throws -> Level {
    try Level(
      directory: folder.path, capacity: 8 << 20, name: "disk", expiry: .never, keepsExpired: .zero,
      durability: durability, access: access, keyCoding: .canonicalText, valueCoding: .data, clock: ManualClock(),
      removalListener: nil, calls: calls)
  }

  @Test("P3 P6 what the disk did not confirm is taken back, here and for who opens the store later")
  func failedSync() async throws {
    let isFailing = Mutex(false)
    var calls = FileCalls()
    let real = FileCalls()
    calls.sync = { descriptor in
      guard isFailing.withLock({ $0 }) else { return real.sync(descriptor) }
      errno = EIO
      return -1
    }
    let level = try open(.synced, calls: calls)
    try await level.set(value(1), forKey: "short")
    try await level.set(value(2, 500_000), forKey: "long")
    try await level.set(value(3), forKey: "removed")
    isFailing.withLock { $0 = true }
    for work in [
      { try await level.set(value(4), forKey: "short") }, { try await level.set(value(5, 600_000), forKey: "long") },
      { try await level.set(value(6), forKey: "new") }, { try await level.remove("removed") },
    ] {
      let error = await #expect(throws: CacheError.self) { try await work() }
      #expect(error?.code == .diskWriteFailed)
    }
    func check(_ level: Level) async throws {
      #expect(try await level.get("short") == value(1))
      #expect(try await level.get("long") == value(2, 500_000))
      #expect(try await level.get("removed") == value(3))
      #expect(try await level.get("new") == nil)
    }
    try await check(level)
    let crashed = try folder.copy()
    let other = try Level(directory: crashed.path, capacity: 8 << 20)
    try await check(other)
    try await other.close()
    isFailing.withLock { $0 = false }
    try await level.set(value(7), forKey: "short")
    #expect(try await level.get("short") == value(7))
    #expect(try await level.verify().isSound)
    #expect(try await level.verify().strayCount == 0)
    try await level.close()
  }

  @Test("a directory that was removed is made anew by the next write, at the same path")
  func removed() async throws {
    let level = try open()
    try await level.set(value(1), forKey: "a")
    try FileManager.default.removeItem(atPath: folder.path)
    try await level.set(value(2), forKey: "b")
    #expect(try await level.get("a") == nil)
    #expect(try await level.get("b") == value(2))
    #expect(level.usage.count == 1)
    // Who opens the path now joins the same store.
    let second = try open()
    #expect(try await second.get("b") == value(2))
    try await second.close()
    try await level.close()
    let again = try open()
    #expect(try await again.contents().map(\.key) == ["b"])
    try await again.close()
  }

  @Test("a directory that was emptied is filled again by the next write", arguments: ["all", "log"])
  func emptied(what: String) async throws {
    let level = try open()
    try await level.set(value(1), forKey: "a")
    for name in folder.names where what == "all" || name.hasPrefix(what) { try folder.remove(name) }
    try await level.set(value(2), forKey: "b")
    #expect(try await level.get("a") == nil)
    #expect(try await level.get("b") == value(2))
    let copy = try folder.copy()
    let other = try Level(directory: copy.path, capacity: 8 << 20)
    #expect(try await other.contents().map(\.key) == ["b"])
    try await other.close()
    try await level.close()
  }

  /// How often a store asks for the state of a file.
  private final class Looks: Sendable {
    private let state = Mutex(0)
    var count: Int { state.withLock { $0 } }

    var calls: FileCalls {
      let real = FileCalls()
      var calls = real
      calls.status = { descriptor in
        self.state.withLock { $0 += 1 }
        return real.status(descriptor)
      }
      calls.statusOf = { directory, name, flags in
        self.state.withLock { $0 += 1 }
        return real.statusOf(directory, name, flags)
      }
      return calls
    }
  }

  @Test(
    "where no file comes or goes a set asks for the state of one, and the one after a removal knows of it",
    arguments: ["all", "log", "lock"])
  func oneLook(removing what: String) async throws {
    let looks = Looks()
    let level = try open(calls: looks.calls)
    try await level.set(value(1), forKey: "a")
    // As soon as the file system's clock has gone on.
    var cost = 0
    while cost != 1 {
      let before = looks.count
      try await level.set(value(1), forKey: "a")
      cost = looks.count - before
    }
    for name in folder.names where what == "all" || name.contains(what) { try folder.remove(name) }
    try await level.set(value(2), forKey: "b")
    #expect(try await level.get("a") == (what == "lock" ? value(1) : nil))
    let copy = try folder.copy()
    let other = try Level(directory: copy.path, capacity: 8 << 20)
    #expect(try await other.get("b") == value(2))
    try await other.close()
    try await level.close()
    #expect(folder.names.contains { $0.contains("lock") })
  }

  @Test("the time of a directory is trusted once its files were seen a tick after it")
  func ticks() throws {
    var status = try #require(FileCalls().statusOf(AT_FDCWD, "/", 0))
    func at(_ milliseconds: Int64) -> CacheInstant { CacheInstant(nanoseconds: milliseconds * 1_000_000) }
    for (nanoseconds, tick) in [(1, 30), (0, 3_000)] as [(Int64, Int64)] {
      status.statusChanged = (100, nanoseconds)
      let first = DirectoryLook(status, at: at(0), after: nil)
      #expect(!first.shows(status))
      let early = DirectoryLook(status, at: at(tick), after: first)
      #expect(!early.shows(status))
      let late = DirectoryLook(status, at: at(tick + 1), after: early)
      #expect(late.shows(status))
      // A directory above it may have been moved: its path is asked again soon.
      #expect(!early.isRecent(at: at(tick)) && late.isRecent(at: at(tick + 1)) && !late.isRecent(at: at(tick + 2)))
      // Whichever way the file system's clock went.
      for seconds in [99, 101] as [Int64] {
        var other = status
        other.statusChanged.seconds = seconds
        #expect(!late.shows(other))
        let again = DirectoryLook(other, at: at(tick + 1), after: late)
        #expect(!again.shows(other) && !again.shows(status))
      }
    }
  }

  @Test(
    "P4 P6 a look at the directory that fails deletes nothing: the write is an error, or is done when a signal was all",
    arguments: [EIO, ESTALE, ENOMEM, EINTR], Durability.allCases)
  func doubtfulLook(code: Int32, durability: Durability) async throws {
    for failing in 0..<8 {
      let left = Mutex<Int?>(nil)
      let fails: @Sendable () -> Bool = {
        let isNow = left.withLock { left in
          defer { left = left.map { $0 - 1 } }
          return left == 0
        }
        if isNow { errno = code }
        return isNow
      }
      var calls = FileCalls()
      let real = FileCalls()
      calls.status = { fails() ? nil : real.status($0) }
      calls.statusOf = { fails() ? nil : real.statusOf($0, $1, $2) }
      let level = try open(durability, calls: calls)
      try await level.set(value(1), forKey: "short")
      try await level.set(value(2, 500_000), forKey: "long")
      left.withLock { $0 = failing }
      let isSet = (try? await level.set(value(3, 400_000), forKey: "new")) != nil
      left.withLock { $0 = nil }
      #expect(isSet || code != EINTR)
      for folder in [folder, try folder.copy()] {
        let other = folder === self.folder ? level : try Level(directory: folder.path, capacity: 8 << 20)
        #expect(try await other.get("short") == value(1))
        #expect(try await other.get("long") == value(2, 500_000))
        #expect(try await other.get("new") == (isSet ? value(3, 400_000) : nil))
        if other !== level { try await other.close() }
      }
      try await level.set(value(4), forKey: "new")
      #expect(try await level.get("new") == value(4))
      try await level.clear()
      try await level.close()
    }
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
    var calls = FileCalls()
    let real = FileCalls()
    calls.makeDirectory = { isInterrupted() ? -1 : real.makeDirectory($0) }
    calls.open = { isInterrupted() ? -1 : real.open($0, $1, $2) }
    unsafe calls.read = { isInterrupted() ? -1 : unsafe real.read($0, $1, $2) }
    unsafe calls.write = { isInterrupted() ? -1 : unsafe real.write($0, $1, $2) }
    calls.truncate = { isInterrupted() ? -1 : real.truncate($0, $1) }
    calls.rename = { isInterrupted() ? -1 : real.rename($0, $1, $2) }
    calls.unlink = { isInterrupted() ? -1 : real.unlink($0, $1) }
    calls.sync = { isInterrupted() ? -1 : real.sync($0) }
    calls.status = { isInterrupted() ? nil : real.status($0) }
    calls.statusOf = { isInterrupted() ? nil : real.statusOf($0, $1, $2) }
    calls.names = { isInterrupted() ? nil : real.names($0) }
    calls.realPath = { isInterrupted() ? nil : real.realPath($0) }
    calls.lock = { isInterrupted() ? -1 : real.lock($0, $1) }
    for round in 0..<2 {
      let level = try open(.synced, calls: calls)
      if round == 1 { #expect(try await level.get("long") == value(0, 500_000)) }
      try await level.set(value(round), forKey: "short")
      try await level.set(value(round, 500_000), forKey: "long")
      try await level.remove("short")
      #expect(try await level.verify(repairing: true).isSound)
      try await level.close()
    }
    #expect(turn.withLock { $0 } > 100)
  }

  @Test("folders are made whatever their names begin with, even what `String` takes for a part of the slash before it")
  func combining() async throws {
    let path = folder.path + "/\u{301}a/🏻"
    let level = try Level(directory: path, capacity: 8 << 20)
    try await level.set(value(1), forKey: "a")
    try await level.close()
    #expect(FileManager.default.fileExists(atPath: path + "/lock"))
  }

  @Test("names that a file system lists twice are those of one file")
  func listedTwice() async throws {
    let real = FileCalls()
    var calls = real
    calls.names = { directory in real.names(directory).map { $0 + $0 } }
    let first = try open(calls: calls)
    try await first.set(value(1), forKey: "short")
    try await first.set(value(2, 500_000), forKey: "long")
    let size = first.usage.cost
    try await first.close()
    let second = try open(calls: calls)
    #expect(try await second.get("short") == value(1))
    #expect(try await second.get("long") == value(2, 500_000))
    let report = try await second.verify()
    #expect(report.isSound && report.strayCount == 0 && report.files == 2)
    #expect(second.usage.cost <= size + 4_096)
    try await second.close()
  }

  @Test("a lock is given back although a signal comes in the midst of that")
  func unlockInterrupted() throws {
    let interruptions = Mutex(0)
    let real = FileCalls()
    var calls = real
    calls.lock = { descriptor, operation in
      let isInterrupted =
        operation == LOCK_UN
        && interruptions.withLock {
          $0 += 1; return $0 == 1
        }
      if isInterrupted { errno = EINTR }
      return isInterrupted ? -1 : real.lock(descriptor, operation)
    }
    try FileManager.default.createDirectory(atPath: folder.path, withIntermediateDirectories: true)
    let lock = try #require(try StoreDirectory(folder.path, access: .readWrite, calls: calls).takeLock())
    lock.unlock()
    #expect(try StoreDirectory(folder.path, access: .readWrite, calls: real).takeLock() != nil)
    withExtendedLifetime(lock) {}
  }

  @Test("a lock that was removed is taken anew, and nothing is lost")
  func unlocked() async throws {
    let level = try open()
    try await level.set(value(1), forKey: "a")
    try folder.remove("lock")
    try await level.set(value(2), forKey: "b")
    #expect(try await level.get("a") == value(1))
    let stranger = try StoreDirectory(folder.path, access: .readWrite, calls: FileCalls())
    #expect(try stranger.open(FileName.lock, forWriting: true).lock() == false)
    try await level.close()
  }

  @Test("P15 a lock that is removed between being opened and being taken is not the one that is relied on")
  func lockRemovedOnTheWay() async throws {
    let attempts = Mutex(0)
    let (real, path) = (FileCalls(), folder.path)
    var calls = real
    calls.lock = { descriptor, operation in
      let isFirst = attempts.withLock { attempts in
        attempts += 1
        return attempts == 1
      }
      if isFirst { unsafe unlink(path + "/lock") }
      return real.lock(descriptor, operation)
    }
    let level = try open(calls: calls)
    let stranger = try StoreDirectory(folder.path, access: .readWrite, calls: real)
    #expect(try stranger.takeLock() == nil)
    #expect(attempts.withLock { $0 } == 2)
    try await level.set(value(1), forKey: "a")
    #expect(try await level.get("a") == value(1))
    try await level.close()
  }

  @Test("P6 where somebody removed a part of the log, or wrote to it, writes are refused and the rest stays")
  func partlyRemoved() async throws {
    for what in ["removed", "written"] {
      let level = try open()
      for number in 0..<200 { try await level.set(value(number, 5_000), forKey: "\(number)") }
      try #require(folder.segments.count > 2)
      let last = try #require(folder.segments.last)
      if what == "removed" {
        try folder.remove(last)
      } else {
        try folder.write(try folder.bytes(of: last) + Data(count: 8), to: last)
        try folder.remove("lock")
      }
      let before = folder.names.filter { $0 != "lock" }.sorted()
      let error = await #expect(throws: CacheError.self) { try await level.set(value(1), forKey: "new") }
      #expect(error?.code == .unusableStore)
      #expect(folder.names.filter { $0 != "lock" }.sorted() == before)
      #expect(try await level.get("0") == value(0, 5_000))
      try await level.close()
      let again = try open()
      #expect(try await again.get("0") == value(0, 5_000))
      try await again.clear()
      try await again.close()
    }
  }

  @Test("P14 a symbolic link in the place of a removed directory is not followed")
  func linked() async throws {
    let level = try open()
    try await level.set(value(1), forKey: "a")
    let victim = DiskFolder()
    try FileManager.default.createDirectory(
      atPath: victim.path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    try FileManager.default.removeItem(atPath: folder.path)
    try FileManager.default.createSymbolicLink(atPath: folder.path, withDestinationPath: victim.path)
    let error = await #expect(throws: CacheError.self) { try await level.set(value(2), forKey: "b") }
    #expect(error?.code == .unusableStore)
    #expect(victim.names == [])
    try FileManager.default.removeItem(atPath: folder.path)
    try await level.set(value(2), forKey: "b")
    #expect(try await level.get("b") == value(2))
    try await level.close()
  }

  @Test("a relative path means what it meant when the directory was opened, wherever the program goes")
  func relativePath() async throws {
    let here = Mutex(folder.path)
    let real = FileCalls()
    var calls = real
    calls.realPath = { path in path == "." ? here.withLock { $0 } : real.realPath(path) }
    let level = try Level(
      directory: "disk", capacity: 8 << 20, name: "disk", expiry: .never, keepsExpired: .zero, durability: .buffered,
      access: .readWrite, keyCoding: .canonicalText, valueCoding: .data, clock: ManualClock(), removalListener: nil,
      calls: calls)
    try await level.set(value(1), forKey: "a")
    let look = try await DiskCacheInspection.open("disk", clock: ManualClock(), calls: calls)
    #expect(look.directory == folder.path + "/disk")
    here.withLock { $0 = "/" }
    try await level.set(value(2, 500_000), forKey: "b")
    #expect(try await level.get("a") == value(1))
    try await look.refresh()
    #expect(try await look.value(forKey: "b") == value(2, 500_000))
    try await level.close()
    try await look.refresh()
    #expect(try await look.value(forKey: "a") == value(1))
  }

  @Test("a file in the place of the directory is an error that names it, until it is gone")
  func replacedByFile() async throws {
    let level = try open()
    try await level.set(value(1), forKey: "a")
    try FileManager.default.removeItem(atPath: folder.path)
    try Data("precious".utf8).write(to: URL(filePath: folder.path))
    let error = await #expect(throws: CacheError.self) { try await level.set(value(2), forKey: "b") }
    #expect(error?.code == .diskWriteFailed)
    #expect(error?.message.contains(folder.path) == true)
    #expect(try Data(contentsOf: URL(filePath: folder.path)) == Data("precious".utf8))
    try FileManager.default.removeItem(atPath: folder.path)
    try await level.set(value(3), forKey: "b")
    #expect(try await level.get("b") == value(3))
    try await level.close()
  }

  @Test("a store that another one was put in the place of is refused and leaves that one alone")
  func replacedByStore() async throws {
    let level = try open()
    try await level.set(value(1), forKey: "a")
    let copy = try folder.copy()
    try FileManager.default.removeItem(atPath: folder.path)
    try FileManager.default.moveItem(atPath: copy.path, toPath: folder.path)
    let before = folder.names.sorted()
    let error = await #expect(throws: CacheError.self) { try await level.set(value(2), forKey: "b") }
    #expect(error?.code == .unusableStore)
    #expect(folder.names.sorted() == before)
    try await level.close()
  }

  @Test("a clear succeeds on a full disk, and is for good", arguments: Durability.allCases)
  func clearsWhenFull(durability: Durability) async throws {
    let isFull = Mutex(false)
    var calls = FileCalls()
    let real = FileCalls()
    unsafe calls.write = { descriptor, bytes, offset in
      guard isFull.withLock({ $0 }) else { return unsafe real.write(descriptor, bytes, offset) }
      errno = ENOSPC
      return -1
    }
    let first = try open(durability)
    try await first.set(value(1), forKey: "a")
    try await first.close()
    let level = try open(durability, calls: calls)
    try await level.set(value(2, 500_000), forKey: "b")
    isFull.withLock { $0 = true }
    await #expect(throws: CacheError.self) { try await level.set(value(3), forKey: "c") }
    try await level.clear()
    #expect(level.usage.count == 0)
    isFull.withLock { $0 = false }
    for number in 0..<20 { try await level.set(value(number), forKey: "\(number)") }
    let copy = try folder.copy()
    let other = try Level(directory: copy.path, capacity: 8 << 20)
    #expect(Set(try await other.contents().map(\.key)) == Set((0..<20).map(String.init)))
    try await other.close()
    #expect(try await level.verify().isSound)
    try await level.close()
  }

  @Test("P15 a level that only reads notices that its directory was emptied, or that another one took its place")
  func onlyReads() async throws {
    var calls = FileCalls()
    calls.readersLookEvery = 0
    let level = try open(calls: calls)
    try await level.set(value(1), forKey: "a")
    let (copy, aside) = (try folder.copy(), folder.path + "-aside")
    defer { try? FileManager.default.removeItem(atPath: aside) }
    // Nobody can have begun where nothing is.
    try FileManager.default.moveItem(atPath: folder.path, toPath: aside)
    #expect(try await level.get("a") == value(1))
    try FileManager.default.moveItem(atPath: copy.path, toPath: folder.path)
    let other = try open()
    try await other.set(value(2), forKey: "a")
    #expect(try await level.get("a") == nil)
    #expect(try await level.lookup("a").missReason == .unanswered)
    try await other.close()
    try FileManager.default.removeItem(atPath: folder.path)
    try FileManager.default.moveItem(atPath: aside, toPath: folder.path)
    #expect(try await level.get("a") == value(1))
    for name in folder.names { try folder.remove(name) }
    #expect(try await level.lookup("a").missReason == .absent)
    #expect(level.usage.count == 0)
    try await level.close()
  }

  @Test("P15 a level that only reads serves nothing once other files stand in the places of its own")
  func replacedFiles() async throws {
    var calls = FileCalls()
    calls.readersLookEvery = 0
    let level = try open(calls: calls)
    try await level.set(value(1), forKey: "a")
    let copy = try folder.copy()
    for name in folder.names { try folder.remove(name) }
    for name in copy.names {
      try FileManager.default.copyItem(atPath: copy.path + "/" + name, toPath: folder.path + "/" + name)
    }
    #expect(try await level.lookup("a").missReason == .unanswered)
    try await level.close()
  }

  @Test(
    "P14 a file of the log that somebody links to while it is open takes no more, and keeps what it has on a full disk")
  func linkedWhileOpen() async throws {
    let victim = folder.path + "-victim"
    defer { try? FileManager.default.removeItem(atPath: victim) }
    let isFull = Mutex(false)
    let real = FileCalls()
    var calls = real
    calls.open = { directory, name, flags in
      guard isFull.withLock({ $0 }), flags & O_CREAT != 0 else { return real.open(directory, name, flags) }
      errno = ENOSPC
      return -1
    }
    let level = try open(calls: calls)
    try await level.set(value(1), forKey: "a")
    try FileManager.default.linkItem(atPath: folder.path + "/" + folder.segments[0], toPath: victim)
    // A link in another directory is seen when it is next looked where the path leads.
    try await turns {
      try await level.set(value(2), forKey: "a")
      return folder.segments.count == 2
    }
    let before = try Data(contentsOf: URL(filePath: victim))
    for number in 0..<50 { try await level.set(value(number), forKey: "\(number)") }
    #expect(try Data(contentsOf: URL(filePath: victim)) == before)
    #expect(try await level.get("a") == value(2))

    let second = folder.path + "-second"
    defer { try? FileManager.default.removeItem(atPath: second) }
    try FileManager.default.linkItem(atPath: folder.path + "/" + folder.segments[1], toPath: second)
    let kept = try Data(contentsOf: URL(filePath: second))
    isFull.withLock { $0 = true }
    try await level.clear()
    #expect(try Data(contentsOf: URL(filePath: second)) == kept)
    #expect(folder.segments == [])
    isFull.withLock { $0 = false }
    try await level.set(value(3), forKey: "b")
    let crashed = try folder.copy()
    let other = try Level(directory: crashed.path, capacity: 8 << 20)
    #expect(try await other.contents().map(\.key) == ["b"])
    try await other.close()
    #expect(try await level.verify().isSound)
    try await level.close()
  }

  @Test("a clear succeeds where no file can be opened any more, and is for good", arguments: Durability.allCases)
  func clearsWithoutDescriptors(durability: Durability) async throws {
    let isOut = Mutex(false)
    let real = FileCalls()
    var calls = real
    calls.open = { directory, name, flags in
      guard isOut.withLock({ $0 }) else { return real.open(directory, name, flags) }
      errno = EMFILE
      return -1
    }
    let level = try open(durability, calls: calls)
    try await level.set(value(1), forKey: "a")
    isOut.withLock { $0 = true }
    await #expect(throws: CacheError.self) { try await level.set(value(2, 500_000), forKey: "b") }
    try await level.clear()
    #expect(level.usage.count == 0)
    try await level.set(value(3), forKey: "c")
    isOut.withLock { $0 = false }
    let copy = try folder.copy()
    let other = try Level(directory: copy.path, capacity: 8 << 20)
    #expect(try await other.contents().map(\.key) == ["c"])
    try await other.close()
    #expect(try await level.verify().isSound)
    try await level.close()
  }

  @Test("P3 a synced clear of a full disk outlives a power cut, and what is left is sound")
  func clearWhenFullOutlivesPowerCut() async throws {
    try FileManager.default.createDirectory(
      atPath: folder.path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    let disk = SimulatedDisk(folder.path)
    let isFull = Mutex(false)
    let real = disk.calls
    var calls = real
    unsafe calls.write = { descriptor, bytes, offset in
      // What the lock has, is written over.
      guard isFull.withLock({ $0 }), bytes.count > Segment.begunSize else {
        return unsafe real.write(descriptor, bytes, offset)
      }
      errno = ENOSPC
      return -1
    }
    func open(_ folder: DiskFolder, _ calls: FileCalls = FileCalls()) throws -> Level {
      try Level(
        directory: folder.path + "/store", capacity: 8 << 20, name: "disk", expiry: .never, keepsExpired: .zero,
        durability: .synced, access: .readWrite, keyCoding: .canonicalText, valueCoding: .data, clock: ManualClock(),
        removalListener: nil, calls: calls)
    }
    let first = try open(folder, calls)
    try await first.set(value(1), forKey: "a")
    try await first.close()
    let level = try open(folder, calls)
    try await level.set(value(2), forKey: "b")
    try await level.set(value(3, 500_000), forKey: "c")
    isFull.withLock { $0 = true }
    try await level.clear()
    for seed in UInt64(0)..<60 {
      let left = DiskFolder()
      try SimulatedDisk.lay(disk.model(at: disk.moment).survivors(seed: seed), at: left.path)
      let other = try open(left)
      #expect(try await other.contents().isEmpty)
      #expect(try await other.verify().isSound)
      try await other.close()
    }
    isFull.withLock { $0 = false }
    try await level.close()
  }

  @Test("tags survive a restart, with the checkpoint and without it", arguments: [true, false])
  func tags(hasCheckpoint: Bool) async throws {
    let level = try open()
    try await level.set(value(1), forKey: "a", tags: ["red", "caf\u{e9}"])
    try await level.set(value(2, 500_000), forKey: "b", tags: ["red"])
    try await level.set(value(3), forKey: "c", tags: ["blue"])
    try await level.set(value(4), forKey: "d", tags: ["red"])
    try await level.set(value(5), forKey: "d")
    #expect(try await level.lookup("a").entry?.tags == ["red", "caf\u{e9}"])
    try await level.close()
    if !hasCheckpoint { try folder.remove("index") }
    let again = try open()
    #expect(try await again.lookup("b").entry?.tags == ["red"])
    #expect(try await again.lookup("a").entry?.tags == ["red", "cafe\u{301}"])
    #expect(try await again.removeAll(tagged: "cafe\u{301}") == 1)
    #expect(try await again.removeAll(tagged: "red") == 1)
    #expect(try await again.removeAll(tagged: "red") == 0)
    let copy = try folder.copy()
    let other = try Level(directory: copy.path, capacity: 8 << 20)
    #expect(Set(try await other.contents().map(\.key)) == ["c", "d"])
    try await other.close()
    try await again.close()
  }

  @Test("tags stay with an entry that is copied to make room, and too many of them are refused")
  func tagsOverReclaiming() async throws {
    let level = try open()
    try await level.set(value(1), forKey: "kept", tags: ["t"])
    for number in 0..<4_000 {
      try await level.set(value(number, 4_000), forKey: "\(number % 50)")
      if number % 20 == 0 { _ = try await level.get("kept") }
    }
    #expect(level.traffic.copied > 0)
    #expect(try await level.lookup("kept").entry?.tags == ["t"])
    let many = Set((0..<2_000).map { "\($0)" + String(repeating: "x", count: 40) })
    let error = await #expect(throws: CacheError.self) { try await level.set(value(2), forKey: "kept", tags: many) }
    #expect(error?.code == .tooLarge)
    #expect(try await level.removeAll(tagged: "t") == 1)
    try await level.close()
  }

  @Test("verify finds each damaged entry and each stray file, changes nothing, and repairs when asked")
  func verifies() async throws {
    let level = try open()
    for number in 0..<200 { try await level.set(value(number), forKey: "\(number)") }
    try await level.set(value(1, 400_000), forKey: "long")
    try await level.set(value(2, 400_000), forKey: "longer")
    let sound = try await level.verify()
    #expect(sound.isSound && sound.strayCount == 0 && sound.entries == 202 && sound.bytes > 860_000)
    let segment = try #require(folder.segments.first)
    try overwrite(segment, at: 40 + 200)
    let values = folder.names.filter { $0.hasPrefix("val-") }.sorted()
    try overwrite(try #require(values.first), at: 1_000)
    try folder.remove(try #require(values.last))
    try folder.write(value(1), to: "tmp-0000000000000009")
    try folder.write(value(1), to: "notes.txt")
    let report = try await level.verify()
    #expect(report.damagedCount == 3 && report.damaged.count == 3 && !report.isSound)
    #expect(report.damaged.map(\.file).sorted() == ([segment] + values).sorted())
    #expect(Set(report.strays) == ["tmp-0000000000000009", "notes.txt"])
    #expect(report.repaired == 0)
    #expect(level.usage.count == 202)
    let repaired = try await level.verify(repairing: true)
    #expect(repaired.repaired == 4)
    #expect(level.usage.count == 199)
    #expect(folder.names.contains("notes.txt") && !folder.names.contains("tmp-0000000000000009"))
    #expect(try await level.verify().isSound)
    try await level.close()
  }

  @Test("verify ends when its task is cancelled, and looks also into a store that is open for reading only")
  func verifyEnds() async throws {
    let level = try open()
    for number in 0..<300 { try await level.set(value(number), forKey: "\(number)") }
    let task = Task {
      unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
      return try await level.verify()
    }
    await #expect(throws: CancellationError.self) { try await task.value }
    let looking = try open(access: .readOnly)
    #expect(try await looking.verify().entries == 300)
    let error = await #expect(throws: CacheError.self) { try await looking.verify(repairing: true) }
    #expect(error?.code == .readOnly)
    try await level.close()
  }

  @Test("what was written is counted, and writers that come together share a wait for the disk")
  func traffic() async throws {
    let level = try open(.synced)
    try await level.set(value(1, 1_000), forKey: "a")
    let before = level.traffic
    #expect(before.written >= 1_000 && before.written < 1_300 && before.copied == 0 && before.amplification == 1)
    await withTaskGroup(of: Void.self) { group in
      for number in 0..<64 { group.addTask { try? await level.set(value(number), forKey: "\(number)") } }
    }
    #expect(level.traffic.syncs - before.syncs < 64)
    #expect(level.usage.count == 65)
    try await level.close()
  }

  private func overwrite(_ name: String, at offset: UInt64) throws {
    let handle = try FileHandle(forUpdating: URL(filePath: folder.path + "/" + name))
    try handle.seek(toOffset: offset)
    try handle.write(contentsOf: Data([0xff, 0x00, 0xff]))
    try handle.close()
  }
}

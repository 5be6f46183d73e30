import CacheEngine
import CacheEngineTesting
import Dispatch
import Foundation
import Synchronization
import TestSupport
import Testing

/// Which thread does what: small writes and warm reads their caller's, everything else the store's.
@Suite(.serialized, .timeLimit(.minutes(10))) struct DiskThreadTests {
  typealias Level = DiskCacheLevel<String, Data>

  let folder = DiskFolder()

  private func open(
    capacity: Int = 8 << 20, _ durability: Durability = .buffered, calls: FileCalls = FileCalls(),
    removalListener: (@Sendable (Removal<String>) -> Void)? = nil
  ) throws -> Level {
    try Level(
      directory: folder.path, capacity: capacity, name: "disk", expiry: .never, keepsExpired: .zero,
      durability: durability, access: .readWrite, keyCoding: .canonicalText, valueCoding: .data, clock: ManualClock(),
      removalListener: removalListener, calls: calls)
  }

  /// The number of a thread, which nothing else in the process has while that runs.
  private static var thread: UInt {
    #if canImport(Darwin)
    unsafe UInt(bitPattern: pthread_self())
    #else
    pthread_self()
    #endif
  }

  /// Notes on which thread each write to a file happens.
  private func noting(_ threads: @escaping @Sendable (UInt) -> Void) -> FileCalls {
    let real = FileCalls()
    var calls = real
    unsafe calls.write = { descriptor, bytes, offset in
      threads(Self.thread)
      return unsafe real.write(descriptor, bytes, offset)
    }
    return calls
  }

  /// The threads that wrote.
  private final class Writers: Sendable {
    private let threads = Mutex<Set<UInt>>([])

    func note(_ thread: UInt) { threads.withLock { _ = $0.insert(thread) } }
    func forget() { threads.withLock { $0 = [] } }
    func contains(_ thread: UInt) -> Bool { threads.withLock { $0.contains(thread) } }
  }

  /// How many of fifty sets were written by the thread that asked for them.
  private func ownWrites(
    of count: Int, _ durability: Durability = .buffered, isListening: Bool = false
  ) async throws -> Int {
    let writers = Writers()
    let calls = noting { writers.note($0) }
    let level =
      isListening
      ? try open(durability, calls: calls, removalListener: { _ in }) : try open(durability, calls: calls)
    // The first write of all opens a segment.
    try await level.set(Data(count: 10), forKey: "a")
    let own = try await Self.ownWrites(level, Array(repeating: "a", count: 50), Data(count: count), writers)
    try await level.close()
    return own
  }

  /// How many sets were noted on the thread that asked for them.
  @concurrent
  private static func ownWrites(
    _ level: Level, _ keys: [String], _ value: Data, _ writers: Writers
  ) async throws -> Int {
    var own = 0
    for key in keys {
      writers.forget()
      let caller = thread
      try await level.set(value, forKey: key)
      if writers.contains(caller) { own += 1 }
    }
    return own
  }

  // Only one of two threads is ever in such a write, in the whole process: other tests may be.
  @Test(
    "small buffered sets are done by the thread that asked for them",
    .enabled(if: ProcessInfo.processInfo.activeProcessorCount > 1))
  func smallSets() async throws {
    #expect(try await ownWrites(of: 1_000) > 0)
  }

  @Test(
    "small sets of a full store begin files of the log where they were called",
    .enabled(if: ProcessInfo.processInfo.activeProcessorCount > 1))
  func beginsSegments() async throws {
    let makers = Writers()
    let real = FileCalls()
    var calls = real
    calls.renameNew = { directory, old, new in
      makers.note(Self.thread)
      return real.renameNew(directory, old, new)
    }
    let level = try open(capacity: 2 << 20, calls: calls)
    #expect(try await Self.ownWrites(level, (0..<6_000).map(String.init), Data(count: 1_000), makers) > 0)
    #expect(try await level.verify().isSound)
    try await level.close()
  }

  @Test(
    "long values, synced sets and sets that somebody is told of are the store's thread's",
    arguments: [(500_000, Durability.buffered, false), (1_000, .synced, false), (1_000, .buffered, true)])
  func otherSets(count: Int, durability: Durability, isListening: Bool) async throws {
    #expect(try await ownWrites(of: count, durability, isListening: isListening) == 0)
  }

  // Not by threads: the main queue and the store's may be served by one thread, one after the other.
  @MainActor
  @Test(
    "small sets are written where the main actor runs, but on Apple platforms", .timeLimit(.minutes(10)),
    .enabled(if: ProcessInfo.processInfo.activeProcessorCount > 1))
  func mainThread() async throws {
    let key = DispatchSpecificKey<Bool>()
    DispatchQueue.main.setSpecific(key: key, value: true)
    defer { DispatchQueue.main.setSpecific(key: key, value: nil) }
    #expect(DispatchQueue.getSpecific(key: key) == true)
    let onMain = Mutex(0)
    let level = try open(
      calls: noting { _ in
        if DispatchQueue.getSpecific(key: key) == true { onMain.withLock { $0 += 1 } }
      })
    // The first write of all opens a segment, and opening blocks, and writes where it is called.
    try await level.set(Data(count: 10), forKey: "a")
    onMain.withLock { $0 = 0 }
    for number in 0..<50 { try await level.set(Data(count: 100), forKey: "\(number)") }
    #if canImport(Darwin)
    #expect(onMain.withLock { $0 } == 0)
    #else
    #expect(onMain.withLock { $0 } > 0)
    #endif
    try await level.close()
  }

  @Test("however many sets a stuck disk holds up, tasks that have nothing to do with it go on")
  func stuckDisk() async throws {
    let isStuck = Mutex(false)
    let gate = DispatchSemaphore(value: 0)
    let held = Mutex(0)
    let real = FileCalls()
    var calls = real
    unsafe calls.write = { descriptor, bytes, offset in
      if isStuck.withLock({ $0 }) {
        held.withLock { $0 += 1 }
        gate.wait()
        gate.signal()
      }
      return unsafe real.write(descriptor, bytes, offset)
    }
    let level = try open(calls: calls)
    try await level.set(Data(count: 10), forKey: "first")
    isStuck.withLock { $0 = true }
    let sets = (0..<32).map { number in
      Task.detached { try await level.set(Data(count: 1_000), forKey: "\(number)") }
    }
    // Goes on for as long as it takes until somebody is stuck, and a while after that.
    while held.withLock({ $0 }) == 0 { await Task.detached {}.value }
    for _ in 0..<1_000 { await Task.detached {}.value }
    #expect(try await level.get("first") == Data(count: 10))
    isStuck.withLock { $0 = false }
    gate.signal()
    for set in sets { try await set.value }
    for number in 0..<32 { #expect(try await level.get("\(number)") == Data(count: 1_000)) }
    try await level.close()
  }

  @Test("P5 C135 small sets at the limit evict what was not used for the longest time, and stay within the capacity")
  func evicts() async throws {
    let capacity = 2 << 20
    let level = try open(capacity: capacity)
    for number in 0..<6_000 {
      try await level.set(Data(count: 1_000), forKey: "\(number)")
      if number % 100 == 0 {
        #expect(folder.allocatedBytes <= capacity)
        #expect(try await level.get("0") != nil)
      }
    }
    #expect(try await level.get("1") == nil)
    #expect(try await level.get("5999") != nil)
    #expect(try await level.verify().isSound)
    let copy = try folder.copy()
    let crashed = try Level(directory: copy.path, capacity: capacity)
    #expect(try await crashed.get("0") != nil)
    #expect(try await crashed.get("5999") == Data(count: 1_000))
    try await crashed.close()
    try await level.close()
  }

  @Test("a clock may use the level that reads it, also while entries leave for small sets")
  func callingClock() async throws {
    let clock = CallingClock(ManualClock())
    let level = try Level(
      directory: folder.path, capacity: 2 << 20, keyCoding: .canonicalText, valueCoding: .data, clock: clock)
    clock.onRead { [weak level] in _ = level?.usage }
    for number in 0..<3_000 { try await level.set(Data(count: 1_000), forKey: "\(number)") }
    #expect(try await level.get("1") == nil)
    #expect(try await level.get("2999") != nil)
    try await level.close()
  }

  @Test("P6 a segment that cannot be removed in the background is an error of a later set, until it can")
  func stuckRemoval() async throws {
    let capacity = 2 << 20
    let isStuck = Mutex(true)
    let real = FileCalls()
    var calls = real
    calls.unlink = { directory, name in
      guard name.hasPrefix("log-"), isStuck.withLock({ $0 }) else { return real.unlink(directory, name) }
      errno = EPERM
      return -1
    }
    let level = try open(capacity: capacity, calls: calls)
    var refused = 0
    for number in 0..<3_000 {
      do { try await level.set(Data(count: 1_000), forKey: "\(number)") } catch let error as CacheError {
        refused += 1
        #expect(error.code == .diskWriteFailed && error.message.contains(folder.path))
      }
      if number % 100 == 0 { #expect(folder.allocatedBytes <= capacity) }
    }
    #expect(refused > 0)
    isStuck.withLock { $0 = false }
    for number in 0..<3_000 { try await level.set(Data(count: 1_000), forKey: "\(number)") }
    #expect(folder.allocatedBytes <= capacity)
    #expect(try await level.verify().isSound)
    try await level.close()
  }

  @Test(
    "values of every length are read whole, whether the page cache has them or not",
    arguments: [
      0, 1, 4_095, 4_096, 70_001, 300_000, 9_000_000,
    ])
  func lengths(count: Int) async throws {
    let value = Data((0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ ($0 >> 8)) })
    let level = try open(capacity: 64 << 20)
    try await level.set(value, forKey: "a", tags: ["t"])
    #expect(try await level.get("a") == value)
    try await level.close()
    for name in folder.names {
      let file = unsafe Foundation.open(folder.path + "/" + name, O_RDONLY)
      fsync(file)
      #if canImport(Glibc)
      posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED)
      #endif
      close(file)
    }
    let again = try open(capacity: 64 << 20)
    for _ in 0..<2 {
      let entry = try await again.lookup("a").entry
      #expect(entry?.value == value && entry?.tags == ["t"])
      // It belongs to its reader alone.
      var changed = entry?.value ?? Data()
      changed.append(1)
      #expect(changed.count == count + 1)
    }
    try await again.close()
  }

  @Test("who joins an open store looks into its directory without holding up those who open or close others")
  func joining() async throws {
    let first = try open()
    let isFree = Mutex(false)
    var calls = FileCalls()
    calls.names = { [real = calls.names] directory in
      let opened = DispatchSemaphore(value: 0)
      Thread.detachNewThread {
        let other = DiskFolder()
        _ = try? Level(directory: other.path)
        opened.signal()
      }
      isFree.withLock { $0 = opened.wait(timeout: .now() + 20) == .success }
      return real(directory)
    }
    let second = try open(calls: calls)
    #expect(isFree.withLock { $0 })
    for level in [first, second] { try await level.close() }
  }

  /// Calls something whenever it is asked which boot it counts from.
  private struct AskedClock: CacheClock {
    private let clock = ManualClock()
    let onBoot: @Sendable () -> Void
    var now: CacheInstant { clock.now }
    var timeSinceEpoch: Duration { clock.timeSinceEpoch }
    var minimumResolution: Duration { clock.minimumResolution }
    var bootIdentifier: UInt64 {
      onBoot()
      return clock.bootIdentifier
    }
    func sleep(until deadline: CacheInstant, tolerance: Duration?) async throws {
      try await clock.sleep(until: deadline, tolerance: tolerance)
    }
  }

  @Test(
    "who joins an open store asks its clock without holding up those who open or close others",
    arguments: [StoreSharing.exclusive, .acrossProcesses])
  func joiningByClock(sharing: StoreSharing) async throws {
    func open(_ onBoot: @escaping @Sendable () -> Void) throws -> Level {
      try Level(
        directory: folder.path, sharing: sharing, keyCoding: .canonicalText, valueCoding: .data,
        clock: AskedClock(onBoot: onBoot))
    }
    let first = try open {}
    let answers = Mutex<[Bool]>([])
    let second = try open {
      let opened = DispatchSemaphore(value: 0)
      Thread.detachNewThread {
        let other = DiskFolder()
        _ = try? Level(directory: other.path, sharing: sharing)
        opened.signal()
      }
      let isFree = opened.wait(timeout: .now() + 20) == .success
      answers.withLock { $0.append(isFree) }
    }
    #expect(answers.withLock { !$0.isEmpty && !$0.contains(false) })
    for level in [first, second] { try await level.close() }
  }

  @Test("who closes a shared directory while another level is about to join is the last, and leaves it free")
  func closingBeforeJoining() async throws {
    let path = folder.path
    @Sendable func open(_ onBoot: @escaping @Sendable () -> Void) throws -> Level {
      try Level(
        directory: path, sharing: .acrossProcesses, keyCoding: .canonicalText, valueCoding: .data,
        clock: AskedClock(onBoot: onBoot))
    }
    let first = try open {}
    final class Seen: Sendable {
      let isAsked = Mutex(false)
      let isFree = Mutex(false)
    }
    let seen = Seen()
    // On a thread that no task needs.
    let second = try await withCheckedThrowingContinuation { opened in
      Thread.detachNewThread {
        let level = Result {
          try open {
            let isFirst = seen.isAsked.withLock { asked in
              defer { asked = true }
              return !asked
            }
            guard isFirst else { return }
            let closed = DispatchSemaphore(value: 0)
            Task {
              try? await first.close()
              let alone = try? Level(directory: path, keyCoding: .canonicalText, valueCoding: .data)
              seen.isFree.withLock { $0 = alone != nil }
              try? await alone?.close()
              closed.signal()
            }
            _ = closed.wait(timeout: .now() + 20)
          }
        }
        opened.resume(with: level)
      }
    }
    #expect(seen.isFree.withLock { $0 })
    try await second.close()
  }
}

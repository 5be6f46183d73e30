import CacheDisk
import CacheEngine
@testable import CacheEngineStorage
import CacheEngineTesting
import Dispatch
import Foundation
import Synchronization
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10))) struct StorageClosingTests {
  let bench = StorageBench()

  @Test("a read that is under way when the storage is closed leaves nothing in memory", arguments: 1...4)
  func readUnderWay(steps: Int) async throws {
    let config = DiskConfig(name: "store", maxSize: 64 << 20, directory: bench.folder.path)
    let storage = try bench.open(Data.self, disk: config, memory: MemoryConfig(totalCostLimit: 32 << 20))
    // So long that it is read on a thread of the disk's, and whoever reads is suspended meanwhile.
    try storage.setObject(Data(count: 9 << 20), forKey: "a")
    try storage.removeInMemoryObject(forKey: "a")
    let held = HeldSteps()
    let reader = Task(executorPreference: held) { [core = storage.core] in
      defer { held.end() }
      _ = try? await core.lookup("a")
    }
    for _ in 0..<steps { try await held.takeStep() }
    try await storage.async.close()
    held.open()
    await reader.value
    #expect(storage.memoryUsage?.count == 0)
    #expect(storage.peek("a") == nil)
  }

  @Test("a task that was cancelled lets go of the folder as well")
  func cancelled() async throws {
    let storage = try bench.open(memory: nil)
    let task = Task {
      unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
      try await storage.async.close()
    }
    try await task.value
    let error = #expect(throws: CacheError.self) { try storage.object(forKey: "a") }
    #expect(error?.code == .closed)
  }

  @Test("a storage that was closed gives nothing, also if its disk could not be synced")
  func failing() throws {
    let isBroken = Mutex(false)
    var calls = FileCalls()
    calls.sync = { [real = calls.sync] in
      guard isBroken.withLock({ $0 }) else { return real($0) }
      errno = EIO
      return -1
    }
    let disk = try DiskCacheLevel<String, StoredObject>(
      directory: bench.path, capacity: 16 << 20, name: "disk", expiry: .never, keepsExpired: .zero,
      durability: .buffered, access: .readWrite, keyCoding: .canonicalText, valueCoding: .object, clock: bench.clock,
      removalListener: nil, calls: calls)
    let storage = Storage<String, StorageBench.User>(
      core: StorageCore(memory: MemoryConfig(), disk: disk, sweepInterval: nil, clock: bench.clock),
      transformer: TransformerFactory.forCodable(ofType: StorageBench.User.self))
    try storage.setObject(bench.ada, forKey: "a")
    isBroken.withLock { $0 = true }
    let failure = #expect(throws: CacheError.self) { try storage.close() }
    #expect(failure?.code == .diskWriteFailed)
    let error = #expect(throws: CacheError.self) { try storage.object(forKey: "a") }
    #expect(error?.code == .closed)
  }

  @Test("a folder that is named from the working directory stays the one that was opened")
  func relativeFolder() throws {
    let up = FileManager.default.currentDirectoryPath.split(separator: "/").map { _ in ".." }.joined(separator: "/")
    let storage = try bench.open(disk: DiskConfig(name: "store", maxSize: 16 << 20, directory: up + bench.folder.path))
    try storage.setObject(bench.ada, forKey: "a")
    #expect(FileManager.default.fileExists(atPath: bench.path))
    #expect(storage.core.diskConfig?.directory?.hasPrefix("/") == true)
    try storage.close()
  }
}

/// Carries out the steps of a task, from one suspension to the next, when it is told to.
private final class HeldSteps: TaskExecutor {
  private struct State {
    var held: [UnownedJob] = []
    var isOpen = false
    var hasEnded = false
  }

  private let state = Mutex(State())
  private static let queue = DispatchQueue(label: "HeldSteps")

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    let isHeld = state.withLock { state in
      if !state.isOpen { state.held.append(job) }
      return !state.isOpen
    }
    if !isHeld { run(job) {} }
  }

  private func run(_ job: UnownedJob, _ completion: @escaping @Sendable () -> Void) {
    Self.queue.async { [self] in
      unsafe job.runSynchronously(on: asUnownedTaskExecutor())
      completion()
    }
  }

  /// Waits for the next step and carries it out, unless the task has ended.
  func takeStep() async throws {
    try await turns { state.withLock { !$0.held.isEmpty || $0.hasEnded } }
    guard let job = state.withLock({ $0.held.isEmpty ? nil : $0.held.removeFirst() }) else { return }
    await withCheckedContinuation { done in run(job) { done.resume() } }
  }

  /// Holds nothing back from now on.
  func open() {
    let held = state.withLock { state in
      state.isOpen = true
      defer { state.held = [] }
      return state.held
    }
    for job in held { run(job) {} }
  }

  func end() { state.withLock { $0.hasEnded = true } }
}

#if Explorer
import CacheEngine
import CacheEngineTesting

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif
#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// An error at every system call of a small job in turn, in a store that has much behind it.
struct FaultSweep {
  let tier: Tier
  let isRoomy: Bool
  var seed: UInt64 = 1
  var rounds = 2
  var operations = 10

  /// Lets one call after the other fail with each error that it may have.
  ///
  /// - Parameters:
  ///   - reach: What else fails after it.
  ///   - stride: 1 for every call; more for one of so many of each kind.
  /// - Returns: How many faults there were.
  /// - Throws: ``Failure`` if a promise was broken; it names the call.
  func run(_ reach: Fault.Reach, stride: Int = 1) async throws -> Int {
    let start = try await Start.make(tier, isRoomy: isRoomy, seed: seed)
    let folder = try Disk.makeTemporary(inMemory: true)
    defer { Disk.remove(folder) }
    try SimulatedDisk.lay(start.files, at: folder)
    let whole = Job.small(folder, tier, isRoomy: isRoomy, Start.calls, tasks: 1)
    let runs = try await whole.runUntilAllIsDone(
      seed: seed, rounds: rounds, operations: operations, recorder: Recorder(start.history))
    var count = 0
    for call in Call.allCases {
      var after = 0
      // Trying again for ever is right if the fault goes on for ever.
      let codes = call.errors.filter { reach == .once || $0 != EINTR }
      search: while true {
        for code in codes {
          let fault = Fault(call: call, after: after, code: code, reach: reach)
          guard try await meets(fault, start, runs) else { break search }
          count += 1
        }
        after += stride
      }
      // Without room for a checkpoint nothing is cut off.
      guard after > 0 || call == .truncate else { throw Failure("the job never came to \(call.rawValue)") }
    }
    return count
  }

  /// Whether the job came to a fault, which it withstood.
  private func meets(_ fault: Fault, _ start: Start, _ runs: Int) async throws -> Bool {
    let folder = try Disk.makeTemporary(inMemory: true)
    defer { Disk.remove(folder) }
    try SimulatedDisk.lay(start.files, at: folder)
    let faults = FaultyCalls(Start.calls, fault)
    var job = Job.small(folder, tier, isRoomy: isRoomy, faults.calls, tasks: 1)
    if fault.reach != .once { job.failure = .unknown }
    let recorder = try Recorder(start.history)
    do {
      // The store may say that it cannot be opened; nothing else may come out of the job.
      do {
        for run in 1...runs {
          try await job.run(
            seed: seed &+ UInt64(run), rounds: rounds, operations: operations, recorder: recorder
          ) { levels in
            guard run == runs else { return }
            // The closing that follows has its faults too: without synced writes it is the only one that waits for the disk.
            try await faults.pause { for level in levels { try await checkHealth(level, recorder) } }
          }
        }
      } catch let error as CacheError { _ = error }
      faults.disarm()
      job.calls = Start.calls
      job.failure = .failed
      try await job.verify(recorder.history)
      try await job.run(seed: seed &+ 100, rounds: 1, operations: operations, recorder: recorder)
      try await job.verify(recorder.history)
    } catch {
      throw Failure(
        """
        \(fault.call.rawValue) number \(fault.after) failed with \(fault.code), \(fault.reach.rawValue): \(error)
        again: cache-torture faults --seed \(seed) --tier \(tier.rawValue)\(isRoomy ? "" : " --tight")
        """)
    }
    return faults.isReached
  }

  /// - Throws: ``Failure`` if a level that is still open takes no work though nothing is wrong any more.
  private func checkHealth(_ level: DiskCacheLevel<String, Data>, _ recorder: Recorder) async throws {
    let operation = recorder.begin("health", .set(length: 300))
    do {
      try await level.set(History.value(operation), forKey: operation.key)
      recorder.end(operation, .acknowledged)
      guard try await level.get(operation.key) == History.value(operation) else { throw Failure("it lost a new value") }
    } catch { throw Failure("it does not recover while it is open: \(error)") }
  }
}
#endif

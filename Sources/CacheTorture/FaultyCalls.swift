import CacheEngine
import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// System calls of which the Nth fails, or all from the Nth on, as on a disk that is gone.
final class FaultyCalls: Sendable {
  private let count = Mutex(0)
  private let isArmed = Mutex(true)
  let failing: Int
  let isForGood: Bool
  let code: Int32

  init(failing: Int, code: Int32, isForGood: Bool) {
    self.failing = failing
    self.code = code
    self.isForGood = isForGood
  }

  /// How many calls were made.
  var made: Int { count.withLock { $0 } }

  /// From now on everything works.
  func disarm() { isArmed.withLock { $0 = false } }

  private func fails() -> Bool {
    let number = count.withLock { count in
      defer { count += 1 }
      return count
    }
    guard isArmed.withLock({ $0 }), isForGood ? number >= failing : number == failing else { return false }
    errno = code
    return true
  }

  var calls: FileCalls {
    let real = FileCalls()
    var calls = FileCalls()
    calls.makeDirectory = { self.fails() ? -1 : real.makeDirectory($0) }
    calls.open = { self.fails() ? -1 : real.open($0, $1, $2) }
    // Asks as usual, so that every open has its turn.
    calls.openNow = { _, _, _ in -1 }
    unsafe calls.read = { self.fails() ? -1 : unsafe real.read($0, $1, $2) }
    unsafe calls.write = { self.fails() ? -1 : unsafe real.write($0, $1, $2) }
    calls.truncate = { self.fails() ? -1 : real.truncate($0, $1) }
    calls.rename = { self.fails() ? -1 : real.rename($0, $1, $2) }
    calls.unlink = { self.fails() ? -1 : real.unlink($0, $1) }
    calls.sync = { self.fails() ? -1 : real.sync($0) }
    return calls
  }
}

/// An error at every system call of a small job in turn.
struct FaultSweep {
  let durability: Durability
  let isRoomy: Bool
  var seed: UInt64 = 1
  var rounds = 2
  var operations = 12

  /// Lets one call after the other fail, until the job ends before its turn comes.
  ///
  /// - Parameters:
  ///   - code: The error of the system.
  ///   - isForGood: Whether all later calls fail too. What stands on the disk then is what a kill at this call leaves.
  ///   - stride: 1 for every call; more to look at some of them only.
  /// - Returns: How many calls failed in their turn.
  /// - Throws: ``Failure`` if a promise was broken; it names the call.
  func run(code: Int32, isForGood: Bool, stride: Int = 1) async throws -> Int {
    var failing = 0
    var tried = 0
    while true {
      let directory = try Disk.makeTemporary()
      defer { Disk.remove(directory) }
      let faults = FaultyCalls(failing: failing, code: code, isForGood: isForGood)
      var job = Job(directory: directory, durability: durability, isRoomy: isRoomy, keysEach: 8, tasks: 1)
      job.calls = faults.calls
      if isForGood { job.failure = .unknown }
      let recorder = try Recorder()
      do {
        // The store may say that it cannot be opened; nothing else may come out of the job.
        do { try await job.run(seed: seed, rounds: rounds, operations: operations, recorder: recorder) } catch let error
          as CacheError
        { _ = error }
        faults.disarm()
        job.calls = FileCalls()
        job.failure = .failed
        try await job.verify(recorder.history)
        // Well again: the store takes new work.
        try await job.run(seed: seed + 1, rounds: 1, operations: operations, recorder: recorder)
        try await job.verify(recorder.history)
      } catch {
        throw Failure(
          """
          call \(failing) of the job failed with \(code)\(isForGood ? ", and all after it" : ""): \(error)
          replay: cache-torture faults --seed \(seed) --tier \(durability.rawValue)\(isRoomy ? "" : " --tight")
          """)
      }
      guard faults.made > failing else { return tried }
      failing += stride
      tried += 1
    }
  }
}

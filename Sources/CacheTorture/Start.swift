#if Explorer
import CacheEngine
import CacheEngineTesting

/// A store that has much behind it, with what it should hold: where sweeps begin.
struct Start {
  var files: DiskModel.Survivors = [:]
  var history = History()
  var ledger = Ledger()

  /// What waits for the disk need not wait where no power is cut.
  static var calls: FileCalls {
    var calls = FileCalls()
    calls.sync = { _ in 0 }
    return calls
  }

  /// Fills a store until it has to reclaim and, if its room is tight, to evict.
  static func make(_ tier: Tier, isRoomy: Bool, seed: UInt64) async throws -> Start {
    let folder = try Disk.makeTemporary(inMemory: true)
    defer { Disk.remove(folder) }
    var job = Job.small(folder, tier, isRoomy: isRoomy, calls, tasks: 1)
    // Nothing is cleared.
    job.pauses = .max
    let recorder = try Recorder()
    try await job.runUntilAllIsDone(seed: ~seed, rounds: 8, operations: 40, recorder: recorder)
    let found = try await job.holdings(recorder.ledger, at: 1)
    return Start(
      files: try SimulatedDisk.files(in: folder), history: recorder.history.settled(found),
      ledger: Ledger(after: recorder.ledger, at: 1, found: found, isSynced: tier != .buffered))
  }
}
#endif

#if Explorer
import CacheEngine
import CacheEngineTesting

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Cuts the power at every moment of a job, and looks at what the disk has: then of the recovery, and of what follows.
struct PowerCuts {
  let tier: Tier
  let isRoomy: Bool
  let seed: UInt64
  /// Begins where there is no folder; otherwise with a store that is full.
  var isFresh = false
  var rounds = 6
  var operations = 14
  /// A wait for the disk fails now and then; what waited for it is lost.
  var isFailing = false
  /// Where the folder is kept if a promise was broken.
  var evidence: String?

  struct Tally {
    var cuts = 0
    var moments = 0
  }

  /// Cuts at each moment, or at one of `stride`, in as many ways.
  ///
  /// - Throws: ``Failure`` if a promise was broken.
  func run(stride: Int = 1, ways: Int = 2) async throws -> Tally {
    let start = isFresh ? Start() : try await Start.make(tier, isRoomy: isRoomy, seed: seed)
    let folder = try Disk.makeTemporary(inMemory: true)
    defer { Disk.remove(folder) }
    try SimulatedDisk.lay(start.files, at: folder)
    let isFailing = isFailing
    let disk = SimulatedDisk(folder, holding: start.files) { isFailing && $0 % 41 == 40 }
    let recorder = try Recorder(start.history, start.ledger) { disk.moment }
    var job = Job.small(folder, tier, isRoomy: isRoomy, disk.calls, tasks: 2)
    job.isDiskFailing = isFailing
    if isFresh {
      try await job.run(seed: seed, rounds: 2, operations: operations, recorder: recorder)
    } else {
      try await job.runUntilAllIsDone(seed: seed, rounds: rounds, operations: operations, recorder: recorder)
    }
    var tally = Tally(moments: disk.moment)
    var model = disk.model(at: 0)
    var last = 0
    for moment in Swift.stride(from: Int(seed) % stride, through: tally.moments, by: stride) {
      disk.apply(last..<moment, to: &model)
      last = moment
      for way in 0..<ways {
        let seed = (seed &* 1_000_003 &+ UInt64(moment)) &* 64 &+ UInt64(way)
        do {
          tally.cuts += try await follow(model.survivors(seed: seed), recorder, at: moment, seed: seed)
        } catch {
          let kept = try keep(model.survivors(seed: seed))
          throw Failure(
            """
            the power was cut after \(moment) of \(tally.moments) changes, seed \(seed)\(kept): \(error)
            again: cache-torture cuts --seed \(self.seed) --tier \(tier.rawValue)\(isRoomy ? "" : " --tight")
            """)
        }
      }
    }
    return tally
  }

  /// The power comes back, the store works on, and the power is cut again; gives how many cuts that were.
  private func follow(
    _ survivors: DiskModel.Survivors, _ recorder: Recorder, at moment: Int, seed: UInt64
  ) async throws -> Int {
    var generator = SeededGenerator(seed: seed)
    var (survivors, recorder, moment) = (survivors, recorder, moment)
    for cut in 1...2 {
      let folder = try Disk.makeTemporary(inMemory: true)
      defer { Disk.remove(folder) }
      try SimulatedDisk.lay(survivors, at: folder)
      let disk = SimulatedDisk(folder, holding: survivors)
      let job = Job.small(folder, tier, isRoomy: isRoomy, disk.calls, tasks: 2)
      do {
        let found = try await job.holdings(recorder.ledger, at: moment)
        guard cut < 2 else { break }
        let ledger = Ledger(after: recorder.ledger, at: moment, found: found, isSynced: tier != .buffered)
        recorder = try Recorder(recorder.history.settled(found), ledger) { disk.moment }
        try await job.run(seed: generator.next(), rounds: 2, operations: 4, recorder: recorder)
        moment = Int.random(in: 0...disk.moment, using: &generator)
        survivors = disk.model(at: moment).survivors(seed: generator.next())
      } catch {
        throw Failure("after cut \(cut), at \(moment): \(error)")
      }
    }
    return 2
  }

  private func keep(_ survivors: DiskModel.Survivors) throws -> String {
    guard let evidence else { return "" }
    let kept = "\(evidence)/cut-\(tier.rawValue)-\(seed)"
    Disk.remove(kept)
    try SimulatedDisk.lay(survivors, at: kept)
    return ", evidence: \(kept)"
  }
}
#endif

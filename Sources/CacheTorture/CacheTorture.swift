#if Explorer
import ArgumentParser
import CacheEngine
import CacheEngineTesting
#endif

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif
#if Explorer
#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Kills stores, fills disks, lets system calls fail, and looks whether what was promised holds.
@main
struct CacheTorture: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "cache-torture",
    abstract: "Kills disk levels, lets their system calls fail, and looks whether what was promised holds.",
    discussion: "Ends with 1 if a promise was broken, and then says where the evidence lies.",
    subcommands: [Work.self, Verify.self, Cycle.self, Shared.self, Cuts.self, Faults.self, Full.self])
}

enum Tier: String, ExpressibleByArgument, CaseIterable {
  case buffered, synced, mixed, memory

  /// Those of the levels over the store.
  var durabilities: [Durability] {
    switch self {
    case .buffered, .memory: [.buffered]
    case .synced: [.synced]
    case .mixed: [.synced, .buffered]
    }
  }
}

struct Options: ParsableArguments {
  @Option(help: "Where the random numbers begin.") var seed: UInt64 = 1
  @Option(
    help:
      "What an acknowledged write survives: buffered, synced, mixed for the one or the other, or memory for nothing.")
  var tier = Tier.buffered
  @Flag(help: "Less room than the work needs, so that entries are evicted and the log is reclaimed.") var tight = false

  func job(_ directory: String) -> Job { Job(directory: directory, tier: tier, isRoomy: !tight) }

  /// How the same is asked for again.
  var words: String { "--seed \(seed) --tier \(tier.rawValue)\(tight ? " --tight" : "")" }
}

struct Work: AsyncParsableCommand {
  static let configuration = CommandConfiguration(abstract: "Work on a store until killed, and keep a log.")
  @Argument(help: "The directory of the store.") var directory: String
  @Option(help: "The file that says what was asked and answered.") var log: String
  @Option(help: "How many rounds of a hundred operations.") var rounds = 1_000_000
  @Flag(help: "Write a byte for each answer, for who kills after so many.") var announces = false
  @Option(help: "Which of the processes this is that share the directory.") var worker: Int?
  @Option(help: "How many processes share the directory.") var workers = 1
  @Flag(help: "Neither clear the store nor open it anew.") var steady = false
  @OptionGroup var options: Options

  func run() async throws {
    let known = (try? Disk.text(of: log)).map { History(text: $0) } ?? History()
    let recorder = try Recorder(known, appendingTo: log, announces: announces)
    guard options.tier != .memory else { return try await workInMemory(recorder) }
    var job = options.job(directory)
    if let worker { job = job.shared(by: workers, worker) }
    if steady { job.pauses = .max }
    do {
      try await job.run(seed: options.seed, rounds: rounds, recorder: recorder)
    } catch let failure as Failure {
      print("broken: \(failure)")
      throw ExitCode(1)
    }
  }

  /// What a memory level holds is gone with the process; here it only has to leave nothing behind.
  private func workInMemory(_ recorder: Recorder) async throws {
    let level = MemoryCacheLevel<String, Data>(capacity: 8 << 20, cost: { $1.count })
    var generator = SeededGenerator(seed: options.seed)
    for _ in 0..<rounds * 100 {
      let operation = recorder.begin("\(Int.random(in: 0..<48, using: &generator))", .set(length: 500))
      try await level.set(History.value(operation), forKey: operation.key)
      recorder.end(operation, .acknowledged)
    }
  }
}

struct Verify: AsyncParsableCommand {
  static let configuration = CommandConfiguration(abstract: "Compare a store with the log of the work on it.")
  @Argument(help: "The directory of the store.") var directory: String
  @Option(help: "The file that says what was asked and answered.") var log: String
  @OptionGroup var options: Options

  func run() async throws {
    do {
      try await options.job(directory).verify(History(text: try Disk.text(of: log)))
      print("every promise holds")
    } catch let failure as Failure {
      print("broken: \(failure)")
      throw ExitCode(1)
    }
  }
}

struct Cycle: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract:
      "Start work in a process of its own, kill it after some thousand operations, look at what it left; again and again."
  )
  @Option(help: "How many times.") var count = 100
  @Option(help: "The most operations before a kill.") var operations = 4_000
  @Option(help: "Where the store is kept if a promise was broken.") var evidence = "torture-evidence"
  @OptionGroup var options: Options

  /// What was seen in all cycles.
  private struct Tally {
    var operations = 0
    var seen = 0
    var evicted = 0
  }

  func run() async throws {
    let folder = try Disk.makeTemporary(inMemory: true)
    let (store, log) = (folder + "/store", folder + "/log")
    var generator = SeededGenerator(seed: options.seed)
    var tally = Tally()
    for cycle in 0..<count {
      if Int.random(in: 0..<8, using: &generator) == 0 { for path in [store, log] { Disk.remove(path) } }
      do { try await kill(store, log, &generator, &tally, isLast: cycle == count - 1) } catch {
        let kept = "\(evidence)/\(options.tier.rawValue)-\(options.seed)-\(cycle)"
        Disk.remove(kept)
        try FileManager.default.createDirectory(atPath: evidence, withIntermediateDirectories: true)
        try FileManager.default.copyItem(atPath: folder, toPath: kept)
        print(
          """
          broken in cycle \(cycle) of \(count): \(error)
          evidence: \(kept)
          look again: cache-torture verify \(kept)/store --log \(kept)/log \(options.words)
          again: cache-torture cycle \(options.words) --count \(count)
          """)
        throw ExitCode(1)
      }
    }
    Disk.remove(folder)
    if options.tight, tally.evicted == 0 {
      print("broken: nothing was evicted in \(tally.operations) operations")
      throw ExitCode(1)
    }
    print(
      """
      \(options.words): \(count) kills within \(tally.operations) operations, \(tally.evicted) entries evicted, \
      \(tally.seen) values seen while another process wrote, every promise held
      """)
  }

  private func kill(
    _ store: String, _ log: String, _ generator: inout SeededGenerator, _ tally: inout Tally, isLast: Bool
  ) async throws {
    let seed = UInt64.random(in: 0...UInt64.max, using: &generator)
    // Opening and the first operations are worth a quarter of the kills.
    let isEarly = Int.random(in: 0..<4, using: &generator) == 0
    let wanted = Int.random(in: isEarly ? 0...30 : operations / 4...operations, using: &generator)
    let isWatched = Bool.random(using: &generator)
    let (looksFirst, isVerified) = (Bool.random(using: &generator), Bool.random(using: &generator) || isLast)
    let delay = UInt32.random(in: 0..<2_000, using: &generator)
    let child = try Child.work(store, log: log, seed: seed, options: options)
    if options.tier != .memory, isWatched {
      try child.await(wanted / 2)
      tally.seen += try await Look(directory: store).check()
    }
    try child.await(isWatched ? wanted - wanted / 2 : wanted)
    try child.kill(after: delay)
    guard options.tier != .memory else {
      guard !FileManager.default.fileExists(atPath: store) else { throw Failure("\(store) was made") }
      tally.operations += wanted
      return Disk.remove(log)
    }
    tally.operations += wanted
    guard looksFirst || isVerified else { return }
    let history = (try? Disk.text(of: log)).map { History(text: $0) } ?? History()
    // Looking changes nothing, so the next one to open it has the crash to mend.
    if looksFirst, FileManager.default.fileExists(atPath: store) {
      try await options.job(store).verify(history, access: .readOnly)
    }
    if isVerified { tally.evicted += try await options.job(store).verify(history) }
  }
}

struct Cuts: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract:
      "Cut the power at every moment of a job, and look at what a disk may have that promises nothing but syncs.")
  @Option(help: "1 for every moment; more for one of so many.") var stride = 1
  @Option(help: "In how many ways each time.") var ways = 2
  @Option(help: "Where the folder is kept if a promise was broken.") var evidence = "torture-evidence"
  @OptionGroup var options: Options

  func run() async throws {
    guard options.tier != .memory else { return print("a memory level has nothing on a disk") }
    var cuts = PowerCuts(tier: options.tier, isRoomy: !options.tight, seed: options.seed)
    cuts.evidence = evidence
    for (disk, isFresh, isFailing) in [("new", true, false), ("full", false, false), ("failing", false, true)] {
      (cuts.isFresh, cuts.isFailing) = (isFresh, isFailing)
      do {
        let tally = try await cuts.run(stride: stride, ways: ways)
        print(
          "\(options.words): \(tally.cuts) power cuts at \(tally.moments) moments, \(disk) disk, every promise held")
      } catch let failure as Failure {
        print("broken: \(failure)")
        throw ExitCode(1)
      }
    }
  }
}

struct Faults: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Let every system call of a small job fail in turn, once and for good.")
  @Option(help: "1 for every call; more for one of so many of each kind.") var stride = 1
  @OptionGroup var options: Options

  func run() async throws {
    guard options.tier != .memory else { return print("a memory level makes no system calls") }
    let sweep = FaultSweep(tier: options.tier, isRoomy: !options.tight, seed: options.seed)
    for reach in Fault.Reach.allCases {
      do {
        let count = try await sweep.run(reach, stride: stride)
        print("\(options.words): \(count) system calls failed, \(reach.rawValue), every promise held")
      } catch let failure as Failure {
        print("broken: \(failure)")
        throw ExitCode(1)
      }
    }
  }
}

struct Full: AsyncParsableCommand {
  static let configuration = CommandConfiguration(abstract: "Work on a disk that is full, where mounting is allowed.")
  @OptionGroup var options: Options

  func run() async throws {
    #if os(Linux)
    let folder = try Disk.makeTemporary()
    defer { Disk.remove(folder) }
    guard unsafe mount("tmpfs", folder, "tmpfs", 0, "size=3m,mode=700") == 0 else {
      return print("skipped: mounting is not allowed here (\(errno))")
    }
    defer { unsafe umount(folder) }
    do { try await fill(folder) } catch let failure as Failure {
      print("broken: \(failure)")
      throw ExitCode(1)
    }
    print("\(options.tier.rawValue): a full disk, every promise held")
    #else
    print("skipped: there is no tmpfs here")
    #endif
  }

  private func fill(_ folder: String) async throws {
    var job = options.job(folder + "/store")
    // More than the disk holds.
    job.capacity = 8 << 20
    let recorder = try Recorder()
    var isFull: Bool { recorder.history.operations.values.contains { $0.outcome == .failed } }
    var rounds: UInt64 = 0
    let pauses = job.pauses
    job.pauses = .max
    repeat {
      guard rounds < 200 else { throw Failure("the disk never was full") }
      try await job.run(seed: options.seed &+ rounds, rounds: 1, recorder: recorder)
      rounds += 1
    } while !isFull
    // Now with clears and openings.
    job.pauses = pauses
    try await job.run(seed: options.seed &+ rounds, rounds: 30, recorder: recorder)
    try await job.verify(recorder.history)
    let level = try job.open()
    let clearing = recorder.begin("*", .clear)
    try await level.clear()
    recorder.end(clearing, .acknowledged)
    try await level.set(Data("well again".utf8), forKey: "after")
    guard try await level.get("after") == Data("well again".utf8) else { throw Failure("not well again after a clear") }
    try await level.remove("after")
    try await level.close()
    try await job.verify(recorder.history)
  }
}
#else
@main
enum CacheTorture {
  static func main() {
    print("error: there is nothing to torture in this build; use `make torture`, or --traits Explorer")
    exit(64)
  }
}
#endif

import ArgumentParser
import CacheEngine

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

/// Kills stores, fills disks, lets system calls fail, and looks whether what was promised holds.
@main
struct CacheTorture: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "cache-torture",
    abstract: "Kills disk levels, lets their system calls fail, and looks whether what was promised holds.",
    discussion: "Ends with 1 if a promise was broken, and then says where the evidence lies.",
    subcommands: [Work.self, Verify.self, Cycle.self, Faults.self, Full.self])
}

enum Tier: String, ExpressibleByArgument, CaseIterable {
  case buffered, synced, memory

  var durability: Durability? { Durability(rawValue: rawValue) }
}

struct Options: ParsableArguments {
  @Option(help: "Where the random numbers begin.") var seed: UInt64 = 1
  @Option(help: "What an acknowledged write survives: buffered, synced, or memory for nothing.")
  var tier = Tier.buffered
  @Flag(help: "Less room than the work needs, so that entries are evicted and the log is reclaimed.") var tight = false

  func job(_ directory: String) -> Job {
    Job(directory: directory, durability: tier.durability ?? .buffered, isRoomy: !tight)
  }
}

struct Work: AsyncParsableCommand {
  static let configuration = CommandConfiguration(abstract: "Work on a store until killed, and keep a log.")
  @Argument(help: "The directory of the store.") var directory: String
  @Option(help: "The file that says what was asked and answered.") var log: String
  @Option(help: "How many rounds of a hundred operations.") var rounds = 1_000_000
  @OptionGroup var options: Options

  func run() async throws {
    let known = (try? Disk.text(of: log)).map { History(text: $0) } ?? History()
    let recorder = try Recorder(known, appendingTo: log)
    guard options.tier != .memory else { return try await workInMemory(recorder) }
    do {
      try await options.job(directory).run(seed: options.seed, rounds: rounds, recorder: recorder)
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
    abstract: "Start work in a process of its own, kill it at a random moment, look at what it left; again and again.")
  @Option(help: "How many times.") var count = 100
  @Option(help: "Where the store is kept if a promise was broken.") var evidence = "torture-evidence"
  @OptionGroup var options: Options

  func run() async throws {
    let folder = try Disk.makeTemporary()
    let (store, log) = (folder + "/store", folder + "/log")
    var generator = SeededGenerator(seed: options.seed)
    var operations = 0
    var known = 0
    var seen = 0
    for cycle in 0..<count {
      let delay = UInt32.random(in: 0..<160_000, using: &generator)
      let seed = UInt64.random(in: 0...UInt64.max, using: &generator)
      let looksFirst = Bool.random(using: &generator)
      let startsAnew = Int.random(in: 0..<8, using: &generator) == 0
      if startsAnew {
        for path in [store, log] { Disk.remove(path) }
        known = 0
      }
      do {
        let child = try Child.work(store, log: log, seed: seed, options: options)
        if options.tier != .memory, cycle % 2 == 0 {
          usleep(delay / 2)
          seen += try await Look(directory: store).check()
        }
        try child.kill(after: cycle % 2 == 0 ? delay / 2 : delay)
        let history = (try? Disk.text(of: log)).map { History(text: $0) } ?? History()
        operations += history.order.count - known
        known = history.order.count
        guard options.tier != .memory else {
          guard !FileManager.default.fileExists(atPath: store) else { throw Failure("\(store) was made") }
          Disk.remove(log)
          known = 0
          continue
        }
        // Looking changes nothing, so the next one to open it has the crash to mend.
        if looksFirst, FileManager.default.fileExists(atPath: store) {
          try await options.job(store).verify(history, access: .readOnly)
        }
        if Bool.random(using: &generator) {
          try await options.job(store).verify(history)
        } else if cycle == count - 1 {
          try await options.job(store).verify(history)
        }
      } catch {
        let kept = "\(evidence)/\(options.tier.rawValue)-\(options.seed)-\(cycle)"
        Disk.remove(kept)
        try FileManager.default.createDirectory(atPath: evidence, withIntermediateDirectories: true)
        try FileManager.default.copyItem(atPath: folder, toPath: kept)
        let tight = options.tight ? " --tight" : ""
        print(
          """
          broken in cycle \(cycle) of \(count): \(error)
          evidence: \(kept)
          look again: cache-torture verify \(kept)/store --log \(kept)/log --tier \(options.tier.rawValue)\(tight)
          replay: cache-torture cycle --seed \(options.seed) --tier \(options.tier.rawValue)\(tight) --count \(count)
          """)
        throw ExitCode(1)
      }
    }
    Disk.remove(folder)
    let tier = options.tier.rawValue + (options.tight ? ", tight" : "")
    print(
      """
      \(tier): \(count) kills within \(operations) operations from seed \(options.seed), \(seen) values seen while \
      another process wrote, every promise held
      """)
  }
}

struct Faults: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Let every system call of a small job fail in turn, once and for good.")
  @OptionGroup var options: Options

  func run() async throws {
    guard let durability = options.tier.durability else { return print("a memory level makes no system calls") }
    let sweep = FaultSweep(durability: durability, isRoomy: !options.tight, seed: options.seed)
    do {
      for (name, code) in [("EIO", EIO), ("ENOSPC", ENOSPC), ("EROFS", EROFS), ("EMFILE", EMFILE), ("EINTR", EINTR)] {
        let tried = try await sweep.run(code: code, isForGood: false)
        print("\(options.tier.rawValue): \(name) at each of \(tried) system calls, every promise held")
      }
      let tried = try await sweep.run(code: EIO, isForGood: true)
      print("\(options.tier.rawValue): the end at each of \(tried) system calls, every promise held")
    } catch let failure as Failure {
      print("broken: \(failure)")
      throw ExitCode(1)
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
    let job = options.job(folder + "/store")
    let recorder = try Recorder()
    // More than the disk holds, and less than the store may.
    try await job.run(seed: options.seed, rounds: 30, recorder: recorder)
    let failed = recorder.history.operations.values.count { $0.outcome == .failed }
    guard failed > 0 else { throw Failure("the disk never was full") }
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

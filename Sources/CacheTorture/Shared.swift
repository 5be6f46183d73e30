#if Explorer
import ArgumentParser
import CacheEngine
import CacheEngineTesting

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Kills processes that share a directory.
struct Shared: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Let processes work on one directory, kill whoever owns its files or another one; again and again.",
    discussion: "No call of those that live on may fail, nor anything be seen that was replaced before.")
  @Option(help: "How many kills.") var count = 200
  @Option(help: "How many processes.") var workers = 4
  @Option(help: "The most operations of a process before somebody is killed.") var operations = 60
  @Option(help: "Where the directory is kept if a promise was broken.") var evidence = "torture-evidence"
  @OptionGroup var options: Options

  func run() async throws {
    let folder = try Disk.makeTemporary(inMemory: true)
    do {
      let (owners, stops) = try await kill(folder)
      Disk.remove(folder)
      print(
        """
        \(options.words): \(owners) owners and \(count - owners) others of \(workers) processes killed and \(stops) stopped on one \
        directory, every promise held
        """)
    } catch {
      let kept = "\(evidence)/shared-\(options.tier.rawValue)-\(options.seed)"
      Disk.remove(kept)
      try FileManager.default.createDirectory(atPath: evidence, withIntermediateDirectories: true)
      try? FileManager.default.removeItem(atPath: folder + "/store/socket")
      try FileManager.default.copyItem(atPath: folder, toPath: kept)
      print(
        """
        broken: \(error)
        evidence: \(kept)
        again: cache-torture shared \(options.words) --count \(count) --workers \(workers)
        """)
      throw ExitCode(1)
    }
  }

  private func kill(_ folder: String) async throws -> (owners: Int, stops: Int) {
    let store = folder + "/store"
    var generator = SeededGenerator(seed: options.seed)
    func start(_ worker: Int) throws -> Child {
      try Child.work(
        store, log: "\(folder)/log\(worker)", seed: UInt64.random(in: 0...UInt64.max, using: &generator),
        options: options, worker: (worker, of: workers))
    }
    var children = try (0..<workers).map { try start($0) }
    var (owners, stops) = (0, 0)
    for _ in 0..<count {
      let watched = children[Int.random(in: 0..<workers, using: &generator)]
      try watched.await(Int.random(in: 1...operations, using: &generator))
      let owner = SharedDirectory.owner(of: store).flatMap { owner in children.firstIndex { $0.process == owner } }
      if let owner, Int.random(in: 0..<8, using: &generator) == 0 {
        children[owner].pause(for: UInt32.random(in: 0..<200_000, using: &generator))
        stops += 1
      }
      let wantsOwner = Bool.random(using: &generator)
      let victim = wantsOwner ? owner ?? 0 : Int.random(in: 0..<workers, using: &generator)
      if victim == owner { owners += 1 }
      try children[victim].kill(after: UInt32.random(in: 0..<2_000, using: &generator))
      children[victim] = try start(victim)
    }
    for child in children { try child.kill(after: 0) }
    let histories = try (0..<workers).map { History(text: try Disk.text(of: "\(folder)/log\($0)")) }
    for (worker, history) in histories.enumerated() {
      try await options.job(store).shared(by: workers, worker).verify(history, of: histories)
    }
    return (owners, stops)
  }
}

extension Job {
  /// The same as the work of one of several processes.
  func shared(by workers: Int, _ worker: Int) -> Job {
    var job = self
    job.share = (worker, workers)
    (job.capacity, job.tasks, job.pauses) = (capacity * 4, 2, 40)
    return job
  }
}
#endif

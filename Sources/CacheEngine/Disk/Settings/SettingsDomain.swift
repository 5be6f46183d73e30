import CacheCore
import Dispatch
import Synchronization

/// A settings domain: what is stored, and a copy of it in memory that can be dropped at any time.
///
/// Everything that may wait for the disk happens on one queue. Changes that come together are written together.
final class SettingsDomain: Sendable {
  typealias Entries = [String: SettingsEntry]

  private struct Job: Sendable {
    enum Work: Sendable {
      /// Changes the entries, and says how many it changed. 0 saves the writing.
      case edit(@Sendable (inout Entries) -> Int)
      /// Starts over, whatever is there now.
      case clear
    }

    let work: Work
    let durability: Durability
    let done: CheckedContinuation<Int, any Error>
  }

  private struct State: Sendable {
    var copy: SettingsContents?
    /// Known also while there is no copy.
    var usage = LevelUsage(count: 0, cost: 0)
    var jobs: [Job] = []

    mutating func keep(_ contents: SettingsContents) {
      copy = contents
      usage = LevelUsage(count: contents.entries.count, cost: contents.entries.values.reduce(0) { $0 + $1.value.count })
    }
  }

  private let storage: any SettingsStorage
  private let queue = DispatchQueue(label: "CacheEngine.settings")
  private let state = Mutex(State())

  init(_ storage: any SettingsStorage) {
    self.storage = storage
    // So that the usage is known. Whoever asks for an entry is told what is wrong.
    do { _ = try load() } catch {}
  }

  var usage: LevelUsage { state.withLock { $0.usage } }

  /// Nothing is held in memory.
  var isUnread: Bool { state.withLock { $0.copy == nil } }

  /// All entries: from memory, or read again.
  func entries() async throws -> Entries {
    if let copy = state.withLock({ $0.copy }) { return copy.entries }
    return try await withCheckedThrowingContinuation { done in
      queue.async { [self] in done.resume(with: Result { try load().entries }) }
    }
  }

  /// Changes entries, and returns how many were.
  func edit(durability: Durability, _ edit: @escaping @Sendable (inout Entries) -> Int) async throws -> Int {
    try await perform(.edit(edit), durability)
  }

  func clear(durability: Durability) async throws { _ = try await perform(.clear, durability) }

  func dropCopy() { state.withLock { $0.copy = nil } }

  private func load() throws -> SettingsContents {
    if let copy = state.withLock({ $0.copy }) { return copy }
    let contents = try storage.read()
    state.withLock { $0.keep(contents) }
    return contents
  }

  private func perform(_ work: Job.Work, _ durability: Durability) async throws -> Int {
    try await withCheckedThrowingContinuation { done in
      let isFirst = state.withLock { state in
        state.jobs.append(Job(work: work, durability: durability, done: done))
        return state.jobs.count == 1
      }
      if isFirst { queue.async { [self] in drain() } }
    }
  }

  private func drain() {
    let jobs = state.withLock { state in
      defer { state.jobs = [] }
      return state.jobs
    }
    perform(jobs)
  }

  /// Carries out jobs with one writing.
  private func perform(_ jobs: [Job]) {
    let known = state.withLock { $0.copy }
    var answers = [Result<Int, any Error>](repeating: .success(0), count: jobs.count)
    do {
      let durability: Durability = jobs.contains { $0.durability == .synced } ? .synced : .buffered
      let contents = try storage.change(from: known, durability: durability) { current in
        Self.carryOut(jobs, on: current, &answers)
      }
      if let contents { state.withLock { $0.keep(contents) } }
    } catch let error as CacheError where error.code == .tooLarge && jobs.count > 1 {
      // What is too large fails alone.
      for job in jobs { perform([job]) }
      return
    } catch {
      // What is in the store now decides, and the next read tells.
      dropCopy()
      answers = answers.map { answer in
        if case .failure = answer { answer } else { .failure(error) }
      }
    }
    for (job, answer) in zip(jobs, answers) { job.done.resume(with: answer) }
  }

  /// Does what the jobs ask for, one after the other.
  ///
  /// - Returns: The new entries, `nil` if they are the old ones.
  private static func carryOut(
    _ jobs: [Job], on current: () throws -> Entries, _ answers: inout [Result<Int, any Error>]
  ) -> Entries? {
    var changed: Entries?
    for (index, job) in jobs.enumerated() {
      switch job.work {
      case .clear: changed = [:]
      case .edit(let edit):
        do {
          var entries = try changed ?? current()
          let count = edit(&entries)
          answers[index] = .success(count)
          if count > 0 { changed = entries }
        } catch {
          answers[index] = .failure(error)
        }
      }
    }
    return changed
  }
}

/// The settings domains that are open in this process: all levels on one domain share one store.
enum SettingsRegistry {
  struct Place: Hashable, Sendable {
    /// `nil` for the system's own settings store.
    var directory: StoreDirectory.Identity?
    var domain: String
  }

  private struct Shared {
    weak var domain: SettingsDomain?
    let path: String?

    /// The domain's files are at the place still.
    ///
    /// Nothing keeps the directory open: when it is removed, another one may be given its inode.
    func isAt(_ place: Place) -> Bool {
      path.map { StoreDirectory.Identity(of: $0) == place.directory } ?? true
    }
  }

  private static let open = Mutex<[Place: Shared]>([:])

  /// Joins a domain, or opens it; reading it blocks.
  static func domain(at place: Place, path: String?, _ storage: () -> any SettingsStorage) -> SettingsDomain {
    open.withLock { open in
      if let shared = open[place], shared.isAt(place), let domain = shared.domain { return domain }
      let domain = SettingsDomain(storage())
      open = open.filter { $0.value.domain != nil }
      open[place] = Shared(domain: domain, path: path)
      return domain
    }
  }
}

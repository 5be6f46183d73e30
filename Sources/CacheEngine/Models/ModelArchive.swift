import CacheDisk
import CacheMemory

public import CacheCore
import Synchronization

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// Keeps the models of a ``ModelCache`` in a level (disk, memory, Redis, or several composed), so that they survive a
/// restart.
///
/// The cache goes on answering at once: it notes what has changed, and ``save()`` writes it. What `save()` has returned for
/// is as safe as the level makes it. After a restart ``restore()`` brings everything back, or ``value(_:id:)`` one model at
/// a time. Relations are a part of the models and come back with them.
///
/// ```swift
/// let archive = ModelArchive(
///   of: cache, in: disk, models: [.json(Author.self, as: "author"), .json(Book.self, as: "book")])
/// try await archive.restore()
/// ```
///
/// **What leaves the cache.** A model that is removed, or expires, leaves the level with the next save. One that is evicted
/// or pruned leaves memory only: so the cache can be small and the level large. After ``ModelCache/removeAll()`` and a save
/// no model comes back that was written before, also none that the level keeps although the archive's list of it is gone;
/// a level that removes by condition (`SelectiveRemoval`) gives up the bytes of those as well.
///
/// **What comes before the archive is read.** A ``Mergeable`` model that is stored while the cache does not have the one
/// that the archive keeps is merged with that when either is read or saved, so that no field is lost. Any other model
/// takes its place.
///
/// **Damage.** Each model is written with a checksum, its name and its deadline. One that is damaged counts as absent, is
/// reported, and is removed alone. One whose bytes are whole but are no longer a model of its type counts as absent and is
/// reported; it stays, for another version of the app may know it. A crash between two models of a batch can leave one
/// of them unwritten: a batch is one change in memory, not in the level.
///
/// A cache has one archive at a time, and a level prefix belongs to one archive at a time; no other key of the level begins
/// with it and the name of a type. The level may forget models; those are missing after a restart, and nothing else. It may
/// also forget a part of the list of models: a level that lists its entries (`StorageLevel`) is asked for them, elsewhere
/// those models are missing, which ``restore()`` counts and reports. Only a level that has forgotten all of the list, its
/// head and its 256 pages, is taken for an empty one. One that does not say what it has, such as a shared directory whose owner is
/// silent, is not: what needs the list fails then, and succeeds once it says so; a model of which it does not tell counts as unreadable.
public final class ModelArchive: Sendable {
  /// What a ``ModelArchive/restore()`` found.
  public struct Restoration: Sendable, Equatable {
    /// Models that were read.
    ///
    /// Where the cache had one already, that one stays, merged with the one that was read if it is ``Mergeable`` and came
    /// while the other was not known.
    public var loaded = 0
    /// Models that the level has lost, or whose place in the list it has lost, or that have expired.
    public var missing = 0
    /// Models that were damaged, of an unknown type or form, or could not be read; each was reported.
    public var unreadable = 0
  }

  struct State: Sendable {
    /// The head of the list as it is in the level, with what has changed since; `nil` until it was read.
    var head: ArchiveList.Head?
    var isHeadWritten = true
  }

  let cache: ModelCache
  let level: BasicCache<String, Data>
  let prefix: String
  let codings: [ObjectIdentifier: ModelCoding]
  let list: ArchiveList
  /// Lists the keys of the level; `nil` if it cannot.
  let keys: (@Sendable () async throws -> [String])?
  /// Removes keys by a condition; `nil` if the level cannot.
  let removeAll: (@Sendable (@escaping @Sendable (String) -> Bool) async throws -> Void)?
  /// Saves come one after the other, and so does what removes leftovers.
  let gate = WriteGate<String>()
  let state = Mutex(State())

  /// Creates an archive; what the cache holds already is written with the first save.
  ///
  /// - Parameters:
  ///   - cache: The cache whose models are kept. It has no other archive.
  ///   - level: Where they are kept.
  ///   - prefix: What every key in the level begins with, so that it can hold other things as well.
  ///   - models: The types that are kept; models of other types stay in memory. No two have the same name, and no name
  ///     has a slash.
  ///   - observer: Notified of what is damaged or unreadable. By default the log.
  public init(
    of cache: ModelCache, in level: some CacheLevel<String, Data>, prefix: String = "models/", models: [ModelCoding],
    observer: (any CacheObserver)? = CacheLogger.failures
  ) {
    precondition(Set(models.map(\.name)).count == models.count, "two types of an archive cannot have the same name")
    let slash = UInt8(ascii: "/")
    precondition(models.allSatisfy { !$0.name.utf8.contains(slash) }, "the name of a type cannot have a slash")
    self.cache = cache
    let erased = level.normalize()
    self.level = erased
    // As levels tell it, so that a key can be told to begin with it.
    let prefix = String(decoding: CanonicalText.bytes(of: prefix), as: UTF8.self)
    self.prefix = prefix
    let (clock, name) = (cache.clock, level.name)
    list = ArchiveList(level: erased, prefix: prefix, clock: clock) { kind, key in
      observer?.record(
        CacheEvent(time: clock.now, request: .current, level: name, key: key.map { prefix + $0 }, kind: kind))
    }
    if let storage = level as? any StorageLevel<String, Data> {
      keys = { try await storage.contents().map(\.key) }
    } else {
      keys = nil
    }
    if let selective = level as? any SelectiveRemoval<String, Data> {
      removeAll = { _ = try await selective.removeAll(where: $0) }
    } else {
      removeAll = nil
    }
    codings = Dictionary(models.map { ($0.type, $0) }) { first, _ in first }
    let types = Set(codings.keys)
    let isFirst = cache.state.withLock { $0.graph.attachArchive(of: types) }
    precondition(isFirst, "a cache has one archive at a time")
  }

  deinit {
    // Carried out of the lock, and dies out here.
    _ = cache.state.withLock { state in
      defer { state.graph.archive = nil }
      return state.graph.archive
    }
  }

  /// Whether everything has been written.
  public var isSaved: Bool { cache.state.withLock { $0.graph.archive?.isSaved ?? true } }

  /// Writes what has changed since the last save, each model once and as it is now.
  ///
  /// What could not be written stays unsaved and is tried again with the next save.
  ///
  /// - Throws: The level's error, where the save ends; or `CacheError` with code `CacheError.Code.partialFailure` that
  ///   names the models that could not be encoded, after all others were written.
  public func save() async throws {
    try await gate.write("save") {
      guard let snapshot = cache.state.withLock({ $0.graph.archive?.snapshot }) else { return }
      if snapshot.clear != nil {
        try await removeEverything()
        cache.state.withLock { $0.graph.archive?.acknowledgeClear(snapshot) }
      }
      var failures: [(level: String, error: any Error)] = []
      var pages: [Int: [(name: String, key: ModelKey, unsaved: ArchiveLedger.Unsaved)]] = [:]
      for (key, unsaved) in snapshot.models {
        do {
          let name = try name(of: key)
          pages[ArchiveList.page(of: name), default: []].append((name, key, unsaved))
        } catch { failures.append((String(describing: key), error)) }
      }
      for (page, models) in pages.sorted(by: { $0.key < $1.key }) {
        let written = try await write(models, of: page, &failures)
        cache.state.withLock { $0.graph.archive?.acknowledge(snapshot, keys: written) }
      }
      if let head = state.withLock({ $0.isHeadWritten ? nil : $0.head }) { try await write(head) }
      if let first = failures.first {
        var error = CacheError(
          .partialFailure, "some models could not be encoded and stay unsaved", level: level.name,
          underlying: first.error)
        error.failures = failures
        throw error
      }
    }
  }

  /// Calls ``save()`` again and again until the task is cancelled; a save that fails is reported and tried again.
  ///
  /// - Parameter interval: How long to wait between, by the cache's clock. More than zero.
  /// - Throws: `CancellationError`, once the task is cancelled; `CacheError` with code `CacheError.Code.invalidSetting` if the
  ///   interval is not more than zero.
  public func save(every interval: Duration) async throws {
    try await cache.repeated(every: interval) {
      do { try await save() } catch let error as CancellationError { throw error } catch {
        list.report(.failed(.set, String(describing: error), .zero), nil)
      }
    }
  }

  /// Reads every model that was saved into the cache, as one commit.
  ///
  /// What the cache has already, or what somebody changes while this reads, stays as it is, except ``Mergeable`` models
  /// that came before the archive was read: those are merged with what was saved.
  ///
  /// - Returns: What was found.
  /// - Throws: The level's error if the list of models cannot be read; `CancellationError`.
  /// - Complexity: A read of the level for each model, one after the other, and for each of the 256 pages of the list.
  @discardableResult
  public func restore() async throws -> Restoration {
    let start = cache.state.withLock { $0.graph.beginReads() }
    defer { cache.state.withLock { $0.graph.archive?.endReads() } }
    var found = Restoration()
    var edits: [ModelEdit] = []
    let listed = try await listed()
    for page in 0..<ArchiveList.pageCount {
      // What is left over is removed on the way, and must not be what a save has just written.
      let (names, lost) = try await gate.write("save") {
        try await self.names(on: page, of: try await head())
      }
      let all = names.union(listed[page] ?? [])
      found.missing += max(0, lost - all.count)
      for name in all.sorted() {
        let coding = codings.values.first { name.utf8.starts(with: "\($0.name)/".utf8) }
        do {
          switch try await read(name, coding, isInTurn: false) {
          case .model(let edit):
            edits.append(edit)
            found.loaded += 1
          case .absent: found.missing += names.contains(name) ? 1 : 0
          case .unreadable: found.unreadable += 1
          }
        } catch let error as CancellationError {
          throw error
        } catch {
          list.report(.failed(.get, String(describing: error), .zero), name)
          found.unreadable += 1
        }
      }
    }
    let partial = cache.state.withLock { state in edits.filter { state.graph.archive?.isPartial($0.key) ?? false } }
    cache.commitRead(edits, since: start)
    for edit in partial { _ = merge(edit, readSince: start) }
    return found
  }

  /// Returns a model of the cache, or else of the level; what was read is in the cache from then on.
  ///
  /// - Parameters:
  ///   - type: The type of the model, one of those kept.
  ///   - id: The identifier of the model.
  /// - Returns: The model, or `nil` if neither has it. A ``Mergeable`` one that the cache has without having known that of
  ///   the level is merged with it first.
  /// - Throws: The level's error; `CacheError` with code `CacheError.Code.encodingFailed` if the type is not kept.
  public func value<Model: Identifiable & Sendable>(
    _ type: Model.Type = Model.self, id: Model.ID
  ) async throws -> Model? where Model.ID: Sendable {
    let key = ModelKey(type, id: id)
    while true {
      let held = cache.value(type, id: id)
      let isPartial = type is any Mergeable.Type && cache.state.withLock { $0.graph.archive?.isPartial(key) ?? false }
      if let held, !isPartial { return held }
      let now = cache.clock.now
      switch cache.state.withLock({ $0.graph.beginRead(key, at: now) }) {
      case .known(nil): return nil
      case .known(let model?):
        // Evicted before it was written, unless it has come back this moment.
        if model.isExpired(at: now) { return nil }
        cache.commitRead([cache.edit(storing: model.value, under: key, deadline: model.deadline)], since: nil)
        return model.value as? Model
      case .read(let start):
        defer { cache.state.withLock { $0.graph.archive?.endReads() } }
        let name = try name(of: key)
        guard case .model(let edit) = try await read(name, codings[ObjectIdentifier(type)], isInTurn: false) else {
          let isCurrent = cache.state.withLock { state in
            state.graph.archive?.makeWhole(key, readSince: start)
            return state.graph.archive?.isCurrent(key, since: start) ?? true
          }
          if isCurrent { return nil }
          continue
        }
        if let model = merge(edit, readSince: start) { return model as? Model }
        guard cache.commitRead([edit], since: start) else { continue }
        if case .store(let model, _) = edit.outcome { return model.value as? Model }
      }
    }
  }

  /// Merges a model of the level with the one that came while it was not known, if there is such a one.
  private func merge(_ read: ModelEdit, readSince start: UInt64) -> (any Sendable)? {
    let partial = cache.state.withLock { $0.graph.archive?.partial(read.key, readSince: start) }
    guard let partial, !partial.isExpired(at: cache.clock.now) else { return nil }
    let merged = merged(read, with: partial)
    let isStored = cache.attempt { graph, now in graph.commit([merged.edit], now: now) }
    return isStored ? merged.value : nil
  }

  func merged(_ read: ModelEdit, with partial: StoredModel) -> (value: any Sendable, edit: ModelEdit) {
    var value = partial.value
    if case .store(let old, _) = read.outcome {
      value = CacheEngineModels.merge(old.value, with: partial.value, of: read.key.type)
    }
    var edit = cache.edit(storing: value, under: read.key, deadline: partial.deadline, basis: partial.version)
    edit.isWhole = true
    return (value, edit)
  }
}

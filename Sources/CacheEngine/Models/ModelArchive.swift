import CStore
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
/// or pruned leaves memory only: so the cache can be small and the level large.
///
/// **Damage.** Each model is written with a checksum, its name and its deadline. One that is damaged counts as absent, is
/// reported, and is removed alone. One whose bytes are whole but are no longer a model of its type counts as absent and is
/// reported; it stays, for another version of the app may know it. A crash between two models of a batch can leave one
/// of them unwritten: a batch is one change in memory, not in the level.
///
/// A cache has one archive at a time, and a level prefix belongs to one archive at a time. The level may forget models;
/// those are missing after a restart, and nothing else.
public final class ModelArchive: Sendable {
  /// What a ``ModelArchive/restore()`` found.
  public struct Restoration: Sendable, Equatable {
    /// Models that were read.
    ///
    /// Where the cache had one already, that one stays.
    public var loaded = 0
    /// Models that the level has forgotten, or that have expired.
    public var missing = 0
    /// Models that were damaged, of an unknown type or form, or could not be read; each was reported.
    public var unreadable = 0
  }

  static let pageCount: UInt64 = 256

  private let cache: ModelCache
  private let level: BasicCache<String, Data>
  private let prefix: String
  private let codings: [ObjectIdentifier: ModelCoding]
  private let observer: (any CacheObserver)?
  /// Saves come one after the other.
  private let gate = WriteGate<String>()

  /// Creates an archive; what the cache holds already is written with the first save.
  ///
  /// - Parameters:
  ///   - cache: The cache whose models are kept. It has no other archive.
  ///   - level: Where they are kept.
  ///   - prefix: Stands before every key in the level, so that it can hold other things as well.
  ///   - models: The types that are kept; models of other types stay in memory. No two have the same name, and no name
  ///     has a slash.
  ///   - observer: Told of what is damaged or unreadable. By default the log.
  public init(
    of cache: ModelCache, in level: some CacheLevel<String, Data>, prefix: String = "models/", models: [ModelCoding],
    observer: (any CacheObserver)? = CacheLogger()
  ) {
    precondition(Set(models.map(\.name)).count == models.count, "two types of an archive cannot have the same name")
    precondition(models.allSatisfy { !$0.name.contains("/") }, "the name of a type cannot have a slash")
    self.cache = cache
    self.level = level.normalize()
    self.prefix = prefix
    self.observer = observer
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
  /// - Throws: The level's error, where the save ends; or ``CacheError`` with code ``CacheError/Code/partialFailure`` that
  ///   names the models that could not be encoded, after all others were written.
  public func save() async throws {
    try await gate.write("save") {
      guard let snapshot = cache.state.withLock({ $0.graph.archive?.snapshot }) else { return }
      if snapshot.clear != nil {
        try await removeEverything()
        cache.state.withLock { $0.graph.archive?.acknowledgeClear(snapshot) }
      }
      var failures: [(level: String, error: any Error)] = []
      var pages: [UInt64: [(name: String, key: ModelKey, model: StoredModel?)]] = [:]
      for (key, unsaved) in snapshot.models {
        do {
          let name = try name(of: key)
          pages[page(of: name), default: []].append((name, key, unsaved.model))
        } catch { failures.append((String(describing: key), error)) }
      }
      for (page, models) in pages.sorted(by: { $0.key < $1.key }) {
        let written = try await write(models, of: page, &failures)
        cache.state.withLock { $0.graph.archive?.acknowledge(snapshot, keys: written) }
      }
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
  /// - Parameter interval: How long to wait between, by the cache's clock.
  /// - Throws: `CancellationError`, once the task is cancelled.
  public func save(every interval: Duration) async throws {
    while true {
      try await cache.clock.sleep(until: cache.clock.now.advanced(by: interval), tolerance: nil)
      do { try await save() } catch let error as CancellationError { throw error } catch {
        report(.failed(.set, String(describing: error), .zero), key: nil)
      }
    }
  }

  /// Reads every model that was saved into the cache, as one commit.
  ///
  /// What the cache has already, or what somebody changes while this reads, stays as it is.
  ///
  /// - Returns: What was found.
  /// - Throws: The level's error if the list of models cannot be read; `CancellationError`.
  @discardableResult
  public func restore() async throws -> Restoration {
    let start = cache.state.withLock { $0.graph.beginReads() }
    defer { cache.state.withLock { $0.graph.archive?.endReads() } }
    var found = Restoration()
    var edits: [ModelEdit] = []
    for page in 0..<Self.pageCount {
      for name in try await names(on: page).sorted() {
        let coding = codings.values.first { name.hasPrefix("\($0.name)/") }
        do {
          switch try await read(name, coding) {
          case .model(let edit):
            edits.append(edit)
            found.loaded += 1
          case .absent: found.missing += 1
          case .unreadable: found.unreadable += 1
          }
        } catch let error as CancellationError {
          throw error
        } catch {
          report(.failed(.get, String(describing: error), .zero), key: name)
          found.unreadable += 1
        }
      }
    }
    cache.commitRead(edits, since: start)
    return found
  }

  /// Returns a model of the cache, or else of the level; what was read is in the cache from then on.
  ///
  /// - Parameters:
  ///   - type: The type of the model, one of those kept.
  ///   - id: The identifier of the model.
  /// - Returns: The model, or `nil` if neither has it.
  /// - Throws: The level's error; ``CacheError`` with code ``CacheError/Code/encodingFailed`` if the type is not kept.
  public func value<Model: Identifiable & Sendable>(
    _ type: Model.Type = Model.self, id: Model.ID
  ) async throws -> Model? where Model.ID: Sendable {
    let key = ModelKey(type, id: id)
    while true {
      if let value = cache.value(type, id: id) { return value }
      switch cache.state.withLock({ $0.graph.beginRead(key) }) {
      case .known(nil): return nil
      case .known(let model?):
        // Evicted before it was written.
        if model.isExpired(at: cache.clock.now) { return nil }
        cache.commitRead([cache.edit(storing: model.value, under: key, deadline: model.deadline)], since: nil)
        return model.value as? Model
      case .read(let start):
        defer { cache.state.withLock { $0.graph.archive?.endReads() } }
        let name = try name(of: key)
        guard case .model(let edit) = try await read(name, codings[ObjectIdentifier(type)]) else {
          if cache.state.withLock({ $0.graph.archive?.isCurrent(key, since: start) ?? true }) { return nil }
          continue
        }
        guard cache.commitRead([edit], since: start) else { continue }
        if case .store(let model, _) = edit.outcome { return model.value as? Model }
      }
    }
  }

  // MARK: Reading

  private enum Found {
    case model(ModelEdit)
    case absent
    case unreadable
  }

  private func read(_ name: String, _ coding: ModelCoding?) async throws -> Found {
    guard let entry = try await level.lookup(prefix + name).entry else { return .absent }
    let record: ModelRecord
    do { record = try ModelRecord(entry.value, name: name, clock: cache.clock) } catch {
      report(.removed(.damaged, cost: entry.value.count), key: name)
      try await level.remove(prefix + name)
      return .unreadable
    }
    let deadline = [record.deadline, entry.deadline].compactMap(\.self).min()
    if let deadline, deadline <= cache.clock.now { return .absent }
    do {
      guard let coding else {
        throw CacheError(.invalidCachedData, "no type of this name is among the models of the archive")
      }
      let (key, model) = try coding.decode(record.body)
      guard try self.name(of: key) == name else {
        throw CacheError(.invalidCachedData, "the model has another identifier than it was written under")
      }
      return .model(cache.edit(storing: model, under: key, deadline: deadline))
    } catch {
      report(.failed(.get, String(describing: error), .zero), key: name)
      return .unreadable
    }
  }

  // MARK: Writing

  /// Writes models of one page, then the page, so that the page never lacks a model that was written.
  private func write(
    _ models: [(name: String, key: ModelKey, model: StoredModel?)], of page: UInt64,
    _ failures: inout [(level: String, error: any Error)]
  ) async throws -> [ModelKey] {
    let before = try await names(on: page)
    var names = before
    var written: [ModelKey] = []
    for (name, key, model) in models {
      if let model, let coding = codings[ObjectIdentifier(key.type)] {
        let body: Data
        do { body = try coding.encode(model.value) } catch {
          failures.append((String(describing: key), error))
          continue
        }
        let record = ModelRecord(name: name, deadline: model.deadline, body: body)
        let terms = StoreTerms(expiry: model.deadline.map(Expiry.at) ?? .never)
        try await level.store(record.encoded(by: cache.clock), forKey: prefix + name, terms: terms)
        names.insert(name)
      } else {
        try await level.remove(prefix + name)
        names.remove(name)
      }
      written.append(key)
    }
    if names != before { try await set(names, on: page) }
    return written
  }

  private func removeEverything() async throws {
    for page in 0..<Self.pageCount {
      let names = try await names(on: page)
      for name in names { try await level.remove(prefix + name) }
      if !names.isEmpty { try await set([], on: page) }
    }
  }

  // MARK: The list of models

  private func name(of key: ModelKey) throws -> String {
    guard let coding = codings[ObjectIdentifier(key.type)], let id = try coding.encodeID(key) else {
      throw CacheError(
        .encodingFailed, "\(key.type) is not among the models of the archive; give it a coding there",
        level: level.name)
    }
    return "\(coding.name)/\(id)"
  }

  // A level lists no keys, so the archive keeps its own list, in pages: a new model rewrites one of them.
  private func page(of name: String) -> UInt64 {
    let bytes = Array(name.utf8)
    return unsafe bytes.withUnsafeBytes { unsafe cstore_xxh3($0.baseAddress, $0.count, 0) } % Self.pageCount
  }

  private func names(on page: UInt64) async throws -> Set<String> {
    let name = "/\(page)"
    guard let data = try await level.get(prefix + name) else { return [] }
    do {
      return Set(try ByteCoding<[String]>.json.decode(ModelRecord(data, name: name, clock: cache.clock).body))
    } catch {
      report(.removed(.damaged, cost: data.count), key: name)
      return []
    }
  }

  private func set(_ names: Set<String>, on page: UInt64) async throws {
    let name = "/\(page)"
    if names.isEmpty { return try await level.remove(prefix + name) }
    let record = ModelRecord(name: name, deadline: nil, body: try ByteCoding<[String]>.json.encode(names.sorted()))
    try await level.store(record.encoded(by: cache.clock), forKey: prefix + name, terms: StoreTerms(expiry: .never))
  }

  private func report(_ kind: CacheEvent.Kind, key: String?) {
    observer?.record(
      CacheEvent(
        time: cache.clock.now, request: .current, level: level.name, key: key.map { prefix + $0 }, kind: kind))
  }
}

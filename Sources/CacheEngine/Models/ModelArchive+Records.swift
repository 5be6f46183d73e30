import CacheCore
import Synchronization

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

// What an archive reads and writes in its level: records of models, and the list of them.
extension ModelArchive {
  // MARK: Reading

  enum Found {
    case model(ModelEdit)
    case absent
    case unreadable
  }

  /// Reads a record; `isInTurn` says that no save can come between.
  func read(_ name: String, _ coding: ModelCoding?, isInTurn: Bool = true) async throws -> Found {
    guard let entry = try await list.entry(name) else { return .absent }
    let record: ModelRecord
    do { record = try ModelRecord(entry.value, name: name, clock: cache.clock) } catch let error as CacheError
      where error.code == .unusableStore
    {
      list.report(.failed(.get, String(describing: error), .zero), name)
      return .unreadable
    } catch {
      list.report(.removed(.damaged, cost: entry.value.count), name)
      try await remove(name, holding: entry.value, isInTurn)
      return .unreadable
    }
    let era = try await head().era
    guard record.era == era else {
      // It was removed with all others; the level kept it.
      if record.era < era { try await remove(name, holding: entry.value, isInTurn) }
      return .absent
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
      list.report(.failed(.get, String(describing: error), .zero), name)
      return .unreadable
    }
  }

  /// Removes what was read, unless a save has put something else there since.
  private func remove(_ name: String, holding bytes: Data, _ isInTurn: Bool) async throws {
    if isInTurn { return try await level.remove(prefix + name) }
    try await gate.write("save") {
      if try await level.lookup(prefix + name).entry?.value == bytes { try await level.remove(prefix + name) }
    }
  }

  // MARK: Writing

  /// Writes the page with the names that are new, then the models, then the page without the names of those that are gone.
  func write(
    _ models: [(name: String, key: ModelKey, unsaved: ArchiveLedger.Unsaved)], of page: Int,
    _ failures: inout [(level: String, error: any Error)]
  ) async throws -> [ModelKey] {
    var head = try await head()
    var (names, lost) = try await names(on: page, of: head)
    if lost > 0, let listed = try await listed()[page] { names.formUnion(listed) }
    var records: [(name: String, key: ModelKey, record: ModelRecord, merged: ModelEdit?)] = []
    var removed: [(name: String, key: ModelKey)] = []
    for (name, key, unsaved) in models {
      guard let model = unsaved.model, let coding = codings[ObjectIdentifier(key.type)] else {
        removed.append((name, key))
        continue
      }
      var (value, merged) = (model.value, ModelEdit?.none)
      if unsaved.partialSince != nil, names.contains(name) || lost > 0, !model.isExpired(at: cache.clock.now),
        case .model(let read) = try await read(name, coding)
      {
        let whole = self.merged(read, with: model)
        (value, merged) = (whole.value, whole.edit)
      }
      do {
        let body = try coding.encode(value)
        records.append(
          (name, key, ModelRecord(name: name, era: head.era, deadline: model.deadline, body: body), merged))
      } catch { failures.append((String(describing: key), error)) }
    }
    let added = names.union(records.map(\.name))
    if added != names || lost > 0 { try await list.write(added, on: page, era: head.era) }
    for (name, _, record, merged) in records {
      let terms = StoreTerms(expiry: record.deadline.map(Expiry.at) ?? .never)
      try await level.store(record.encoded(by: cache.clock), forKey: prefix + name, terms: terms)
      if let merged { cache.attempt { graph, now in graph.commitWritten(merged, now: now) } }
    }
    for (name, _) in removed { try await level.remove(prefix + name) }
    let left = added.subtracting(removed.map(\.name))
    if left != added { try await list.write(left, on: page, era: head.era) }
    if head.counts[page] != left.count {
      head.counts[page] = left.count
      note(head)
    }
    return records.map(\.key) + removed.map(\.key)
  }

  /// Begins a new era, so that nothing older is valid from here on, and removes what can be found of the older ones.
  func removeEverything() async throws {
    var head = try await head()
    head.beginEra(by: cache.clock)
    try await write(head)
    for page in 0..<ArchiveList.pageCount { _ = try await names(on: page, of: head) }
    guard let removeAll, !prefix.isEmpty else { return }
    let beginnings = ([""] + codings.values.map(\.name)).map { Array("\(prefix)\($0)/".utf8) }
    let headKey = "\(prefix)/"
    do {
      try await removeAll { key in key != headKey && beginnings.contains { key.utf8.starts(with: $0) } }
    } catch let error as CacheError where error.isUnsupported {
      // A level behind a hidden type cannot: it keeps bytes that are no longer valid.
    }
  }

  // MARK: The list of models

  func name(of key: ModelKey) throws -> String {
    guard let coding = codings[ObjectIdentifier(key.type)], let id = try coding.encodeID(key) else {
      throw CacheError(
        .encodingFailed, "\(key.type) is not among the models of the archive; give it a coding there",
        level: level.name)
    }
    return "\(coding.name)/\(id)"
  }

  func head() async throws -> ArchiveList.Head {
    if let head = state.withLock({ $0.head }) { return head }
    let read = try await list.head()
    return state.withLock { state in
      // Whoever was first has begun the era of an empty level.
      let head = state.head ?? read
      state.head = head
      return head
    }
  }

  func note(_ head: ArchiveList.Head) { state.withLock { ($0.head, $0.isHeadWritten) = (head, false) } }

  func write(_ head: ArchiveList.Head) async throws {
    note(head)
    try await list.write(head)
    state.withLock { $0.isHeadWritten = true }
  }

  /// The names on a page; what is left over of an older era is removed on the way.
  func names(on page: Int, of head: ArchiveList.Head) async throws -> (names: Set<String>, lost: Int) {
    let found = try await list.page(page, of: head)
    guard found.isLeftOver else { return (found.names, found.lost) }
    for name in found.names { try await level.remove(prefix + name) }
    try await list.write([], on: page, era: head.era)
    return ([], 0)
  }

  /// The names of the models that the level lists, by page; none if it lists nothing.
  func listed() async throws -> [Int: [String]] {
    guard let keys = try await keys?() else { return [:] }
    let known = codings.values.map { Array("\(prefix)\($0.name)/".utf8) }
    let names = keys.filter { key in known.contains { key.utf8.starts(with: $0) } }
    return Dictionary(grouping: names.map { String(Substring($0.utf8.dropFirst(prefix.utf8.count))) }) {
      ArchiveList.page(of: $0)
    }
  }
}

import CacheDisk
import CacheCore

/// What an archive has still to write, and what changed while it reads: a part of the graph, under its lock.
struct ArchiveLedger: Sendable {
  struct Unsaved: Sendable {
    /// What is to be written; `nil` for a removal.
    ///
    /// A model stays here until it is written, evicted or not.
    let model: StoredModel?
    /// The number of the commit that changed it.
    let number: UInt64
    /// Since when it is a model that would have been merged with the archive's, had that been here; `nil` if it is whole.
    var partialSince: UInt64?
  }

  struct Snapshot: Sendable {
    let clear: UInt64?
    let models: [ModelKey: Unsaved]
  }

  enum Begun: Sendable {
    /// It is known without asking the level.
    case known(StoredModel?)
    /// Ask the level; this is when the reading began.
    case read(since: UInt64)
  }

  private let types: Set<ObjectIdentifier>
  private var unsaved: [ModelKey: Unsaved] = [:]
  /// The number of a clear that is still to be written.
  private var unsavedClear: UInt64?
  private var lastClear: UInt64 = 0
  /// Models that nobody needs to write any more; they die outside the lock.
  private var dropped: [StoredModel] = []
  private var readCount = 0
  /// When models were last changed, while somebody reads.
  private var changed: [ModelKey: UInt64] = [:]

  init(types: Set<ObjectIdentifier>) { self.types = types }

  var snapshot: Snapshot { Snapshot(clear: unsavedClear, models: unsaved) }

  var isSaved: Bool { unsaved.isEmpty && unsavedClear == nil }

  /// Notes a change.
  ///
  /// `isMerged`: The model was merged with what was known, and with nothing if nothing was.
  /// `isKnown`: The cache had a model there.
  mutating func note(
    _ key: ModelKey, _ model: StoredModel?, number: UInt64, isMerged: Bool = false, isKnown: Bool = true
  ) {
    guard types.contains(ObjectIdentifier(key.type)) else { return }
    var change = Unsaved(model: model, number: number)
    if isMerged {
      if let old = unsaved[key] {
        change.partialSince = old.partialSince
      } else if !isKnown, unsavedClear == nil {
        change.partialSince = number
      }
    }
    if let old = unsaved.updateValue(change, forKey: key)?.model { dropped.append(old) }
    if readCount > 0 { changed[key] = number }
  }

  /// The model that waits to be written.
  func waiting(_ key: ModelKey) -> StoredModel? { unsaved[key]?.model }

  func isPartial(_ key: ModelKey) -> Bool { unsaved[key]?.partialSince != nil }

  /// The model that what was read since a moment is to be merged with.
  func partial(_ key: ModelKey, readSince start: UInt64) -> StoredModel? {
    guard let unsaved = unsaved[key], let since = unsaved.partialSince, since <= start, lastClear <= start else {
      return nil
    }
    return unsaved.model
  }

  /// There is nothing in the level that a model is to be merged with.
  mutating func makeWhole(_ key: ModelKey, readSince start: UInt64) {
    if partial(key, readSince: start) != nil { unsaved[key]?.partialSince = nil }
  }

  mutating func noteClear(number: UInt64) {
    dropped += unsaved.values.compactMap(\.model)
    unsaved = [:]
    unsavedClear = number
    lastClear = number
  }

  mutating func takeDropped() -> [StoredModel] {
    defer { dropped = [] }
    return dropped
  }

  /// What was written is no longer unsaved, unless it has changed since.
  ///
  /// The models live on in the snapshot.
  mutating func acknowledge(_ snapshot: Snapshot, keys: [ModelKey]) {
    for key in keys where unsaved[key]?.number == snapshot.models[key]?.number { unsaved[key] = nil }
  }

  mutating func acknowledgeClear(_ snapshot: Snapshot) {
    if unsavedClear == snapshot.clear { unsavedClear = nil }
  }

  mutating func beginRead(_ key: ModelKey, at now: CacheInstant, number: UInt64) -> Begun {
    if let unsaved = unsaved[key] {
      // The level may have the rest of a partial model.
      let isPartial = unsaved.partialSince != nil && !(unsaved.model?.isExpired(at: now) ?? false)
      if !isPartial { return .known(unsaved.model) }
    }
    if unsavedClear != nil { return .known(nil) }
    return .read(since: beginReads(now: number))
  }

  mutating func beginReads(now number: UInt64) -> UInt64 {
    readCount += 1
    return number
  }

  mutating func endReads() {
    readCount -= 1
    if readCount == 0 { changed = [:] }
  }

  /// Whether what was read may be stored: nobody has changed the model since.
  func isCurrent(_ key: ModelKey, since start: UInt64) -> Bool {
    unsavedClear == nil && lastClear <= start && unsaved[key] == nil && changed[key].map { $0 <= start } ?? true
  }
}

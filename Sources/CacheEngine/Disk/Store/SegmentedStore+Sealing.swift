import CacheCore
import Synchronization

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// What an encrypted store does on the way in and out; one that is not encrypted passes everything on.
extension SegmentedStore {
  /// What a key is called in index and files.
  func storedKey(_ key: StoreKey) -> StoreKey { sealing?.name(of: key) ?? key }

  /// What is told of an entry that left.
  func loss(of key: StoreKey, _ entry: StoreIndex.Entry, _ cause: RemovalCause) -> Loss {
    Loss(key: sealing == nil ? key : entry.realKey, cause: cause, cost: Int(clamping: entry.cost))
  }

  /// Checks that another level on this directory has the same key.
  func expectCipher(_ cipher: (any StoreCipher)?, _ directory: StoreDirectory) throws {
    let theirs = try StoreSealing.open(directory, cipher: cipher, access: .readOnly)
    guard theirs?.cipher.sealingKey == sealing?.cipher.sealingKey else {
      throw CacheError(
        .wrongKey, "the store in \(directory.path) is open with another key; close it first, to open it with a new one")
    }
  }

  // MARK: Writing

  /// Makes the contents of an entry's record, sealed if the store is encrypted.
  func content(
    _ key: StoreKey, type: [UInt8], value: Data, tags: Set<String>, times: RecordTimes, cost: Int
  ) throws -> RecordContent {
    guard let sealing else {
      return RecordContent(
        key: key, type: type, tags: try RecordTags.bytes(tags), times: times, cost: cost, value: value)
    }
    let names = try RecordTags.bytes(Set(tags.map { sealing.name(ofTag: $0) }))
    var content = RecordContent(
      key: sealing.name(of: key), type: [], tags: names, times: times, cost: cost, value: Data(), realKey: key)
    let label = StoreSealing.Label(key: key, type: type, tags: tags)
    let sealed = try sealing.seal(label, value: Array(value), for: content.binding)
    var writer = ByteWriter()
    writer.put(UInt32(clamping: sealed.label.count))
    (content.label, content.value) = (writer.bytes + sealed.label, Data(sealed.value))
    return content
  }

  // MARK: Reading

  /// Opens what was read of a record; what does not open is marked.
  func opened(_ found: Found, _ key: StoreKey, record: [UInt8], ownFile: [UInt8]? = nil) -> Found? {
    guard let sealing else { return found }
    var opened = found
    opened.isAuthentic = false
    guard let sealed = SealedRecord(record, found.entry, key), let entry = bounded(found.entry, sealed.binding),
      let label = sealing.openLabel(sealed.label, for: sealed.binding),
      let value = sealing.openValue(ownFile ?? sealed.value, label: sealed.label, for: sealed.binding)
    else { return opened }
    return Found(
      entry: entry, type: label.type, tags: label.tags, value: Data(value), realKey: label.key,
      times: sealed.binding.times)
  }

  /// An entry with what was sealed in place of what the index knows, which may come from a checkpoint that somebody wrote; `nil`
  /// if that claims a later deadline.
  ///
  /// By the time of day of another boot deadlines differ somewhat; then the earlier one counts.
  func bounded(_ entry: StoreIndex.Entry, _ sealed: StoreSealing.Binding) -> StoreIndex.Entry? {
    let reading = ClockReading(clock)
    let deadline = sealed.times.deadline(at: reading)
    let isExact = sealed.times.boot == reading.boot && reading.boot != 0
    guard entry.deadline <= deadline || !isExact else { return nil }
    var entry = entry
    (entry.cost, entry.created) = (sealed.cost, sealed.times.created(at: reading))
    entry.deadline = min(entry.deadline, deadline)
    return entry
  }

  /// Whether an intact record is what was sealed under its key.
  func isAuthentic(_ record: [UInt8], _ entry: StoreIndex.Entry, _ key: StoreKey, ownFile: [UInt8]? = nil) -> Bool {
    let found = Found(entry: entry, type: [], tags: [], value: Data())
    return opened(found, key, record: record, ownFile: ownFile)?.isAuthentic ?? false
  }

  /// Reads a record as far as its label, and not its value; `nil` if it is not there any more.
  func sealedLabel(of key: StoreKey, _ entry: StoreIndex.Entry) throws -> SealedRecord? {
    let segment = state.withLock { state in state.segments.first { $0.number == entry.segment } }
    guard let segment else { return nil }
    let most = entry.recordLength
    defer { closeSurplusFiles() }
    let start = try opening { try segment.read(min(most, SealedRecord.usualLength), at: entry.offset) }
    guard let needed = SealedRecord.lengthWithLabel(start, entry), needed <= most else { return nil }
    return SealedRecord(
      needed <= start.count ? start : try segment.read(needed, at: entry.offset), entry, key)
  }

  /// Reads the key of an entry; `nil` if it is gone, or not what was sealed.
  private func realKey(of key: StoreKey, _ entry: StoreIndex.Entry, _ sealing: StoreSealing) throws -> StoreKey? {
    var entry = entry
    while entry.realKey == nil {
      if let sealed = try sealedLabel(of: key, entry), bounded(entry, sealed.binding) != nil,
        let label = sealing.openLabel(sealed.label, for: sealed.binding)
      {
        state.withLock { $0.index.learn(label.key, of: key) }
        return label.key
      }
      // It may have been copied elsewhere meanwhile.
      guard let now = state.withLock({ $0.index.find(key) }), now != entry else { return nil }
      entry = now
    }
    return entry.realKey
  }

  /// All entries by the keys that users know.
  func entriesByKey() async throws -> [(key: StoreKey, entry: StoreIndex.Entry)] {
    let all = state.withLock { $0.index.all }
    guard let sealing else { return all }
    return try await blocking { [self] in
      try all.compactMap { name, entry in try realKey(of: name, entry, sealing).map { ($0, entry) } }
    }
  }

  /// Reads the keys of all entries, for those who are told which entry left.
  ///
  /// Blocks.
  func learnKeys() {
    guard let sealing else { return }
    for (name, entry) in state.withLock({ $0.index.all }) { _ = try? realKey(of: name, entry, sealing) }
  }
}

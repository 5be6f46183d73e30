public import CacheCore

#if canImport(FoundationEssentials)
private import FoundationEssentials
#else
private import Foundation
#endif

#if canImport(Glibc)
private import Glibc
#elseif canImport(Musl)
private import Musl
#elseif canImport(Darwin)
private import Darwin
#endif

/// What ``MemoryCacheLevel/restore(from:keys:values:maximumBytes:)`` restored.
public struct SnapshotRestoration: Sendable, Hashable {
  /// How many entries were stored.
  public var restored: Int
  /// How many have expired since they were written.
  public var expired: Int
  /// How many keys had a value already, which stayed, or were set or removed while the file was read.
  public var held: Int
  /// How many did not fit; these are the oldest ones.
  public var left: Int

  /// Creates a report.
  ///
  /// - Parameters:
  ///   - restored: How many entries were stored.
  ///   - expired: How many have expired since they were written.
  ///   - held: How many keys had a value already, or were set or removed while the file was read.
  ///   - left: How many did not fit.
  public init(restored: Int = 0, expired: Int = 0, held: Int = 0, left: Int = 0) {
    self.restored = restored
    self.expired = expired
    self.held = held
    self.left = left
  }
}

/// Snapshots in a file, so that a new process does not have to start with an empty level.
///
/// ```swift
/// try await memory.snapshot(to: path, keys: .utf8, values: .data)  // at the end of one process
/// try await memory.restore(from: path, keys: .utf8, values: .data)  // at the start of the next
/// ```
extension MemoryCacheLevel {
  /// Writes every entry that has not expired to a file, replacing any file there.
  ///
  /// The entries are those of a single moment: the level is locked while they are copied, and later writes are not included. The
  /// file is replaced atomically: a concurrent reader, and a process that starts after a crash, finds the old one or
  /// the new one. It is not synced to the disk; whatever a power failure leaves of it is rejected by its checksum. Deadlines,
  /// ages, costs and tags are kept; pins and the order of use are not. Keys and values are not encrypted; the file is accessible to
  /// its owner alone. What a process left that was killed while it wrote is removed by the next snapshot at the path.
  ///
  /// - Parameters:
  ///   - path: The file.
  ///   - keys: How keys become bytes.
  ///   - values: How values become bytes.
  ///   - maximumBytes: The size limit of the file in bytes. By default 1 GiB.
  /// - Returns: How many entries were written.
  /// - Throws: ``CacheError`` with code ``CacheError/Code/tooLarge`` if the file would be larger than that, or
  ///   ``CacheError/Code/diskWriteFailed``; any error of a coding; `CancellationError`. The old file then stays.
  /// - Complexity: O(n) in time, and in memory for the bytes of the whole file.
  @concurrent
  @discardableResult
  public func snapshot(
    to path: String, keys: ByteCoding<Key>, values: ByteCoding<Value>, maximumBytes: Int = 1 << 30
  ) async throws -> Int {
    var held: [(record: Table.Record, end: CacheInstant?, tags: Set<String>)] = []
    parts.withAll { entries, _ in
      held += entries.table.slots.map { slot in
        let record = entries.table.copy(of: slot)
        return (record: record, end: entries.deadline(of: slot), tags: entries.tags.tags(of: record.key))
      }
    }
    let now = clock.now
    var file = SnapshotFile(
      written: clock.timeSinceEpoch.clampedNanoseconds, keyForm: keys.name, valueForm: values.name, records: [])
    var size = 0
    for (record, end, tags) in held where end.map({ $0 > now }) ?? true {
      try Task.checkCancellation()
      // Not the end of what is idle, which begins anew, but that of its life.
      let entry = record.entry
      let hasEnd = entry.deadline != nil && entry.storedDeadline.nanoseconds != .max
      let packed = SnapshotFile.Record(
        key: try keys.bytes(record.key), value: try values.pack(entry.value), tags: tags.sorted(),
        cost: Int64(entry.cost), age: max(0, entry.created.duration(to: now).clampedNanoseconds),
        left: hasEnd ? now.duration(to: entry.storedDeadline).clampedNanoseconds : .max)
      size += packed.key.count + packed.value.bytes.count
      guard size <= maximumBytes else {
        throw CacheError(.tooLarge, "the snapshot would be larger than \(maximumBytes) bytes", level: name)
      }
      file.records.append(packed)
    }
    let bytes = try file.bytes(limit: maximumBytes)
    do { try Self.write(bytes, to: path) } catch {
      throw CacheError(
        .diskWriteFailed,
        "\(error.text): the snapshot \(path) cannot be written; it needs room in a folder that exists and can be written",
        level: name, underlying: error)
    }
    return file.records.count
  }

  /// Stores the contents of a file written by ``snapshot(to:keys:values:maximumBytes:)``.
  ///
  /// The whole file is read and decoded before the first entry is stored, so a file that is damaged, foreign or of another
  /// type changes nothing, and is left as it is. Entries that the level holds already are newer and stay, and nothing is evicted for
  /// restored entries: those stored last come first, and those that do not fit are left out. Time passes while no process
  /// runs: by the wall clock, and not backwards if that was set back. Entries that have expired since are not restored, nor
  /// is what somebody removes while the file is read: a key, or, with ``clear()``, ``removeAll(tagged:)`` and a memory warning, all
  /// that is not restored by then. Restore before the level is used all the same: `removeAll(where:)` knows only what is there.
  ///
  /// - Parameters:
  ///   - path: The file.
  ///   - keys: How bytes become keys; must have the name with which they were written.
  ///   - values: How bytes become values; must have the name with which they were written.
  ///   - maximumBytes: The size limit of the file in bytes. By default 1 GiB.
  /// - Returns: What was restored; `nil` if there is no such file.
  /// - Throws: ``CacheError`` with code ``CacheError/Code/unusableStore`` if the file is not a snapshot, is of a newer version, was
  ///   written with other codings, or belongs to another user than this one or root, or may be written by others; ``CacheError/Code/invalidCachedData`` if it is damaged or a coding cannot read it;
  ///   ``CacheError/Code/tooLarge``; ``CacheError/Code/diskReadFailed``; `CancellationError`.
  /// - Complexity: O(n log n) in time, and O(n) in memory for the whole file beside its values.
  @concurrent
  @discardableResult
  public func restore(
    from path: String, keys: ByteCoding<Key>, values: ByteCoding<Value>, maximumBytes: Int = 1 << 30
  ) async throws -> SnapshotRestoration? {
    try await whileRestoring {
      guard let bytes = try Self.read(path, limit: maximumBytes, level: name) else { return nil }
      return try restore(bytes, keys: keys, values: values)
    }
  }

  /// Notes what is set or removed while `body` runs, which is newer than what that restores.
  func whileRestoring<Answer>(_ body: () async throws -> Answer) async rethrows -> Answer {
    parts.withAll { entries, _ in entries.updates.beginRestoring() }
    defer { parts.withAll { entries, _ in entries.updates.endRestoring() } }
    return try await body()
  }

  package func restore(
    _ bytes: [UInt8], keys: ByteCoding<Key>, values: ByteCoding<Value>
  ) throws -> SnapshotRestoration {
    let file = try SnapshotFile(bytes)
    guard file.keyForm == keys.name, file.valueForm == values.name else {
      throw CacheError(
        .unusableStore,
        "the snapshot holds keys as \(file.keyForm) and values as \(file.valueForm), which are read as \(keys.name) and "
          + values.name,
        level: name)
    }
    let now = clock.now
    let wallClock = CacheInstant(nanoseconds: clock.timeSinceEpoch.clampedNanoseconds)
    let elapsed = max(0, CacheInstant(nanoseconds: file.written).duration(to: wallClock).clampedNanoseconds)
    var report = SnapshotRestoration()
    var found: [(key: Key, value: Value, terms: StoreTerms)] = []
    for record in file.records.sorted(by: { $0.age < $1.age }) {
      try Task.checkCancellation()
      guard record.left > elapsed else {
        report.expired += 1
        continue
      }
      let expiry = record.left == .max ? Expiry.never : .at(now.advanced(by: .nanoseconds(record.left - elapsed)))
      let created = now.advanced(by: .nanoseconds(-record.age)).advanced(by: .nanoseconds(-elapsed))
      let terms = StoreTerms(expiry: expiry, cost: Int(clamping: record.cost), tags: Set(record.tags), created: created)
      found.append((try keys.decode(Data(record.key)), try values.unpack(record.value), terms))
    }
    for (key, value, terms) in found { restore(value, key, terms, &report) }
    return report
  }

  /// Stores an entry where there is none, if nothing has to leave for it: that is looked at and done in one step.
  private func restore(_ value: Value, _ key: Key, _ terms: StoreTerms, _ report: inout SnapshotRestoration) {
    let (now, hash) = (now, hashing(key))
    let deadline =
      terms.deadline(levelDefault: expiry, clock: clock) ?? (idleLimit == nil ? nil : CacheInstant(nanoseconds: .max))
    let entry = MemoryEntry(
      value: value, cost: max(0, terms.cost ?? 1), created: terms.created ?? now, deadline: deadline)
    let tags = terms.tags.isEmpty ? nil : terms.tags
    var departed = Departed<Key, Value>()
    parts.withLock(of: hash) { entries, order in
      if entries.holds(key, hash: hash, at: now) || entries.updates.isWritten(hash) {
        report.held += 1
      } else if order.isFull(for: entry.cost, count: entries.table.count) {
        report.left += 1
      } else {
        report.restored += 1
        entries.insert(
          Table.Record(key: key, entry: entry), hash: hash, over: entries.table.find(key, hash: hash), tags: tags,
          keepsExpired: keepsExpired, now: now, order: &order, departed: &departed)
        entries.updates.forgetWrite(hash)
      }
    }
    if removalListener != nil { self.report(departed, now: now) }
    follow(departed.followUp, entry, key, hash, tags: tags, now: now)
  }

  /// Writes a file for its owner alone: beside the one that it then takes the place of.
  private static func write(_ bytes: [UInt8], to path: String) throws(SystemFailure) {
    let place = URL(filePath: path).resolvingSymlinksInPath().path
    removeLeftovers(beside: place)
    let beside = "\(place).\(UUID())\(leftover)"
    let descriptor = unsafe open(beside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw SystemFailure("open") }
    defer { close(descriptor) }
    do throws(SystemFailure) {
      // Says for as long as this process lives that the file is being written.
      _ = flock(descriptor, LOCK_EX | LOCK_NB)
      var done = 0
      while done < bytes.count {
        let written = unsafe bytes.withUnsafeBytes { raw in
          let rest = unsafe UnsafeRawBufferPointer(rebasing: raw[done...].prefix(1 << 30))
          return unsafe pwrite(descriptor, rest.baseAddress, rest.count, off_t(done))
        }
        if written < 0, errno == EINTR { continue }
        guard written > 0 else { throw SystemFailure("write", written == 0 ? EIO : errno) }
        done += written
      }
      guard unsafe rename(beside, place) == 0 else { throw SystemFailure("rename") }
    } catch {
      _ = unsafe unlink(beside)
      throw error
    }
  }

  private static var leftover: String { ".new" }

  /// Removes what processes have left that were killed while they wrote.
  private static func removeLeftovers(beside place: String) {
    let file = URL(filePath: place)
    let (folder, start) = (file.deletingLastPathComponent().path, file.lastPathComponent + ".")
    for name in (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? [] {
      guard name.hasPrefix(start), name.hasSuffix(leftover),
        UUID(uuidString: String(name.dropFirst(start.count).dropLast(leftover.count))) != nil
      else { continue }
      let path = "\(folder)/\(name)"
      let descriptor = unsafe open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
      guard descriptor >= 0 else { continue }
      defer { close(descriptor) }
      var status = stat()
      // A writer that has just made its file has yet to lock it, and writes nothing before.
      guard unsafe fstat(descriptor, &status) == 0, status.st_size > 0 else { continue }
      if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { _ = unsafe unlink(path) }
    }
  }

  /// The bytes of a file, all of them; `nil` if there is none.
  private static func read(_ path: String, limit: Int, level: String) throws -> [UInt8]? {
    // A pipe would keep whoever opens it waiting. All that follows is of what is open, whatever takes its name meanwhile.
    let descriptor = unsafe open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
    guard descriptor >= 0 else {
      if errno == ENOENT || errno == ENOTDIR { return nil }
      throw unreadable(path, SystemFailure("open"), level)
    }
    defer { close(descriptor) }
    var status = stat()
    guard unsafe fstat(descriptor, &status) == 0 else { throw unreadable(path, SystemFailure("fstat"), level) }
    guard status.st_mode & S_IFMT == S_IFREG else {
      throw CacheError(.unusableStore, "\(path) is not a regular file", level: level)
    }
    // What is restored is believed. The system's administrator may have put it there.
    guard [0, geteuid()].contains(status.st_uid), status.st_mode & 0o022 == 0 else {
      throw CacheError(
        .unusableStore, "the snapshot \(path) belongs to somebody else or can be written by others", level: level)
    }
    guard status.st_size <= limit else {
      throw CacheError(.tooLarge, "the snapshot \(path) is larger than \(limit) bytes", level: level)
    }
    return try unsafe [UInt8](unsafeUninitializedCapacity: Int(status.st_size)) { buffer, filled in
      while filled < buffer.count {
        let rest = unsafe UnsafeMutableRawBufferPointer(rebasing: UnsafeMutableRawBufferPointer(buffer)[filled...])
        let got = unsafe pread(descriptor, rest.baseAddress, rest.count, off_t(filled))
        if got < 0, errno == EINTR { continue }
        guard got >= 0 else { throw unreadable(path, SystemFailure("read"), level) }
        if got == 0 { break }
        filled += got
      }
    }
  }

  private static func unreadable(_ path: String, _ failure: SystemFailure, _ level: String) -> CacheError {
    CacheError(
      .diskReadFailed, "\(failure.text): the snapshot \(path) cannot be read", level: level, underlying: failure)
  }
}

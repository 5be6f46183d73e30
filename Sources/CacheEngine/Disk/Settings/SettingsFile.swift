import CacheCore
#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Darwin)
internal import Darwin
#endif

/// A settings domain in a property list of its own.
///
/// A change writes the whole list beside the old one, waits until its bytes are on the disk, and puts it in the old
/// one's place: after a crash, a full disk or a power cut there is the old list or the new one, whole. Programs that
/// change domains of one directory wait for each other, and see each other's changes before they add their own.
struct SettingsFile: SettingsStorage {
  private struct List: Codable {
    var version = 1
    var entries: [String: SettingsEntry]
  }

  /// The most bytes that a list may have.
  private static let most = 64 << 20

  let directory: String
  let name: String
  let calls: FileCalls

  init(directory: String, domain: String, calls: FileCalls) {
    self.directory = directory
    name = "\(domain).plist"
    self.calls = calls
  }

  var place: String { "\(directory)/\(name)" }

  func read() throws -> SettingsContents {
    try failing(with: .diskReadFailed) { try read(in: try open()) }
  }

  func change(
    from known: SettingsContents?, durability: Durability,
    _ change: (_ current: () throws -> [String: SettingsEntry]) throws -> [String: SettingsEntry]?
  ) throws -> SettingsContents? {
    try failing(with: .diskWriteFailed) {
      // Opened again each time, so that a directory that was removed comes back.
      let folder = try open()
      try folder.lock()
      defer { folder.unlock() }
      var current: SettingsContents?
      let changed = try change {
        if let contents = current { return contents.entries }
        let contents = try failing(with: .diskReadFailed) {
          let isCurrent = try known != nil && known?.stamp == stamp(in: folder)
          return try isCurrent ? known ?? read(in: folder) : read(in: folder)
        }
        current = contents
        return contents.entries
      }
      guard let changed else {
        // What is there already may be another's buffered change, which is relied on from here on.
        if durability == .synced { try folder.sync() }
        return current
      }
      return SettingsContents(entries: changed, stamp: try write(changed, to: folder, durability))
    }
  }

  private func open() throws -> StoreDirectory {
    try StoreDirectory(directory, access: .readWrite, calls: calls)
  }

  private func stamp(in folder: StoreDirectory) throws -> SettingsContents.Stamp? {
    do { return try folder.open(name, forWriting: false).stamp } catch let failure as SystemFailure {
      if failure.number == ENOENT { return nil }
      throw failure
    }
  }

  private func read(in folder: StoreDirectory) throws -> SettingsContents {
    let file: StoreFile
    do { file = try folder.open(name, forWriting: false) } catch let failure as SystemFailure {
      if failure.number == ENOENT { return SettingsContents(entries: [:], stamp: nil) }
      throw failure
    }
    guard file.size <= Self.most else {
      throw unusable("is larger than \(Self.most) bytes and was left as it is; clear the level")
    }
    let bytes = Data(try file.read(file.size, at: 0))
    do {
      // Equal values are written once, and all of them have been in memory before.
      try PropertyListNesting.check(bytes, limit: .max)
      let list = try PropertyListDecoder().decode(List.self, from: bytes)
      guard list.version == 1 else {
        throw unusable("was written by a newer version; update this program", NewerFormat())
      }
      guard list.entries.allSatisfy({ $1.isWhole(key: $0) }) else { throw damaged(nil) }
      return SettingsContents(entries: list.entries, stamp: try file.stamp)
    } catch let error as CacheError {
      throw error
    } catch {
      throw damaged(error)
    }
  }

  /// Puts a new list in the old one's place; whatever fails leaves the old one there, or puts it back.
  private func write(
    _ entries: [String: SettingsEntry], to folder: StoreDirectory, _ durability: Durability
  ) throws -> SettingsContents.Stamp? {
    let (new, old) = ("\(name).new", "\(name).old")
    // What a crash may have left; nobody else writes while we hold the lock.
    for left in [new, old] { try folder.remove(left) }
    var stamp: SettingsContents.Stamp?
    do {
      if !entries.isEmpty {
        let file = try folder.open(new, forWriting: true, create: true, isNew: true)
        try file.write(try bytes(of: entries), at: 0)
        try file.sync()
        stamp = try file.stamp
      }
      // The old list keeps a name until the directory is known to be on the disk with the new one.
      let isKept = durability == .synced ? try folder.link(name, old) : nil
      if entries.isEmpty {
        // A store leaves a directory of such a name alone; here it is in the way of what was asked for.
        guard !folder.isDirectory(name) else { throw SystemFailure("unlink", EISDIR) }
        try folder.remove(name)
      } else {
        try folder.rename(new, to: name)
      }
      if durability == .synced {
        do { try folder.sync() } catch {
          switch isKept {
          case true?: try folder.rename(old, to: name)
          case false?: try folder.remove(name)
          case nil: break
          }
          throw error
        }
      }
      if isKept == true { discard(old, in: folder) }
    } catch {
      discard(new, in: folder)
      throw error
    }
    return stamp
  }

  /// Removes what no list needs, now or with the next write.
  private func discard(_ left: String, in folder: StoreDirectory) {
    do { try folder.remove(left) } catch { /* the next write tries again, and says why it cannot */  }
  }

  private func bytes(of entries: [String: SettingsEntry]) throws -> [UInt8] {
    let encoder = PropertyListEncoder()
    encoder.outputFormat = .binary
    let bytes = Array(try encoder.encode(List(entries: entries)))
    guard bytes.count <= Self.most else {
      throw CacheError(
        .tooLarge,
        "the settings in \(place) would take \(bytes.count) bytes of \(Self.most); use a disk level for large values")
    }
    return bytes
  }

  private func damaged(_ underlying: (any Error)?) -> CacheError {
    unusable("is damaged and was left as it is; put a good copy in its place, or clear the level", underlying)
  }

  private func unusable(_ reason: String, _ underlying: (any Error)? = nil) -> CacheError {
    CacheError(.unusableStore, "the settings file \(place) \(reason)", underlying: underlying)
  }

  private func failing<Answer>(with code: CacheError.Code, _ body: () throws -> Answer) throws -> Answer {
    do { return try body() } catch let failure as SystemFailure {
      throw CacheError(code, "\(failure.text), for the settings in \(place)", underlying: failure)
    }
  }
}

extension StoreDirectory {
  /// Gives a file a second name; `false` if there is no such file, `nil` if the file system has no second names.
  fileprivate func link(_ name: String, _ other: String) throws -> Bool? {
    do { _ = try system("link") { calls.link(descriptor, name, other) } } catch let failure as SystemFailure {
      switch failure.number {
      case ENOENT: return false
      case EPERM, ENOTSUP, EOPNOTSUPP, ENOSYS, EMLINK: return nil
      default: throw failure
      }
    }
    return true
  }

  /// Waits until no other program holds the directory, but not for ever.
  fileprivate func lock() throws {
    let end = SystemClock().now.advanced(by: calls.lockPatience)
    while true {
      // Never by waiting in the call: who has the lock may have been stopped, and would stop everybody.
      do {
        _ = try system("flock") { calls.lock(descriptor, LOCK_EX | LOCK_NB) }
        return
      } catch let failure as SystemFailure where failure.number == EWOULDBLOCK {
        guard SystemClock().now < end else {
          throw CacheError(
            .inUse,
            "another program has held the settings in \(path) for \(calls.lockPatience.text); it may be stopped")
        }
        usleep(1_000)
      }
    }
  }

  fileprivate func unlock() { _ = try? system("flock") { calls.lock(descriptor, LOCK_UN) } }
}

extension StoreFile {
  fileprivate var stamp: SettingsContents.Stamp {
    get throws {
      let status = try system("fstat") { calls.status(descriptor) }
      return SettingsContents.Stamp(
        inode: status.inode, size: Int64(status.size), seconds: status.changed.seconds,
        nanoseconds: status.changed.nanoseconds)
    }
  }
}

/// What a `CacheError` of code `unusableStore` has for its cause where a newer version wrote the file, which is left as it is.
public struct NewerFormat: Error {}

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

/// The directory of a store.
///
/// Everything happens relative to its descriptor, so that nobody can move it from under us
/// to another place, and no symbolic link inside is followed.
final class StoreDirectory: Sendable {
  struct Identity: Hashable, Sendable {
    let device: UInt64
    let inode: UInt64

    init(_ status: FileStatus) { (device, inode) = (status.device, status.inode) }

    /// That of whatever stands at a path now; `nil` if that cannot be told.
    init?(of path: String) {
      guard let status = try? system("stat", { FileCalls().statusOf(AT_FDCWD, path, 0) }) else { return nil }
      self.init(status)
    }
  }

  /// Absolute, as it was when the directory was opened: a program may change its working directory.
  let path: String
  /// Where that led then.
  let realPath: String
  let identity: Identity
  let calls: FileCalls
  let descriptor: Int32

  /// Opens a directory, making it and its parents where they are missing.
  ///
  /// - Throws: ``SystemFailure``; ``CacheError`` with code ``CacheError/Code/unusableStore`` for a directory that
  ///   others can write to, ``CacheError/Code/invalidSetting`` for no path.
  init(_ path: String, access: StoreAccess, calls: FileCalls) throws {
    try StandardDirectory.check(path)
    let path = try Self.absolute(path, calls)
    if access == .readWrite { try Self.make(path, calls) }
    let descriptor = try system("open") { calls.open(AT_FDCWD, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) }
    do {
      let status = try system("fstat") { calls.status(descriptor) }
      guard status.owner == geteuid(), status.mode & 0o022 == 0 else {
        throw CacheError(
          .unusableStore,
          "the directory \(path) belongs to somebody else or can be written by others; give the cache one of its own")
      }
      identity = Identity(status)
      realPath = try system("realpath") { calls.realPath(path) }
    } catch {
      _ = calls.close(descriptor)
      throw error
    }
    (self.path, self.calls, self.descriptor) = (path, calls, descriptor)
  }

  deinit { _ = calls.close(descriptor) }

  /// A path that means the same wherever the program goes.
  static func absolute(_ path: String, _ calls: FileCalls) throws -> String {
    path.utf8.first == UInt8(ascii: "/") ? path : try system("realpath") { calls.realPath(".") } + "/" + path
  }

  /// Makes a directory and those above it; whoever finds it after a power cut finds its parents too.
  private static func make(_ path: String, _ calls: FileCalls) throws {
    do { _ = try system("mkdir") { calls.makeDirectory(path) } } catch let failure as SystemFailure {
      if failure.number == EEXIST { return }
      guard failure.number == ENOENT, let parent = parent(of: path) else { throw failure }
      try make(parent, calls)
      do { _ = try system("mkdir") { calls.makeDirectory(path) } } catch let failure as SystemFailure
        where failure.number == EEXIST
      {}
    }
    // One may be allowed to make something where one may not look.
    guard let above = try? system("open", { calls.open(AT_FDCWD, parent(of: path) ?? "/", O_RDONLY | O_CLOEXEC) })
    else { return }
    defer { _ = calls.close(above) }
    _ = try system("fsync") { calls.sync(above) }
  }

  private static func parent(of path: String) -> String? {
    guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")), slash != path.startIndex else { return nil }
    return String(path[..<slash])
  }

  /// Opens a regular file; a link, a pipe or a directory in its place is an error, and where it is to be new anything is.
  func open(_ name: String, forWriting: Bool, create: Bool = false, isNew: Bool = false) throws -> StoreFile {
    let flags = (forWriting ? O_RDWR : O_RDONLY) | (create ? O_CREAT : 0) | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC
    let opened = try system("open") { calls.open(descriptor, name, flags | (isNew ? O_EXCL : 0)) }
    do {
      let status = try system("fstat") { calls.status(opened) }
      guard status.isRegular else { throw SystemFailure("open", EINVAL) }
      return StoreFile(descriptor: opened, size: status.size, calls: calls)
    } catch {
      _ = calls.close(opened)
      throw error
    }
  }

  /// Makes a file in the place of what a crash may have left there, which may have other names by now.
  func makeAnew(_ name: String) throws -> StoreFile {
    do { return try open(name, forWriting: true, create: true, isNew: true) } catch let failure as SystemFailure
      where failure.number == EEXIST
    {
      try remove(name)
      return try open(name, forWriting: true, create: true, isNew: true)
    }
  }

  /// Opens a regular file for reading if no disk has to be asked for it; `nil` otherwise.
  func openNow(_ name: String) -> StoreFile? {
    let opened = calls.openNow(descriptor, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
    guard opened >= 0 else { return nil }
    guard let status = calls.status(opened), status.isRegular else {
      _ = calls.close(opened)
      return nil
    }
    return StoreFile(descriptor: opened, size: status.size, calls: calls)
  }

  private func openLock() throws -> StoreFile {
    do {
      let lock = try open(FileName.lock, forWriting: true, create: true)
      // Somebody else's file under another name: notes made here would overwrite its beginning.
      guard lock.size <= Segment.begunSize else { throw SystemFailure("open", EINVAL) }
      return lock
    } catch let failure as SystemFailure where OpenedStore.notOurs.contains(failure.number) {
      throw CacheError(
        .unusableStore, "\(path)/\(FileName.lock) is not the file that a store locks; move it away to use the directory"
      )
    }
  }

  /// Opens the file whose lock the writer holds, and takes that; `nil` if somebody has it.
  func takeLock() throws -> StoreFile? {
    for _ in 0..<16 {
      let lock = try openLock()
      guard try lock.lock() else { return nil }
      // If it was removed in between, another program may have the lock of one that was made since.
      if try lock.isLinked() { return lock }
    }
    return nil
  }

  /// Names in the directory, each once: of one that changes meanwhile, some file systems list a file twice.
  func names() throws -> [String] {
    var seen: Set<String> = []
    return try system("readdir") { calls.names(descriptor) }.filter { seen.insert($0).inserted }
  }

  /// Removes a file, if there is one.
  ///
  /// A directory of its name is not ours, and stays.
  func remove(_ name: String) throws {
    do { _ = try system("unlink") { calls.unlink(descriptor, name) } } catch let failure as SystemFailure {
      if failure.number == ENOENT || isDirectory(name) { return }
      throw failure
    }
  }

  /// Whether a directory stands under a name, as far as that can be told.
  func isDirectory(_ name: String) -> Bool {
    (try? system("fstatat") { calls.statusOf(descriptor, name, AT_SYMLINK_NOFOLLOW) })?.isDirectory ?? false
  }

  func rename(_ old: String, to new: String) throws {
    _ = try system("rename") { calls.rename(descriptor, old, new) }
  }

  /// Renames a file unless something has the new name: then this fails with `EEXIST`.
  func renameNew(_ old: String, to new: String) throws {
    _ = try system("rename") { calls.renameNew(descriptor, old, new) }
  }

  func sync() throws { _ = try system("fsync") { calls.sync(descriptor) } }

  /// How long a file is; `nil` if there is none.
  func size(of name: String) throws -> Int? {
    do { return try system("fstatat") { calls.statusOf(descriptor, name, AT_SYMLINK_NOFOLLOW) }.size } catch let failure
      as SystemFailure where failure.number == ENOENT
    {
      return nil
    }
  }

  /// What a file takes on the disk; 0 if that cannot be told.
  func allocatedBytes(of name: String) -> Int {
    (try? system("fstatat") { calls.statusOf(descriptor, name, AT_SYMLINK_NOFOLLOW) })?.allocatedBytes ?? 0
  }

  /// What the system says of the directory, wherever it stands by now.
  func status() throws -> FileStatus { try system("fstat") { calls.status(descriptor) } }

  /// Whether the directory still stands where it was opened.
  ///
  /// - Throws: ``SystemFailure`` if that cannot be told: nothing may be concluded from that.
  func isInPlace() throws -> Bool { try statusInPlace() != nil }

  /// What the system says of the directory; `nil` if it no longer stands where it was opened.
  ///
  /// - Throws: As ``isInPlace()``.
  func statusInPlace() throws -> FileStatus? {
    do {
      let status = try system("stat") { calls.statusOf(AT_FDCWD, path, 0) }
      return Identity(status) == identity ? status : nil
    } catch let failure as SystemFailure where failure.number == ENOENT || failure.number == ENOTDIR {
      return nil
    }
  }
}

/// An open file of a store.
final class StoreFile: Sendable {
  let descriptor: Int32
  /// How long the file was when it was opened.
  let size: Int
  let calls: FileCalls

  init(descriptor: Int32, size: Int, calls: FileCalls) {
    self.descriptor = descriptor
    self.size = size
    self.calls = calls
  }

  deinit { _ = calls.close(descriptor) }

  /// How many names the file has; none after it was removed, and more than one where somebody made hard links.
  func nameCount() throws -> Int { try system("fstat") { calls.status(descriptor) }.links }

  /// Whether the file still has a name, and has not been removed under us.
  func isLinked() throws -> Bool { try nameCount() > 0 }

  /// Whether the file has names elsewhere as well.
  func hasOtherNames() throws -> Bool { try nameCount() > 1 }

  func isSame(as other: StoreFile) throws -> Bool { try identity() == other.identity() }

  private func identity() throws -> StoreDirectory.Identity {
    StoreDirectory.Identity(try system("fstat") { calls.status(descriptor) })
  }

  /// Takes the advisory lock of the file; `false` if somebody holds it.
  func lock() throws -> Bool {
    do { _ = try system("flock") { calls.lock(descriptor, LOCK_EX | LOCK_NB) } } catch let failure as SystemFailure
      where failure.number == EWOULDBLOCK
    {
      return false
    }
    return true
  }

  /// Gives the lock back, also to this process itself.
  func unlock() { _ = try? system("flock") { calls.lock(descriptor, LOCK_UN) } }

  func write(_ bytes: [UInt8], at offset: Int) throws {
    try unsafe bytes.withUnsafeBytes { try unsafe write($0, at: offset) }
  }

  func write(_ bytes: Data, at offset: Int) throws {
    try unsafe bytes.withUnsafeBytes { try unsafe write($0, at: offset) }
  }

  private func write(_ bytes: UnsafeRawBufferPointer, at offset: Int) throws {
    var done = 0
    while done < bytes.count {
      let part = unsafe UnsafeRawBufferPointer(rebasing: bytes[done...].prefix(calls.mostAtOnce))
      let written = unsafe calls.write(descriptor, part, offset + done)
      if written < 0 && errno == EINTR { continue }
      guard written > 0 else { throw SystemFailure("write", written == 0 ? EIO : errno) }
      done += written
    }
  }

  /// What the file takes on the disk; 0 if that cannot be told.
  var allocatedBytes: Int { (try? system("fstat") { calls.status(descriptor) })?.allocatedBytes ?? 0 }

  /// How long the file is now.
  func currentSize() throws -> Int { try system("fstat") { calls.status(descriptor) }.size }

  func truncate(to length: Int) throws { _ = try system("truncate") { calls.truncate(descriptor, length) } }

  func sync() throws { _ = try system("fsync") { calls.sync(descriptor) } }

  /// Reads so many bytes; fewer at the end of the file.
  func read(_ count: Int, at offset: Int) throws -> [UInt8] {
    try unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
      filled = try unsafe read(into: UnsafeMutableRawBufferPointer(buffer), at: offset)
    }
  }

  /// Fills memory, and gives how much of it; less at the end of the file.
  func read(into memory: UnsafeMutableRawBufferPointer, at offset: Int) throws -> Int {
    var filled = 0
    while filled < memory.count {
      let part = unsafe UnsafeMutableRawBufferPointer(rebasing: memory[filled...].prefix(calls.mostAtOnce))
      let got = unsafe calls.read(descriptor, part, offset + filled)
      if got < 0 && errno == EINTR { continue }
      if got < 0 { throw SystemFailure("read") }
      if got == 0 { break }
      filled += got
    }
    return filled
  }
}

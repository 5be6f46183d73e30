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

    /// That of whatever stands at a path now; `nil` if nothing does.
    init?(of path: String, calls: FileCalls = FileCalls()) {
      guard let status = calls.statusOf(AT_FDCWD, path, 0) else { return nil }
      self.init(status)
    }
  }

  let path: String
  let identity: Identity
  let calls: FileCalls
  let descriptor: Int32

  /// Opens a directory, making it and its parents where they are missing.
  ///
  /// - Throws: ``SystemFailure``; ``CacheError`` with code ``CacheError/Code/unusableStore`` for a directory that
  ///   others can write to.
  init(_ path: String, access: StoreAccess, calls: FileCalls) throws {
    self.path = path
    self.calls = calls
    if access == .readWrite { try Self.make(path, calls) }
    descriptor = calls.open(AT_FDCWD, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { throw SystemFailure("open") }
    guard let status = calls.status(descriptor) else {
      let failure = SystemFailure("fstat")
      _ = calls.close(descriptor)
      throw failure
    }
    guard status.owner == geteuid(), status.mode & 0o022 == 0 else {
      _ = calls.close(descriptor)
      throw CacheError(
        .unusableStore,
        "the directory \(path) belongs to somebody else or can be written by others; give the cache one of its own")
    }
    identity = Identity(status)
  }

  deinit { _ = calls.close(descriptor) }

  /// Makes a directory and those above it; who finds it after a power cut finds its parents too.
  private static func make(_ path: String, _ calls: FileCalls) throws {
    if calls.makeDirectory(path) != 0 {
      if errno == EEXIST { return }
      guard errno == ENOENT, let parent = parent(of: path) else { throw SystemFailure("mkdir") }
      try make(parent, calls)
      guard calls.makeDirectory(path) == 0 || errno == EEXIST else { throw SystemFailure("mkdir") }
    }
    let above = calls.open(AT_FDCWD, parent(of: path) ?? (path.hasPrefix("/") ? "/" : "."), O_RDONLY | O_CLOEXEC)
    guard above >= 0 else { return }  // one may be allowed to make something where one may not look
    defer { _ = calls.close(above) }
    guard calls.sync(above) == 0 else { throw SystemFailure("fsync") }
  }

  private static func parent(of path: String) -> String? {
    guard let slash = path.lastIndex(of: "/"), slash != path.startIndex else { return nil }
    return String(path[..<slash])
  }

  /// Opens a regular file; a link, a pipe or a directory in its place is an error.
  func open(_ name: String, forWriting: Bool, create: Bool = false) throws -> StoreFile {
    let flags = (forWriting ? O_RDWR : O_RDONLY) | (create ? O_CREAT : 0) | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC
    var opened: Int32
    repeat { opened = calls.open(descriptor, name, flags) } while opened < 0 && errno == EINTR
    guard opened >= 0 else { throw SystemFailure("open") }
    guard let status = calls.status(opened) else {
      let failure = SystemFailure("fstat")
      _ = calls.close(opened)
      throw failure
    }
    guard status.isRegular else {
      _ = calls.close(opened)
      throw SystemFailure("open", EINVAL)
    }
    return StoreFile(descriptor: opened, size: status.size, calls: calls)
  }

  /// Opens a regular file for reading if no disk has to be asked for it; `nil` for whatever else.
  func openNow(_ name: String) -> StoreFile? {
    let opened = calls.openNow(descriptor, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
    guard opened >= 0 else { return nil }
    guard let status = calls.status(opened), status.isRegular else {
      _ = calls.close(opened)
      return nil
    }
    return StoreFile(descriptor: opened, size: status.size, calls: calls)
  }

  /// Names in the directory.
  func names() throws -> [String] {
    guard let names = calls.names(descriptor) else { throw SystemFailure("readdir") }
    return names
  }

  func remove(_ name: String) throws {
    guard calls.unlink(descriptor, name) != 0, errno != ENOENT else { return }
    throw SystemFailure("unlink")
  }

  func rename(_ old: String, to new: String) throws {
    guard calls.rename(descriptor, old, new) == 0 else { throw SystemFailure("rename") }
  }

  func sync() throws {
    guard calls.sync(descriptor) == 0 else { throw SystemFailure("fsync") }
  }

  /// What a file takes on the disk.
  func allocatedBytes(of name: String) -> Int {
    calls.statusOf(descriptor, name, AT_SYMLINK_NOFOLLOW)?.allocatedBytes ?? 0
  }

  /// Whether the directory still stands where it was opened.
  var isInPlace: Bool { Identity(of: path, calls: calls) == identity }
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

  /// Whether the file still has a name, and has not been removed under us.
  var isLinked: Bool { (calls.status(descriptor)?.links ?? 0) > 0 }

  /// Takes the advisory lock of the file; `false` if somebody holds it.
  func lock() throws -> Bool {
    while calls.lock(descriptor, LOCK_EX | LOCK_NB) != 0 {
      if errno == EINTR { continue }
      if errno == EWOULDBLOCK { return false }
      throw SystemFailure("flock")
    }
    return true
  }

  /// Gives the lock back, also to this process itself.
  func unlock() { _ = calls.lock(descriptor, LOCK_UN) }

  func write(_ bytes: [UInt8], at offset: Int) throws {
    try unsafe bytes.withUnsafeBytes { try unsafe write($0, at: offset) }
  }

  func write(_ bytes: Data, at offset: Int) throws {
    try unsafe bytes.withUnsafeBytes { try unsafe write($0, at: offset) }
  }

  private func write(_ bytes: UnsafeRawBufferPointer, at offset: Int) throws {
    var done = 0
    while done < bytes.count {
      let written = unsafe calls.write(descriptor, UnsafeRawBufferPointer(rebasing: bytes[done...]), offset + done)
      if written < 0 && errno == EINTR { continue }
      guard written > 0 else { throw SystemFailure("write", written == 0 ? EIO : errno) }
      done += written
    }
  }

  /// What the file takes on the disk; 0 if that cannot be told.
  var allocatedBytes: Int { calls.status(descriptor)?.allocatedBytes ?? 0 }

  /// How long the file is now.
  func currentSize() throws -> Int {
    guard let status = calls.status(descriptor) else { throw SystemFailure("fstat") }
    return status.size
  }

  func truncate(to length: Int) throws {
    guard calls.truncate(descriptor, length) == 0 else { throw SystemFailure("truncate") }
  }

  func sync() throws {
    guard calls.sync(descriptor) == 0 else { throw SystemFailure("fsync") }
  }

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
      let got = unsafe calls.read(
        descriptor, UnsafeMutableRawBufferPointer(rebasing: memory[filled...]), offset + filled)
      if got < 0 && errno == EINTR { continue }
      if got < 0 { throw SystemFailure("read") }
      if got == 0 { break }
      filled += got
    }
    return filled
  }
}

import CacheCore
internal import CStore

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Darwin)
internal import Darwin
#endif

/// What a system says of a file.
package struct FileStatus: Sendable {
  package var device: UInt64
  package var inode: UInt64
  package var owner: UInt32
  /// Kind and permissions.
  package var mode: UInt32
  /// How many names it has; 0 after it was removed.
  package var links: Int
  package var size: Int
  /// What it takes on the disk, in bytes.
  package var allocatedBytes: Int
  /// When its bytes were changed, by the clock of the file system.
  package var changed: (seconds: Int64, nanoseconds: Int64)
  /// When that, its name or anything else that is known of it was changed last.
  package var statusChanged: (seconds: Int64, nanoseconds: Int64)

  fileprivate init(_ status: stat) {
    device = UInt64(truncatingIfNeeded: status.st_dev)
    inode = UInt64(status.st_ino)
    owner = status.st_uid
    mode = UInt32(status.st_mode)
    links = Int(status.st_nlink)
    size = Int(clamping: status.st_size)
    allocatedBytes = Int(clamping: Int64(status.st_blocks) * 512)
    #if canImport(Darwin)
    let (bytes, all) = (status.st_mtimespec, status.st_ctimespec)
    #else
    let (bytes, all) = (status.st_mtim, status.st_ctim)
    #endif
    changed = (Int64(bytes.tv_sec), Int64(bytes.tv_nsec))
    statusChanged = (Int64(all.tv_sec), Int64(all.tv_nsec))
  }

  var isRegular: Bool { mode & UInt32(S_IFMT) == UInt32(S_IFREG) }
  var isSocket: Bool { mode & UInt32(S_IFMT) == UInt32(S_IFSOCK) }
  var isDirectory: Bool { mode & UInt32(S_IFMT) == UInt32(S_IFDIR) }
}

/// The system calls that a store depends on, each of which a test can make fail.
///
/// What fails says why in `errno`.
@safe  // the pointers live for one call
package struct FileCalls: Sendable {
  package init() {}

  /// How many files of its log a store keeps open at most.
  package var mostSegmentFiles = SegmentFiles.usualMost
  /// How many nanoseconds pass before a read looks again whether the directory still stands where it was opened.
  package var readersLookEvery: Int64 = 1_000_000_000
  /// How long a change of settings waits for another program that is changing them.
  package var lockPatience: Duration = .seconds(10)

  /// Makes a directory that is the owner's alone.
  package var makeDirectory: @Sendable (String) -> Int32 = { unsafe mkdir($0, 0o700) }
  /// Opens a file below a directory: descriptor, name, flags.
  ///
  /// New files are for the owner only.
  package var open: @Sendable (Int32, String, Int32) -> Int32 = { unsafe openat($0, $1, $2, 0o600) }
  /// The same for a file that is only read, and only if no disk has to be asked for it; fails otherwise.
  package var openNow: @Sendable (Int32, String, Int32) -> Int32 = { unsafe cstore_open_nowait($0, $1, $2) }
  /// How many bytes one call is asked to read or write at most; macOS refuses from 2 GiB on.
  package var mostAtOnce = 1 << 30
  package var read: @Sendable (Int32, UnsafeMutableRawBufferPointer, Int) -> Int = {
    unsafe pread($0, $1.baseAddress, $1.count, off_t($2))
  }
  package var write: @Sendable (Int32, UnsafeRawBufferPointer, Int) -> Int = {
    unsafe pwrite($0, $1.baseAddress, $1.count, off_t($2))
  }
  package var truncate: @Sendable (Int32, Int) -> Int32 = { ftruncate($0, off_t($1)) }
  package var rename: @Sendable (Int32, String, String) -> Int32 = { unsafe renameat($0, $1, $0, $2) }
  /// The same, but fails with `EEXIST` if something has the new name, and with `EINVAL` or the like where that cannot be asked for.
  package var renameNew: @Sendable (Int32, String, String) -> Int32 = { unsafe cstore_rename_new($0, $1, $2) }
  /// Gives a file a second name: descriptor of the directory, name, second name.
  package var link: @Sendable (Int32, String, String) -> Int32 = { unsafe linkat($0, $1, $0, $2, 0) }
  package var unlink: @Sendable (Int32, String) -> Int32 = { unsafe unlinkat($0, $1, 0) }
  /// Waits until the bytes of a file, or the entries of a directory, are on the disk.
  package var sync: @Sendable (Int32) -> Int32 = { descriptor in
    #if canImport(Darwin)
    var status = stat()
    let isDirectory = unsafe fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    if !isDirectory {
      if fcntl(descriptor, F_FULLFSYNC) == 0 { return 0 }
      // Directories, SMB and exFAT do not know it. Any other failure is one.
      guard [ENOTSUP, EOPNOTSUPP, ENOTTY, EINVAL, ENOSYS].contains(errno) else { return -1 }
    }
    return fsync(descriptor)
    #else
    return fdatasync(descriptor)
    #endif
  }
  /// The status of an open file or directory.
  package var status: @Sendable (Int32) -> FileStatus? = { descriptor in
    var status = stat()
    return unsafe fstat(descriptor, &status) == 0 ? FileStatus(status) : nil
  }
  /// The status of what has a name: descriptor of the directory, name, flags.
  package var statusOf: @Sendable (Int32, String, Int32) -> FileStatus? = { directory, name, flags in
    var status = stat()
    return unsafe fstatat(directory, name, &status, flags) == 0 ? FileStatus(status) : nil
  }
  /// The names in an open directory but for `.` and `..`; all of them or none.
  package var names: @Sendable (Int32) -> [String]? = { Self.list($0) }
  /// The path of something without `.`, `..` and symbolic links.
  package var realPath: @Sendable (String) -> String? = { path in
    guard let found = unsafe realpath(path, nil) else { return nil }
    defer { unsafe free(found) }
    return unsafe String(cString: found)
  }
  /// Takes or gives back the advisory lock of an open file: descriptor, operation.
  package var lock: @Sendable (Int32, Int32) -> Int32 = { flock($0, $1) }
  /// Takes the next connection to a socket that listens; fails if there is none.
  package var accept: @Sendable (Int32) -> Int32 = { cstore_accept($0) }
  package var close: @Sendable (Int32) -> Int32 = { closeDescriptor($0) }
  /// In a test: what reads two neighbouring stretches of a file if no disk has to be asked for them, as ``readNow(_:_:_:at:)``
  /// does.
  ///
  /// While this is `nil`, it costs a get that the page cache can answer no more than a look.
  package var readNowInstead:
    (@Sendable (Int32, UnsafeMutableRawBufferPointer, UnsafeMutableRawBufferPointer, Int) -> Int)?

  /// Reads two neighbouring stretches of a file into two places, but less, or nothing, instead of waiting for the disk.
  @inline(__always)
  func readNow(
    _ descriptor: Int32, _ head: UnsafeMutableRawBufferPointer, _ rest: UnsafeMutableRawBufferPointer, at offset: Int
  ) -> Int {
    if let readNowInstead = unsafe readNowInstead { return unsafe readNowInstead(descriptor, head, rest, offset) }
    return unsafe cstore_pread_nowait(
      descriptor, head.baseAddress, head.count, rest.baseAddress, rest.count, off_t(offset))
  }

  private static func list(_ directory: Int32) -> [String]? {
    let copy = unsafe openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard copy >= 0 else { return nil }
    guard let stream = unsafe fdopendir(copy) else {
      let number = errno
      _ = closeDescriptor(copy)
      errno = number
      return nil
    }
    var names: [String] = []
    while true {
      // Only this tells the end from a failure. Half a list would bring old values back.
      errno = 0
      guard let entry = unsafe readdir(stream) else { break }
      let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) {
        unsafe $0.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
      }
      if name != ".", name != ".." { names.append(name) }
    }
    let number = errno
    unsafe closedir(stream)
    errno = number
    return number == 0 ? names : nil
  }
}

/// `close`, where a property of that name hides it.
private func closeDescriptor(_ descriptor: Int32) -> Int32 { close(descriptor) }

/// Makes a system call, again for as long as a signal cuts it short.
///
/// - Throws: ``SystemFailure`` with the call's name.
func system(_ name: String, _ call: () -> Int32) throws -> Int32 {
  while true {
    let answer = call()
    if answer >= 0 { return answer }
    if errno != EINTR { throw SystemFailure(name) }
  }
}

/// The same for a call that answers `nil` if it fails.
func system<Answer>(_ name: String, _ call: () -> Answer?) throws -> Answer {
  while true {
    if let answer = call() { return answer }
    if errno != EINTR { throw SystemFailure(name) }
  }
}

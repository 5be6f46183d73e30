internal import CStore

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#elseif canImport(Darwin)
  internal import Darwin
#endif

/// The system calls that a store depends on, each of which a test can let fail.
///
/// The one that asks the page cache is not in here: it is on the path of every get, and what it cannot answer is asked
/// again with ``read``.
@safe  // the pointers live for one call
package struct FileCalls: Sendable {
  package init() {}

  /// Makes a directory that is the owner's alone.
  package var makeDirectory: @Sendable (String) -> Int32 = { unsafe mkdir($0, 0o700) }
  /// Opens a file below a directory: descriptor, name, flags.
  ///
  /// New files are for the owner only.
  package var open: @Sendable (Int32, String, Int32) -> Int32 = { unsafe openat($0, $1, $2, 0o600) }
  /// The same for a file that is only read, and only if no disk has to be asked for it; fails otherwise.
  package var openNow: @Sendable (Int32, String, Int32) -> Int32 = { unsafe cstore_open_nowait($0, $1, $2) }
  package var read: @Sendable (Int32, UnsafeMutableRawBufferPointer, Int) -> Int = {
    unsafe pread($0, $1.baseAddress, $1.count, off_t($2))
  }
  package var write: @Sendable (Int32, UnsafeRawBufferPointer, Int) -> Int = {
    unsafe pwrite($0, $1.baseAddress, $1.count, off_t($2))
  }
  package var truncate: @Sendable (Int32, Int) -> Int32 = { ftruncate($0, off_t($1)) }
  package var rename: @Sendable (Int32, String, String) -> Int32 = { unsafe renameat($0, $1, $0, $2) }
  package var unlink: @Sendable (Int32, String) -> Int32 = { unsafe unlinkat($0, $1, 0) }
  /// Waits until the bytes of a file, or the entries of a directory, are on the disk.
  package var sync: @Sendable (Int32) -> Int32 = { descriptor in
    #if canImport(Darwin)
      fcntl(descriptor, F_FULLFSYNC)
    #else
      fdatasync(descriptor)
    #endif
  }
}

/// A system call that failed.
struct SystemFailure: Error {
  let call: String
  let number: Int32

  init(_ call: String, _ number: Int32 = errno) {
    self.call = call
    self.number = number
  }

  /// As a person reads it: `pwrite: No space left on device`.
  package var text: String {
    var buffer = [CChar](repeating: 0, count: 256)
    unsafe strerror_r(number, &buffer, buffer.count)
    let message = String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    return "\(call): \(message)"
  }
}

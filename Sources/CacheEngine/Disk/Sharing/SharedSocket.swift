import CacheCore
internal import CStore

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Darwin)
internal import Darwin
#endif

/// The socket in a shared directory.
///
/// Its address may have 107 bytes, and 103 on Apple's systems; the path of a directory is often longer. Linux knows each open
/// directory under a short name. Elsewhere a link to the directory is made for the moment, in a folder that nobody else can
/// look into.
enum SharedSocket {
  /// Listens in a directory whose lock this process has: what is there of an owner before is removed.
  ///
  /// - Throws: ``CacheError`` with code ``CacheError/Code/unusableStore``.
  static func listen(in directory: StoreDirectory) throws -> StoreFile {
    if let there = directory.calls.statusOf(directory.descriptor, FileName.socket, AT_SYMLINK_NOFOLLOW) {
      guard there.isSocket else {
        throw CacheError(
          .unusableStore,
          "\(directory.path)/\(FileName.socket) is not the socket of a store; move it away to share the directory")
      }
      try directory.remove(FileName.socket)
    }
    let made = reach(directory) { unsafe cstore_listen($0) }
    guard made >= 0 else {
      throw CacheError(
        .unusableStore,
        "\(SystemFailure("bind").text), for a socket in \(directory.path); without one the directory cannot be shared")
    }
    return StoreFile(made)
  }

  /// Whether there is something under the socket's name.
  static func isThere(in directory: StoreDirectory) -> Bool {
    directory.calls.statusOf(directory.descriptor, FileName.socket, AT_SYMLINK_NOFOLLOW) != nil
  }

  /// Connects to the listener; -1 if there is none, or it lets nobody in.
  static func connect(in directory: StoreDirectory) -> Int32 { reach(directory) { unsafe cstore_connect($0) } }

  /// Removes the socket, while this process has the lock.
  static func remove(in directory: StoreDirectory) { try? directory.remove(FileName.socket) }

  private static func reach(_ directory: StoreDirectory, _ body: (String) -> Int32) -> Int32 {
    #if os(Linux)
    let short = "/proc/self/fd/\(directory.descriptor)"
    if unsafe access(short, F_OK) == 0 { return body("\(short)/\(FileName.socket)") }
    #endif
    let path = "\(directory.path)/\(FileName.socket)"
    if path.utf8.count <= cstore_longest_socket_path() { return body(path) }
    return throughLink(directory, body)
  }

  /// The same by a link with a short path.
  static func throughLink(_ directory: StoreDirectory, _ body: (String) -> Int32) -> Int32 {
    var folder = [CChar](repeating: 0, count: 32)
    guard unsafe cstore_private_folder(&folder) == 0 else { return -1 }
    let place = String(decoding: folder.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    let link = place + "/d"
    defer {
      let number = errno
      unsafe unlink(link)
      unsafe rmdir(place)
      errno = number
    }
    guard unsafe symlink(directory.realPath, link) == 0 else { return -1 }
    return body("\(link)/\(FileName.socket)")
  }
}

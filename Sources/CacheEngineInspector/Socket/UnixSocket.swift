public import CacheEngine
import CStore

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

extension CacheError.Code {
  /// A socket cannot be made at a path, or what is there is no socket of this user's.
  public static let unusableSocket = CacheError.Code(rawValue: "unusableSocket")
  /// A process of another user is at the other end of a socket.
  public static let foreignPeer = CacheError.Code(rawValue: "foreignPeer")
  /// The two sides speak no common version of the protocol.
  public static let incompatibleProtocol = CacheError.Code(rawValue: "incompatibleProtocol")
  /// The other side is gone.
  public static let disconnected = CacheError.Code(rawValue: "disconnected")
}

/// Sockets of the local machine, for their owner only.
enum UnixSocket {
  /// A socket that is listened on, and the file that leads to it.
  struct Listener {
    let descriptor: Descriptor
    let path: String
    fileprivate let file: FileIdentity
  }

  fileprivate struct FileIdentity: Equatable {
    var device: UInt64
    var number: UInt64
  }

  /// The longest path that a socket's address can hold, in bytes.
  static let longestPath = MemoryLayout.size(ofValue: sockaddr_un().sun_path) - 1

  /// Listens at a path, where a socket that nobody listens on any more may be in the way.
  ///
  /// `attempts`: How often the lock of the directory is asked for, at intervals of 10 ms.
  ///
  /// - Throws: `CacheError` with code `unusableSocket` or `CacheError.Code.inUse`.
  static func listen(at path: String, attempts: Int = 500) throws -> Listener {
    var address = try address(path)
    let directory = parent(of: path)
    try checkDirectory(directory)
    // Two that begin at once take turns, so that neither removes the socket of the other.
    let held = unsafe open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard held >= 0 else { throw unusable(path, "its directory cannot be opened (\(reason(errno)))") }
    let turn = Descriptor(held)
    guard takeTurn(turn, attempts: attempts) else {
      throw CacheError(
        .inUse,
        "another process has been making a socket beside \(path) for long; is it stopped? end it or go on with it")
    }
    try removeStale(path)
    let descriptor = try make()
    let isBound = unsafe withUnsafePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe bind(descriptor.number, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    guard isBound == 0 else { throw unusable(path, "it cannot be made (\(reason(errno)))") }
    // Nobody can connect before the next call but one, so nobody sees the wider permissions.
    guard unsafe chmod(path, 0o600) == 0, systemListen(descriptor.number, 16) == 0, let file = identity(path) else {
      let code = errno
      unsafe unlink(path)
      throw unusable(path, "nobody can listen on it (\(reason(code)))")
    }
    descriptor.setNonblocking()
    return Listener(descriptor: descriptor, path: absolute(path, in: directory), file: file)
  }

  /// The way to a socket from the root, for when the program has another working directory.
  private static func absolute(_ path: String, in directory: String) -> String {
    let slash = UInt8(ascii: "/")
    guard path.utf8.first != slash, let root = unsafe realpath(directory, nil) else { return path }
    defer { unsafe free(root) }
    return unsafe "\(String(cString: root))/\(path.utf8.split(separator: slash).last.map { Substring($0) } ?? "")"
  }

  /// Removes the file of a socket, unless another one stands there by now.
  static func removeFile(of listener: Listener) {
    if identity(listener.path) == listener.file { unsafe unlink(listener.path) }
  }

  /// How somebody who connects waits where others are still to be let in.
  enum Waiting {
    /// For so long, and as long for each piece that is read.
    case seconds(Int)
    /// Not at all.
    case never
  }

  /// Connects to whoever listens at a path.
  ///
  /// - Throws: `CacheError` with code `unusableSocket`, `foreignPeer`, `CacheError.Code.unreachable`, or
  ///   `CacheError.Code.timedOut` if somebody listens and lets nobody in.
  static func connect(to path: String, waiting: Waiting) throws -> Descriptor {
    var address = try address(path)
    let descriptor = try make()
    switch waiting {
    case .seconds(let seconds): descriptor.setTimeouts(seconds: seconds)
    case .never: descriptor.setNonblocking()
    }
    var code: Int32
    repeat {
      code = unsafe withUnsafePointer(to: &address) { pointer in
        unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          unsafe systemConnect(descriptor.number, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
        }
      }
    } while code != 0 && errno == EINTR
    guard code == 0 else {
      let number = errno
      switch number {
      case ENOENT:
        throw CacheError(.unreachable, "there is no socket at \(path); start the app that serves its cache there")
      case ECONNREFUSED where !isSocket(path), ENOTSOCK:
        throw CacheError(.unusableSocket, "\(path) is no socket; name the one that the app serves")
      case ECONNREFUSED:
        throw CacheError(
          .unreachable, "nobody listens at \(path) any more: the app has ended; start it again")
      case EAGAIN, EWOULDBLOCK, EINPROGRESS:
        throw CacheError(.timedOut, "the app at \(path) lets nobody in; it may be stopped, or busy for long")
      case EACCES, EPERM:
        throw CacheError(.foreignPeer, "\(path) belongs to another user; attach as the user who runs the app")
      default: throw unusable(path, "it cannot be connected to (\(reason(number)))")
      }
    }
    let peer = peerUser(of: descriptor)
    guard peer == geteuid() else {
      throw CacheError(
        .foreignPeer,
        "the process at \(path) runs as user \(peer.map { "\($0)" } ?? "unknown") and this one as \(geteuid()); "
          + "attach as the user who runs the app")
    }
    return descriptor
  }

  /// Who came to a listener.
  enum Arrival {
    case somebody(Descriptor)
    case nobody
    /// Somebody is there, and the system does not let them in, for want of a descriptor or of memory, say.
    case noRoom
  }

  /// `call`: Lets in the first who waits, as the system's function does.
  static func accept(from listener: Listener, _ call: (Int32) -> Int32 = { cstore_accept($0) }) -> Arrival {
    for _ in 0..<64 {
      let number = call(listener.descriptor.number)
      if number >= 0 { return .somebody(Descriptor(number)) }
      // No reason to keep the others waiting: somebody hung up while they waited, or a signal came.
      guard errno == ECONNABORTED || errno == EINTR else { return arrival(errno) }
    }
    return .noRoom
  }

  /// What it means that nobody could be let in.
  static func arrival(_ code: Int32) -> Arrival {
    switch code {
    case EAGAIN, EWOULDBLOCK: .nobody
    default: .noRoom
    }
  }

  /// The user at the other end; `nil` if the system does not say.
  static func peerUser(of descriptor: Descriptor) -> uid_t? {
    #if canImport(Darwin)
    var (user, group) = (uid_t(), gid_t())
    return unsafe getpeereid(descriptor.number, &user, &group) == 0 ? user : nil
    #else
    // struct ucred: process, user, group.
    var identity: (Int32, UInt32, UInt32) = (0, 0, 0)
    var size = socklen_t(MemoryLayout.size(ofValue: identity))
    let code = unsafe getsockopt(descriptor.number, SOL_SOCKET, SO_PEERCRED, &identity, &size)
    return code == 0 ? identity.1 : nil
    #endif
  }

  /// Two ends of a way to wake a thread that polls.
  static func pair() throws -> (Descriptor, Descriptor) {
    var pair: [Int32] = [-1, -1]
    #if canImport(Darwin)
    let type = SOCK_STREAM
    #else
    let type = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
    #endif
    guard unsafe socketpair(AF_UNIX, type, 0, &pair) == 0 else {
      throw CacheError(.unusableSocket, "no descriptor is left (\(reason(errno))); close files or raise the limit")
    }
    let ends = (Descriptor(pair[0]), Descriptor(pair[1]))
    for end in [ends.0, ends.1] {
      _ = fcntl(end.number, F_SETFD, FD_CLOEXEC)
      end.setNonblocking()
      quiet(end)
    }
    return ends
  }

  private static func make() throws -> Descriptor {
    #if canImport(Darwin)
    let number = socket(AF_UNIX, SOCK_STREAM, 0)
    #else
    let number = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    #endif
    guard number >= 0 else {
      throw CacheError(.unusableSocket, "no socket can be made (\(reason(errno))); close files or raise the limit")
    }
    _ = fcntl(number, F_SETFD, FD_CLOEXEC)
    let descriptor = Descriptor(number)
    quiet(descriptor)
    return descriptor
  }

  /// Where sending cannot be told to raise no SIGPIPE, the socket is.
  private static func quiet(_ descriptor: Descriptor) {
    #if canImport(Darwin)
    var yes: Int32 = 1
    _ = unsafe setsockopt(descriptor.number, SOL_SOCKET, SO_NOSIGPIPE, &yes, socklen_t(MemoryLayout<Int32>.size))
    #endif
  }

  private static func address(_ path: String) throws -> sockaddr_un {
    let bytes = Array(path.utf8)
    guard !bytes.isEmpty, !bytes.contains(0) else { throw unusable(path, "it is not a path") }
    guard bytes.count <= longestPath else {
      throw unusable(
        path, "it has \(bytes.count) bytes and a socket's path may have \(longestPath)", "choose a shorter one")
    }
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: bytes) }
    return address
  }

  private static func parent(of path: String) -> String {
    guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return "." }
    return slash == path.startIndex ? "/" : String(path[..<slash])
  }

  /// Makes the directory if it is not there, and refuses one in which others could replace the socket.
  private static func checkDirectory(_ directory: String) throws {
    if unsafe mkdir(directory, 0o700) != 0, errno != EEXIST {
      throw unusable(directory, "the socket's directory cannot be made (\(reason(errno)))")
    }
    var status = stat()
    guard unsafe stat(directory, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else {
      throw unusable(directory, "it is not a directory")
    }
    guard status.st_uid == geteuid() else {
      throw unusable(
        directory, "it belongs to user \(status.st_uid) and this process runs as \(geteuid())",
        "put the socket into a directory of your own")
    }
    guard status.st_mode & 0o022 == 0 else {
      throw unusable(directory, "others may write to it", "take that right away with chmod go-w")
    }
  }

  private static func removeStale(_ path: String) throws {
    var status = stat()
    guard unsafe lstat(path, &status) == 0 else { return }
    guard status.st_mode & S_IFMT == S_IFSOCK, status.st_uid == geteuid() else {
      throw unusable(path, "something else is there, which is left alone", "choose another path")
    }
    do {
      _ = try connect(to: path, waiting: .never)
    } catch let error as CacheError where error.code == .unreachable {
      unsafe unlink(path)
      return
    } catch let error as CacheError where error.code == .timedOut {
      // It listens, though it has no turn to let anybody in.
    }
    throw CacheError(.inUse, "a process serves its cache at \(path) already; end it or choose another path")
  }

  /// Waits for the lock of a directory, which others hold for an instant; whoever is stopped there is not waited for.
  private static func takeTurn(_ directory: Descriptor, attempts: Int) -> Bool {
    for _ in 0..<attempts {
      if flock(directory.number, LOCK_EX | LOCK_NB) == 0 { return true }
      // A file system without locks has none to wait for.
      guard errno == EWOULDBLOCK || errno == EINTR else { return true }
      usleep(10_000)
    }
    return false
  }

  private static func identity(_ path: String) -> FileIdentity? {
    var status = stat()
    guard unsafe lstat(path, &status) == 0 else { return nil }
    return FileIdentity(device: UInt64(status.st_dev), number: UInt64(status.st_ino))
  }

  private static func isSocket(_ path: String) -> Bool {
    var status = stat()
    return unsafe stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFSOCK
  }

  private static func unusable(_ path: String, _ why: String, _ remedy: String = "choose another path") -> CacheError {
    CacheError(.unusableSocket, "\(path) cannot be used for a socket: \(why); \(remedy)")
  }

  private static func reason(_ code: Int32) -> String { unsafe String(cString: strerror(code)) }
}

// The names that the functions above take for themselves.
private func systemListen(_ number: Int32, _ count: Int32) -> Int32 { listen(number, count) }
private func systemConnect(_ number: Int32, _ address: UnsafePointer<sockaddr>, _ size: socklen_t) -> Int32 {
  unsafe connect(number, address, size)
}

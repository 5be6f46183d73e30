// What the sources use of Darwin and Glibc has not, or has with another type.
@_exported import Glibc

public let F_FULLFSYNC: Int32 = 51
public let F_BARRIERFSYNC: Int32 = 85
public let CLOCK_MONOTONIC_RAW: clockid_t = 4
public let SOCK_STREAM: Int32 = 1
public let SO_NOSIGPIPE: Int32 = 0x1022
public let CTL_KERN: Int32 = 1
public let KERN_BOOTTIME: Int32 = 21

public typealias pthread_t = UnsafeMutablePointer<Int>

@unsafe public func pthread_create(
  _ thread: UnsafeMutablePointer<pthread_t?>, _ attributes: UnsafePointer<pthread_attr_t>?,
  _ start: @convention(c) (UnsafeMutableRawPointer) -> UnsafeMutableRawPointer?, _ context: UnsafeMutableRawPointer?
) -> Int32 { fatalError() }

@unsafe @discardableResult public func pthread_detach(_ thread: pthread_t) -> Int32 { fatalError() }

public typealias posix_spawn_file_actions_t = UnsafeMutableRawPointer

@unsafe @discardableResult public func posix_spawn_file_actions_init(
  _ actions: UnsafeMutablePointer<posix_spawn_file_actions_t?>
) -> Int32 { fatalError() }

@unsafe @discardableResult public func posix_spawn_file_actions_destroy(
  _ actions: UnsafeMutablePointer<posix_spawn_file_actions_t?>
) -> Int32 { fatalError() }

@unsafe @discardableResult public func posix_spawn_file_actions_adddup2(
  _ actions: UnsafeMutablePointer<posix_spawn_file_actions_t?>, _ from: Int32, _ to: Int32
) -> Int32 { fatalError() }

@unsafe @discardableResult public func posix_spawn_file_actions_addopen(
  _ actions: UnsafeMutablePointer<posix_spawn_file_actions_t?>, _ descriptor: Int32, _ path: UnsafePointer<CChar>,
  _ flags: Int32, _ mode: mode_t
) -> Int32 { fatalError() }

@unsafe public func posix_spawnp(
  _ process: UnsafeMutablePointer<pid_t>, _ program: UnsafePointer<CChar>,
  _ actions: UnsafePointer<posix_spawn_file_actions_t?>, _ attributes: UnsafePointer<UnsafeMutableRawPointer?>?,
  _ arguments: UnsafePointer<UnsafeMutablePointer<CChar>?>, _ environment: UnsafePointer<UnsafeMutablePointer<CChar>?>
) -> Int32 { fatalError() }

@unsafe public func getpeereid(
  _ socket: Int32, _ user: UnsafeMutablePointer<uid_t>, _ group: UnsafeMutablePointer<gid_t>
) -> Int32 { fatalError() }

@unsafe public func sysctl(
  _ name: UnsafeMutablePointer<Int32>, _ count: UInt32, _ old: UnsafeMutableRawPointer?,
  _ oldLength: UnsafeMutablePointer<Int>?, _ new: UnsafeMutableRawPointer?, _ newLength: Int
) -> Int32 { fatalError() }

@unsafe public func sysctlbyname(
  _ name: UnsafePointer<CChar>, _ old: UnsafeMutableRawPointer?, _ oldLength: UnsafeMutablePointer<Int>?,
  _ new: UnsafeMutableRawPointer?, _ newLength: Int
) -> Int32 { fatalError() }

extension stat {
  public var st_mtimespec: timespec { st_mtim }
  public var st_ctimespec: timespec { st_ctim }
}

/// Whether a disk level shares its directory with other processes.
public struct StoreSharing: Sendable, Equatable {
  /// How long an owner may be silent; `nil` for a directory that one process has for itself.
  package let limit: Duration?
  /// A part of its own, as another process would have it; for tests.
  package var isApart = false

  /// One process writes; another one that opens the directory for writing gets `CacheError.Code.inUse`.
  public static let exclusive = StoreSharing(limit: nil)

  /// Any number of processes of one user, of which the owner may be silent for two seconds.
  public static let acrossProcesses = acrossProcesses(silence: .seconds(2))

  /// Any number of processes of one user.
  ///
  /// One of them owns the files and serves the others over a socket in the directory; when it ends, another takes over.
  ///
  /// - Parameter limit: How long the owner may be silent while somebody waits, before reads are misses and changes fail with
  ///   `CacheError.Code.timedOut`. At least 10 ms; anything longer than a year counts as a year. An owner that is busy is not
  ///   silent; one that is stopped is.
  /// - Returns: The setting.
  public static func acrossProcesses(silence limit: Duration) -> StoreSharing {
    precondition(limit >= .milliseconds(10), "an owner needs at least 10 ms to answer")
    // Bounded, since it is used in calculations.
    return StoreSharing(limit: min(limit, .seconds(365 * 86_400)))
  }
}

/// Who serves the entries of a directory that several processes share.
public enum StoreOwner: Sendable, Equatable {
  /// This process: its calls go to the files.
  case thisProcess
  /// Another process with that number, or 0 where the system does not say; its socket answers.
  case process(Int32)
  /// Nobody that answers: the last owner has ended and nobody has taken over yet, or it is silent.
  case nobody
}

/// What can be told of a shared directory from outside.
package enum SharedDirectory {
  /// The process that owns the files; `nil` if nobody serves them.
  package static func owner(of path: String) -> Int32? {
    guard let directory = try? StoreDirectory(path, access: .readOnly, calls: FileCalls()) else { return nil }
    let number = SharedSocket.connect(in: directory)
    return number < 0 ? nil : FrameSocket(number, wake: {}).peer
  }
}

#if Explorer
import CacheEngine
import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// The system calls of a store, by name.
enum Call: String, CaseIterable {
  case makeDirectory, open, openNow, read, readNow, write, truncate, rename, unlink, sync, status, statusOf, names,
    lock,
    close

  /// The errors that a system may answer with.
  var errors: [Int32] {
    switch self {
    case .makeDirectory: [EIO, ENOSPC, EROFS, ENOMEM]
    case .open: [EIO, EMFILE, EINTR, ENOMEM, ESTALE, ENOSPC, EROFS]
    case .openNow: [EAGAIN]
    case .read: [EIO, EINTR, ESTALE, ENOMEM]
    case .readNow: [EAGAIN, EIO, EINTR, ENOMEM]
    case .write: [EIO, ENOSPC, EINTR, ESTALE, EDQUOT]
    case .truncate: [EIO, EINTR, ESTALE]
    case .rename: [EIO, ENOSPC, EROFS, ESTALE]
    case .unlink: [EIO, EROFS, ESTALE, ENOMEM]
    case .sync: [EIO, ENOSPC, EINTR, ESTALE]
    case .status, .statusOf: [EIO, EINTR, ESTALE, ENOMEM]
    case .names: [EIO, EINTR, ESTALE, ENOMEM, EMFILE]
    case .lock: [EINTR, EIO, ENOLCK, ESTALE]
    case .close: [EIO, EINTR, ENOSPC]
    }
  }
}

/// What goes wrong.
struct Fault: Sendable {
  enum Reach: String, CaseIterable {
    case once
    /// This call and all later ones of its kind.
    case kind
    /// This call and whatever follows, as on a disk that is gone. What stands there then is what a kill leaves.
    case all
  }

  var call: Call
  /// How many calls of this kind work.
  var after: Int
  var code: Int32
  var reach: Reach
}

/// System calls that are counted, and of which some fail.
final class FaultyCalls: Sendable {
  private struct State {
    var made: [Call: Int] = [:]
    /// Values that got files of their own, and segments that went.
    var ownFiles = 0
    var reclaimed = 0
    var isReached = false
    var isOver = false
  }

  private let real: FileCalls
  private let fault: Fault?
  private let state = Mutex(State())

  init(_ real: FileCalls = FileCalls(), _ fault: Fault? = nil) {
    self.real = real
    self.fault = fault
  }

  var isReached: Bool { state.withLock { $0.isReached } }

  /// From now on everything works.
  func disarm() { state.withLock { $0.isOver = true } }

  /// Everything works while `body` does, and what fails goes on failing afterwards.
  func pause(_ body: () async throws -> Void) async rethrows {
    disarm()
    try await body()
    state.withLock { $0.isOver = false }
  }

  var ownFiles: Int { state.withLock { $0.ownFiles } }

  var reclaimed: Int { state.withLock { $0.reclaimed } }

  private func fails(_ call: Call) -> Bool {
    let code = state.withLock { state -> Int32? in
      let before = state.made[call] ?? 0
      state.made[call] = before + 1
      guard let fault, !state.isOver else { return nil }
      let isIt = call == fault.call && (fault.reach == .once ? before == fault.after : before >= fault.after)
      state.isReached = state.isReached || isIt
      return isIt || (fault.reach == .all && state.isReached) ? fault.code : nil
    }
    guard let code else { return false }
    errno = code
    return true
  }

  /// Whether this is the second, fourth, … one of its kind.
  private func isEven(_ call: Call) -> Bool { state.withLock { ($0.made[call] ?? 0) % 2 == 0 } }

  var calls: FileCalls {
    let real = real
    var calls = real
    calls.makeDirectory = { self.fails(.makeDirectory) ? -1 : real.makeDirectory($0) }
    calls.open = { self.fails(.open) ? -1 : real.open($0, $1, $2) }
    // Half of the files have to be asked for as usual, so that both ways have their turn.
    calls.openNow = {
      self.fails(.openNow) || self.isEven(.openNow) ? -1 : real.openNow($0, $1, $2)
    }
    unsafe calls.read = { self.fails(.read) ? -1 : unsafe real.read($0, $1, $2) }
    unsafe calls.readNowInstead = { descriptor, head, rest, offset in
      guard !self.fails(.readNow), self.isEven(.readNow) else { return -1 }
      let got = unsafe real.read(descriptor, head, offset)
      guard got == head.count else { return got }
      let more = unsafe real.read(descriptor, rest, offset + got)
      return more < 0 ? got : got + more
    }
    unsafe calls.write = { self.fails(.write) ? -1 : unsafe real.write($0, $1, $2) }
    calls.truncate = { self.fails(.truncate) ? -1 : real.truncate($0, $1) }
    calls.rename = { directory, old, new in
      if self.fails(.rename) { return -1 }
      if new.hasPrefix("val-") { self.state.withLock { $0.ownFiles += 1 } }
      return real.rename(directory, old, new)
    }
    calls.renameNew = { self.fails(.rename) ? -1 : real.renameNew($0, $1, $2) }
    calls.unlink = { directory, name in
      if self.fails(.unlink) { return -1 }
      if name.hasPrefix("log-") { self.state.withLock { $0.reclaimed += 1 } }
      return real.unlink(directory, name)
    }
    calls.sync = { self.fails(.sync) ? -1 : real.sync($0) }
    calls.status = { self.fails(.status) ? nil : real.status($0) }
    calls.statusOf = { self.fails(.statusOf) ? nil : real.statusOf($0, $1, $2) }
    calls.names = { self.fails(.names) ? nil : real.names($0) }
    // Giving back a lock never fails.
    calls.lock = { $1 != LOCK_UN && self.fails(.lock) ? -1 : real.lock($0, $1) }
    // The descriptor is gone even if the call reports an error.
    calls.close = { descriptor in
      let result = real.close(descriptor)
      return self.fails(.close) ? -1 : result
    }
    return calls
  }
}
#endif

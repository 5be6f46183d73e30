#if Encryption
import CacheEngine
import Foundation
import Synchronization

/// System calls that fail from the Nth on: that one only, or all after it too.
final class Faults: Sendable {
  private struct State {
    var made = 0
    var failing = Int.max
    var isForGood = false
    var code: Int32 = EIO
  }

  private let state = Mutex(State())

  /// How many calls were made since the last change.
  var made: Int { state.withLock { $0.made } }

  func fail(from number: Int, code: Int32 = EIO, forGood isForGood: Bool) {
    state.withLock { $0 = State(failing: number, isForGood: isForGood, code: code) }
  }

  func heal() { state.withLock { $0 = State() } }

  private func fails() -> Bool {
    let code = state.withLock { state -> Int32? in
      defer { state.made += 1 }
      return state.made == state.failing || (state.isForGood && state.made > state.failing) ? state.code : nil
    }
    if let code { errno = code }
    return code != nil
  }

  /// Calls that change something; reading goes on.
  var calls: FileCalls {
    let real = FileCalls()
    var calls = FileCalls()
    calls.open = { [self] directory, name, flags in
      flags & O_CREAT != 0 && fails() ? -1 : real.open(directory, name, flags)
    }
    unsafe calls.write = { [self] in fails() ? -1 : unsafe real.write($0, $1, $2) }
    calls.truncate = { [self] in fails() ? -1 : real.truncate($0, $1) }
    calls.rename = { [self] in fails() ? -1 : real.rename($0, $1, $2) }
    calls.renameNew = { [self] in fails() ? -1 : real.renameNew($0, $1, $2) }
    calls.unlink = { [self] in fails() ? -1 : real.unlink($0, $1) }
    calls.sync = { [self] in fails() ? -1 : real.sync($0) }
    return calls
  }
}
#endif

import CacheEngine
import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// System calls that change something, all of which fail from a given one on: as if the process had been killed there.
final class FaultSwitch: Sendable {
  private struct State {
    var failsFrom: Int?
    var count = 0
  }

  private let state = Mutex(State())

  /// Lets the calls fail after so many more have succeeded; `nil` lets all succeed.
  func failFrom(_ number: Int?) { state.withLock { $0 = State(failsFrom: number) } }

  /// How many calls there were since then.
  var count: Int { state.withLock { $0.count } }

  private var isDown: Bool {
    state.withLock { state in
      defer { state.count += 1 }
      return state.failsFrom.map { state.count >= $0 } ?? false
    }
  }

  private func fail(_ call: () -> Int32) -> Int32 {
    guard isDown else { return call() }
    errno = EIO
    return -1
  }

  var calls: FileCalls {
    let real = FileCalls()
    var calls = FileCalls()
    unsafe calls.write = { file, bytes, offset in
      guard self.isDown else { return unsafe real.write(file, bytes, offset) }
      errno = EIO
      return -1
    }
    calls.truncate = { file, length in self.fail { real.truncate(file, length) } }
    calls.rename = { folder, old, new in self.fail { real.rename(folder, old, new) } }
    calls.renameNew = { folder, old, new in self.fail { real.renameNew(folder, old, new) } }
    calls.unlink = { folder, name in self.fail { real.unlink(folder, name) } }
    calls.sync = { file in self.fail { real.sync(file) } }
    return calls
  }
}

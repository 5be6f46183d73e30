import CacheCore
internal import CStore
import Dispatch
import Synchronization

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Darwin)
internal import Darwin
#endif

/// What the thread of a shared directory does: it seeks whoever owns the files, or becomes the owner; then it listens to that
/// owner, or serves.
extension CommonStore {
  /// Starts the thread.
  func start() throws {
    ended.enter()
    do { try OwnThread.start("cache-shared") { [self] in run() } } catch {
      ended.leave()
      throw error
    }
  }

  var now: Int64 { SystemClock().now.nanoseconds }
  var isLeaving: Bool { state.withLock(\.isLeaving) }

  private func run() {
    var failure: (any Error)?
    var pause: Int32 = 1
    while !isLeaving {
      do {
        if let (server, listener) = try own() {
          pause = 1
          failure = serve(server, listener)
        } else if let socket = try connect() {
          if try listen(to: socket) { pause = 1 }
        }
      } catch {
        refuse(error)
        pause = 200
      }
      guard !isLeaving else { break }
      // The lock is held, but nobody lets anybody in: the holder is starting, is ending, or does not share.
      sleep(pause)
      tick()
      pause = min(20, pause + 1)
    }
    end(failure)
  }

  private func end(_ failure: (any Error)?) {
    let (calls, closing) = state.withLock { state in
      defer {
        (state.calls, state.unsent, state.closing) = ([:], [], [])
        state.role = .seeking
      }
      return (Array(state.calls.values), state.closing)
    }
    CommonStores.forget(self)
    for call in calls { call.tell(.failed(closed)) }
    for continuation in closing {
      if let failure { continuation.resume(throwing: failure) } else { continuation.resume() }
    }
    opening.signal()
    ended.leave()
  }

  /// Waits for so many milliseconds, or until somebody wakes the thread.
  func sleep(_ milliseconds: Int32) {
    var polled = [pollfd(fd: poller.descriptor, events: Int16(POLLIN), revents: 0)]
    _ = unsafe poll(&polled, 1, milliseconds)
    if polled[0].revents != 0 { drainWakes() }
  }

  func drainWakes() {
    var given: Int32 = -1
    while unsafe withUnsafeTemporaryAllocation(
      byteCount: 256, alignment: 1,
      { memory in
        unsafe cstore_receive(poller.descriptor, memory.baseAddress, memory.count, &given) > 0
      })
    {}
  }

  /// Notes why nothing can be asked; whoever asks is told, until it goes better.
  private func refuse(_ error: any Error) {
    let refusal: CacheError
    if let error = error as? CacheError {
      refusal = error
    } else {
      let text = (error as? SystemFailure)?.text ?? String(describing: error)
      refusal = CacheError(.diskWriteFailed, "\(text), for the store in \(directory.path)", underlying: error)
    }
    let calls = state.withLock { state in
      state.refusal = refusal
      defer { (state.calls, state.unsent, state.sent, state.waitingSince) = ([:], [], 0, nil) }
      return Array(state.calls.values)
    }
    for call in calls { call.tell(.failed(refusal)) }
    opening.signal()
  }
}

import CacheCore
#if os(Linux) || os(macOS)
import CCurl
import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// The thread that runs all transfers of one transport, and the way to it.
///
/// Unchecked: `multi` is used by the thread only, except for waking it, which libcurl allows from anywhere as long
/// as the handle lives; `state` guards that. `queue` and `active` are the thread's own.
@safe final class CurlLoop: @unchecked Sendable {
  private struct State {
    var phase = Phase.idle
    var submitted: [any CurlJob] = []
    /// Those that changed outside of the thread.
    var noted: [any CurlJob] = []
    var isStopping = false
  }

  private enum Phase {
    case idle
    case running
  }

  private let state = Mutex(State())
  private let keptConnections: Int
  private var multi: UnsafeMutableRawPointer?
  private var queue: CurlQueue
  /// By the address of the easy handle.
  private var active: [UInt: any CurlJob] = [:]
  /// When one of them may have waited too long.
  private var nextLook: ContinuousClock.Instant?

  /// Prepares a loop; its thread starts with the first transfer.
  ///
  /// - Parameters:
  ///   - transfers: How many run at a time.
  ///   - transfersPerOrigin: How many of them run to one origin.
  ///   - keptConnections: How many connections wait for the next transfer; `nil` for as many as may run.
  init(transfers: Int, transfersPerOrigin: Int, keptConnections: Int? = nil) {
    self.keptConnections = keptConnections ?? transfers
    queue = CurlQueue(transfers: transfers, transfersPerOrigin: transfersPerOrigin)
  }

  /// Hands a transfer to the thread, which is started if need be.
  func submit(_ transfer: any CurlJob) {
    let starts = state.withLock { state in
      state.submitted.append(transfer)
      if state.phase == .idle, !prepare() { return nil as Bool? }
      defer { state.phase = .running }
      return state.phase == .idle
    }
    switch starts {
    case true?: startThread()
    case false?: wake()
    case nil: refuse()
    }
  }

  /// Has the thread look at a transfer that changed: nobody waits for it any more, or its content goes on.
  func look(at transfer: any CurlJob) {
    state.withLock { state in
      guard state.phase == .running else { return }
      state.noted.append(transfer)
      _ = unsafe curl_multi_wakeup(multi)
    }
  }

  private func wake() {
    state.withLock { state in
      if state.phase == .running { _ = unsafe curl_multi_wakeup(multi) }
    }
  }

  /// Ends the thread once the transfers under way are done.
  func stop() {
    state.withLock { $0.isStopping = true }
    wake()
  }

  private static let isLibraryReady = curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK

  private func prepare() -> Bool {
    guard Self.isLibraryReady, let multi = unsafe curl_multi_init() else { return false }
    unsafe ccurl_multi_set_long(multi, CURLMOPT_MAXCONNECTS, keptConnections)
    unsafe self.multi = unsafe multi
    return true
  }

  private func startThread() {
    // A connection that the other side closed must not end the process, and signals belong to the application.
    do { try OwnThread.start("cache-network") { [self] in run() } } catch {
      state.withLock { end(&$0) }
      refuse()
    }
  }

  private func refuse() {
    let refused = state.withLock { state in
      defer { state.submitted = [] }
      return state.submitted
    }
    for transfer in refused {
      transfer.fail(transfer.failure(.unreachable, "could not be asked: no memory or no thread is left; try again"))
    }
  }

  /// Frees the multi handle.
  ///
  /// A later request starts over.
  private func end(_ state: inout State) {
    unsafe curl_multi_cleanup(multi)
    unsafe multi = nil
    state.phase = .idle
  }

  private func run() {
    while let noted = takeIn() {
      for transfer in noted { look(transfer, now: .now) }
      lookAtAllInTime()
      admit()
      var running: Int32 = 0
      unsafe curl_multi_perform(multi, &running)
      if finishEnded() { continue }
      unsafe curl_multi_poll(multi, nil, 0, Int32(longestWait()), nil)
    }
  }

  /// Takes what was submitted.
  ///
  /// - Returns: The transfers that changed; `nil` at the end. Ending is decided under the lock, so that nobody submits to a thread
  ///   that ends.
  private func takeIn() -> [any CurlJob]? {
    state.withLock { state in
      for transfer in state.submitted { queue.append(transfer) }
      state.submitted = []
      defer { state.noted = [] }
      guard state.isStopping, queue.isEmpty else { return state.noted }
      end(&state)
      return nil
    }
  }

  /// Goes on with a transfer, or closes it if its caller has gone.
  private func look(_ transfer: any CurlJob, now: ContinuousClock.Instant) {
    guard unsafe transfer.handle != nil else { return }
    let next = transfer.look(now: now)
    guard !transfer.isAbandoned else { return close(transfer) }
    if let next { nextLook = min(nextLook ?? next, next) }
  }

  private func lookAtAllInTime() {
    let now = ContinuousClock.now
    guard let due = nextLook, due <= now else { return }
    nextLook = nil
    for transfer in Array(active.values) { look(transfer, now: now) }
  }

  /// Starts the transfers whose turn it is, and ends those that waited too long for it.
  private func admit() {
    let now = ContinuousClock.now
    for transfer in queue.removeOverdue(at: now) { transfer.fail(CurlFailure.timedOut(transfer)) }
    while let transfer = queue.next() {
      if transfer.isAbandoned { queue.ended(transfer) } else { start(transfer, now: now) }
    }
  }

  private func start(_ transfer: any CurlJob, now: ContinuousClock.Instant) {
    do {
      let easy = try unsafe transfer.open(now: now)
      guard unsafe curl_multi_add_handle(multi, easy) == CURLM_OK else {
        throw transfer.failure(.unreachable, "could not be asked: no memory is left; try again")
      }
      active[UInt(bitPattern: easy)] = transfer
      look(transfer, now: now)
    } catch {
      transfer.close()
      queue.ended(transfer)
      transfer.fail(error)
    }
  }

  /// Answers the callers of transfers that have ended.
  ///
  /// - Returns: Whether there were any, so that others may have their turn.
  private func finishEnded() -> Bool {
    var ended: [(any CurlJob, CURLcode)] = []
    var left: Int32 = 0
    while let message = unsafe curl_multi_info_read(multi, &left) {
      guard unsafe message.pointee.msg == CURLMSG_DONE,
        let transfer = active[UInt(bitPattern: unsafe message.pointee.easy_handle)]
      else { continue }
      unsafe ended.append((transfer, ccurl_message_result(message)))
    }
    for (transfer, code) in ended {
      transfer.finish(code)
      close(transfer)
    }
    return !ended.isEmpty
  }

  private func close(_ transfer: any CurlJob) {
    active[UInt(bitPattern: unsafe transfer.handle)] = nil
    unsafe curl_multi_remove_handle(multi, transfer.handle)
    transfer.close()
    queue.ended(transfer)
  }

  /// How long nothing can be due, in milliseconds.
  ///
  /// libcurl knows about the transfers under way.
  private func longestWait() -> Int {
    guard let next = [queue.nextDeadline, nextLook].compactMap(\.self).min() else { return 3_600_000 }
    return min(Self.milliseconds(ContinuousClock.now.duration(to: next)) + 1, 3_600_000)
  }

  /// At least 1, since libcurl takes 0 for no limit at all.
  static func milliseconds(_ duration: Duration) -> Int {
    max(1, min(Int(duration.clampedNanoseconds / 1_000_000), Int(Int32.max)))
  }
}
#endif

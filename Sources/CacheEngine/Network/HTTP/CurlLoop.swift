import CacheCore
#if os(Linux)
import CCurl
import CStore
import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// The thread that runs all transfers of one transport, and the way to it.
///
/// Unchecked: `multi` is used by the thread only, except for waking it, which libcurl allows from anywhere as long
/// as the handle lives; `state` guards that. `queue` and `active` are the thread's own.
@safe final class CurlLoop: @unchecked Sendable {
  private struct State {
    var phase = Phase.idle
    var submitted: [CurlTransfer] = []
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
  private var active: [CurlTransfer] = []

  init(transfers: Int, transfersPerOrigin: Int) {
    keptConnections = transfers
    queue = CurlQueue(transfers: transfers, transfersPerOrigin: transfersPerOrigin)
  }

  /// Hands a transfer to the thread, which is started if need be.
  func submit(_ transfer: CurlTransfer) {
    let starts = state.withLock { state in
      state.submitted.append(transfer)
      if state.phase == .idle, !prepare() { return nil as Bool? }
      defer { state.phase = .running }
      return state.phase == .idle
    }
    switch starts {
    case true?: startThread(for: transfer)
    case false?: wake()
    case nil: refuse()
    }
  }

  /// Has the thread look at what changed: a new transfer, or one that nobody waits for any more.
  func wake() {
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

  private func startThread(for transfer: CurlTransfer) {
    var thread = pthread_t()
    let context = unsafe Unmanaged.passRetained(self).toOpaque()
    let code = unsafe pthread_create(
      &thread, nil,
      { context in
        guard let context = unsafe context else { return nil }
        unsafe Unmanaged<CurlLoop>.fromOpaque(context).takeRetainedValue().run()
        return nil
      }, context)
    if code == 0 {
      pthread_detach(thread)
    } else {
      unsafe Unmanaged<CurlLoop>.fromOpaque(context).release()
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
      transfer.reply.give(
        .failure(transfer.failure(.unreachable, "could not be asked: no memory or no thread is left; try again")))
    }
  }

  /// Frees the multi handle.
  ///
  /// A later request begins anew.
  private func end(_ state: inout State) {
    unsafe curl_multi_cleanup(multi)
    unsafe multi = nil
    state.phase = .idle
  }

  private func run() {
    // A connection that the other side closed must not end the process, and signals belong to the application.
    unsafe cstore_begin_thread("cache-network")

    while takeIn() {
      dropAbandoned()
      admit()
      var running: Int32 = 0
      unsafe curl_multi_perform(multi, &running)
      if finishEnded() { continue }
      unsafe curl_multi_poll(multi, nil, 0, Int32(longestWait()), nil)
    }
  }

  /// Takes what was submitted.
  ///
  /// - Returns: Whether to go on. Ending is decided under the lock, so that nobody submits to a thread that ends.
  private func takeIn() -> Bool {
    state.withLock { state in
      for transfer in state.submitted { queue.append(transfer) }
      state.submitted = []
      guard state.isStopping, queue.isEmpty else { return true }
      end(&state)
      return false
    }
  }

  /// Closes the transfers whose callers have gone.
  private func dropAbandoned() {
    for transfer in active where transfer.reply.isGiven { close(transfer) }
    active.removeAll { unsafe $0.handle == nil }
  }

  /// Starts the transfers whose turn it is, and ends those that waited too long for it.
  private func admit() {
    let now = ContinuousClock.now
    for transfer in queue.removeOverdue(at: now) { transfer.reply.give(.failure(CurlFailure.timedOut(transfer))) }
    while let transfer = queue.next() {
      if transfer.reply.isGiven { queue.ended(transfer) } else { start(transfer, now: now) }
    }
  }

  private func start(_ transfer: CurlTransfer, now: ContinuousClock.Instant) {
    do {
      let easy = try unsafe transfer.open(now: now)
      guard unsafe curl_multi_add_handle(multi, easy) == CURLM_OK else {
        throw transfer.failure(.unreachable, "could not be asked: no memory is left; try again")
      }
      active.append(transfer)
    } catch {
      transfer.close()
      queue.ended(transfer)
      transfer.reply.give(.failure(error))
    }
  }

  /// Answers the callers of transfers that have ended.
  ///
  /// - Returns: Whether there were any, so that others may have their turn.
  private func finishEnded() -> Bool {
    var ended: [(CurlTransfer, CURLcode)] = []
    var left: Int32 = 0
    while let message = unsafe curl_multi_info_read(multi, &left) {
      guard unsafe message.pointee.msg == CURLMSG_DONE else { continue }
      var context: UnsafeMutableRawPointer?
      unsafe ccurl_get_pointer(message.pointee.easy_handle, &context)
      guard let context = unsafe context else { continue }
      let transfer = unsafe Unmanaged<CurlTransfer>.fromOpaque(context).takeUnretainedValue()
      unsafe ended.append((transfer, ccurl_message_result(message)))
    }
    for (transfer, code) in ended {
      let outcome = transfer.outcome(code)
      close(transfer)
      transfer.reply.give(outcome)
    }
    active.removeAll { unsafe $0.handle == nil }
    return !ended.isEmpty
  }

  private func close(_ transfer: CurlTransfer) {
    unsafe curl_multi_remove_handle(multi, transfer.handle)
    transfer.close()
    queue.ended(transfer)
  }

  /// How long nothing can be due, in milliseconds.
  ///
  /// libcurl knows about the transfers under way.
  private func longestWait() -> Int {
    guard let next = queue.nextDeadline else { return 3_600_000 }
    return min(CurlTransfer.milliseconds(ContinuousClock.now.duration(to: next)) + 1, 3_600_000)
  }
}
#endif

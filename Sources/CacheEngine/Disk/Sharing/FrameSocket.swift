import CacheCore
internal import CStore
import Synchronization

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Darwin)
internal import Darwin
#endif

/// One end of a connection between processes that share a directory; it never blocks.
///
/// Any thread sends; one receives at a time, and deals with what came before another does.
final class FrameSocket: Sendable {
  /// At most this much may wait for a peer that does not read; one that lets more pile up is not waited for.
  static let mostWaiting = 16 << 20
  /// At most this many files may have come ahead of their frames.
  private static let mostFiles = 64

  private struct Piece {
    var bytes: [UInt8]
    var sent = 0
    var file: StoreFile?
    var onSent: (@Sendable () -> Void)?
  }

  private struct Out {
    var pieces: [Piece] = []
    var count = 0
    var isBroken = false
    /// Since when nothing gets through.
    var stalledSince: Int64?
  }

  private struct In {
    var buffer: ArraySlice<UInt8> = []
    var files: [StoreFile] = []
    var isOver = false
  }

  private let socket: StoreFile
  private let out = Mutex(Out())
  private let arriving = Mutex(In())
  /// Wakes the thread that polls when something has to wait for room.
  private let wake: @Sendable () -> Void

  var descriptor: Int32 { socket.descriptor }
  var isWaitingForRoom: Bool { out.withLock { !$0.pieces.isEmpty && !$0.isBroken } }

  /// Whether the peer has taken nothing for so long, though something waits for it.
  func isStalled(for nanoseconds: Int64, _ now: Int64) -> Bool {
    out.withLock { out in out.stalledSince.map { now - $0 > nanoseconds } ?? false }
  }

  init(_ descriptor: Int32, wake: @escaping @Sendable () -> Void) {
    socket = StoreFile(descriptor)
    self.wake = wake
  }

  /// Whether the process at the other end is this user's; its number, or 0 where the system does not say.
  var peer: Int32? {
    var (user, process): (UInt32, Int32) = (0, 0)
    guard unsafe cstore_peer(descriptor, &user, &process), user == geteuid() else { return nil }
    return process
  }

  /// Sends a frame as soon as there is room; `onSent` is called when the system has all of it, or it will never.
  func send(_ frame: SharedFrame, onSent: (@Sendable () -> Void)? = nil) {
    let (done, isWaiting) = out.withLock { out -> ([@Sendable () -> Void], Bool) in
      guard !out.isBroken else { return (onSent.map { [$0] } ?? [], false) }
      let bytes = frame.bytes
      out.pieces.append(Piece(bytes: bytes, file: frame.file, onSent: onSent))
      out.count += bytes.count
      guard out.pieces.count == 1 else {
        if out.count > Self.mostWaiting { return (breakOff(&out), false) }
        return ([], false)
      }
      let done = write(&out)
      return (done, !out.pieces.isEmpty)
    }
    for call in done { call() }
    if isWaiting { wake() }
  }

  /// Sends what waits, as far as there is room.
  func flush() {
    for call in out.withLock({ write(&$0) }) { call() }
  }

  private func write(_ out: inout Out) -> [@Sendable () -> Void] {
    var done: [@Sendable () -> Void] = []
    while let piece = out.pieces.first {
      let sent = unsafe piece.bytes.withUnsafeBytes { raw in
        let rest = unsafe UnsafeRawBufferPointer(rebasing: raw[piece.sent...])
        return unsafe cstore_send(
          descriptor, rest.baseAddress, rest.count, piece.sent == 0 ? piece.file?.descriptor ?? -1 : -1)
      }
      guard sent >= 0 else {
        if errno == EAGAIN || errno == EWOULDBLOCK || errno == ENOBUFS {
          out.stalledSince = out.stalledSince ?? SystemClock().now.nanoseconds
          return done
        }
        return done + breakOff(&out)
      }
      out.pieces[0].sent += sent
      out.stalledSince = nil
      guard out.pieces[0].sent == piece.bytes.count else { continue }
      out.count -= piece.bytes.count
      out.pieces.removeFirst()
      if let call = piece.onSent { done.append(call) }
    }
    return done
  }

  /// Ends the connection; the thread that polls hears of it.
  func breakOff() {
    for call in out.withLock({ breakOff(&$0) }) { call() }
  }

  private func breakOff(_ out: inout Out) -> [@Sendable () -> Void] {
    guard !out.isBroken else { return [] }
    out.isBroken = true
    shutdown(descriptor, Int32(SHUT_RDWR))
    defer { (out.pieces, out.count) = ([], 0) }
    return out.pieces.compactMap(\.onSent)
  }

  /// Deals with what has come since.
  ///
  /// - Parameter take: Called with the frames in the order in which they came; it must not receive.
  /// - Returns: Whether the connection goes on: the last frames come before its end.
  /// - Throws: ``ProtocolViolation``; what `take` throws.
  func receive(_ take: ([SharedFrame]) throws -> Void) throws -> Bool {
    try arriving.withLock { $0.isOver ? false : try receive(&$0, take) }
  }

  /// The same, unless another thread is about it; `nil` then, and once receiving has ended.
  func receiveIfFree(_ take: ([SharedFrame]) throws -> Void) throws -> Bool? {
    let isOpen = try arriving.withLockIfAvailable { $0.isOver ? nil : try receive(&$0, take) }
    return isOpen ?? nil
  }

  /// Waits for the thread that is receiving; nothing is received from then on.
  func endReceiving() { arriving.withLock { $0.isOver = true } }

  private func receive(_ arriving: inout In, _ take: ([SharedFrame]) throws -> Void) throws -> Bool {
    do {
      let (frames, isOpen) = try frames(&arriving)
      try take(frames)
      return isOpen
    } catch {
      // Nobody knows any more where the next frame begins, and what it belongs to.
      arriving.isOver = true
      throw error
    }
  }

  private func frames(_ arriving: inout In) throws -> (frames: [SharedFrame], isOpen: Bool) {
    var frames: [SharedFrame] = []
    while true {
      var given: Int32 = -1
      let room = SharedFrame.mostInline + SharedFrame.headSize
      let got = unsafe withUnsafeTemporaryAllocation(byteCount: room, alignment: 8) { memory in
        let got = unsafe cstore_receive(descriptor, memory.baseAddress, memory.count, &given)
        if got > 0 { unsafe arriving.buffer.append(contentsOf: memory[..<got]) }
        return got
      }
      if got < 0, errno == EAGAIN || errno == EWOULDBLOCK { return (frames, true) }
      if got < 0, errno == EPROTO { throw ProtocolViolation() }
      guard got > 0 else { return (frames, false) }
      // Of one that could not be taken the frame is there all the same.
      if given != -1 { arriving.files.append(StoreFile(given)) }
      while let frame = try SharedFrame.next(in: &arriving.buffer, &arriving.files) { frames.append(frame) }
      guard arriving.files.count <= Self.mostFiles else { throw ProtocolViolation() }
      if arriving.buffer.isEmpty { arriving.buffer = [] }
      // Others have their turn.
      if got < room || frames.count >= 64 { return (frames, true) }
    }
  }
}

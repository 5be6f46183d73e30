import Dispatch

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// Writes frames to a terminal, each in one call, and never waits for a terminal that is slow or stopped.
@MainActor
final class FrameWriter {
  /// Bytes and calls so far.
  private(set) var bytesWritten = 0
  private(set) var writes = 0
  /// The terminal is closed; nothing is written any more.
  private(set) var isGone = false
  /// Called when what was left over has gone out.
  var onDrained: (@MainActor () -> Void)?
  /// Called once when the terminal turns out to be closed.
  var onGone: (@MainActor () -> Void)?

  let descriptor: Int32
  private let ownsDescriptor: Bool
  private var isClosed = false
  private var rest: ArraySlice<UInt8> = []
  private var source: (any DispatchSourceWrite)?

  /// A description of its own where the device can be opened again: waiting is then refused for us alone, and not for the
  /// shell that shares the given descriptor.
  init(terminal: Int32) {
    var name = [CChar](repeating: 0, count: 256)
    let opened: Int32 =
      unsafe ttyname_r(terminal, &name, name.count) == 0
      ? unsafe open(name, O_WRONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC) : -1
    (descriptor, ownsDescriptor) = opened >= 0 ? (opened, true) : (terminal, false)
  }

  /// Whether an earlier frame is still going out.
  var isBusy: Bool { !rest.isEmpty }

  /// Writes a frame.
  ///
  /// It must not be called while ``isBusy``, since frames build on each other.
  func write(_ frame: [UInt8]) {
    guard !isGone, !frame.isEmpty else { return }
    rest += frame[...]
    push()
    if isBusy, source == nil { waitForRoom() }
  }

  /// Writes the last words, together with what is left over, and waits a moment for room if it must.
  func finish(_ bytes: [UInt8]) {
    guard !isGone else { return }
    rest += bytes[...]
    push()
    var patience = 20
    while isBusy, !isGone, patience > 0 {
      var room = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
      if unsafe poll(&room, 1, 10) <= 0 { patience -= 1 }
      push()
    }
    rest = []
    stopWaiting()
  }

  /// Closes what was opened; a second call does nothing, since the number may be somebody else's by then.
  func close() {
    guard !isClosed else { return }
    isClosed = true
    if ownsDescriptor, let source {
      // Not before the source has released it.
      source.setCancelHandler { [descriptor] in _ = systemClose(descriptor) }
    } else if ownsDescriptor {
      _ = systemClose(descriptor)
    }
    stopWaiting()
    isGone = true
  }

  private func push() {
    while !rest.isEmpty {
      let (written, failure) = unsafe rest.withUnsafeBytes { bytes in
        let count = unsafe systemWrite(descriptor, bytes.baseAddress, bytes.count)
        return (count, errno)
      }
      if written > 0 {
        writes += 1
        bytesWritten += written
        rest = rest.dropFirst(written)
      } else if written < 0, failure == EINTR {
        continue
      } else if written < 0, failure == EAGAIN {
        return
      } else {
        rest = []
        isGone = true
        stopWaiting()
        onGone?()
        return
      }
    }
    rest = []
  }

  private func waitForRoom() {
    let source = DispatchSource.makeWriteSource(fileDescriptor: descriptor, queue: .main)
    source.setEventHandler { [weak self] in
      MainActor.assumeIsolated {
        guard let self else { return }
        self.push()
        guard !self.isBusy, !self.isGone else { return }
        self.stopWaiting()
        self.onDrained?()
      }
    }
    self.source = source
    source.activate()
  }

  private func stopWaiting() {
    source?.cancel()
    source = nil
  }
}

private func systemWrite(_ descriptor: Int32, _ bytes: UnsafeRawPointer?, _ count: Int) -> Int {
  unsafe write(descriptor, bytes, count)
}

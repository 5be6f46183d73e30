import CTerminalGuard
import Dispatch
import ExplorerState

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// Reads a terminal when it has something, and reports keys and pastes.
@MainActor
final class Keyboard {
  private let descriptor: Int32
  private let onEvent: @MainActor (InputEvent) -> Void
  private let onAnswer: @MainActor () -> Void
  private let onEnd: @MainActor () -> Void
  private let source: any DispatchSourceRead
  private var decoder: KeyDecoder
  private var isStopped = false
  /// Counts what came, so that a wait that is over can tell whether it was the last.
  private var arrivals = 0

  /// `onAnswer` is called for each answer to ``LinkPace/question``, and `onEnd` once when the terminal is closed; nothing is
  /// read any more then.
  init(
    descriptor: Int32, decoder: KeyDecoder, onEvent: @escaping @MainActor (InputEvent) -> Void,
    onAnswer: @escaping @MainActor () -> Void, onEnd: @escaping @MainActor () -> Void
  ) {
    self.descriptor = descriptor
    self.decoder = decoder
    self.onEvent = onEvent
    self.onAnswer = onAnswer
    self.onEnd = onEnd
    // A descriptor of its own, closed when the source has released it: nobody may close one that is being watched.
    let copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
    source = DispatchSource.makeReadSource(fileDescriptor: copy >= 0 ? copy : descriptor, queue: .main)
    source.setCancelHandler { if copy >= 0 { _ = systemClose(copy) } }
    source.setEventHandler { [weak self] in
      MainActor.assumeIsolated { self?.drain() }
    }
    source.activate()
  }

  func stop() {
    guard !isStopped else { return }
    isStopped = true
    source.cancel()
  }

  private func drain() {
    // Readable was said a moment ago. If the input was flushed since, reading would wait.
    var ready = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    guard !isStopped, unsafe poll(&ready, 1, 0) > 0 else { return }
    var bytes = [UInt8](repeating: 0, count: 4096)
    let count = unsafe ctg_read(descriptor, &bytes, bytes.count)
    if count < 0, errno == EINTR || errno == EAGAIN { return }
    guard count > 0 else {
      stop()
      return onEnd()
    }
    arrivals += 1
    let answers = decoder.answers
    report(decoder.feed(bytes.prefix(count)))
    for _ in answers..<decoder.answers where !isStopped { onAnswer() }
    waitForRest()
  }

  /// Reads until answers have come that are awaited, at most until a moment; keys are lost.
  ///
  /// A shell that reads them would take them for typed.
  func drop(answers awaited: Int, until deadline: ContinuousClock.Instant) {
    let enough = decoder.answers + awaited
    while decoder.answers < enough {
      let left = ContinuousClock.now.duration(to: deadline) / .milliseconds(1)
      var ready = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      guard left > 0, unsafe poll(&ready, 1, Int32(left.rounded(.up))) > 0 else { return }
      var bytes = [UInt8](repeating: 0, count: 4096)
      let count = unsafe ctg_read(descriptor, &bytes, bytes.count)
      guard count > 0 else { return }
      _ = decoder.feed(bytes.prefix(count))
    }
  }

  private func waitForRest() {
    guard let patience = decoder.patience else { return }
    let awaited = arrivals
    let milliseconds = Int(patience.components.attoseconds / 1_000_000_000_000_000)
    DispatchQueue.main.asyncAfter(deadline: .now() + .milliseconds(milliseconds)) { [weak self] in
      MainActor.assumeIsolated {
        guard let self, !self.isStopped, self.arrivals == awaited else { return }
        self.report(self.decoder.giveUp())
      }
    }
  }

  private func report(_ events: [InputEvent]) {
    for event in events where !isStopped { onEvent(event) }
  }
}

/// `close`, where a method of that name stands in the way.
package func systemClose(_ descriptor: Int32) -> Int32 { close(descriptor) }

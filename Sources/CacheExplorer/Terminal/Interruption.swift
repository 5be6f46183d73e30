import Dispatch
import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// Turns signals that end a program into a call, so that a cache is closed before the program ends; so does the end of who reads
/// standard output.
final class Interruption: Sendable {
  private let sources = Mutex<[any DispatchSourceSignal]>([])
  private let received = Mutex<Int32?>(nil)
  private let onSignal: @Sendable () -> Void

  init(_ numbers: [Int32] = [SIGINT, SIGTERM, SIGHUP], _ onSignal: @escaping @Sendable () -> Void) {
    self.onSignal = onSignal
    sources.withLock { sources in
      for number in numbers {
        // Dispatch sees signals that are ignored.
        signal(number, SIG_IGN)
        let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
        source.setEventHandler { [weak self] in self?.take(number) }
        source.activate()
        sources.append(source)
      }
    }
    StandardStreams.tellUnread(self)
  }

  func take(_ number: Int32) {
    received.withLock { $0 = $0 ?? number }
    onSignal()
  }

  deinit { sources.withLock { for source in $0 { source.cancel() } } }

  /// The exit status that tells of the signal; `nil` if none came.
  var status: Int32? { received.withLock { $0 }.map { 128 + $0 } }
}

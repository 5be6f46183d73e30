import Dispatch
import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// Turns signals that end a program into a call, so that a cache is closed before the program ends.
final class Interruption: Sendable {
  private let sources = Mutex<[any DispatchSourceSignal]>([])
  private let received = Mutex<Int32?>(nil)

  init(_ numbers: [Int32] = [SIGINT, SIGTERM, SIGHUP], _ onSignal: @escaping @Sendable () -> Void) {
    sources.withLock { sources in
      for number in numbers {
        // Dispatch sees signals that are ignored.
        signal(number, SIG_IGN)
        let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
        source.setEventHandler { [weak self] in
          self?.received.withLock { $0 = $0 ?? number }
          onSignal()
        }
        source.activate()
        sources.append(source)
      }
    }
  }

  deinit { sources.withLock { for source in $0 { source.cancel() } } }

  /// The exit status that tells of the signal; `nil` if none came.
  var status: Int32? { received.withLock { $0 }.map { 128 + $0 } }
}

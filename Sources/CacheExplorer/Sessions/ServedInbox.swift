#if Explorer
import ExplorerCache
import ExplorerModel
import ExplorerState
import Synchronization

/// What the proxy tells, until the screen has time for it.
///
/// It holds so many requests and no more: beyond that the oldest go, and are counted.
final class ServedInbox: Sendable {
  struct Letters {
    var exchanges: [ServedExchange] = []
    var lost = 0
    var failures: [LogLine] = []
  }

  private static let most = 2_000
  /// Between two looks, so that one picture answers many requests.
  private static let pause = Duration.milliseconds(100)

  private let letters = Mutex(Letters())
  private let bell = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))

  func put(_ exchange: ServedExchange) {
    letters.withLock { letters in
      letters.exchanges.append(exchange)
      guard letters.exchanges.count > Self.most else { return }
      letters.exchanges.removeFirst(Self.most / 2)
      letters.lost += Self.most / 2
    }
    bell.continuation.yield()
  }

  /// Of these there are few: each kind is told once.
  func put(_ failure: LogLine) {
    letters.withLock { $0.failures.append(failure) }
    bell.continuation.yield()
  }

  /// What has come and was not told yet.
  func take() -> Letters {
    letters.withLock { letters in
      defer { letters = Letters() }
      return letters
    }
  }

  /// Tells what has come, until the task is cancelled.
  func follow(_ figures: ServedFigures?, _ tell: (Message) -> Void) async {
    for await _ in bell.stream {
      let taken = take()
      if !taken.failures.isEmpty { tell(.log(taken.failures, lost: 0)) }
      if !taken.exchanges.isEmpty {
        tell(.served(taken.exchanges, figures?.counts ?? ServedCounts(), lost: taken.lost))
      }
      do { try await ContinuousClock().sleep(for: Self.pause) } catch { return }
    }
  }
}
#endif

import Testing

@testable import CacheExplorer
@testable import ExplorerCache
@testable import ExplorerModel
@testable import ExplorerState
@testable import ExplorerTerminal

@Suite struct RetryPaceTests {
  @Test("who waits for an app tries soon, then less and less often, and every five seconds for ever")
  func pace() {
    var pace = RetryPace()
    let waits = (0..<8).map { _ in pace.next() }
    #expect(
      waits == [.milliseconds(250), .milliseconds(500), .seconds(1), .seconds(2), .seconds(4)]
        + Array(repeating: .seconds(5), count: 3))
  }

  @Test("a wait of the main loop ends with its task, however long it was to be", .timeLimit(.minutes(10)))
  func cancelled() async {
    let sleep = Task { try await MainLoop.sleep(for: .seconds(86_400)) }
    sleep.cancel()
    await #expect(throws: CancellationError.self) { try await sleep.value }
    let (began, first) = AsyncStream.makeStream(of: Void.self)
    let second = Task {
      first.yield()
      try await MainLoop.sleep(for: .seconds(86_400))
    }
    for await _ in began { break }
    second.cancel()
    await #expect(throws: CancellationError.self) { try await second.value }
  }
}

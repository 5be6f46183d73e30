import TestSupport
import Testing

@testable import CacheExplorer

@MainActor
@Suite(.timeLimit(.minutes(10))) struct ErrandsTests {
  @Test("The end cancels what runs, waits for it, and for what that begins on its way out")
  func end() async {
    let errands = Errands()
    var ended: [String] = []
    errands.begin {
      await untilCancelled()
      errands.begin {
        await untilCancelled()
        ended.append("second")
      }
      ended.append("first")
    }
    await errands.end()
    #expect(ended == ["first", "second"])
  }

  @Test("To cancel ends what runs, and waits for nothing")
  func cancel() async {
    let errands = Errands()
    let (stream, continuation) = AsyncStream<String>.makeStream()
    errands.begin {
      await untilCancelled()
      continuation.yield("cancelled")
      continuation.finish()
    }
    errands.cancel()
    var told: [String] = []
    for await word in stream { told.append(word) }
    #expect(told == ["cancelled"])
    await errands.end()
  }
}

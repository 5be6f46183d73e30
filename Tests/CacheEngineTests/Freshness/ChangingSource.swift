import CacheEngine
import CacheEngineTesting
import Synchronization
import TestSupport

/// A source whose answer can be changed, held up and broken.
final class ChangingSource: Sendable {
  struct State {
    var answer: Result<Int?, CacheError> = .success(1)
    var gate: Gate?
    var asked = 0
  }
  let state = Mutex(State())
  var asked: Int { state.withLock { $0.asked } }

  func answers(_ answer: Result<Int?, CacheError>, gate: Gate? = nil) {
    state.withLock { ($0.answer, $0.gate) = (answer, gate) }
  }

  var level: BasicFetcher<String, Int> {
    BasicFetcher(name: "source") { _ in
      let (answer, gate) = self.state.withLock { state in
        state.asked += 1
        return (state.answer, state.gate)
      }
      try await gate?.pass()
      return try answer.get()
    }
  }
}

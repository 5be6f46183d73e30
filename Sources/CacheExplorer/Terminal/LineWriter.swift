import Dispatch
import Synchronization

/// Lines on their way to standard output, for those who cannot wait until somebody reads them.
///
/// They are written by a thread of their own. Where nobody reads, a bounded number waits; what comes beyond that is dropped and
/// counted.
package final class LineWriter: Sendable {
  private struct State {
    var lines: [String] = []
    var bytes = 0
    var isWriting = false
    var lost = 0
  }

  private static let mostBytes = 8 << 20

  private let state = Mutex(State())
  private let queue = DispatchQueue(label: "lines")
  private let write: @Sendable (String) -> Void

  package init(_ write: @escaping @Sendable (String) -> Void) { self.write = write }

  /// How many lines were dropped.
  package var lost: Int { state.withLock { $0.lost } }

  package func put(_ line: String) {
    let begins = state.withLock { state in
      guard state.bytes + line.utf8.count <= Self.mostBytes else {
        state.lost += 1
        return false
      }
      state.lines.append(line)
      state.bytes += line.utf8.count
      defer { state.isWriting = true }
      return !state.isWriting
    }
    if begins { queue.async { self.drain() } }
  }

  /// Waits until everything is written that was put before.
  package func flush() async {
    await withCheckedContinuation { continuation in
      queue.async {
        self.drain()
        continuation.resume()
      }
    }
  }

  private func drain() {
    while true {
      let lines = state.withLock { state in
        defer { (state.lines, state.bytes, state.isWriting) = ([], 0, !state.lines.isEmpty) }
        return state.lines
      }
      guard !lines.isEmpty else { return }
      write(lines.joined(separator: "\n"))
    }
  }
}

import CacheEngine
package import CacheEngineHitRatio
import ExplorerText
import Synchronization

/// Reads a trace of requests: `KEY` or `KEY<TAB>SIZE` a line, `#` begins a comment line, gzip or not.
package final class TraceReader: Sendable {
  package struct Request: Equatable, Sendable {
    package var key: String
    /// In bytes, if the trace says it.
    package var size: Int?
  }

  /// The size that the request under way asks for, so that a simulated origin can give it.
  @TaskLocal package static var size: Int?

  static let largestValue = 64 << 20

  private let name: String
  private let lines: Mutex<TraceLines>

  /// `path`: `-` for standard input.
  package init(path: String) throws(TraceProblem) {
    let lines = try TraceLines(path: path)
    name = lines.name
    self.lines = Mutex(lines)
  }

  /// Gives the next request; `nil` at the end.
  package func next() throws(TraceProblem) -> Request? {
    let request = try lines.withLock { lines throws(TraceProblem) in try lines.next() }
    guard let request else { return nil }
    return Request(key: request.key, size: try size(of: request))
  }

  /// Sizes as people write them, in units if they like.
  private func size(of request: TraceLines.Request) throws(TraceProblem) -> Int? {
    guard let text = request.size else { return nil }
    if let size = Int(text), (0...Self.largestValue).contains(size) { return size }
    func problem(_ message: String, _ remedy: String) -> TraceProblem {
      TraceProblem(file: name, line: request.line, message: message, remedy: remedy)
    }
    let tabs = text.count { $0 == "\t" }
    guard tabs == 0 else { throw problem("has \(tabs + 2) fields", "write KEY, or KEY, a tab and SIZE") }
    let size: Int
    do { size = try Quantity.bytes(text) } catch {
      throw problem("has “\(text)” for a size: \(error.message)", error.remedy)
    }
    guard size <= Self.largestValue else {
      throw problem("asks for \(text), more than a value may have", "give at most 64 MiB")
    }
    return size
  }
}

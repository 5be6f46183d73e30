import CacheEngine
package import CacheEngineHitRatio
import ExplorerText
import Synchronization

/// Reads a trace of requests of any format.
package final class TraceReader: Sendable {
  package struct Request: Equatable, Sendable {
    package var key: String
    /// In bytes, if the trace says it.
    package var size: Int?
    /// When it came, since the moment that the trace counts from; `nil` if it does not say.
    package var time: Duration?

    package init(key: String, size: Int? = nil, time: Duration? = nil) {
      self.key = key
      self.size = size
      self.time = time
    }
  }

  /// The size that the request under way asks for, so that a simulated origin can give it.
  @TaskLocal package static var size: Int?

  /// Larger values are not made: what a text asks for is refused, and what a log or a public trace tells of is made so large.
  static let largestValue = 64 << 20

  /// The last size of so many keys is kept, for requests that do not tell it.
  private static let mostSizes = 1 << 20

  private let name: String
  private let isTimed: Bool
  private let lines: Mutex<TraceLines>
  /// By the hashes of the keys, which may be long.
  private let sizes = Mutex<[Int: Int]>([:])

  /// Opens a trace.
  ///
  /// `path`: `-` for standard input.
  /// `format`: `nil` to recognize it.
  /// `isTimed`: Every request has to say when it came.
  package init(path: String, format: TraceFormat? = nil, isTimed: Bool = false) throws(TraceProblem) {
    let lines = try TraceLines(path: path, format: format)
    self.isTimed = isTimed
    name = lines.name
    self.lines = Mutex(lines)
  }

  /// How many requests were passed over because they are no reads.
  package var skipped: Int { lines.withLock { $0.skipped } }

  /// `nil` until the first request was read.
  package var format: TraceFormat? { lines.withLock { $0.format } }

  /// Gives the next request; `nil` at the end.
  package func next() throws(TraceProblem) -> Request? {
    let (request, isText) = try lines.withLock { lines throws(TraceProblem) in
      (try lines.next(), lines.format == .text)
    }
    guard let request else { return nil }
    guard request.time != nil || !isTimed else {
      throw TraceProblem(
        file: name, line: request.line, message: "does not say when its request came", remedy: "leave --timed out")
    }
    let size = isText ? try Self.size(of: request, in: name) : size(of: request)
    return Request(key: request.key, size: size, time: isTimed ? request.time : nil)
  }

  /// As the trace says, or as it said last.
  private func size(of request: TraceLines.Request) -> Int? {
    let hash = request.key.hashValue
    return sizes.withLock { sizes in
      guard let text = request.size else { return sizes[hash] }
      let size = min(Int(text) ?? .max, Self.largestValue)
      if sizes.count == Self.mostSizes { sizes = [:] }
      sizes[hash] = size
      return size
    }
  }

  /// Sizes as people write them, in units if they like.
  package static func size(of request: TraceLines.Request, in name: String) throws(TraceProblem) -> Int? {
    guard let text = request.size else { return nil }
    if let size = Int(text), (0...largestValue).contains(size) { return size }
    func problem(_ message: String, _ remedy: String) -> TraceProblem {
      TraceProblem(file: name, line: request.line, message: message, remedy: remedy)
    }
    let tabs = text.count { $0 == "\t" }
    guard tabs == 0 else { throw problem("has \(tabs + 2) fields", "write KEY, or KEY, a tab and SIZE") }
    let size: Int
    do { size = try Quantity.bytes(text) } catch {
      throw problem("has “\(text)” for a size: \(error.message)", error.remedy)
    }
    guard size <= largestValue else {
      throw problem("asks for \(text), more than a value may have", "give at most 64 MiB")
    }
    return size
  }
}

import Dispatch
import Synchronization

/// The lines of standard input as they come.
enum InputLines {
  /// A line of input.
  enum Line: Equatable, Sendable {
    case text(String)
    /// It is no text in UTF-8, or longer than a line may be.
    case unreadable(String)
    /// The input ends here because it cannot be read.
    case failed(String)
  }

  /// What a person types is shorter.
  private static let longestTyped = 64 << 10

  /// Reads on a queue of its own; it ends with the input, or with whoever reads from it.
  ///
  /// Bytes that are no UTF-8 are replaced, and a line that nobody can have typed is left out, which is told.
  static func standardInput() -> AsyncStream<String> {
    lines(atMost: longestTyped, from: { StandardStreams.read(into: &$0) }) { bytes in
      guard let bytes else {
        StandardStreams.complain(
          "error: a line has more than \(longestTyped) bytes and is left out; name a file for a long value: set KEY @FILE"
        )
        return nil
      }
      return String(decoding: bytes, as: UTF8.self)
    }
  }

  /// As ``standardInput()`` for what another program writes: nothing is left out, and what cannot be read is told.
  ///
  /// `longest`: The most bytes that a line may have. `read`: Where the bytes come from.
  static func checkedInput(
    atMost longest: Int,
    from read: @escaping @Sendable (_ buffer: inout [UInt8]) -> Int = { StandardStreams.read(into: &$0) }
  ) -> AsyncStream<Line> {
    lines(atMost: longest, from: read) { bytes in
      guard let bytes else { return .unreadable("the line has more than \(longest) bytes") }
      let text = String(validating: bytes, as: UTF8.self)
      return text.map { .text($0) } ?? .unreadable("this is not text in UTF-8")
    } failure: {
      .failed($0)
    }
  }

  /// Reads on only when the line before was taken: whoever writes may write without end.
  ///
  /// `made`: What a line is without its end, which is `nil` if it is too long; `nil` to leave it out.
  /// `failure`: What stands at the end if the input cannot be read.
  private static func lines<Made: Sendable>(
    atMost longest: Int, from read: @escaping @Sendable (_ buffer: inout [UInt8]) -> Int,
    _ made: @escaping @Sendable (ArraySlice<UInt8>?) -> Made?,
    failure: @escaping @Sendable (String) -> Made? = { _ in nil }
  ) -> AsyncStream<Made> {
    let (lines, continuation) = AsyncStream<Made>.makeStream()
    let taken = DispatchSemaphore(value: 0)
    let isOver = Atomic(false)
    // Told before the stream refuses lines.
    continuation.onTermination = { _ in
      isOver.store(true, ordering: .releasing)
      taken.signal()
    }
    DispatchQueue(label: "input").async {
      defer { continuation.finish() }
      /// Whether somebody wants more.
      func put(_ line: ArraySlice<UInt8>?) -> Bool {
        guard let line = made(line) else { return true }
        continuation.yield(line)
        taken.wait()
        return !isOver.load(ordering: .acquiring)
      }
      var assembly = LineAssembly(longest: longest)
      var buffer = [UInt8](repeating: 0, count: 65_536)
      while true {
        let count = read(&buffer)
        let problem = count < 0 ? StandardStreams.lastProblem : nil
        guard count > 0 else {
          if let line = assembly.end(), !put(line) { return }
          if let line = problem.flatMap(failure) { continuation.yield(line) }
          return
        }
        for line in assembly.add(buffer[..<count]) where !put(line) { return }
      }
    }
    return AsyncStream {
      var iterator = lines.makeAsyncIterator()
      let line = await iterator.next()
      taken.signal()
      return line
    }
  }
}

/// Puts lines together from pieces of input.
struct LineAssembly: Sendable {
  /// The most bytes that a line may have.
  let longest: Int
  private var pending: [UInt8] = []
  /// What is read belongs to a line that is too long already.
  private var isTooLong = false

  init(longest: Int) { self.longest = longest }

  /// Takes a piece and gives the lines that end in it; `nil` for one that is too long.
  ///
  /// - Complexity: O(*n*) for a piece of *n* bytes, however many came before.
  mutating func add(_ piece: ArraySlice<UInt8>) -> [ArraySlice<UInt8>?] {
    var lines: [ArraySlice<UInt8>?] = []
    var rest = piece
    while let end = rest.firstIndex(of: 0x0a) {
      keep(rest[..<end])
      lines.append(isTooLong ? nil : pending[...])
      (pending, isTooLong) = ([], false)
      rest = rest[(end + 1)...]
    }
    keep(rest)
    return lines
  }

  /// What is left when the input has ended; `nil` if nothing is.
  mutating func end() -> ArraySlice<UInt8>?? {
    guard isTooLong || !pending.isEmpty else { return nil }
    return .some(isTooLong ? nil : pending[...])
  }

  private mutating func keep(_ part: ArraySlice<UInt8>) {
    guard !isTooLong else { return }
    guard pending.count + part.count <= longest else { return (pending, isTooLong) = ([], true) }
    pending += part
  }
}

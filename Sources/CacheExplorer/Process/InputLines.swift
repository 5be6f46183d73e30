import Dispatch

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
  /// Bytes that are no UTF-8 are replaced, and a line that nobody can have typed is left out.
  static func standardInput() -> AsyncStream<String> {
    let (lines, continuation) = AsyncStream<String>.makeStream()
    read(atMost: longestTyped) { bytes in
      if let bytes { continuation.yield(String(decoding: bytes, as: UTF8.self)) }
    } end: { _ in
      continuation.finish()
    }
    return lines
  }

  /// As ``standardInput()`` for what another program writes: nothing is left out, and what cannot be read is told.
  ///
  /// `longest`: The most bytes that a line may have.
  static func checkedInput(atMost longest: Int) -> AsyncStream<Line> {
    let (lines, continuation) = AsyncStream<Line>.makeStream()
    read(atMost: longest) { bytes in
      guard let bytes else { return _ = continuation.yield(.unreadable("the line has more than \(longest) bytes")) }
      let text = String(validating: bytes, as: UTF8.self)
      continuation.yield(text.map { .text($0) } ?? .unreadable("this is not text in UTF-8"))
    } end: { failure in
      if let failure { continuation.yield(.failed(failure)) }
      continuation.finish()
    }
    return lines
  }

  /// Hands over line after line without its end, `nil` for one that is too long.
  ///
  /// `end`: Told at the end of the input why it cannot be read; `nil` if it was read whole.
  private static func read(
    atMost longest: Int, _ take: @escaping @Sendable (ArraySlice<UInt8>?) -> Void,
    end: @escaping @Sendable (String?) -> Void
  ) {
    DispatchQueue(label: "input").async {
      var assembly = LineAssembly(longest: longest)
      var buffer = [UInt8](repeating: 0, count: 65_536)
      var failure: String?
      while true {
        let count = StandardStreams.read(into: &buffer)
        if count < 0 { failure = StandardStreams.lastProblem }
        guard count > 0 else { break }
        for line in assembly.add(buffer[..<count]) { take(line) }
      }
      if let line = assembly.end() { take(line) }
      end(failure)
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

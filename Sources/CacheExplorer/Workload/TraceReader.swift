import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// Reads a trace of requests: `KEY` or `KEY<TAB>SIZE` a line, `#` begins a comment line, gzip or not.
///
/// However long the file, little of it is in memory at a time.
final class TraceReader: Sendable {
  struct Request: Equatable, Sendable {
    var key: String
    /// In bytes, if the trace says it.
    var size: Int?
  }

  /// The size that the request under way asks for, so that a simulated origin can give it.
  @TaskLocal static var size: Int?

  static let longestLine = 64 << 10
  static let largestValue = 64 << 20
  private static let pieceSize = 64 << 10

  private struct State {
    var descriptor: Int32
    var inflater: Inflater?
    /// What was read and not yet given out.
    var buffer: [UInt8] = []
    var position = 0
    var line = 0
    var isFirstPiece = true
    var isAtEnd = false
  }

  private let name: String
  private let state: Mutex<State>

  /// `path`: `-` for standard input.
  init(path: String) throws(TraceProblem) {
    name = path == "-" ? "standard input" : path
    let descriptor = path == "-" ? STDIN_FILENO : unsafe open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else {
      throw TraceProblem(
        file: path, line: nil, message: "the trace cannot be read", remedy: "check the path and its permissions")
    }
    state = Mutex(State(descriptor: descriptor))
  }

  deinit {
    let descriptor = state.withLock { $0.descriptor }
    if descriptor > STDERR_FILENO { close(descriptor) }
  }

  /// Gives the next request; `nil` at the end.
  func next() throws(TraceProblem) -> Request? {
    try state.withLock { (state) throws(TraceProblem) -> Request? in
      while let line = try nextLine(&state) {
        guard !line.isEmpty, line.first != UInt8(ascii: "#") else { continue }
        return try request(line, number: state.line)
      }
      return nil
    }
  }

  private func request(_ line: ArraySlice<UInt8>, number: Int) throws(TraceProblem) -> Request {
    let fields = line.split(separator: UInt8(ascii: "\t"), omittingEmptySubsequences: false)
    guard let key = String(validating: fields[0], as: UTF8.self) else {
      throw problem(number, "the key is not text", "write keys in UTF-8")
    }
    guard !key.isEmpty else { throw problem(number, "there is no key", "begin the line with the key") }
    guard fields.count <= 2 else {
      throw problem(number, "there are \(fields.count) fields", "write KEY, or KEY, a tab and SIZE")
    }
    guard fields.count == 2 else { return Request(key: key) }
    let text = String(decoding: fields[1], as: UTF8.self)
    let size: Int
    do { size = text == "0" ? 0 : try Quantity.bytes(text) } catch {
      throw problem(number, "“\(text)” is not a size: \(error.message)", error.remedy)
    }
    guard size <= Self.largestValue else {
      throw problem(number, "\(text) is more than a value may have", "give at most 64 MiB")
    }
    return Request(key: key, size: size)
  }

  private func nextLine(_ state: inout State) throws(TraceProblem) -> ArraySlice<UInt8>? {
    while true {
      if let end = state.buffer[state.position...].firstIndex(of: UInt8(ascii: "\n")) {
        defer { state.position = end + 1 }
        state.line += 1
        return Self.withoutReturn(state.buffer[state.position..<end])
      }
      guard state.buffer.count - state.position <= Self.longestLine else {
        throw problem(state.line + 1, "the line has more than \(Self.longestLine) bytes", "put one request on a line")
      }
      guard !state.isAtEnd else {
        guard state.position < state.buffer.count else { return nil }
        defer { state.position = state.buffer.count }
        state.line += 1
        return Self.withoutReturn(state.buffer[state.position...])
      }
      try fill(&state)
    }
  }

  private static func withoutReturn(_ line: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    line.last == UInt8(ascii: "\r") ? line.dropLast() : line
  }

  private func fill(_ state: inout State) throws(TraceProblem) {
    var piece = [UInt8](repeating: 0, count: Self.pieceSize)
    var count = unsafe read(state.descriptor, &piece, piece.count)
    while count < 0 && errno == EINTR { count = unsafe read(state.descriptor, &piece, piece.count) }
    guard count >= 0 else {
      throw TraceProblem(
        file: name, line: nil, message: "the trace cannot be read: \(unsafe String(cString: strerror(errno)))",
        remedy: "name a file, or - for standard input")
    }
    piece.removeLast(piece.count - count)
    state.buffer.removeFirst(state.position)
    state.position = 0
    guard count > 0 else {
      state.isAtEnd = true
      if let inflater = state.inflater, !inflater.isAtEndOfMember {
        throw problem(state.line + 1, "the compressed trace ends too early", "copy or compress the file again")
      }
      return
    }
    if state.isFirstPiece {
      state.isFirstPiece = false
      if piece.starts(with: [0x1f, 0x8b]) { state.inflater = Inflater() }
    }
    if let inflater = state.inflater {
      guard let unpacked = inflater.unpack(piece) else {
        throw problem(state.line + 1, "the compressed trace is damaged", "copy or compress the file again")
      }
      piece = unpacked
    }
    state.buffer += piece
  }

  private func problem(_ line: Int, _ message: String, _ remedy: String) -> TraceProblem {
    TraceProblem(file: name, line: line, message: message, remedy: remedy)
  }
}

/// Why a trace cannot be read any further.
struct TraceProblem: Error, Equatable, CustomStringConvertible {
  var file: String
  var line: Int?
  var message: String
  var remedy: String

  var description: String { "\(file):\(line.map { "\($0):" } ?? "") error: \(message); \(remedy)" }
}

import CacheDisk
import CacheMemory
import CacheCore
internal import CZlib

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

// Where `read` is the system's.
private func readFile(_ file: Int32, into bytes: UnsafeMutableRawBufferPointer) -> Int {
  unsafe read(file, bytes.baseAddress, bytes.count)
}

/// The bytes of a trace file, piece by piece; zlib unpacks what is packed with gzip, and the rest is handed on.
@safe  // it owns the file, and zlib's stream, until it goes away
struct TraceBytes: ~Copyable {
  static let pieceSize = 64 << 10
  private static let magic: [UInt8] = [0x1f, 0x8b]

  let name: String
  private let file: Int32
  /// The program that unpacks, until its end was waited for.
  private var unpacker: TraceUnpacker?
  private var piece = [UInt8](repeating: 0, count: pieceSize)
  /// What was read of the file and not yet handed on or unpacked.
  private var rest = 0..<0
  private var isAtEnd = false
  private var hasBegun = false
  /// Unpacks a file that begins as gzip's do; zlib wants it to stay where it is.
  private var stream: UnsafeMutablePointer<z_stream>?
  /// A member of gzip's has ended, and perhaps another one follows.
  private var isBetweenMembers = false
  /// What comes behind the bytes that were handed on before it was met.
  private var problem: TraceProblem?

  /// `path`: `-` for standard input.
  init(path: String, packings: [TracePacking] = TracePacking.all) throws(TraceProblem) {
    name = path == "-" ? "standard input" : path
    // Standard input is not ours to close.
    let input = path == "-" ? dup(STDIN_FILENO) : unsafe open(path, O_RDONLY | O_CLOEXEC)
    guard input >= 0 else {
      throw TraceProblem(
        file: name, message: "cannot be read (\(SystemFailure("open").text))",
        remedy: "give the path of a file that can be read")
    }
    if path != "-", let packing = packings.first(where: { $0.isUsed(in: input) }) {
      defer { close(input) }
      let unpacker = try TraceUnpacker(packing, of: name, input: input)
      self.unpacker = unpacker
      file = unpacker.output
    } else {
      file = input
    }
  }

  deinit {
    if let stream = unsafe stream {
      unsafe inflateEnd(stream)
      unsafe stream.deallocate()
    }
    close(file)
    unpacker?.stop()
  }

  /// Reads into an array from a place on, until there is no more room; less, or nothing, only at the end.
  ///
  /// A cancelled task is not kept waiting for a file that others have yet to write.
  mutating func read(into buffer: inout [UInt8], from start: Int) throws(TraceProblem) -> Int {
    if let problem { throw problem }
    let isBeginning = !hasBegun
    var end = start
    while end < buffer.count {
      do throws(TraceProblem) {
        let count = try readOn(into: &buffer, from: end)
        guard count > 0 else { break }
        end += count
      } catch {
        guard end > start else { throw error }
        problem = error
        break
      }
    }
    if isBeginning, let packing = TracePacking.all.first(where: { buffer[start..<end].starts(with: $0.magic) }) {
      throw TraceProblem(
        file: name, message: "is packed with \(packing.program), which only a file may be",
        remedy: "give the file, or unpack it first with \(packing.program) -dc")
    }
    return end - start
  }

  /// Reads some bytes; none at the end.
  private mutating func readOn(into buffer: inout [UInt8], from start: Int) throws(TraceProblem) -> Int {
    if !hasBegun {
      hasBegun = true
      if try begins(with: Self.magic) { try beginUnpacking() }
    }
    if rest.isEmpty { try fill() }
    guard let stream = unsafe stream else {
      let count = min(rest.count, buffer.count - start)
      buffer.replaceSubrange(start..<(start + count), with: piece[rest.prefix(count)])
      rest = rest.dropFirst(count)
      return count > 0 ? count : try end()
    }
    while true {
      if isBetweenMembers {
        guard try begins(with: Self.magic) else {
          // Zeros may fill a block.
          while piece[rest].allSatisfy({ $0 == 0 }), !isAtEnd {
            rest = 0..<0
            try fill()
          }
          guard piece[rest].allSatisfy({ $0 == 0 }) else { throw damage("what follows its end is not packed") }
          rest = 0..<0
          return try end()
        }
        unsafe inflateReset(stream)
        isBetweenMembers = false
      }
      if rest.isEmpty { try fill() }
      let (taken, given, code) = unsafe inflate(stream, into: &buffer, from: start)
      rest = rest.dropFirst(taken)
      switch code {
      case Z_STREAM_END: isBetweenMembers = true
      case Z_OK, Z_BUF_ERROR:
        guard given > 0 || taken > 0 || !isAtEnd else { throw damage("it ends too early") }
      default: throw damage(unsafe stream.pointee.msg.map { unsafe String(cString: $0) } ?? "zlib says \(code)")
      }
      if given > 0 { return given }
    }
  }

  private mutating func inflate(
    _ stream: UnsafeMutablePointer<z_stream>, into buffer: inout [UInt8], from start: Int
  ) -> (taken: Int, given: Int, code: Int32) {
    let input = rest
    return unsafe piece.withUnsafeMutableBufferPointer { bytes in
      unsafe buffer.withUnsafeMutableBufferPointer { room in
        unsafe stream.pointee.next_in = bytes.baseAddress.map { unsafe $0 + input.lowerBound }
        unsafe stream.pointee.avail_in = UInt32(input.count)
        unsafe stream.pointee.next_out = room.baseAddress.map { unsafe $0 + start }
        unsafe stream.pointee.avail_out = UInt32(room.count - start)
        let code = unsafe CZlib.inflate(stream, Z_NO_FLUSH)
        return unsafe (
          input.count - Int(stream.pointee.avail_in), room.count - start - Int(stream.pointee.avail_out), code
        )
      }
    }
  }

  private mutating func beginUnpacking() throws(TraceProblem) {
    let new = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
    unsafe new.initialize(to: z_stream())
    // Window bits of gzip's.
    guard unsafe czlib_inflate_init(new, 15 + 16) == Z_OK else {
      unsafe new.deallocate()
      throw TraceProblem(file: name, message: "cannot be read", remedy: "free some memory")
    }
    unsafe stream = new
  }

  /// Whether what is left to read begins with some bytes.
  private mutating func begins(with bytes: [UInt8]) throws(TraceProblem) -> Bool {
    while rest.count < bytes.count, !isAtEnd { try fill() }
    return piece[rest].starts(with: bytes)
  }

  /// Reads on behind what is left, which is little.
  private mutating func fill() throws(TraceProblem) {
    let left = rest.count
    for (place, position) in rest.enumerated() { piece[place] = piece[position] }
    rest = 0..<left
    while !isAtEnd {
      var input = pollfd(fd: file, events: Int16(POLLIN), revents: 0)
      let isReady = unsafe poll(&input, 1, 100)
      guard isReady != 0 else {
        guard !Task.isCancelled else {
          throw TraceProblem(
            file: name, message: "was not read to its end, for which nobody waited", remedy: "read it again")
        }
        continue
      }
      let count = unsafe piece.withUnsafeMutableBytes { bytes in
        unsafe readFile(file, into: UnsafeMutableRawBufferPointer(rebasing: bytes[left...]))
      }
      guard count < 0 else {
        isAtEnd = count == 0
        rest = 0..<(left + count)
        return
      }
      let failure = SystemFailure("read")
      guard [EINTR, EAGAIN].contains(failure.number) else {
        throw TraceProblem(
          file: name, message: "cannot be read (\(failure.text))", remedy: "give the path of a file that can be read")
      }
    }
  }

  /// Waits for the program that unpacks, if there is one; gives that there are no more bytes.
  private mutating func end() throws(TraceProblem) -> Int {
    guard let ending = unpacker else { return 0 }
    unpacker = nil
    guard ending.end() else { throw damage("\(ending.packing.program) failed", program: ending.packing.program) }
    return 0
  }

  private func damage(_ reason: String, program: String = "gzip") -> TraceProblem {
    TraceProblem(
      file: name, message: "cannot be unpacked (\(reason))",
      remedy: "check it with \(program) -t, and copy or pack it again")
  }

  /// Gives little-endian numbers of so many bytes.
  static func forEachNumber(
    of path: String, width: Int, assumed: TraceFormat? = nil, _ body: (UInt32) -> Void
  ) throws(TraceProblem) {
    var bytes = try TraceBytes(path: path)
    var piece = [UInt8](repeating: 0, count: pieceSize)
    var number: UInt32 = 0
    var filled = 0
    var isBeginning = true
    while true {
      let count = try bytes.read(into: &piece, from: 0)
      guard count > 0 else { break }
      if isBeginning { try assumed?.refuseText(piece[..<count], of: bytes.name, isNamed: false) }
      isBeginning = false
      for byte in piece[..<count] {
        number |= UInt32(byte) << UInt32(8 * filled)
        filled += 1
        guard filled == width else { continue }
        body(number)
        (number, filled) = (0, 0)
      }
    }
    guard filled == 0 else {
      throw TraceProblem(
        file: bytes.name, message: "ends in the middle of a number of \(width * 8) bits",
        remedy: "it was cut off, or is of another format")
    }
  }
}

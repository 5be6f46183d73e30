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

/// The bytes of a trace file, piece by piece; zlib unpacks what is packed and hands on what is not.
@safe  // it owns the file until it goes away
struct TraceBytes: ~Copyable {
  static let pieceSize = 64 << 10

  let name: String
  private let file: gzFile
  /// The program that unpacks, until its end was waited for.
  private var unpacker: TraceUnpacker?

  /// `path`: `-` for standard input.
  init(path: String, packings: [TracePacking] = TracePacking.all) throws(TraceProblem) {
    name = path == "-" ? "standard input" : path
    // zlib closes what it opened; standard input is not ours to close.
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
      guard let opened = unsafe gzdopen(unpacker.output, "rb") else {
        close(unpacker.output)
        unpacker.stop()
        throw TraceProblem(file: name, message: "cannot be read", remedy: "free some memory")
      }
      unsafe file = opened
    } else {
      guard let opened = unsafe gzdopen(input, "rb") else {
        close(input)
        throw TraceProblem(file: name, message: "cannot be read", remedy: "free some memory")
      }
      unsafe file = opened
    }
    unsafe gzbuffer(file, UInt32(Self.pieceSize))
  }

  deinit {
    unsafe gzclose_r(file)
    unpacker?.stop()
  }

  /// Reads a piece into an array from a place on, as much as there is room for; none at the end.
  mutating func read(into buffer: inout [UInt8], from start: Int) throws(TraceProblem) -> Int {
    let count = unsafe buffer.withUnsafeMutableBytes { bytes in
      let room = unsafe UnsafeMutableRawBufferPointer(rebasing: bytes[start...])
      return unsafe Int(gzread(file, room.baseAddress, UInt32(room.count)))
    }
    guard count <= 0 else { return count }
    let failure = SystemFailure("read")
    var code = Z_OK
    let reason = unsafe gzerror(file, &code).map { unsafe String(cString: $0) } ?? "zlib says \(code)"
    switch code {
    case Z_OK where count == 0:
      let isGood = unpacker?.end() ?? true
      let program = unpacker?.packing.program ?? ""
      unpacker = nil
      guard isGood else { throw damage("\(program) failed", program: program) }
      return 0
    case Z_BUF_ERROR: throw damage("it ends too early")
    case Z_ERRNO:
      throw TraceProblem(
        file: name, message: "cannot be read (\(failure.text))", remedy: "give the path of a file that can be read")
    default: throw damage(reason)
    }
  }

  private func damage(_ reason: String, program: String = "gzip") -> TraceProblem {
    TraceProblem(
      file: name, message: "cannot be unpacked (\(reason))",
      remedy: "check it with \(program) -t, and copy or pack it again")
  }

  /// Gives little-endian numbers of so many bytes.
  static func forEachNumber(of path: String, width: Int, _ body: (UInt32) -> Void) throws(TraceProblem) {
    var bytes = try TraceBytes(path: path)
    var piece = [UInt8](repeating: 0, count: pieceSize)
    var number: UInt32 = 0
    var filled = 0
    while true {
      let count = try bytes.read(into: &piece, from: 0)
      guard count > 0 else { break }
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

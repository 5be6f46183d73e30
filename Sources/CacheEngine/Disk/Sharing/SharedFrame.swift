import CacheCore
internal import CStore

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Darwin)
internal import Darwin
#endif

/// A message between the owner of a directory and somebody who shares it.
///
/// Its head: length of the body that follows, kind, flags, number, length of a body that is in a file. The file's descriptor
/// comes with the first byte. What is longer than ``mostInline`` is in a file, so neither side ever holds more than that
/// of a message it has not understood.
struct SharedFrame: Sendable {
  static let headSize = 24
  static let mostInline = 64 << 10
  static let inFile: UInt8 = 1
  /// It may have been carried out before.
  static let again: UInt8 = 2

  enum Body: Sendable {
    case bytes([UInt8])
    case file(StoreFile, Int)
  }

  var kind: UInt8
  var flags: UInt8 = 0
  var number: UInt64
  var body: Body

  /// Makes a frame of bytes, `tail` last.
  init(kind: UInt8, flags: UInt8 = 0, number: UInt64, _ bytes: [UInt8], tail: Data = Data()) throws {
    (self.kind, self.flags, self.number) = (kind, flags, number)
    guard bytes.count + tail.count > Self.mostInline else {
      body = .bytes(tail.isEmpty ? bytes : bytes + tail)
      return
    }
    let made = cstore_nameless_file()
    guard made >= 0 else { throw SystemFailure("memfd_create") }
    let file = StoreFile(made)
    try file.write(bytes, at: 0)
    try file.write(tail, at: bytes.count)
    body = .file(file, bytes.count + tail.count)
    self.flags |= Self.inFile
  }

  private init(kind: UInt8, flags: UInt8, number: UInt64, body: Body) {
    (self.kind, self.flags, self.number, self.body) = (kind, flags, number, body)
  }

  /// The head, and the body if it is not in a file.
  var bytes: [UInt8] {
    var (inline, length): ([UInt8], Int) = ([], 0)
    switch body {
    case .bytes(let bytes): inline = bytes
    case .file(_, let count): length = count
    }
    var writer = ByteWriter()
    writer.bytes.reserveCapacity(Self.headSize + inline.count)
    writer.put(UInt32(inline.count))
    writer.put(kind)
    writer.put(flags)
    writer.put(UInt16(0))
    writer.put(number)
    writer.put(UInt64(length))
    writer.bytes += inline
    return writer.bytes
  }

  var file: StoreFile? {
    if case .file(let file, _) = body { return file }
    return nil
  }

  /// Reads the body, wherever it is.
  ///
  /// - Throws: ``ProtocolViolation`` for what is no file, or longer than `limit`, or shorter than was said; ``SystemFailure``.
  func load(limit: Int) throws -> [UInt8] {
    switch body {
    case .bytes(let bytes): return bytes
    case .file(let file, let length):
      guard file.descriptor >= 0 else { throw SystemFailure("recvmsg", EMFILE) }
      guard length <= limit, let status = file.calls.status(file.descriptor), status.isRegular, status.size >= length
      else { throw ProtocolViolation() }
      let bytes = try file.read(length, at: 0)
      guard bytes.count == length else { throw ProtocolViolation() }
      return bytes
    }
  }

  /// Cuts the next frame off; `nil` if it is not there yet.
  static func next(
    in buffer: inout ArraySlice<UInt8>, _ files: inout [StoreFile]
  ) throws -> SharedFrame? {
    guard buffer.count >= headSize else { return nil }
    var frame = SharedFrame(kind: 0, flags: 0, number: 0, body: .bytes([]))
    let (inline, reserved, length) = unsafe buffer.withUnsafeBytes { raw in
      var reader = unsafe ByteReader(raw)
      let inline = reader.take(UInt32.self)
      (frame.kind, frame.flags) = (reader.take(), reader.take())
      let reserved = reader.take(UInt16.self)
      frame.number = reader.take()
      return (Int(clamping: inline), reserved, reader.take(UInt64.self))
    }
    let isInFile = frame.flags & inFile != 0
    guard inline <= mostInline, reserved == 0, isInFile ? inline == 0 && length <= 1 << 48 : length == 0 else {
      throw ProtocolViolation()
    }
    guard buffer.count >= headSize + inline else { return nil }
    if isInFile {
      guard !files.isEmpty else { throw ProtocolViolation() }
      frame.body = .file(files.removeFirst(), Int(clamping: length))
    } else {
      frame.body = .bytes(Array(buffer.dropFirst(headSize).prefix(inline)))
    }
    buffer = buffer.dropFirst(headSize + inline)
    return frame
  }
}

/// Somebody at a socket does not keep to what was agreed on.
struct ProtocolViolation: Error {}

extension StoreFile {
  /// A file that has no name.
  convenience init(_ descriptor: Int32) { self.init(descriptor: descriptor, size: 0, calls: FileCalls()) }
}

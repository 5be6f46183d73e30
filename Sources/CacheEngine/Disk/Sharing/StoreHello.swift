import CacheCore

/// How somebody who shares a directory begins, in every version alike as far as the number of the version.
struct StoreHello: Sendable {
  static let magic: UInt64 = 0x5252_4853_5f45_4143  // "CAE_SHRR"
  static let version: UInt32 = 1

  var version = Self.version
  /// Who asks, for as long as it lives.
  var instance: UInt64
  var capacity: Int
  /// Whether it has a cipher.
  var isSealed: Bool
  var boot: UInt64
  var now: Int64

  func frame() throws -> SharedFrame {
    var writer = ByteWriter()
    writer.put(Self.magic)
    writer.put(version)
    writer.put(instance)
    writer.put(capacity)
    writer.put(UInt8(isSealed ? 1 : 0))
    writer.put(boot)
    writer.put(now)
    return try SharedFrame(kind: StoreRequest.hello, number: 0, writer.bytes)
  }

  init(instance: UInt64, capacity: Int, isSealed: Bool, boot: UInt64, now: Int64) {
    (self.instance, self.capacity, self.isSealed, self.boot, self.now) = (instance, capacity, isSealed, boot, now)
  }

  /// Reads what every version says, and the rest if it is this one.
  init(_ body: [UInt8]) throws {
    (instance, capacity, isSealed, boot, now) = (0, 0, false, 0, 0)
    let isRead = unsafe body.withUnsafeBytes { raw in
      var reader = unsafe ByteReader(raw)
      guard reader.take(UInt64.self) == Self.magic else { return false }
      version = reader.take()
      guard version == Self.version else { return !reader.isPastEnd }
      (instance, capacity, isSealed) = (reader.take(), reader.takeCount(), reader.take(UInt8.self) != 0)
      (boot, now) = (reader.take(), reader.take())
      return !reader.isPastEnd && reader.remaining == 0
    }
    guard isRead else { throw ProtocolViolation() }
  }

  /// What the owner says to somebody it lets in: which owner it is.
  static func welcome(instance: UInt64) throws -> SharedFrame {
    var writer = ByteWriter()
    writer.put(magic)
    writer.put(version)
    writer.put(instance)
    return try SharedFrame(kind: StoreReply.welcome, number: 0, writer.bytes)
  }

  static func readWelcome(_ body: [UInt8]) throws -> UInt64 {
    try unsafe body.withUnsafeBytes { raw in
      var reader = unsafe ByteReader(raw)
      let (magic, version, instance): (UInt64, UInt32, UInt64) = (reader.take(), reader.take(), reader.take())
      guard magic == Self.magic, version == Self.version, !reader.isPastEnd else { throw ProtocolViolation() }
      return instance
    }
  }

  static func refusal(_ error: CacheError) throws -> SharedFrame {
    var writer = ByteWriter()
    writer.put(magic)
    writer.put(version)
    writer.put(bytes: Array(error.code.rawValue.utf8))
    writer.put(bytes: Array(error.message.utf8))
    return try SharedFrame(kind: StoreReply.refused, number: 0, writer.bytes)
  }

  static func readRefusal(_ body: [UInt8]) throws -> CacheError {
    try unsafe body.withUnsafeBytes { raw in
      var reader = unsafe ByteReader(raw)
      guard reader.take(UInt64.self) == magic else { throw ProtocolViolation() }
      _ = reader.take(UInt32.self)
      let code = CacheError.Code(rawValue: reader.takeText())
      let message = reader.takeText()
      guard !reader.isPastEnd else { throw ProtocolViolation() }
      return CacheError(code, message)
    }
  }
}

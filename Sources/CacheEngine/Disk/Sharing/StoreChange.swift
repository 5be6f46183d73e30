import CacheCore

extension StoreChange {
  func frame(from origin: UInt64) throws -> SharedFrame {
    var writer = ByteWriter()
    writer.put(origin)
    switch self {
    case .everything: writer.put(UInt8(0))
    case .key(let key):
      writer.put(UInt8(1))
      writer.put(bytes: key.bytes)
    case .tagged(let tag):
      writer.put(UInt8(2))
      writer.put(bytes: Array(tag.utf8))
    }
    return try SharedFrame(kind: StoreReply.changed, number: 0, writer.bytes)
  }

  init(_ body: [UInt8], origin: inout UInt64) throws {
    self = try unsafe body.withUnsafeBytes { raw in
      var reader = unsafe ByteReader(raw)
      origin = reader.take()
      let change: StoreChange
      switch reader.take(UInt8.self) {
      case 0: change = .everything
      case 1: change = .key(reader.takeKey())
      case 2: change = .tagged(reader.takeText())
      default: throw ProtocolViolation()
      }
      guard !reader.isPastEnd, reader.remaining == 0 else { throw ProtocolViolation() }
      return change
    }
  }
}

extension SegmentedStore.Loss {
  func frame() throws -> SharedFrame {
    var writer = ByteWriter()
    writer.put(UInt8((key == nil ? 0 : 1) | (madeRoomFor == nil ? 0 : 2)))
    writer.put(bytes: key?.bytes ?? [])
    writer.put(bytes: madeRoomFor?.bytes ?? [])
    writer.put(bytes: Array(cause.rawValue.utf8))
    writer.put(cost)
    return try SharedFrame(kind: StoreReply.lost, number: 0, writer.bytes)
  }

  init(_ body: [UInt8]) throws {
    self = try unsafe body.withUnsafeBytes { raw in
      var reader = unsafe ByteReader(raw)
      let (flags, key, room): (UInt8, StoreKey, StoreKey) = (reader.take(), reader.takeKey(), reader.takeKey())
      guard let cause = RemovalCause(rawValue: reader.takeText()) else { throw ProtocolViolation() }
      let cost = reader.takeCount()
      guard !reader.isPastEnd, reader.remaining == 0 else { throw ProtocolViolation() }
      return Self(
        key: flags & 1 == 0 ? nil : key, cause: cause, cost: cost, madeRoomFor: flags & 2 == 0 ? nil : room)
    }
  }
}

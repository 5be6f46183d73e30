import CacheCore

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// What is asked of the owner of a directory.
enum StoreRequest: Sendable {
  case get(StoreKey, includingExpired: Bool)
  case put(StorePut)
  case remove(StoreKey, Durability)
  case expire(StoreKey, Durability)
  case clear(Durability)
  case removeTagged(String, Durability)
  case removeExpired
  case rotate(Durability)
  case verify(repairing: Bool)
  /// A page of entries, from a place on that this owner named.
  case list(from: UInt64, of: UInt64)
  /// When an entry was stored.
  case created(StoreKey)
  case usage
  /// What the levels of a process expect of the store, and what they want to hear.
  case expect(StoreExpectation)
  case ping
}

struct StorePut: Sendable {
  var key: StoreKey
  var type: [UInt8]
  var created: Int64
  var deadline: Int64?
  var cost: Int
  var tags: Set<String>
  var durability: Durability
  var condition: StoreCondition?
  var value: Data
}

struct StoreExpectation: Sendable, Equatable {
  var keepsExpired: Int64 = 0
  var isSynced = false
  var hearsChanges = false
  var hearsLosses = false
}

/// What the owner answers.
enum StoreReply: Sendable {
  case found(FoundValue)
  case miss(MissReason)
  case count(Int)
  case page([ListedEntry], next: UInt64?, of: UInt64)
  case created(Int64?)
  case usage(LevelUsage, StoreTraffic)
  case report(StoreReport)
  case failed(CacheError)
}

/// A value as every kind of store finds it.
struct FoundValue: Sendable {
  var type: [UInt8]
  var tags: Set<String>
  var cost: Int
  var created: Int64
  var deadline: Int64
  var isExpired: Bool
  var value: Data

  init(_ found: SegmentedStore.Found) {
    (type, tags, value, isExpired) = (found.type, found.tags, found.value, found.isExpired)
    (cost, created, deadline) = (Int(found.entry.cost), found.entry.created, found.entry.deadline)
  }

  init(
    type: [UInt8], tags: Set<String>, cost: Int, created: Int64, deadline: Int64, isExpired: Bool, value: Data
  ) {
    (self.type, self.tags, self.cost, self.created) = (type, tags, cost, created)
    (self.deadline, self.isExpired, self.value) = (deadline, isExpired, value)
  }
}

/// An entry as every kind of store lists it.
struct ListedEntry: Sendable {
  var key: [UInt8]
  var size: Int
  var cost: Int
  var created: Int64
  var deadline: Int64
  var tags: Set<String>
  var type: [UInt8]

  init(_ listed: SegmentedStore.Listed) {
    (key, size, tags, type) = (listed.key.bytes, listed.size, listed.tags, listed.type)
    (cost, created, deadline) = (Int(listed.entry.cost), listed.entry.created, listed.entry.deadline)
  }

  fileprivate init(_ reader: inout ByteReader) {
    key = reader.takeBytes()
    (size, cost, created, deadline) = (reader.takeCount(), reader.takeCount(), reader.take(), reader.take())
    tags = reader.takeTags()
    type = reader.takeBytes()
  }

  fileprivate func write(to writer: inout ByteWriter) {
    writer.put(bytes: key)
    writer.put(size)
    writer.put(cost)
    writer.put(created)
    writer.put(deadline)
    writer.put(tags: tags)
    writer.put(bytes: type)
  }
}

/// What was changed in a shared directory.
enum StoreChange: Sendable, Equatable {
  case key(StoreKey)
  case tagged(String)
  case everything
}

extension StoreRequest {
  /// Whose turn it takes: that of the keys that it changes.
  var scope: KeyTurns.Scope? {
    switch self {
    case .put(let put): .key(put.key)
    case .remove(let key, _), .expire(let key, _): .key(key)
    case .clear, .removeTagged: .everything
    default: nil
    }
  }

  var change: StoreChange? {
    switch self {
    case .put(let put): .key(put.key)
    case .remove(let key, _), .expire(let key, _): .key(key)
    case .removeTagged(let tag, _): .tagged(tag)
    case .clear: .everything
    default: nil
    }
  }
}

// MARK: Frames

extension StoreRequest {
  static let hello: UInt8 = 1

  /// The frame of a request: who asks, when, and what.
  func frame(number: UInt64, origin: UInt64, at now: Int64, isAgain: Bool) throws -> SharedFrame {
    var writer = ByteWriter()
    writer.put(origin)
    writer.put(now)
    var tail = Data()
    let kind: UInt8
    switch self {
    case .get(let key, let includingExpired):
      kind = 2
      writer.put(UInt8(includingExpired ? 1 : 0))
      writer.put(bytes: key.bytes)
    case .put(let put):
      kind = 3
      writer.put(bytes: put.key.bytes)
      writer.put(bytes: put.type)
      writer.put(put.created)
      writer.put(put.deadline ?? .max)
      writer.put(put.cost)
      writer.put(tags: put.tags)
      writer.put(put.durability)
      writer.put(UInt8(put.condition.map { $0 == .absent ? 1 : 2 } ?? 0))
      tail = put.value
    case .remove(let key, let durability):
      kind = 4
      writer.put(bytes: key.bytes)
      writer.put(durability)
    case .expire(let key, let durability):
      kind = 5
      writer.put(bytes: key.bytes)
      writer.put(durability)
    case .clear(let durability):
      kind = 6
      writer.put(durability)
    case .removeTagged(let tag, let durability):
      kind = 7
      writer.put(bytes: Array(tag.utf8))
      writer.put(durability)
    case .removeExpired: kind = 8
    case .rotate(let durability):
      kind = 9
      writer.put(durability)
    case .verify(let repairing):
      kind = 10
      writer.put(UInt8(repairing ? 1 : 0))
    case .list(let place, let owner):
      kind = 11
      writer.put(place)
      writer.put(owner)
    case .created(let key):
      kind = 12
      writer.put(bytes: key.bytes)
    case .usage: kind = 13
    case .expect(let expectation):
      kind = 14
      writer.put(expectation.keepsExpired)
      writer.put(
        UInt8(expectation.isSynced ? 1 : 0) | (expectation.hearsChanges ? 2 : 0) | (expectation.hearsLosses ? 4 : 0))
    case .ping: kind = 15
    }
    return try SharedFrame(
      kind: kind, flags: isAgain ? SharedFrame.again : 0, number: number, writer.bytes, tail: tail)
  }

  /// Reads a request; who sends what cannot be read is not listened to any more.
  init(_ kind: UInt8, _ body: [UInt8], origin: inout UInt64, sent: inout Int64) throws {
    self = try unsafe body.withUnsafeBytes { raw in
      var reader = unsafe ByteReader(raw)
      (origin, sent) = (reader.take(), reader.take())
      let request: StoreRequest
      switch kind {
      case 2:
        let includingExpired = reader.take(UInt8.self) != 0
        request = .get(reader.takeKey(), includingExpired: includingExpired)
      case 3:
        var put = StorePut(
          key: reader.takeKey(), type: reader.takeBytes(), created: reader.take(), deadline: reader.take(),
          cost: reader.takeCount(), tags: reader.takeTags(), durability: reader.takeDurability(), condition: nil,
          value: Data())
        if put.deadline == .max { put.deadline = nil }
        let condition = reader.take(UInt8.self)
        if condition > 0 { put.condition = condition == 1 ? .absent : .present }
        put.value = Data(reader.take(count: reader.remaining))
        request = .put(put)
      case 4: request = .remove(reader.takeKey(), reader.takeDurability())
      case 5: request = .expire(reader.takeKey(), reader.takeDurability())
      case 6: request = .clear(reader.takeDurability())
      case 7: request = .removeTagged(reader.takeText(), reader.takeDurability())
      case 8: request = .removeExpired
      case 9: request = .rotate(reader.takeDurability())
      case 10: request = .verify(repairing: reader.take(UInt8.self) != 0)
      case 11: request = .list(from: reader.take(), of: reader.take())
      case 12: request = .created(reader.takeKey())
      case 13: request = .usage
      case 14:
        let (keepsExpired, flags): (Int64, UInt8) = (reader.take(), reader.take())
        request = .expect(
          StoreExpectation(
            keepsExpired: max(0, keepsExpired), isSynced: flags & 1 != 0, hearsChanges: flags & 2 != 0,
            hearsLosses: flags & 4 != 0))
      case 15: request = .ping
      default: throw ProtocolViolation()
      }
      guard !reader.isPastEnd, reader.remaining == 0 else { throw ProtocolViolation() }
      return request
    }
  }
}

extension StoreReply {
  static let welcome: UInt8 = 64
  static let refused: UInt8 = 65
  static let changed: UInt8 = 66
  static let lost: UInt8 = 67

  func frame(number: UInt64) throws -> SharedFrame {
    var writer = ByteWriter()
    var tail = Data()
    let kind: UInt8
    switch self {
    case .found(let found):
      kind = 32
      writer.put(bytes: found.type)
      writer.put(tags: found.tags)
      writer.put(found.cost)
      writer.put(found.created)
      writer.put(found.deadline)
      writer.put(UInt8(found.isExpired ? 1 : 0))
      tail = found.value
    case .miss(let reason):
      kind = 33
      writer.put(bytes: Array(reason.rawValue.utf8))
    case .count(let count):
      kind = 34
      writer.put(count)
    case .page(let entries, let next, let owner):
      kind = 35
      writer.put(next ?? .max)
      writer.put(owner)
      writer.put(UInt32(entries.count))
      for entry in entries { entry.write(to: &writer) }
    case .created(let created):
      kind = 36
      writer.put(created ?? .min)
    case .usage(let usage, let traffic):
      kind = 37
      for number in [
        usage.count, usage.cost, usage.capacity ?? -1, traffic.written, traffic.copied, traffic.syncs,
      ] { writer.put(number) }
    case .report(let report):
      kind = 38
      report.write(to: &writer)
    case .failed(let error):
      kind = 39
      writer.put(bytes: Array(error.code.rawValue.utf8))
      writer.put(bytes: Array(error.message.utf8))
    }
    return try SharedFrame(kind: kind, number: number, writer.bytes, tail: tail)
  }

  init(_ kind: UInt8, _ body: [UInt8]) throws {
    self = try unsafe body.withUnsafeBytes { raw in
      var reader = unsafe ByteReader(raw)
      let reply: StoreReply
      switch kind {
      case 32:
        var found = FoundValue(
          type: reader.takeBytes(), tags: reader.takeTags(), cost: reader.takeCount(), created: reader.take(),
          deadline: reader.take(), isExpired: reader.take(UInt8.self) != 0, value: Data())
        found.value = Data(reader.take(count: reader.remaining))
        reply = .found(found)
      case 33: reply = .miss(MissReason(rawValue: reader.takeText()))
      case 34: reply = .count(reader.takeCount())
      case 35:
        let (next, owner, count): (UInt64, UInt64, UInt32) = (reader.take(), reader.take(), reader.take())
        var entries: [ListedEntry] = []
        for _ in 0..<count {
          entries.append(ListedEntry(&reader))
          if reader.isPastEnd { throw ProtocolViolation() }
        }
        reply = .page(entries, next: next == .max ? nil : next, of: owner)
      case 36:
        let created = reader.take(Int64.self)
        reply = .created(created == .min ? nil : created)
      case 37:
        let numbers = (0..<6).map { _ in reader.takeCount() }
        var usage = LevelUsage(count: numbers[0], cost: numbers[1])
        if numbers[2] >= 0 { usage.capacity = numbers[2] }
        var traffic = StoreTraffic()
        (traffic.written, traffic.copied, traffic.syncs) = (numbers[3], numbers[4], numbers[5])
        reply = .usage(usage, traffic)
      case 38: reply = .report(StoreReport(&reader))
      case 39:
        let code = CacheError.Code(rawValue: reader.takeText())
        reply = .failed(CacheError(code, reader.takeText()))
      default: throw ProtocolViolation()
      }
      guard !reader.isPastEnd, reader.remaining == 0 else { throw ProtocolViolation() }
      return reply
    }
  }
}

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
      guard !reader.isPastEnd else { throw ProtocolViolation() }
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
      guard !reader.isPastEnd else { throw ProtocolViolation() }
      return Self(
        key: flags & 1 == 0 ? nil : key, cause: cause, cost: cost, madeRoomFor: flags & 2 == 0 ? nil : room)
    }
  }
}

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

// MARK: Parts

extension StoreReport {
  fileprivate var counts: [Int] {
    [
      entries, bytes, damagedCount, authenticationFailedCount, strayCount, repaired, allocatedBytes, accountedBytes,
      files,
      mappingBytes,
    ]
  }

  fileprivate func write(to writer: inout ByteWriter) {
    for count in counts { writer.put(count) }
    writer.put(UInt32(damaged.count))
    for damage in damaged {
      for text in [damage.key, damage.file, damage.reason] { writer.put(bytes: Array(text.utf8)) }
      writer.put(UInt8(damage.isForged ? 1 : 0))
    }
    writer.put(UInt32(strays.count))
    for name in strays { writer.put(bytes: Array(name.utf8)) }
  }

  fileprivate init(_ reader: inout ByteReader) {
    self.init()
    (entries, bytes, damagedCount) = (reader.takeCount(), reader.takeCount(), reader.takeCount())
    (authenticationFailedCount, strayCount, repaired) = (reader.takeCount(), reader.takeCount(), reader.takeCount())
    (allocatedBytes, accountedBytes) = (reader.takeCount(), reader.takeCount())
    (files, mappingBytes) = (reader.takeCount(), reader.takeCount())
    for _ in 0..<reader.take(UInt32.self) {
      if reader.isPastEnd { return }
      var damage = Damage(key: reader.takeText(), file: reader.takeText(), reason: reader.takeText())
      damage.isForged = reader.take(UInt8.self) != 0
      damaged.append(damage)
    }
    for _ in 0..<reader.take(UInt32.self) {
      if reader.isPastEnd { return }
      strays.append(reader.takeText())
    }
  }
}

extension ByteWriter {
  fileprivate mutating func put(bytes more: [UInt8]) {
    put(UInt32(clamping: more.count))
    bytes += more
  }

  fileprivate mutating func put(tags: Set<String>) {
    put(UInt32(clamping: tags.count))
    for tag in tags { put(bytes: Array(tag.utf8)) }
  }

  fileprivate mutating func put(_ durability: Durability) { put(UInt8(durability == .synced ? 1 : 0)) }
}

extension ByteReader {
  fileprivate mutating func takeBytes() -> [UInt8] { take(count: Int(take(UInt32.self))) }
  fileprivate mutating func takeKey() -> StoreKey { StoreKey(takeBytes()) }
  fileprivate mutating func takeText() -> String { String(decoding: takeBytes(), as: UTF8.self) }
  fileprivate mutating func takeCount() -> Int { Int(take(Int64.self)) }
  fileprivate mutating func takeDurability() -> Durability { take(UInt8.self) == 0 ? .buffered : .synced }

  fileprivate mutating func takeTags() -> Set<String> {
    var tags: Set<String> = []
    for _ in 0..<take(UInt32.self) {
      if isPastEnd { break }
      tags.insert(takeText())
    }
    return tags
  }
}

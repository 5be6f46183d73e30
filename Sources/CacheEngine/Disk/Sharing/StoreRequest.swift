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

  /// Takes in what is expected as well: levels of one process tell it in no order.
  mutating func add(_ more: StoreExpectation) {
    keepsExpired = max(keepsExpired, more.keepsExpired)
    isSynced = isSynced || more.isSynced
    hearsChanges = hearsChanges || more.hearsChanges
    hearsLosses = hearsLosses || more.hearsLosses
  }
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

  /// Reads a request; a guest that sends what cannot be read is not listened to any more.
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

import CacheCore

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

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

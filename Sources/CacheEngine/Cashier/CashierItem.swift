import CacheCore
import Synchronization

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// A value of a ``Cashier``, of whatever type: as somebody stored it, or as bytes until somebody asks for it.
final class CashierItem: Sendable {
  private enum Content: Sendable {
    /// With its bytes, until they have been written.
    case value(any Sendable, unwritten: Data? = nil, encode: (@Sendable () throws -> Data)? = nil)
    case bytes(Data)
  }

  /// The name of the coding of its bytes; `nil` for what has none and stays in memory.
  let coding: String?
  /// Whether it stands on the disk, too.
  let isPersistent: Bool
  /// How many bytes it has, or what its owner says that it weighs.
  let cost: Int
  private let content: Mutex<Content>

  /// A value that can be written.
  ///
  /// It is encoded now, so that whoever stores it hears of what is wrong with it.
  init<Value: Sendable>(_ value: Value, _ coding: ByteCoding<Value>, isPersistent: Bool) throws {
    self.coding = Self.short(coding.name)
    self.isPersistent = isPersistent
    let bytes = try coding.encode(value)
    cost = bytes.count
    content = Mutex(.value(value, unwritten: isPersistent ? bytes : nil, encode: { try coding.encode(value) }))
  }

  /// A value that stays in memory.
  init(inMemory value: any Sendable, cost: Int) {
    coding = nil
    isPersistent = false
    self.cost = cost
    content = Mutex(.value(value))
  }

  private init(coding: String, bytes: Data) {
    self.coding = coding
    isPersistent = true
    cost = bytes.count
    content = Mutex(.bytes(bytes))
  }

  /// The value as one of a type; `nil` if it is of another.
  ///
  /// Bytes are decoded once and not under the lock.
  func value<Value: Sendable>(as wanted: ByteCoding<Value>) throws -> Value? {
    let content = content.withLock { $0 }
    switch content {
    case .value(let value, _, _): return coding == nil || coding == Self.short(wanted.name) ? value as? Value : nil
    case .bytes(let bytes):
      guard coding == Self.short(wanted.name) else { return nil }
      let value = try wanted.decode(bytes)
      self.content.withLock { $0 = .value(value, encode: { try wanted.encode(value) }) }
      return value
    }
  }

  /// The value as one that need not have a coding; `nil` if it is of another type, or nobody has decoded it yet.
  func value<Value: Sendable>(of type: Value.Type) -> Value? {
    guard case .value(let value, _, _) = content.withLock({ $0 }) else { return nil }
    return value as? Value
  }
}

extension CashierItem {
  /// How items stand on the disk: the length and the name of the coding, and the bytes of the value.
  static let byteCoding = ByteCoding<CashierItem>(
    name: "cashier",
    encode: { item in
      guard let coding = item.coding else {
        throw CacheError(.encodingFailed, "a value without a coding stays in memory")
      }
      return Data([UInt8(truncatingIfNeeded: coding.utf8.count)] + coding.utf8) + (try item.bytes)
    },
    decode: { data in
      let name = data.dropFirst().prefix(Int(data.first ?? 0))
      guard let length = data.first, name.count == length, let coding = String(validating: name, as: UTF8.self) else {
        throw CacheError(.invalidCachedData, "the stored bytes do not tell their type")
      }
      return CashierItem(coding: coding, bytes: Data(data[name.endIndex...]))
    })

  /// A name of at most 255 bytes: of a longer one, such as a type nested in many others has, the beginning and two checksums.
  private static func short(_ name: String) -> String {
    guard name.utf8.count > 255 else { return name }
    let bytes = Array(name.utf8)
    let checks = [0, 1].map { String(Checksum.of(bytes, seed: $0), radix: 36) }
    return "\(String(decoding: bytes.prefix(200), as: UTF8.self)) \(checks.joined(separator: " "))"
  }

  private var bytes: Data {
    get throws {
      let content = content.withLock { content in
        defer { if case .value(let value, _, let encode) = content { content = .value(value, encode: encode) } }
        return content
      }
      switch content {
      case .bytes(let bytes): return bytes
      case .value(_, let unwritten, let encode): return try unwritten ?? encode?() ?? Data()
      }
    }
  }
}

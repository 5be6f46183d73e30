#if Redis
/// A value of the protocol that Redis speaks since version 6 (RESP3), and of the one before.
package indirect enum RESPValue: Sendable, Equatable {
  case text(String)
  case error(String)
  case number(Int64)
  case double(Double)
  case boolean(Bool)
  case bytes([UInt8])
  case null
  case array([RESPValue])
  case map([(key: RESPValue, value: RESPValue)])
  case push([RESPValue])

  package static func == (left: RESPValue, right: RESPValue) -> Bool {
    switch (left, right) {
    case (.text(let a), .text(let b)), (.error(let a), .error(let b)): a == b
    case (.number(let a), .number(let b)): a == b
    case (.double(let a), .double(let b)): a == b
    case (.boolean(let a), .boolean(let b)): a == b
    case (.bytes(let a), .bytes(let b)): a == b
    case (.null, .null): true
    case (.array(let a), .array(let b)), (.push(let a), .push(let b)): a == b
    case (.map(let a), .map(let b)): a.elementsEqual(b) { $0.key == $1.key && $0.value == $1.value }
    default: false
    }
  }

  /// The value under a name, in a map or in a list of names and values.
  subscript(name: String) -> RESPValue? {
    switch self {
    case .map(let pairs): return pairs.first { $0.key.string == name }?.value
    case .array(let values):
      let place = values.indices.first { $0 % 2 == 0 && values[$0].string == name && $0 + 1 < values.count }
      return place.map { values[$0 + 1] }
    default: return nil
    }
  }

  /// Text, or bytes that are text.
  var string: String? {
    switch self {
    case .text(let text): text
    case .bytes(let bytes): String(validating: bytes, as: UTF8.self)
    default: nil
    }
  }
}

/// A command on its way: one array of bytes.
package enum RESPCommand {
  /// Appends a command to bytes.
  package static func append(_ parts: [[UInt8]], to bytes: inout [UInt8]) {
    bytes += "*\(parts.count)\r\n".utf8
    for part in parts {
      bytes += "$\(part.count)\r\n".utf8
      bytes += part
      bytes += "\r\n".utf8
    }
  }
}
#endif

import CacheEngine

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Keys and values of any type as text and bytes, and back where that can be.
enum TextForms {
  static func text<Key>(_ key: Key) -> String { (key as? String) ?? String(describing: key) }

  /// The key that a text stands for; `nil` for a type that is not made from text.
  static func key<Key>(_ text: String, as type: Key.Type) -> Key? {
    if let key = text as? Key { return key }
    return (type as? any LosslessStringConvertible.Type)?.init(text) as? Key
  }

  static func bytes<Value>(_ value: Value) -> Data {
    switch value {
    case let data as Data: return data
    case let bytes as [UInt8]: return Data(bytes)
    case let text as String: return Data(text.utf8)
    case let encodable as any Encodable:
      let encoder = JSONEncoder()
      encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
      if let data = try? encoder.encode(encodable) { return data }
    default: break
    }
    return Data(String(describing: value).utf8)
  }

  static func value<Value>(_ data: Data, as type: Value.Type) throws -> Value {
    if let value = data as? Value { return value }
    if let value = Array(data) as? Value { return value }
    if type == String.self, let text = String(validating: data, as: UTF8.self), let value = text as? Value {
      return value
    }
    guard let decodable = type as? any Decodable.Type else {
      throw CacheError(.typeMismatch, "values of this cache, \(type), cannot be made from text; set them in the app")
    }
    do {
      try JSONNesting.check(data)
      if let value = try JSONDecoder().decode(decodable, from: data) as? Value { return value }
    } catch {
      throw CacheError(.typeMismatch, "this is not the JSON of a \(type); write one as “get” shows it")
    }
    throw CacheError(.typeMismatch, "this is no \(type)")
  }
}

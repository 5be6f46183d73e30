import CacheCore

@_spi(_Unicode) import Swift

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// An address with places for a key: `{key}`, whose slashes are encoded, or `{+key}`, which may be several components of a path.
///
/// No key leads to another host, or above what comes before its place.
public struct NetworkTemplate: Sendable {
  private enum Part: Sendable, Equatable {
    case literal(String)
    case key(keepsSlashes: Bool)
  }

  private let parts: [Part]
  private let origin: String

  /// Takes a template apart.
  ///
  /// - Parameter text: As `"https://example.org/avatars/{key}.png"`.
  /// - Throws: `CacheError` with code `CacheError.Code.invalidAddress`.
  public init(_ text: String) throws {
    parts = try Self.parts(of: text)
    guard parts.count > 1 || parts.first != .literal(text) else {
      throw Self.invalid("has no {key}")
    }
    // What stands before the first key must hold the whole host, or the key could become a part of it.
    guard case .literal(let beginning)? = parts.first, let schemeEnd = beginning.firstRange(of: "://"),
      beginning[schemeEnd.upperBound...].contains(where: { $0 == "/" || $0 == "?" })
    else { throw Self.invalid("does not begin with http:// or https://, a host and a slash before its first {key}") }
    guard !text.contains("#") else { throw Self.invalid("has a fragment, which no server sees") }
    origin = try HTTPAddress(text: beginning).origin
    _ = try url(for: "key")
  }

  /// The address of a key.
  ///
  /// - Parameter key: The key.
  /// - Returns: The address, in which the key is encoded.
  /// - Throws: `CacheError` with code `CacheError.Code.invalidAddress` if the key has none.
  public func url(for key: String) throws -> URL {
    guard !key.isEmpty else { throw Self.refused("the empty key") }
    guard !key.split(whereSeparator: { $0 == "/" || $0 == "\\" }).contains(where: { $0 == "." || $0 == ".." }) else {
      throw Self.refused("a key with . or .. in its path")
    }
    let text = parts.map { part in
      switch part {
      case .literal(let text): text
      case .key(let keepsSlashes): Self.encoded(key, keepsSlashes: keepsSlashes)
      }
    }.joined()
    let address = try HTTPAddress(text: text)
    let segments = address.path.split(separator: "/")
    guard !segments.contains("."), !segments.contains(".."), address.origin == origin, let url = URL(string: text)
    else {
      throw Self.refused("this key")
    }
    return url
  }

  private static func parts(of text: String) throws -> [Part] {
    var parts: [Part] = []
    var rest = text[...]
    while let open = rest.firstIndex(of: "{") {
      guard let close = rest[open...].firstIndex(of: "}") else { throw invalid("has a { without its }") }
      if open > rest.startIndex { parts.append(.literal(String(rest[..<open]))) }
      switch rest[open...close] {
      case "{key}": parts.append(.key(keepsSlashes: false))
      case "{+key}": parts.append(.key(keepsSlashes: true))
      default: throw invalid("has something other than {key} or {+key} in braces")
      }
      rest = rest[rest.index(after: close)...]
    }
    if !rest.isEmpty { parts.append(.literal(String(rest))) }
    return parts
  }

  // The canonical form, so that keys which are equal as strings have one address.
  private static func encoded(_ key: String, keepsSlashes: Bool) -> String {
    let digits = Array("0123456789ABCDEF".utf8)
    var bytes: [UInt8] = []
    for byte in String(String.UnicodeScalarView(key._nfc)).utf8 {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
        UInt8(ascii: "~"):
        bytes.append(byte)
      case UInt8(ascii: "/") where keepsSlashes:
        bytes.append(byte)
      default:
        bytes += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  private static func refused(_ what: String) -> CacheError {
    CacheError(.invalidAddress, "\(what) has no address under this level's URL template; ask for another key")
  }

  private static func invalid(_ what: String) -> CacheError {
    CacheError(.invalidAddress, "the URL template \(what); write one like https://host/path/{key}")
  }
}

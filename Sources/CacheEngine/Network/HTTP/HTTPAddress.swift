import CacheCore
#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// An http or https address, taken apart by rules so strict that every parser after ours must agree.
///
/// What is handed on is put together again from these parts, so that no oddity of the text travels.
struct HTTPAddress: Sendable, Equatable {
  let scheme: String
  /// In lower case; an IPv6 address with its brackets.
  let host: String
  let port: Int
  /// Begins with a slash.
  let path: String
  let query: String?
  /// The value of an `Authorization` field for the user and password in the address, if it had any.
  let authorization: String?

  /// Takes an address apart.
  ///
  /// - Throws: `CacheError` with code `CacheError.Code.invalidAddress`, without credentials or query in its text.
  init(_ url: URL) throws {
    try self.init(text: url.absoluteString)
  }

  init(text: String) throws {
    let refused = Set("\"<>\\^`{|}".utf8)
    guard text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && !refused.contains($0) }) else {
      throw Self.invalid("has characters that must be percent-encoded")
    }
    guard let schemeEnd = text.firstRange(of: "://") else { throw Self.invalid("does not begin with http://") }
    scheme = text[..<schemeEnd.lowerBound].lowercased()
    guard scheme == "http" || scheme == "https" else {
      throw Self.invalid("begins with \(scheme.prefix(20)): and only http and https can be fetched")
    }
    let withoutFragment = text[schemeEnd.upperBound...].prefix { $0 != "#" }
    let authority = withoutFragment.prefix { $0 != "/" && $0 != "?" }
    let target = withoutFragment[authority.endIndex...]
    let pathText = target.prefix { $0 != "?" }
    path = pathText.isEmpty ? "/" : String(pathText)
    query = pathText.endIndex < target.endIndex ? String(target[pathText.endIndex...].dropFirst()) : nil

    let pieces = authority.split(separator: "@", omittingEmptySubsequences: false)
    guard pieces.count <= 2, let place = pieces.last else { throw Self.invalid("has more than one @ before its path") }
    authorization = pieces.count == 2 ? try Self.basicAuthorization(String(pieces[0])) : nil
    (host, port) = try Self.hostAndPort(String(place), defaultPort: scheme == "https" ? 443 : 80)
  }

  /// Scheme, host and port: what credentials are good for.
  var origin: String { "\(scheme)://\(host):\(port)" }

  /// The address to connect to, without credentials and fragment.
  var text: String { "\(place)\(path)\(query.map { "?\($0)" } ?? "")" }

  /// The address for a person: without credentials, query and fragment, and not too long.
  var description: String {
    let shown = "\(place)\(path)"
    return shown.utf8.count <= 200 ? shown : "\(shown.prefix(199))…"
  }

  private var place: String {
    port == (scheme == "https" ? 443 : 80) ? "\(scheme)://\(host)" : "\(scheme)://\(host):\(port)"
  }

  private static func hostAndPort(_ text: String, defaultPort: Int) throws -> (String, Int) {
    let host: Substring
    if text.hasPrefix("[") {
      guard let end = text.firstIndex(of: "]") else { throw invalid("has an IPv6 host without its closing bracket") }
      host = text[...end]
      guard host.dropFirst().dropLast().utf8.allSatisfy({ isHexDigit($0) || $0 == UInt8(ascii: ":") || $0 == 0x2E })
      else { throw invalid("has a malformed IPv6 host") }
    } else {
      host = text.prefix { $0 != ":" }
      guard !host.isEmpty else { throw invalid("names no host") }
      guard host.utf8.allSatisfy({ isLetterOrDigit($0) || $0 == 0x2D || $0 == 0x2E || $0 == 0x5F }) else {
        throw invalid("has a host with other characters than letters, digits, hyphens and dots")
      }
    }
    let rest = text[host.endIndex...]
    if rest.isEmpty || rest == ":" { return (host.lowercased(), defaultPort) }
    let digits = rest.dropFirst()
    guard rest.hasPrefix(":"), digits.utf8.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }), let port = Int(digits),
      (1...65535).contains(port)
    else { throw invalid("has a port outside 1–65535") }
    return (host.lowercased(), port)
  }

  private static func basicAuthorization(_ userInfo: String) throws -> String {
    guard var pair = percentDecoded(userInfo), pair.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else {
      throw invalid("has a malformed user name or password")
    }
    if !pair.contains(UInt8(ascii: ":")) { pair.append(UInt8(ascii: ":")) }
    return "Basic \(Data(pair).base64EncodedString())"
  }

  private static func percentDecoded(_ text: String) -> [UInt8]? {
    var bytes: [UInt8] = []
    var rest = Array(text.utf8)[...]
    while let byte = rest.popFirst() {
      guard byte == UInt8(ascii: "%") else {
        bytes.append(byte)
        continue
      }
      let digits = rest.prefix(2)
      guard digits.count == 2, digits.allSatisfy(isHexDigit),
        let decoded = UInt8(String(decoding: digits, as: UTF8.self), radix: 16)
      else { return nil }
      bytes.append(decoded)
      rest = rest.dropFirst(2)
    }
    return bytes
  }

  private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), 0x30...0x39: true
    default: false
    }
  }

  private static func isHexDigit(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "f"), UInt8(ascii: "A")...UInt8(ascii: "F"), 0x30...0x39: true
    default: false
    }
  }

  private static func invalid(_ what: String) -> CacheError {
    CacheError(.invalidAddress, "the address \(what); give one like https://host/path")
  }
}

#if HTTP
package import HTTPTypes

/// What a request is for, in the one form by which it is stored and in which it is forwarded.
///
/// Normalised after RFC 9110, section 4.2.3, and RFC 3986, section 6.2: scheme and host in lower case, no default port, no empty
/// path, no dot segments, no needless percent-encoding. The query stays as it is. Because what is forwarded is what is keyed, no
/// spelling of a path can have the answer for another one stored under its key.
package struct TargetURI: Hashable, Sendable {
  package let scheme: String
  package let authority: String
  /// Path and query.
  package let path: String

  /// The key.
  package let text: String

  /// Reads the target of a request.
  ///
  /// - Returns: `nil` if it has no scheme other than http and https, no host, or no valid path.
  package init?(_ request: HTTPRequest) {
    self.init(scheme: request.scheme, authority: request.authority, path: request.path)
  }

  package init?(scheme: String?, authority: String?, path: String?) {
    guard let scheme = scheme?.lowercased(), scheme == "http" || scheme == "https",
      let authority = authority.flatMap({ Self.authority($0, scheme: scheme) }),
      let path = Self.path(path ?? "/")
    else { return nil }
    self.init(scheme: scheme, authority: authority, normalized: path)
  }

  /// Another path of the same server.
  ///
  /// - Returns: `nil` for an invalid path.
  package func with(path text: String) -> TargetURI? {
    Self.path(text).map { TargetURI(scheme: scheme, authority: authority, normalized: $0) }
  }

  private init(scheme: String, authority: String, normalized path: String) {
    self.scheme = scheme
    self.authority = authority
    self.path = path
    text = "\(scheme)://\(authority)\(path)"
  }

  /// Reads a reference such as that of a `Location` field, seen from a target.
  ///
  /// - Returns: `nil` if it cannot be read, or leads to another origin.
  package init?(reference: String, from base: TargetURI) {
    let reference = FieldList.trimmed(Substring(reference.utf8.prefix { $0 != UInt8(ascii: "#") }))
    let path: Substring
    if reference.hasPrefix("//") {
      self.init(absolute: "\(base.scheme):\(reference)"[...])
    } else if reference.hasPrefix("/") {
      self.init(scheme: base.scheme, authority: base.authority, path: String(reference))
    } else if reference.prefix(while: { $0 != "/" && $0 != "?" }).contains(":") {
      self.init(absolute: reference)
    } else {
      let basePath = base.path.prefix { $0 != "?" }
      switch reference.first {
      case nil: path = base.path[...]
      case "?": path = basePath + reference
      default: path = basePath[...(basePath.lastIndex(of: "/") ?? basePath.startIndex)] + reference
      }
      self.init(scheme: base.scheme, authority: base.authority, path: String(path))
    }
    guard scheme == base.scheme, authority == base.authority else { return nil }
  }

  private init?(absolute text: Substring) {
    guard let colon = text.firstRange(of: "://") else { return nil }
    let rest = text[colon.upperBound...]
    let authority = rest.prefix { $0 != "/" && $0 != "?" }
    self.init(
      scheme: String(text[..<colon.lowerBound]), authority: String(authority),
      path: String(rest[authority.endIndex...]))
  }

  /// A host, with its port unless that is its scheme's own; `nil` for what is no host, or has a user in it.
  package static func authority(_ text: String, scheme: String) -> String? {
    if isNormal(authority: text, scheme: scheme) { return text }
    var host = text.lowercased()
    guard host.utf8.count <= 512, !host.isEmpty else { return nil }
    let end = host.hasPrefix("[") ? host.firstIndex(of: "]") : host.startIndex
    guard let end else { return nil }
    if let colon = host[end...].firstIndex(of: ":") {
      let digits = host[host.index(after: colon)...]
      if !digits.isEmpty {
        guard digits.utf8.count <= 5, let port = FieldList.number(digits), (1...65535).contains(port) else {
          return nil
        }
        host = String(host[..<colon]) + (port == (scheme == "https" ? 443 : 80) ? "" : ":\(port)")
      } else {
        host = String(host[..<colon])
      }
    }
    let name = host.hasPrefix("[") ? host.dropFirst().prefix { $0 != "]" } : host.prefix { $0 != ":" }
    guard !name.isEmpty, host.utf8.allSatisfy({ isUnreserved($0) || ":[]".utf8.contains($0) }) else { return nil }
    let rest = host.hasPrefix("[") ? host[host.index(after: end)...] : host[name.endIndex...]
    guard rest.isEmpty || rest.hasPrefix(":"),
      host.hasPrefix("[") || !host.utf8.contains(where: { $0 == 0x5B || $0 == 0x5D })
    else { return nil }
    return host
  }

  /// Whether a host with or without a port is of the one form already, as most are.
  private static func isNormal(authority text: String, scheme: String) -> Bool {
    let bytes = text.utf8
    let colon = bytes.firstIndex(of: UInt8(ascii: ":")) ?? bytes.endIndex
    guard colon > bytes.startIndex, bytes.count <= 512,
      bytes[..<colon].allSatisfy({ isUnreserved($0) && !($0 >= UInt8(ascii: "A") && $0 <= UInt8(ascii: "Z")) })
    else { return false }
    guard colon < bytes.endIndex else { return true }
    let digits = bytes[bytes.index(after: colon)...]
    guard (1...5).contains(digits.count), digits.first != UInt8(ascii: "0"),
      let port = FieldList.number(Substring(digits))
    else { return false }
    return port <= 65_535 && port != (scheme == "https" ? 443 : 80)
  }

  private static func path(_ text: String) -> String? {
    var isNormal = text.utf8.first == UInt8(ascii: "/")
    var (isPath, last) = (true, UInt8(0))
    for byte in text.utf8 {
      guard byte > 0x20, byte < 0x7F, byte != UInt8(ascii: "#") else { return nil }
      if byte == UInt8(ascii: "?") { isPath = false }
      if isPath, byte == UInt8(ascii: "%") || (byte == UInt8(ascii: ".") && last == UInt8(ascii: "/")) {
        isNormal = false
      }
      last = byte
    }
    // Most paths have nothing to normalise.
    if isNormal { return text }
    let path = text.prefix { $0 != "?" }
    let query = text[path.endIndex...]
    guard path.isEmpty || path.hasPrefix("/") else { return nil }
    return withoutDotSegments(unescaped(path.isEmpty ? "/" : path)) + query
  }

  /// Undoes the percent-encoding of bytes that need none, and writes the rest in capitals.
  private static func unescaped(_ path: Substring) -> String {
    var result: [UInt8] = []
    var rest = path.utf8
    while let byte = rest.popFirst() {
      let digits = rest.prefix(2)
      guard byte == UInt8(ascii: "%"), digits.count == 2, digits.allSatisfy(isHexDigit),
        let decoded = UInt8(Substring(digits), radix: 16)
      else {
        result.append(byte)
        continue
      }
      if isUnreserved(decoded) {
        result.append(decoded)
      } else {
        result += Array("%\(Substring(digits).uppercased())".utf8)
      }
      rest = rest.dropFirst(2)
    }
    return String(decoding: result, as: UTF8.self)
  }

  private static func withoutDotSegments(_ path: String) -> String {
    var kept: [Substring] = []
    let segments = path.split(separator: "/", omittingEmptySubsequences: false).dropFirst()
    for segment in segments {
      if segment == ".." { _ = kept.popLast() } else if segment != "." { kept.append(segment) }
    }
    if let last = segments.last, last == "." || last == ".." { kept.append("") }
    return "/" + kept.joined(separator: "/")
  }

  private static func isHexDigit(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x30...0x39, UInt8(ascii: "a")...UInt8(ascii: "f"), UInt8(ascii: "A")...UInt8(ascii: "F"): true
    default: false
    }
  }

  private static func isUnreserved(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x30...0x39, UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"):
      true
    default: false
    }
  }
}
#endif

#if Explorer
import CacheEngineHTTP
package import ExplorerText

/// A host with a port: where a proxy listens, or what is behind it.
package struct ServedAddress: Equatable, Sendable {
  /// A name or an address; one of IPv6 without its brackets.
  package var host: String
  package var port: Int
  /// Whether it is asked by https.
  package var isSecure = false

  package init(host: String, port: Int) {
    self.host = host
    self.port = port
  }

  /// Reads `HOST:PORT`, `[::1]:8080`.
  package init?(_ text: String) {
    guard let colon = text.lastIndex(of: ":"), let port = Self.port(text[colon...].dropFirst()),
      let host = Self.host(text[..<colon])
    else { return nil }
    self.init(host: host, port: port)
  }

  /// Reads `http://HOST[:PORT]` or `https://HOST[:PORT]`.
  package init(origin text: String) throws(QuantityError) {
    let scheme = text.prefix { $0 != ":" }.lowercased()
    let rest = text.dropFirst(scheme.count + 3)
    guard scheme == "http" || scheme == "https", text.dropFirst(scheme.count).hasPrefix("://") else {
      throw QuantityError("“\(text)” is no address of an http server", "write it as in http://127.0.0.1:3000")
    }
    let place = rest.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
    guard ["", "/"].contains(rest[place.endIndex...]) else {
      throw QuantityError(
        "“\(text)” has more than a host and a port", "leave “\(rest[place.endIndex...])” out: paths are the clients’")
    }
    guard !place.contains("@") else {
      throw QuantityError("“\(text)” has a user in it", "leave it out: credentials are the clients’")
    }
    let hasPort = place.hasSuffix("]") ? false : place.contains(":")
    guard let address = ServedAddress(hasPort ? String(place) : "\(place):\(scheme == "http" ? 80 : 443)"),
      (1...65_535).contains(address.port)
    else {
      throw QuantityError("“\(text)” is no address of an http server", "write it as in http://127.0.0.1:3000")
    }
    self = address
    isSecure = scheme == "https"
  }

  /// Whether the listener here may be the server asked there.
  package func mayBe(_ other: ServedAddress) -> Bool {
    let local = ["127.0.0.1", "localhost", "::1", "0.0.0.0", "::"]
    return port == other.port && (host == other.host || local.contains(host) && local.contains(other.host))
  }

  /// As it stands in a URL.
  package var text: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }

  /// What to call a proxy that listens here; a host that it shares with its server goes without saying.
  ///
  /// `authority`: The server's.
  package func title(before authority: String) -> String {
    let place = text.dropLast(String(port).utf8.count)
    guard authority.hasPrefix(place) else { return "\(text) → \(authority)" }
    return ":\(port) → :\(authority.dropFirst(place.count))"
  }

  private static func port(_ text: Substring) -> Int? {
    guard !text.isEmpty, text.utf8.count <= 5, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
    return Int(text)
  }

  private static func host(_ text: Substring) -> String? {
    let isBracketed = text.hasPrefix("[") && text.hasSuffix("]")
    guard isBracketed || !text.contains(":"), !text.isEmpty,
      TargetURI(scheme: "http", authority: String(text), path: "/") != nil
    else { return nil }
    return String(isBracketed ? text.dropFirst().dropLast() : text)
  }
}
#endif

#if HTTP
package import HTTPTypes

extension HTTPField.Name {
  // Names that are not among those that swift-http-types knows. Each is a token.
  package static let pragma = Self("Pragma")!
  package static let keepAlive = Self("Keep-Alive")!
  package static let proxyConnection = Self("Proxy-Connection")!
  package static let cacheStatus = Self("Cache-Status")!
  package static let xForwardedFor = Self("X-Forwarded-For")!
  package static let cdnCacheControl = Self("CDN-Cache-Control")!
}

/// The fields that speak of one connection only, and go no further: RFC 9110, section 7.6.1.
package enum ConnectionFields {
  package static let names: Set<HTTPField.Name> = [
    .connection, .keepAlive, .proxyAuthenticate, .proxyAuthenticationInfo, .proxyAuthorization, .proxyConnection, .te,
    .transferEncoding, .upgrade,
  ]

  /// The fields that a message would rather keep to itself, but that are needed to read it.
  private static let never: Set<HTTPField.Name> = [.cacheControl, .date, .contentLength, .age, .vary]

  /// Takes them out, with those that `Connection` names.
  ///
  /// - Parameter fields: The fields of a message.
  package static func remove(from fields: inout HTTPFields) {
    var names = Self.names
    for line in fields[values: .connection] {
      for member in FieldList.members(of: line) {
        if let name = HTTPField.Name(String(member)), !never.contains(name) { names.insert(name) }
      }
    }
    fields.remove(names)
  }
}
#endif

#if HTTP
package import HTTPTypes

extension HTTPField.Name {
  // Names that swift-http-types does not know. Each is a token.
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

  /// The fields that say how to read a message or how long to keep it: without them the rest would mean something else.
  static let needed: Set<HTTPField.Name> = [
    .cacheControl, .cdnCacheControl, .expires, .date, .age, .vary, .contentLength, .contentEncoding,
  ]

  /// Takes them out, with those that `Connection` names.
  ///
  /// - Parameter fields: The fields of a message.
  package static func remove(from fields: inout HTTPFields) { fields.remove(names(in: fields)) }

  /// All of them, with those that `Connection` names.
  static func names(in fields: HTTPFields) -> Set<HTTPField.Name> {
    var names = Self.names
    for line in fields[values: .connection] {
      for member in FieldList.members(of: line) {
        if let name = HTTPField.Name(String(member)), !needed.contains(name) { names.insert(name) }
      }
    }
    return names
  }
}

extension HTTPResponse {
  /// Without what speaks of its connection, and without the length of a content that it cannot have: RFC 9110, section 8.6.
  var forNextConnection: HTTPResponse {
    var response = self
    ConnectionFields.remove(from: &response.headerFields)
    if status.kind == .informational || status == .noContent { response.headerFields[.contentLength] = nil }
    return response
  }
}

/// The fields that may not stand behind a content, since they would have to be known before: RFC 9110, section 6.5.1.
enum TrailerFields {
  private static let unfit = ConnectionFields.needed.union([
    .contentRange, .contentType, .location, .pragma, .retryAfter, .setCookie, .trailer, .wwwAuthenticate,
  ])

  /// Takes them out, with those of the connection.
  static func removeUnfit(from trailers: inout HTTPFields, behind head: HTTPFields) {
    trailers.remove(ConnectionFields.names(in: head).union(unfit))
  }
}
#endif

#if Proxy
import CacheEngineHTTP
import CacheEngineNetwork
import HTTPTypes
import NIOCore
import NIOHTTP1

/// The head of an answer as it goes out to a client, with where its content ends.
struct FramedHead {
  private(set) var head: HTTPTypes.HTTPResponse
  /// Whether content may follow.
  let mayHaveBody: Bool
  /// Whether the connection can carry another request.
  private(set) var isKept: Bool
  private(set) var isChunked = false

  /// `origin`: A target of the origin's; `via`: the field that names the proxy.
  init(_ answer: HTTPCacheAnswer, to request: HTTPRequestHead, from origin: TargetURI, via: HTTPField, mayStay: Bool) {
    head = answer.head
    let locations = head.headerFields[values: .location]
    if locations.count == 1, let path = origin.path(of: locations[0]) { head.headerFields[.location] = path }
    head.headerFields.append(via)
    mayHaveBody = request.method != .HEAD && HTTPResponseStatus(statusCode: head.status.code).mayHaveResponseBody
    isKept = request.isPersistent && mayStay
    if mayHaveBody, !head.headerFields.contains(.contentLength) {
      if let length = answer.body.length, answer.body.bytes != nil {
        head.headerFields.append(HTTPField(name: .contentLength, value: String(length)))
      } else if request.version == .http1_1 {
        head.headerFields.append(HTTPField(name: .transferEncoding, value: "chunked"))
        isChunked = true
      } else {
        isKept = false
      }
    }
    if !isKept {
      head.headerFields.append(HTTPField(name: .connection, value: "close"))
    } else if request.version == .http1_0 {
      head.headerFields.append(HTTPField(name: .connection, value: "keep-alive"))
    }
  }
}

extension TargetURI {
  /// Where an address of the same server leads a client that knows the server by another name.
  ///
  /// - Returns: What stands behind the authority; `nil` if that is another one, or if a client could read the rest as an authority.
  fileprivate func path(of address: String) -> String? {
    let start = "\(scheme)://"
    guard address.prefix(start.count).lowercased() == start else { return nil }
    let rest = address.dropFirst(start.count)
    // By bytes: a client sees a slash also where what follows combines with it.
    let place = rest.utf8.prefix { !"/?#".utf8.contains($0) }
    let path = rest[place.endIndex...]
    guard Self.authority(String(Substring(place)), scheme: scheme) == authority, !path.utf8.starts(with: "//".utf8),
      !path.utf8.contains(where: { $0 <= 0x20 || $0 == UInt8(ascii: "\\") })
    else { return nil }
    return path.utf8.first == UInt8(ascii: "/") ? String(path) : "/\(path)"
  }
}

extension HTTPRequestHead {
  /// Whether its connection can carry another one: of HTTP/1.0, NIO's parser does not see a `close` beside the `keep-alive`, and reads
  /// nothing behind an `Upgrade`.
  var isPersistent: Bool {
    isKeepAlive
      && (version == .http1_1
        || !headers.contains(name: "upgrade")
          && !headers[canonicalForm: "connection"].contains { $0.lowercased() == "close" })
  }

  /// The method as it was sent; the parser knows one of them without its hyphen.
  var methodName: String { method == .MSEARCH ? "M-SEARCH" : method.rawValue }
}

extension HTTPResponseHead {
  init(_ response: HTTPTypes.HTTPResponse) {
    self.init(
      version: .http1_1,
      status: HTTPResponseStatus(
        statusCode: response.status.code, reasonPhrase: response.status.reasonPhrase.latin1),
      headers: HTTPHeaders(response.headerFields))
  }
}

extension HTTPTypes.HTTPResponse {
  /// A head as it goes over the network: what its fields can hold breaks no line.
  var bytes: [UInt8] {
    let given = self.status
    // It has the phrases of known statuses.
    let status = HTTPResponseStatus(statusCode: given.code, reasonPhrase: given.reasonPhrase)
    // An array takes small pieces at a fraction of what a buffer needs for them.
    var bytes: [UInt8] = []
    bytes.reserveCapacity(512)
    bytes.append(contentsOf: "HTTP/1.1 ".utf8)
    bytes.append(contentsOf: String(status.code).utf8)
    bytes.append(UInt8(ascii: " "))
    bytes.append(contentsOf: status.reasonPhrase.utf8)
    bytes.endLine()
    for field in headerFields {
      bytes.append(contentsOf: field.name.rawName.utf8)
      bytes.append(UInt8(ascii: ":"))
      bytes.append(UInt8(ascii: " "))
      unsafe field.withUnsafeBytesOfValue { unsafe bytes.append(contentsOf: $0) }
      bytes.endLine()
    }
    bytes.endLine()
    return bytes
  }
}

extension [UInt8] {
  fileprivate mutating func endLine() {
    append(0x0D)
    append(0x0A)
  }
}

extension HTTPHeaders {
  init(_ fields: HTTPFields) {
    self.init()
    reserveCapacity(fields.count + 4)
    for field in fields { add(name: field.name.rawName, value: field.latin1) }
  }
}
#endif

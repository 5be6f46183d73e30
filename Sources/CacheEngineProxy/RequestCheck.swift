#if Proxy
import CacheEngineHTTP
import HTTPTypes
import NIOHTTP1

/// What a proxy makes of the head of a request: one to forward, or a status.
///
/// What two readers could understand differently is refused, and never mended: RFC 9112, sections 3.2, 6.1 and 11.
enum RequestCheck {
  case forward(HTTPRequest, TargetURI, expectsContinue: Bool)
  /// With the reason, for a person.
  case refuse(Int, String)
  /// It is for the proxy itself.
  case answer(Int, HTTPFields, body: String)

  /// Decides; `origin` is any target of the origin's.
  init(_ head: HTTPRequestHead, origin: TargetURI, peer: String?, settings: ProxySettings) {
    do throws(Refusal) {
      self = try Self.check(head, origin: origin, peer: peer, settings: settings)
    } catch {
      self = .refuse(error.status, error.why)
    }
  }

  private struct Refusal: Error {
    let status: Int
    let why: String
  }

  private static func check(
    _ head: HTTPRequestHead, origin: TargetURI, peer: String?, settings: ProxySettings
  ) throws(Refusal) -> RequestCheck {
    let headers = head.headers
    let size = headers.reduce(head.uri.utf8.count) { $0 + $1.name.utf8.count + $1.value.utf8.count + 4 }
    guard size <= settings.headBytes, headers.count <= settings.fieldCount else {
      throw Refusal(
        status: 431,
        why:
          "its head has \(size) bytes in \(headers.count) fields, and \(settings.headBytes) in \(settings.fieldCount) are accepted"
      )
    }
    guard head.version == .http1_1 || head.version == .http1_0 else {
      throw Refusal(status: 505, why: "it is of \(head.version)")
    }
    // The parser takes RTSP and ICE as well; of the methods that NIO has no name for, this is the only one of HTTP.
    if case .RAW(let name) = head.method, name != "QUERY" {
      throw Refusal(status: 400, why: "its method is none of HTTP")
    }
    guard let method = HTTPRequest.Method(head.methodName) else {
      throw Refusal(status: 400, why: "its method is none of HTTP")
    }
    var fields = HTTPFields()
    fields.reserveCapacity(headers.count + 2)
    for header in headers {
      // Blanks around a value are not part of it (RFC 9110, section 5.5), and the parser leaves those behind it.
      let value = String(FieldList.trimmed(header.value[...]))
      // An empty name, one with a blank before the colon and a folded line are not names.
      guard let name = HTTPField.Name(header.name), HTTPField.isValidValue(value) else {
        throw Refusal(status: 400, why: "a field is not of the form “name: value”")
      }
      if header.name.lowercased() != "host" { fields.append(HTTPField(name: name, latin1: value)) }
    }
    try checkFraming(fields, version: head.version, settings: settings)
    // That of HTTP/1.0 is ignored: RFC 9110, section 7.8.
    guard method != .connect, head.version == .http1_0 || !headers.contains(name: "upgrade") else {
      let what = method == .connect ? "CONNECT is" : "upgrades are"
      throw Refusal(status: 501, why: "\(what) for a tunnel, and this is a cache")
    }

    let hosts = headers["host"].map { String(FieldList.trimmed($0[...])) }
    guard hosts.count <= 1, head.version == .http1_0 || hosts.count == 1 else {
      throw Refusal(status: 400, why: hosts.isEmpty ? "it has no Host" : "it has more than one Host")
    }
    if let host = hosts.first {
      guard TargetURI.authority(host, scheme: "http") != nil else {
        throw Refusal(status: 400, why: "its Host is no name with a port")
      }
    }
    let path = try path(head.uri, host: hosts.first, method: method)
    if method == .options || method == .trace {
      let hops = fields[values: .maxForwards]
      guard hops.count <= 1, hops.allSatisfy({ FieldList.number($0[...]) != nil }) else {
        throw Refusal(status: 400, why: "its Max-Forwards is not one number")
      }
      let left = hops.first.flatMap { FieldList.number($0[...]) }
      if left == 0 || path == "*" {
        return method == .options
          ? .answer(200, [.allow: "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS"], body: "")
          : .answer(200, [.contentType: "message/http"], body: "TRACE \(head.uri) HTTP/1.1\r\n\r\n")
      }
      if let left { fields[.maxForwards] = String(left - 1) }
    }
    guard let target = origin.with(path: path) else {
      throw Refusal(status: 400, why: "its path has characters that belong in no address")
    }

    let expectations = fields[values: .expect]
    guard expectations.allSatisfy({ $0.lowercased() == "100-continue" }) else {
      throw Refusal(status: 417, why: "it expects something other than 100-continue")
    }
    fields[.expect] = nil
    ConnectionFields.remove(from: &fields)
    fields.append(HTTPField(name: .via, value: "\(head.version.major).\(head.version.minor) \(settings.name)"))
    if let peer { fields.append(HTTPField(name: .xForwardedFor, value: peer)) }
    let request = HTTPRequest(
      method: method, scheme: target.scheme, authority: target.authority, path: target.path, headerFields: fields)
    return .forward(request, target, expectsContinue: !expectations.isEmpty && head.version == .http1_1)
  }

  private static func checkFraming(_ fields: HTTPFields, version: HTTPVersion, settings: ProxySettings)
    throws(Refusal)
  {
    let lengths = fields[values: .contentLength]
    let codings = fields[values: .transferEncoding]
    guard lengths.count <= 1, lengths.isEmpty || codings.isEmpty, codings.count <= 1 else {
      throw Refusal(status: 400, why: "it says more than once how long its content is")
    }
    if let coding = codings.first {
      guard version == .http1_1 else {
        throw Refusal(status: 400, why: "HTTP/1.0 has no Transfer-Encoding")
      }
      guard coding.lowercased() == "chunked" else {
        throw Refusal(status: 501, why: "its Transfer-Encoding is not chunked")
      }
    }
    if let text = lengths.first {
      guard !text.isEmpty, text.utf8.count <= 18, FieldList.number(text[...]) != nil, let length = Int(text) else {
        throw Refusal(status: 400, why: "its Content-Length is no number")
      }
      guard length <= settings.bodyBytes else {
        throw Refusal(status: 413, why: "its content has \(length) bytes, and \(settings.bodyBytes) are accepted")
      }
    }
  }

  private static func path(_ uri: String, host: String?, method: HTTPRequest.Method) throws(Refusal) -> String {
    if uri == "*", method == .options { return uri }
    if uri.hasPrefix("/") { return uri }
    let scheme = uri.prefix { $0 != ":" }
    guard uri[scheme.endIndex...].hasPrefix("://") else {
      throw Refusal(status: 400, why: "its target is neither a path nor an address")
    }
    let rest = uri.dropFirst(scheme.count + 3)
    let place = rest.prefix { $0 != "/" && $0 != "?" }
    guard let target = TargetURI.authority(String(place), scheme: "http") else {
      throw Refusal(status: 400, why: "its target is neither a path nor an address")
    }
    guard scheme.lowercased() == "http", host.flatMap({ TargetURI.authority($0, scheme: "http") }) ?? target == target
    else {
      throw Refusal(status: 421, why: "its target is an address of another server")
    }
    let path = rest[place.endIndex...]
    // About the server as a whole: RFC 9112, section 3.2.4.
    if path.isEmpty, method == .options { return "*" }
    return path.hasPrefix("/") ? String(path) : "/\(path)"
  }
}
#endif

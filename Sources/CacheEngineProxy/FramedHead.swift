#if Proxy
import CacheEngineHTTP
import HTTPTypes
import NIOHTTP1

/// The head of an answer as it goes out to a client, with where its content ends.
struct FramedHead {
  var head: HTTPResponseHead
  /// Whether content may follow.
  let mayHaveBody: Bool
  /// Whether the connection can carry another request.
  var isKept: Bool
  var isChunked = false

  init(_ answer: HTTPCacheAnswer, to request: HTTPRequestHead, mayStay: Bool) {
    head = HTTPResponseHead(answer.head)
    head.headers.add(name: "Via", value: "1.1 cache-explorer")
    mayHaveBody = request.method != .HEAD && head.status.mayHaveResponseBody
    isKept = request.isPersistent && mayStay
    if mayHaveBody, !head.headers.contains(name: "content-length") {
      if let length = answer.body.length, answer.body.bytes != nil {
        head.headers.add(name: "Content-Length", value: String(length))
      } else if request.version == .http1_1 {
        head.headers.add(name: "Transfer-Encoding", value: "chunked")
        isChunked = true
      } else {
        isKept = false
      }
    }
    if !isKept {
      head.headers.add(name: "Connection", value: "close")
    } else if request.version == .http1_0 {
      head.headers.add(name: "Connection", value: "keep-alive")
    }
  }
}

extension HTTPRequestHead {
  /// Whether its connection can carry another one: NIO's parser does not see a `close` beside the `keep-alive` of HTTP/1.0.
  var isPersistent: Bool {
    isKeepAlive
      && (version == .http1_1 || !headers[canonicalForm: "connection"].contains { $0.lowercased() == "close" })
  }

  /// The method as it was sent; the parser knows one of them without its hyphen.
  var methodName: String { method == .MSEARCH ? "M-SEARCH" : method.rawValue }
}

extension HTTPResponseHead {
  init(_ response: HTTPTypes.HTTPResponse) {
    self.init(
      version: .http1_1,
      status: HTTPResponseStatus(
        statusCode: response.status.code, reasonPhrase: String(latin1: response.status.reasonPhrase.utf8)),
      headers: HTTPHeaders(response.headerFields))
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

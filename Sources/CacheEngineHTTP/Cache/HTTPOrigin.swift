#if HTTP
public import HTTPTypes

/// A response: status, fields and content.
public struct HTTPAnswer: Sendable {
  /// Status and fields.
  public var head: HTTPResponse
  /// The content.
  public var body: HTTPBody

  /// Creates an answer.
  ///
  /// - Parameters:
  ///   - head: Status and fields.
  ///   - body: The content.
  public init(head: HTTPResponse, body: HTTPBody = HTTPBody()) {
    self.head = head
    self.body = body
  }

  /// The same without what may not stand behind a content.
  var withFitTrailers: HTTPAnswer {
    guard body.bytes == nil else { return self }
    var answer = self
    answer.body = HTTPBody(length: body.length, isDelimited: body.isDelimited) { [body, fields = head.headerFields] in
      var parts = body.makeAsyncIterator()
      let part = try await parts.next()
      guard case .trailers(var trailers)? = part else { return part }
      TrailerFields.removeUnfit(from: &trailers, behind: fields)
      return trailers.isEmpty ? nil : .trailers(trailers)
    }
    return answer
  }
}

/// Where requests go that a cache does not answer.
///
/// An origin is used as it is: it follows no redirect, changes no fields except those of its connection, and sends a request again
/// only if that is idempotent and its connection ended just then.
///
/// One over `URLSession` stops its redirects, and removes `Content-Encoding` and `Content-Length` from the answer where the session
/// has decoded the content. The cache does not see fields that a session adds to requests, so nothing should vary by these: set
/// `Accept-Language` in the request.
///
/// In a package that does not enable `NonisolatedNonsendingByDefault`, the type of `interim` has to be written as it is here, with
/// `nonisolated(nonsending)` first.
public protocol HTTPOrigin: Sendable {
  /// Sends a request.
  ///
  /// - Parameters:
  ///   - request: The request: scheme, authority, path and fields, without those of a connection.
  ///   - body: The content to send with it.
  ///   - interim: Notified of every interim response (1xx) except 100 and 101, in their order.
  /// - Returns: The final answer, as soon as its head is there. Its body throws where it breaks off: a body that ends is complete.
  /// - Throws: An error if there is no answer in valid HTTP; `CancellationError` if the task was cancelled first.
  func send(
    _ request: HTTPRequest, body: HTTPBody,
    interim: nonisolated(nonsending) @escaping @Sendable (HTTPResponse) async -> Void
  ) async throws -> HTTPAnswer
}
#endif

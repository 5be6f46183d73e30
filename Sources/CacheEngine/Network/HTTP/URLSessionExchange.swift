import CacheCore
#if canImport(Darwin)
import Foundation
import Synchronization

/// One request on its way through `URLSession`: the delegate of its task.
final class URLSessionExchange: NSObject, URLSessionDataDelegate {
  private struct State {
    var request: TransportRequest
    var redirect = HTTPRedirect()
    var head: HTTPHead?
    var body = Data()
  }

  let reply = HTTPReply()
  private let address: HTTPAddress
  private let timeout: Duration
  private let state: Mutex<State>

  init(_ request: TransportRequest, address: HTTPAddress) {
    self.address = address
    timeout = request.timeout
    state = Mutex(State(request: request))
  }

  /// The request as `URLSession` takes it.
  static func urlRequest(for request: TransportRequest) throws -> URLRequest {
    let address = try HTTPAddress(request.url)
    guard let url = URL(string: address.text), request.headers.allSatisfy(\.isWellFormed) else {
      throw CacheError(
        .invalidAddress,
        "\(address.description) was to be asked with a malformed header field; mend its name or value")
    }
    var result = URLRequest(url: url)
    // Time without any byte; the total deadline comes first.
    result.timeoutInterval = max(1, min(request.timeout / .seconds(1), 31_536_000))
    result.setValue("identity", forHTTPHeaderField: "Accept-Encoding")
    result.setValue("CacheEngine", forHTTPHeaderField: "User-Agent")
    if let authorization = address.authorization {
      result.setValue(authorization, forHTTPHeaderField: "Authorization")
    }
    for header in request.headers { result.setValue(header.value, forHTTPHeaderField: header.name) }
    return result
  }

  /// Ends the wait because the deadline has passed.
  func timeOut() {
    fail(.timedOut, "gave no whole answer within \(timeout.text); check the server or allow more time")
  }

  func urlSession(
    _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
    newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
  ) {
    let answer = TransportResponse(status: response.statusCode, headers: Self.headers(of: response))
    guard !state.withLock({ $0.request.isVerbatim }) else { return completionHandler(nil) }
    do {
      let next = try state.withLock { state -> TransportRequest? in
        guard let next = try state.redirect.next(after: answer, to: state.request) else { return nil }
        state.request = next
        return next
      }
      completionHandler(try next.map(Self.urlRequest(for:)))
    } catch {
      reply.give(.failure(error))
      completionHandler(nil)
      task.cancel()
    }
  }

  func urlSession(
    _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
    completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
  ) {
    guard let response = response as? HTTPURLResponse else { return completionHandler(.cancel) }
    let headers = Self.headers(of: response)
    do throws(HTTPViolation) {
      let request = state.withLock { $0.request }
      let head = try HTTPHead(status: response.statusCode, headers: headers, limits: request.limits)
      _ = try HTTPFraming(head, for: request)
      state.withLock { $0.head = head }
    } catch {
      fail(.invalidResponse, error.text)
      return completionHandler(.cancel)
    }
    guard state.withLock({ $0.request.isVerbatim }) || (200..<300).contains(response.statusCode) else {
      // Nobody reads the body of an error.
      reply.give(.success(TransportResponse(status: response.statusCode, headers: headers)))
      return completionHandler(.cancel)
    }
    completionHandler(.allow)
  }

  func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
    let limits = state.withLock { state -> HTTPLimits? in
      guard data.count <= state.request.limits.bodyBytes - state.body.count else { return state.request.limits }
      state.body.append(data)
      return nil
    }
    guard let limits else { return }
    fail(.invalidResponse, HTTPFraming.tooLong(limits).text)
    dataTask.cancel()
  }

  func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
    if let error { return fail(Self.code(for: error), "cannot be fetched; check the server and the network", error) }
    let (head, body) = state.withLock { ($0.head, $0.body) }
    guard let head else {
      return fail(.invalidResponse, "ended the connection before its answer was whole; try again")
    }
    reply.give(.success(TransportResponse(status: head.status, headers: head.headers, body: body)))
  }

  private func fail(_ code: CacheError.Code, _ what: String, _ underlying: (any Error)? = nil) {
    reply.give(.failure(CacheError(code, "\(address.description) \(what)", underlying: underlying)))
  }

  private static func headers(of response: HTTPURLResponse) -> [HTTPHeader] {
    response.allHeaderFields.map { HTTPHeader("\($0.key)", "\($0.value)") }
  }

  private static func code(for error: any Error) -> CacheError.Code {
    switch (error as? URLError)?.code {
    case .timedOut: .timedOut
    case .badURL, .unsupportedURL: .invalidAddress
    case .badServerResponse, .cannotParseResponse, .cannotDecodeRawData, .cannotDecodeContentData,
      .networkConnectionLost, .zeroByteResource, .httpTooManyRedirects, .redirectToNonExistentLocation,
      .dataLengthExceedsMaximum:
      .invalidResponse
    default: .unreachable
    }
  }
}
#endif

import CacheCore
#if os(Linux) || os(macOS)
import CCurl

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// One request on its way through libcurl.
///
/// Unchecked: all but the constants is touched by the loop's thread only, which also runs libcurl's callbacks.
@safe final class CurlTransfer: CurlJob, @unchecked Sendable {
  let reply = HTTPReply()
  let request: TransportRequest
  let address: HTTPAddress
  let deadline: ContinuousClock.Instant

  private let curl = CurlHandle()
  private var head: HTTPHead
  private var framing: HTTPFraming?
  private var body = Data()
  private var violation: HTTPViolation?

  init(_ request: TransportRequest, address: HTTPAddress, deadline: ContinuousClock.Instant) {
    self.request = request
    self.address = address
    self.deadline = deadline
    head = HTTPHead(limits: request.limits)
  }

  /// Makes the transfer ready to be added to a multi handle.
  ///
  /// - Returns: The easy handle, which ``close()`` frees.
  func open(now: ContinuousClock.Instant) throws -> UnsafeMutableRawPointer {
    guard curl.open() else { throw failure(.unreachable, "could not be asked: out of memory") }
    curl.set(CURLOPT_URL, address.text)
    curl.set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
    curl.set(CURLOPT_TIMEOUT_MS, CurlLoop.milliseconds(now.duration(to: deadline)))
    curl.set(CURLOPT_CONNECTTIMEOUT_MS, CurlLoop.milliseconds(request.connectTimeout))
    curl.set(lines: try lines().map { Array($0.utf8CString) })
    unsafe curl.call(receiveHeader, for: CURLOPT_HEADERFUNCTION, CURLOPT_HEADERDATA, with: self)
    unsafe curl.call(receiveBody, for: CURLOPT_WRITEFUNCTION, CURLOPT_WRITEDATA, with: self)
    guard curl.isAccepted, let easy = unsafe curl.easy else {
      throw failure(.unreachable, "cannot be asked with this libcurl; install version 7.68 or newer")
    }
    return unsafe easy
  }

  /// The easy handle while the transfer is open.
  var handle: UnsafeMutableRawPointer? { unsafe curl.easy }

  /// Frees the handles.
  ///
  /// The easy handle must have left its multi handle.
  func close() { curl.close() }

  /// Takes in one header line.
  ///
  /// - Returns: Whether to go on.
  func receive(headerLine: UnsafeRawBufferPointer) -> Bool {
    do throws(HTTPViolation) {
      let wasComplete = head.isComplete
      try unsafe head.append(line: headerLine)
      if head.isComplete, !wasComplete { framing = try HTTPFraming(head, for: request) }
      return true
    } catch {
      violation = error
      return false
    }
  }

  /// Takes in a part of the body.
  ///
  /// - Returns: Whether to go on. Nobody reads the body of an error: it is given up, and with it the connection,
  ///   unless all of it is here already.
  func receive(bodyPart: UnsafeRawBufferPointer) -> Bool {
    guard readsBody else {
      discardedBytes += bodyPart.count
      return discardedBytes <= 65_536
    }
    guard bodyPart.count <= request.limits.bodyBytes - body.count else {
      violation = HTTPFraming.tooLong(request.limits)
      return false
    }
    if let base = bodyPart.baseAddress {
      unsafe body.append(base.assumingMemoryBound(to: UInt8.self), count: bodyPart.count)
    }
    return true
  }

  private var discardedBytes = 0

  private var readsBody: Bool { request.isVerbatim || (200..<300).contains(head.status) }

  var isAbandoned: Bool { reply.isGiven }

  func look(now: ContinuousClock.Instant) -> ContinuousClock.Instant? { nil }

  func finish(_ code: CURLcode) { reply.give(outcome(code)) }

  func fail(_ error: any Error) { reply.give(.failure(error)) }

  /// What the caller gets when libcurl has ended the transfer.
  private func outcome(_ code: CURLcode) -> Result<TransportResponse, any Error> {
    if let violation { return .failure(failure(.invalidResponse, violation.text)) }
    // The status of an error is known as soon as its head is here, however its body ended.
    if head.isComplete, !readsBody {
      return .success(TransportResponse(status: head.status, headers: head.headers))
    }
    guard code == CURLE_OK else { return .failure(CurlFailure.error(code, detail: curl.detail, for: self)) }
    guard head.isComplete, let framing else {
      return .failure(failure(.invalidResponse, "ended the connection before its answer was whole; try again"))
    }
    do throws(HTTPViolation) {
      try framing.checkBody(bytes: body.count)
      return .success(TransportResponse(status: head.status, headers: head.headers, body: body))
    } catch {
      return .failure(failure(.invalidResponse, error.text))
    }
  }

  var patience: String {
    "gave no whole answer within \(request.timeout.text), or no connection within \(request.connectTimeout.text)"
  }

  private func lines() throws -> [String] {
    var headers = request.headers
    let defaults = [HTTPHeader("Accept-Encoding", "identity"), HTTPHeader("User-Agent", "CacheEngine")]
    for field in defaults + [address.authorization.map { HTTPHeader("Authorization", $0) }].compactMap(\.self)
    where headers.values(of: field.name).isEmpty { headers.append(field) }
    for header in headers where !header.isWellFormed {
      throw failure(.invalidAddress, "was to be asked with a malformed header field; mend the field's name or value")
    }
    return headers.map(\.curlLine)
  }
}

private func receiveHeader(
  _ bytes: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int, _ context: UnsafeMutableRawPointer?
) -> Int {
  guard let context = unsafe context else { return 0 }
  let transfer = unsafe Unmanaged<CurlTransfer>.fromOpaque(context).takeUnretainedValue()
  return unsafe transfer.receive(headerLine: UnsafeRawBufferPointer(start: bytes, count: size * count))
    ? size * count : 0
}

private func receiveBody(
  _ bytes: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int, _ context: UnsafeMutableRawPointer?
) -> Int {
  guard let context = unsafe context else { return 0 }
  let transfer = unsafe Unmanaged<CurlTransfer>.fromOpaque(context).takeUnretainedValue()
  return unsafe transfer.receive(bodyPart: UnsafeRawBufferPointer(start: bytes, count: size * count))
    ? size * count : 0
}
#endif

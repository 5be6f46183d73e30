import CacheCore
#if os(Linux) || os(macOS)
import CCurl
import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

/// One exchange with a server whose content streams in both directions, each no faster than the other side takes it.
///
/// One task asks for heads and parts, and one may give content.
///
/// Unchecked: what is not under the lock is touched by the loop's thread only, which also runs libcurl's callbacks.
@safe package final class CurlStream: CurlJob, @unchecked Sendable {
  /// The head of an answer, interim or final.
  package struct Head: Sendable {
    package let status: Int
    package let reason: String
    /// Each byte of a value is a character, as in ISO 8859-1.
    package let headers: [HTTPHeader]
    /// The length of the content, if it is announced.
    package let length: Int?
    /// Whether its end can be told from a connection that broke off.
    package let isDelimited: Bool

    /// Whether another head follows.
    package var isInterim: Bool { status < 200 && status != 101 }
  }

  let address: HTTPAddress
  let deadline: ContinuousClock.Instant
  private let request: StreamRequest
  private let loop: CurlLoop
  private let state: Mutex<State>

  private let curl = CurlHandle()
  private var head: HTTPHead
  private var framing: HTTPFraming?
  private var received = 0
  private var trailers: [HTTPHeader] = []
  private var violation: HTTPViolation?

  init(_ request: StreamRequest, address: HTTPAddress, loop: CurlLoop) {
    self.request = request
    self.address = address
    self.loop = loop
    deadline = .now + request.patience
    head = HTTPHead(limits: request.limits, isLatin1: true)
    state = Mutex(State(isSent: request.contentLength == 0))
  }

  // MARK: For callers

  /// The next head: interim ones, and then the final one.
  package func nextHead() async throws -> Head {
    try await wait(.reader) { [self] state in
      if let head = state.heads.popFirst() { return head }
      switch state.end {
      case nil: return nil
      case .failure(let error): throw error
      case .success: throw fault(.terminated, .invalidResponse, "ended the connection without an answer; try again")
      }
    }
  }

  /// The next bytes of content.
  ///
  /// - Returns: Some bytes; `nil` at the end of a content that is whole.
  package func nextPart() async throws -> Data? {
    let part = try await wait(.reader) { state -> (bytes: Data?, isAwaited: Bool)? in
      if !state.content.isEmpty {
        defer { state.content = Data() }
        return (state.content, state.holdsContentBack)
      }
      return try state.end.map { end in
        _ = try end.get()
        return (nil, false)
      }
    }
    if part.isAwaited { loop.look(at: self) }
    return part.bytes
  }

  /// The fields behind the content, once it has ended.
  package var trailingHeaders: [HTTPHeader] {
    state.withLock { state in
      if case .success(let trailers) = state.end { trailers } else { [] }
    }
  }

  /// Sends bytes of the request's content, and waits until they are on their way.
  ///
  /// - Returns: Whether the server takes more.
  package func put(_ part: Data) async throws -> Bool {
    let waits = state.withLock { state in
      state.outgoing = part
      return state.holdsOutgoingBack
    }
    if waits { loop.look(at: self) }
    return try await wait(.writer) { state in
      if state.end != nil { return false }
      return state.outgoing.isEmpty ? true : nil
    }
  }

  /// Ends the request's content.
  package func endContent() {
    let waits = state.withLock { state in
      state.outgoingEnd = true
      return state.holdsOutgoingBack
    }
    if waits { loop.look(at: self) }
  }

  /// Breaks the exchange off.
  package func cancel(_ error: any Error = CancellationError()) {
    fail(error)
    loop.look(at: self)
  }

  private func wait<Answer: Sendable>(_ side: Side, _ take: (inout State) throws -> Answer?) async throws -> Answer {
    try await withTaskCancellationHandler {
      while true {
        let (answer, seen) = try state.withLock { state in (try take(&state), state[side].changes) }
        if let answer { return answer }
        await withCheckedContinuation { continuation in
          let isLate = state.withLock { state in
            guard state[side].changes == seen else { return true }
            state[side].continuation = continuation
            state[side].deadline = .now + request.patience
            return false
          }
          if isLate { continuation.resume() }
        }
      }
    } onCancel: {
      cancel()
    }
  }

  // MARK: For the loop

  var patience: String { "sent nothing for \(request.patience.text)" }

  var isAbandoned: Bool {
    state.withLock { if case .failure = $0.end { true } else { false } }
  }

  var handle: UnsafeMutableRawPointer? { unsafe curl.easy }

  func open(now: ContinuousClock.Instant) throws -> UnsafeMutableRawPointer {
    guard curl.open() else { throw fault(.internal, .unreachable, "could not be asked: out of memory") }
    curl.set(CURLOPT_URL, address.text)
    curl.set(CURLOPT_REQUEST_TARGET, request.target)
    // The request goes to this server, whatever the environment says.
    curl.set(CURLOPT_PROXY, "")
    curl.set(CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_1_1))
    curl.set(CURLOPT_CONNECTTIMEOUT_MS, CurlLoop.milliseconds(request.connectTimeout))
    curl.set(CURLOPT_MAXAGE_CONN, max(1, Int(request.idleTime.components.seconds)))
    if let authorities = request.authorities {
      curl.set(CURLOPT_CAINFO, authorities)
      curl.clear(CURLOPT_CAPATH)
    }
    setMethod()
    curl.set(lines: lines())
    unsafe curl.call(streamHeader, for: CURLOPT_HEADERFUNCTION, CURLOPT_HEADERDATA, with: self)
    unsafe curl.call(streamContent, for: CURLOPT_WRITEFUNCTION, CURLOPT_WRITEDATA, with: self)
    unsafe curl.call(streamOutgoing, for: CURLOPT_READFUNCTION, CURLOPT_READDATA, with: self)
    guard curl.isAccepted, let easy = unsafe curl.easy else {
      throw fault(.internal, .unreachable, "cannot be asked with this libcurl; install version 7.68 or newer")
    }
    return unsafe easy
  }

  func close() { curl.close() }

  func look(now: ContinuousClock.Instant) -> ContinuousClock.Instant? {
    let (goesOn, mask, deadline) = state.withLock { state in
      let wasBack = (state.holdsContentBack, state.holdsOutgoingBack)
      if state.content.isEmpty { state.holdsContentBack = false }
      if !state.outgoing.isEmpty || state.outgoingEnd { state.holdsOutgoingBack = false }
      let mask =
        (state.holdsContentBack ? CURLPAUSE_RECV : 0) | (state.holdsOutgoingBack ? CURLPAUSE_SEND : 0)
      // Until the request is out, the server has nothing to answer to.
      let deadlines = [state.isSent ? state.reader.deadline : nil, state.writer.deadline].compactMap(\.self)
      return (wasBack != (state.holdsContentBack, state.holdsOutgoingBack), mask, deadlines.min())
    }
    // This may call what receives content, which takes the lock.
    if goesOn { unsafe curl_easy_pause(curl.easy, mask) }
    guard let deadline else { return now + request.patience }
    guard deadline <= now else { return deadline }
    let (isSent, hasFinalHead) = state.withLock { ($0.isSent, $0.hasFinalHead) }
    let kind: OriginFault = !isSent ? .writeTimeout : hasFinalHead ? .readTimeout : .answerTimeout
    fail(fault(kind, .timedOut, "\(patience); check the server or allow more time"))
    return nil
  }

  func finish(_ code: CURLcode) {
    let outcome: Result<[HTTPHeader], any Error>
    if let violation {
      outcome = .failure(
        violation.isTooLong
          ? fault(.longHead, .invalidResponse, "sends more or longer fields than are accepted; let it send fewer")
          : fault(.protocol, .invalidResponse, violation.text))
    } else if code == CURLE_OK {
      do throws(HTTPViolation) {
        try framing?.checkBody(bytes: received)
        outcome = .success(trailers)
      } catch {
        outcome = .failure(fault(.terminated, .invalidResponse, error.text))
      }
    } else {
      var error = CurlFailure.error(code, detail: curl.detail, for: self)
      var system = 0
      let isRefused =
        unsafe ccurl_get_long(curl.easy, CURLINFO_OS_ERRNO, &system) == CURLE_OK && system == Int(ECONNREFUSED)
      error.underlying = code == CURLE_COULDNT_CONNECT && isRefused ? .refused : CurlFailure.fault(code) as OriginFault
      outcome = .failure(error)
    }
    for continuation in state.withLock({ $0.end(outcome) }) { continuation.resume() }
  }

  func fail(_ error: any Error) {
    var error = error
    if var failure = error as? CacheError, failure.underlying == nil {
      failure.underlying = failure.code == .timedOut ? OriginFault.connectTimeout : OriginFault.internal
      error = failure
    }
    for continuation in state.withLock({ [error] in $0.end(.failure(error)) }) { continuation.resume() }
  }

  private func fault(_ kind: OriginFault, _ code: CacheError.Code, _ what: String) -> CacheError {
    var error = failure(code, what)
    error.underlying = kind
    return error
  }

  private func setMethod() {
    // A connection that was used before may end while the request is under way, and libcurl then sends it again.
    let mayRepeat = ["GET", "HEAD", "OPTIONS", "TRACE", "PUT", "DELETE"].contains(request.method)
    if !mayRepeat || request.contentLength != 0 { curl.set(CURLOPT_FRESH_CONNECT, 1) }
    if request.method == "HEAD", request.contentLength == 0 { return curl.set(CURLOPT_NOBODY, 1) }
    curl.set(CURLOPT_CUSTOMREQUEST, request.method)
    guard request.contentLength != 0 else { return }
    curl.set(CURLOPT_UPLOAD, 1)
    curl.set(CURLOPT_INFILESIZE_LARGE, offset: request.contentLength ?? -1)
  }

  private func lines() -> [[CChar]] {
    let names = Set(request.headers.map { $0.name.lowercased() })
    // Fields that libcurl would add by itself.
    let withheld = ["Accept", "Expect", "User-Agent", "Content-Type"].filter { !names.contains($0.lowercased()) }
    let lines =
      withheld.map { "\($0):" } + (request.contentLength == nil ? ["Transfer-Encoding: chunked"] : [])
      + request.headers.map(\.curlLine)
    return lines.map { $0.unicodeScalars.map { CChar(truncatingIfNeeded: $0.value) } + [0] }
  }

  // MARK: What libcurl calls

  func receive(headerLine: UnsafeRawBufferPointer) -> Bool {
    do throws(HTTPViolation) {
      let content = unsafe HTTPHead.content(of: headerLine)
      let isTrailer = head.isComplete
      try unsafe head.append(line: headerLine)
      if isTrailer {
        if !content.isEmpty { trailers.append(try head.field(content)) }
        return true
      }
      guard content.isEmpty, head.status != 0 else { return true }
      if head.isComplete {
        let hasBody = request.method != "HEAD" && ![204, 304].contains(head.status)
        framing = try HTTPFraming(head, hasBody: hasBody)
      }
    } catch {
      violation = error
      return false
    }
    let next = Head(
      status: head.status, reason: head.reason, headers: head.headers, length: framing?.announcedBytes,
      isDelimited: framing?.isDelimited ?? true)
    let reader = state.withLock { state in
      state.heads.append(next)
      state.hasFinalHead = head.isComplete
      return state.change(.reader)
    }
    reader?.resume()
    return true
  }

  /// Takes in a part of the content.
  ///
  /// - Returns: How much of it, or `CURL_WRITEFUNC_PAUSE` if what came before has to be taken first.
  func receive(content: UnsafeRawBufferPointer) -> Int {
    let (taken, reader) = state.withLock { state in
      guard state.content.count < request.buffer else {
        state.holdsContentBack = true
        return (Int(CURL_WRITEFUNC_PAUSE), nil as CheckedContinuation<Void, Never>?)
      }
      if let base = content.baseAddress {
        unsafe state.content.append(base.assumingMemoryBound(to: UInt8.self), count: content.count)
      }
      return (content.count, state.change(.reader))
    }
    if taken == content.count { received += taken }
    reader?.resume()
    return taken
  }

  fileprivate func send(into buffer: UnsafeMutableRawBufferPointer) -> Int {
    let (count, waiter) = state.withLock { state in
      let count = min(buffer.count, state.outgoing.count)
      if count > 0 {
        unsafe buffer.copyBytes(from: state.outgoing.prefix(count))
        state.outgoing.removeFirst(count)
        return (count, state.outgoing.isEmpty ? state.change(.writer) : nil)
      }
      if state.outgoingEnd {
        state.isSent = true
        // From now on the server has time to answer.
        if state.reader.deadline != nil { state.reader.deadline = .now + request.patience }
        return (0, nil as CheckedContinuation<Void, Never>?)
      }
      state.holdsOutgoingBack = true
      return (Int(CURL_READFUNC_PAUSE), nil)
    }
    waiter?.resume()
    return count
  }
}

private func streamHeader(
  _ bytes: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int, _ context: UnsafeMutableRawPointer?
) -> Int {
  guard let context = unsafe context else { return 0 }
  let stream = unsafe Unmanaged<CurlStream>.fromOpaque(context).takeUnretainedValue()
  return unsafe stream.receive(headerLine: UnsafeRawBufferPointer(start: bytes, count: size * count)) ? size * count : 0
}

private func streamContent(
  _ bytes: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int, _ context: UnsafeMutableRawPointer?
) -> Int {
  guard let context = unsafe context else { return 0 }
  let stream = unsafe Unmanaged<CurlStream>.fromOpaque(context).takeUnretainedValue()
  return unsafe stream.receive(content: UnsafeRawBufferPointer(start: bytes, count: size * count))
}

private func streamOutgoing(
  _ bytes: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int, _ context: UnsafeMutableRawPointer?
) -> Int {
  guard let context = unsafe context else { return 0 }
  let stream = unsafe Unmanaged<CurlStream>.fromOpaque(context).takeUnretainedValue()
  return unsafe stream.send(into: UnsafeMutableRawBufferPointer(start: bytes, count: size * count))
}
#endif

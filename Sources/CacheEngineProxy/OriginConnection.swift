#if Proxy
import CacheCore
import CacheEngineNetwork
import HTTPTypes
import NIOCore
import NIOHTTP1
import Synchronization

/// One connection to the origin, which carries one exchange at a time.
///
/// Nothing is read from it that nobody asked for: a slow reader holds back the origin, and not our memory.
///
/// Unchecked: what changes is touched on the event loop only.
final class OriginConnection: ChannelInboundHandler, @unchecked Sendable {
  typealias InboundIn = HTTPClientResponsePart

  private var channel: (any Channel)?
  private var parts: CircularBuffer<HTTPClientResponsePart> = []
  private var reader: CheckedContinuation<HTTPClientResponsePart?, any Error>?
  private var alarm: Scheduled<Void>?
  /// How long the origin may send nothing.
  private var patience: Duration?
  private var failure: (any Error)?
  private var isReading = false
  private var hasEnded = true
  /// Content of the request is still to be sent.
  private var isUploading = false
  /// Since when the origin has been to take a part of it.
  private var offered: NIODeadline?
  private let live = Mutex(true)

  private static let terminated = CacheError(
    .invalidResponse, "the origin ended the connection before its answer was whole", underlying: OriginFault.terminated)

  /// Whether another request can be sent over it, as far as is known.
  var isLive: Bool { live.withLock { $0 } }

  func handlerAdded(context: ChannelHandlerContext) { channel = context.channel }

  func channelActive(context: ChannelHandlerContext) {
    // Idle connections are read from, so that their end is noticed.
    read(context.channel)
    context.fireChannelActive()
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let part = unwrapInboundIn(data)
    if hasEnded {
      // Nobody asked for anything.
      return fail(CacheError(.invalidResponse, "the origin sends what it was not asked for"), context.channel)
    }
    if case .end = part { hasEnded = true }
    if let reader {
      self.reader = nil
      alarm?.cancel()
      reader.resume(returning: part)
    } else {
      parts.append(part)
    }
  }

  func channelReadComplete(context: ChannelHandlerContext) {
    isReading = false
    if reader != nil || hasEnded { read(context.channel) }
    context.fireChannelReadComplete()
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    let failure =
      switch error {
      case is IOError, HTTPParserError.invalidEOFState: Self.terminated
      case HTTPParserError.headerOverflow:
        CacheError(
          .invalidResponse, "the origin sends more or longer fields than are accepted; let it send fewer",
          underlying: OriginFault.longHead)
      default: CacheError(.invalidResponse, "the origin does not answer in valid HTTP", underlying: error)
      }
    fail(failure, context.channel)
  }

  func channelInactive(context: ChannelHandlerContext) {
    fail(Self.terminated, context.channel)
    context.fireChannelInactive()
  }

  /// The connection was of no use any more before anything of a request was sent.
  struct NotBegun: Error {
    let why: any Error
  }

  /// Sends parts of a request.
  ///
  /// - Throws: ``NotBegun``; `CacheError`; `CancellationError`.
  func send(_ parts: [HTTPClientRequestPart], beginning: Bool) async throws {
    guard let channel else { throw CacheError(.unreachable, "the connection to the origin is closed") }
    let done = channel.eventLoop.makePromise(of: Void.self)
    channel.eventLoop.execute {
      if let failure = self.failure { return done.fail(beginning ? NotBegun(why: failure) : failure) }
      if beginning { self.hasEnded = false }
      self.offered = .now()
      for part in parts.dropLast() { channel.write(part, promise: nil) }
      if let last = parts.last { channel.writeAndFlush(last, promise: done) } else { done.succeed() }
    }
    done.futureResult.whenComplete { _ in self.offered = nil }
    do {
      try await withTaskCancellationHandler {
        try await done.futureResult.get()
      } onCancel: {
        close()
      }
    } catch {
      throw Task.isCancelled ? CancellationError() : error is CacheError || error is NotBegun ? error : Self.terminated
    }
  }

  /// How far the request's content has come.
  enum Upload {
    case begins
    case ends
    case breaks(any Error)
  }

  /// Notes how far the request's content has come; until it has ended the origin has nothing to answer to.
  func noteUpload(_ upload: Upload) {
    guard let channel else { return }
    channel.eventLoop.execute {
      if case .begins = upload { self.isUploading = true } else { self.isUploading = false }
      // The answer may still come over a connection that the origin has ended.
      if case .breaks(let error) = upload, self.failure == nil, channel.isActive { self.fail(error, channel) }
      if self.reader != nil, !self.isUploading, let patience = self.patience { self.setAlarm(patience, channel) }
    }
  }

  /// The next part of the response.
  ///
  /// - Parameter timeout: How long it is waited for.
  /// - Returns: The part; `nil` if there is no connection.
  /// - Throws: `CacheError`; `CancellationError`.
  func next(within timeout: Duration) async throws -> HTTPClientResponsePart? {
    guard let channel else { return nil }
    do {
      return try await withTaskCancellationHandler {
        try await withCheckedThrowingContinuation { continuation in
          channel.eventLoop.execute {
            if let part = self.parts.popFirst() { return continuation.resume(returning: part) }
            if let failure = self.failure { return continuation.resume(throwing: failure) }
            self.reader = continuation
            self.patience = timeout
            self.setAlarm(timeout, channel)
            self.read(channel)
          }
        }
      } onCancel: {
        // The part may have come all the same, and be the last: nobody else is given a connection that is about to end.
        close()
      }
    } catch {
      throw Task.isCancelled ? CancellationError() : error
    }
  }

  /// Ends the connection, whatever it carries.
  func close() {
    live.withLock { $0 = false }
    channel?.close(promise: nil)
  }

  /// Lets the origin have a time to send something, or to take something while there is something to take.
  private func setAlarm(_ patience: Duration, _ channel: any Channel) {
    alarm?.cancel()
    let time = TimeAmount.nanoseconds(patience.clampedNanoseconds)
    let deadline = isUploading ? offered.map { $0 + time } : nil
    alarm = channel.eventLoop.scheduleTask(deadline: deadline ?? .now() + time) {
      if self.isUploading, self.offered.map({ $0 + time > .now() }) ?? true {
        return self.setAlarm(patience, channel)
      }
      var error = CacheError(.timedOut, "the origin sent nothing for \(patience.text); check it, or allow more time")
      if self.isUploading {
        error = CacheError(
          .timedOut, "the origin took nothing for \(patience.text); check it, or allow more time",
          underlying: OriginFault.writeTimeout)
      }
      self.fail(error, channel)
    }
  }

  private func read(_ channel: any Channel) {
    guard !isReading, failure == nil else { return }
    isReading = true
    channel.read()
  }

  private func fail(_ error: any Error, _ channel: any Channel) {
    live.withLock { $0 = false }
    if failure == nil { failure = error }
    if let reader {
      self.reader = nil
      alarm?.cancel()
      reader.resume(throwing: error)
    }
    channel.close(promise: nil)
  }
}
#endif

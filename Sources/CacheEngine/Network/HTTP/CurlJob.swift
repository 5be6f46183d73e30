import CacheCore
#if os(Linux) || os(macOS)
import CCurl

/// One request on its way through libcurl, as the loop sees it.
///
/// All but the constants and ``isAbandoned`` is for the loop's thread.
protocol CurlJob: AnyObject, Sendable {
  var address: HTTPAddress { get }
  /// Until when it may wait for its turn.
  var deadline: ContinuousClock.Instant { get }
  /// What was waited for in vain, for a person.
  var patience: String { get }
  /// Whether nobody wants its answer any more.
  var isAbandoned: Bool { get }
  /// The easy handle while the transfer is open.
  var handle: UnsafeMutableRawPointer? { get }

  /// Makes the transfer ready to be added to a multi handle.
  func open(now: ContinuousClock.Instant) throws -> UnsafeMutableRawPointer
  /// Does what its callers asked for meanwhile.
  ///
  /// - Returns: When to look again at the latest; `nil` if that is not needed.
  func look(now: ContinuousClock.Instant) -> ContinuousClock.Instant?
  /// Tells its caller that libcurl has ended the transfer.
  func finish(_ code: CURLcode)
  /// Tells its caller that there is no answer.
  func fail(_ error: any Error)
  /// Frees the handles; the easy handle has left its multi handle.
  func close()
}

extension CurlJob {
  /// An error about the address.
  func failure(_ code: CacheError.Code, _ what: String) -> CacheError {
    CacheError(code, "\(address.description) \(what)")
  }
}

extension HTTPHeader {
  /// A line for libcurl, which takes `Name:` as an order to leave its own field out and `Name;` as a field without a value.
  var curlLine: String { value.isEmpty ? "\(name);" : "\(name): \(value)" }
}
#endif

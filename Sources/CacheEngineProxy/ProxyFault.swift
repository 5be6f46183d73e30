#if Proxy
import CacheCore
import CacheEngineNetwork
import NIOCore
import NIOPosix

/// What a client is told when the origin gave no answer: a status, and the cause by the names of RFC 9209.
struct ProxyFault {
  private let cause: OriginFault

  var name: String { cause.rawValue }

  init(_ error: any Error) {
    let failure = error as? CacheError
    cause =
      switch failure?.underlying {
      case let cause as OriginFault: cause
      case let error as NIOConnectionError: Self.cause(of: error)
      default:
        switch failure?.code {
        case .timedOut?: .answerTimeout
        case .unreachable?: .unavailable
        case .invalidResponse?: .protocol
        default: .internal
        }
      }
  }

  /// The statuses that RFC 9209 recommends.
  var status: Int {
    switch cause {
    case .connectTimeout, .readTimeout, .writeTimeout, .answerTimeout: 504
    default: 502
    }
  }

  /// The value of the field of a proxy; details are for the operator, since they name what is behind the proxy.
  func field(of proxy: String) -> String { "\(proxy); error=\(name)" }

  /// What the system says if it is this process that has no room for a connection.
  static func shortage(_ error: any Error) -> SystemFailure? {
    let attempts = (error as? NIOConnectionError)?.connectionErrors.map(\.error) ?? [error]
    return attempts.lazy.compactMap { ($0 as? IOError)?.errnoCode }
      .first { [EMFILE, ENFILE, ENOBUFS, ENOMEM].contains($0) }.map { SystemFailure("connect", $0) }
  }

  private static func cause(of error: NIOConnectionError) -> OriginFault {
    if shortage(error) != nil { return .internal }
    let attempts = error.connectionErrors.map(\.error)
    if attempts.isEmpty { return error.dnsAError == nil && error.dnsAAAAError == nil ? .unavailable : .name }
    if attempts.contains(where: { if case .connectTimeout? = $0 as? ChannelError { true } else { false } }) {
      return .connectTimeout
    }
    return attempts.contains { ($0 as? IOError)?.errnoCode == ECONNREFUSED } ? .refused : .unavailable
  }
}
#endif

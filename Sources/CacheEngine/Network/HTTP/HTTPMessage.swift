import CacheCore
#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A header field of a request or a response.
public struct HTTPHeader: Sendable, Equatable {
  /// The field's name.
  ///
  /// Case does not matter.
  public var name: String
  /// The field's value.
  public var value: String

  /// Creates a header field.
  ///
  /// - Parameters:
  ///   - name: The field's name.
  ///   - value: The field's value.
  public init(_ name: String, _ value: String) {
    self.name = name
    self.value = value
  }

  /// Whether the name is a token of HTTP and the value has no control characters: neither can end the line early.
  var isWellFormed: Bool {
    let separators = Set("\"(),/:;<=>?@[\\]{}".utf8)
    return !name.isEmpty && name.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && !separators.contains($0) }
      && value.utf8.allSatisfy { ($0 >= 0x20 || $0 == 0x09) && $0 != 0x7F }
  }
}

extension [HTTPHeader] {
  /// The values of every field with a name, in the order received.
  func values(of name: String) -> [String] {
    let name = name.lowercased()
    return compactMap { $0.name.lowercased() == name ? $0.value : nil }
  }
}

/// A GET that a transport is asked to carry out.
public struct TransportRequest: Sendable {
  /// The address: http or https.
  public var url: URL
  /// Header fields beside those that the transport itself sends.
  ///
  /// Unless `Accept-Encoding` is among them, the transport asks for `identity`.
  public var headers: [HTTPHeader]
  /// How long everything together may take: waiting for a turn, name look-up, connecting, redirects, head and body.
  public var timeout: Duration
  /// How long connecting may take, including the name look-up.
  public var connectTimeout: Duration
  /// The limits within which an answer is accepted.
  public var limits: HTTPLimits
  /// Whether the answer is wanted as it comes, by one who judges it: no redirect is followed, the body of an error is read, and an
  /// encoding that was not asked for is no error.
  public var isVerbatim = false

  /// Creates a request.
  ///
  /// - Parameters:
  ///   - url: The address: http or https.
  ///   - headers: Header fields beside those that the transport itself sends.
  ///   - timeout: How long everything together may take.
  ///   - connectTimeout: How long connecting may take.
  ///   - limits: The limits within which an answer is accepted.
  public init(
    url: URL, headers: [HTTPHeader] = [], timeout: Duration = .seconds(30), connectTimeout: Duration = .seconds(10),
    limits: HTTPLimits = .default
  ) {
    self.url = url
    self.headers = headers
    self.timeout = timeout
    self.connectTimeout = connectTimeout
    self.limits = limits
  }
}

/// The whole answer to a request.
public struct TransportResponse: Sendable {
  /// The status of the last answer, after redirects.
  public var status: Int
  /// Its header fields in the order received.
  public var headers: [HTTPHeader]
  /// Its body.
  ///
  /// Empty if the status is outside 200–299, unless the request was ``TransportRequest/isVerbatim``: nobody reads the body of an error.
  public var body: Data

  /// Creates a response.
  ///
  /// - Parameters:
  ///   - status: The status.
  ///   - headers: The header fields.
  ///   - body: The body.
  public init(status: Int, headers: [HTTPHeader] = [], body: Data = Data()) {
    self.status = status
    self.headers = headers
    self.body = body
  }

  /// The values of every header field with a name, in the order received.
  ///
  /// - Parameter name: The field's name. Case does not matter.
  /// - Returns: The values; none if there is no such field.
  public func values(of name: String) -> [String] { headers.values(of: name) }
}

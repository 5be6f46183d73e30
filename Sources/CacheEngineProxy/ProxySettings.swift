#if Proxy
import HTTPTypes

/// Where a proxy listens and how much it accepts.
public struct ProxySettings: Sendable {
  /// The address or name on which it listens.
  public var host = "127.0.0.1"
  /// The port; 0 for any free one.
  public var port = 0
  /// What the proxy calls itself in `Via`, `Cache-Status` and `Proxy-Status`; a token that begins with a letter, such as `my-app`.
  public var name = "cache-explorer" { didSet { via = HTTPField(name: .via, value: "1.1 \(name)") } }
  /// The field that says of an answer that it came through here.
  private(set) var via = HTTPField(name: .via, value: "1.1 cache-explorer")
  /// The maximum number of simultaneous connections; further ones wait.
  public var connections = 1024
  /// The maximum size of a request's target and fields together, in bytes; one beyond ASCII counts as two.
  public var headBytes = 32 << 10
  /// The maximum number of fields of a request.
  public var fieldCount = 128
  /// The maximum size of a request's content, in bytes.
  public var bodyBytes = 64 << 20
  /// How long the head of a request may take, from the connection or the end of the response before it.
  public var headTimeout: Duration = .seconds(30)
  /// How long a client may neither send nor receive anything when it has to.
  public var idleTimeout: Duration = .seconds(60)

  /// Creates settings.
  public init() {}
}
#endif

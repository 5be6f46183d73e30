#if Proxy
/// Where a proxy listens and how much it accepts.
public struct ProxySettings: Sendable {
  /// The address or name that it listens at.
  public var host = "127.0.0.1"
  /// The port; 0 for one that is free.
  public var port = 0
  /// The most connections at a time; more of them wait.
  public var connections = 1024
  /// The most bytes of all fields of a request together.
  public var headBytes = 32 << 10
  /// The most fields of a request.
  public var fieldCount = 128
  /// The most bytes of a request's content.
  public var bodyBytes = 64 << 20
  /// How long the head of a request may take, from the connection or the end of the response before it.
  public var headTimeout: Duration = .seconds(30)
  /// How long a client may neither send nor take anything while it has to.
  public var idleTimeout: Duration = .seconds(60)

  /// Creates settings.
  public init() {}
}
#endif

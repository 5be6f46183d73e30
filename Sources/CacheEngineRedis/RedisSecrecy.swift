#if Redis
import CacheEngine
import NIOCore

#if RedisTLS
import NIOSSL
#endif

/// TLS for one connection, and what its errors mean.
struct RedisSecrecy: Sendable {
  #if RedisTLS
  private let context: NIOSSLContext
  private let name: String?

  /// Reads the files.
  ///
  /// - Throws: `CacheError` with code `CacheError.Code.invalidSetting`, which names the file, or the invalid name.
  init?(_ settings: RedisSettings) throws {
    guard let tls = settings.tls else { return nil }
    if let name = tls.serverName,
      !(1...255).contains(name.utf8.count) || name.utf8.contains(0) || RedisSettings.isNumber(name)
    {
      throw CacheError(
        .invalidSetting,
        "the server's certificate cannot be for “\(name)”: give a name of 1 to 255 bytes and no number, or none for the host in the address",
        level: settings.name)
    }
    func read<Content>(_ path: String, _ what: String, _ body: (String) throws -> Content) throws -> Content {
      do { return try body(path) } catch {
        throw CacheError(
          .invalidSetting, "the file \(path) cannot be read as \(what) in PEM form", level: settings.name,
          underlying: error)
      }
    }
    var configuration = TLSConfiguration.makeClientConfiguration()
    // A server that was given up is not waited for: meanwhile, what was still to be sent would be sent.
    configuration.shutdownTimeout = .nanoseconds(0)
    if let path = tls.authorities {
      configuration.trustRoots = .certificates(
        try read(path, "certificates of authorities", NIOSSLCertificate.fromPEMFile))
    }
    guard (tls.certificate == nil) == (tls.privateKey == nil) else {
      throw CacheError(
        .invalidSetting, "a client's certificate and its private key are given together", level: settings.name)
    }
    if let path = tls.certificate {
      configuration.certificateChain = try read(path, "a certificate", NIOSSLCertificate.fromPEMFile)
        .map { .certificate($0) }
    }
    if let path = tls.privateKey {
      configuration.privateKey = .privateKey(
        try read(path, "a private key") { try NIOSSLPrivateKey(file: $0, format: .pem) })
    }
    do { context = try NIOSSLContext(configuration: configuration) } catch {
      throw CacheError(
        .invalidSetting, "the client's certificate and its private key do not fit together", level: settings.name,
        underlying: error)
    }
    name = tls.serverName ?? settings.hostName
  }

  /// Adds what hides all that comes after it.
  func add(to pipeline: ChannelPipeline.SynchronousOperations) throws {
    try pipeline.addHandler(NIOSSLClientHandler(context: context, serverHostname: name))
  }

  /// What went wrong in words, if it was TLS.
  static func explain(_ error: any Error) -> String? {
    if let error = error as? NIOSSLExtraError {
      return error == .failedToValidateHostname
        ? "the server's certificate is not one for this host: give the name that it is for" : "\(error)"
    }
    guard error is NIOSSLError || error is BoringSSLError else { return nil }
    let text = String(describing: error)
    return signs.first { text.contains($0.sign) }?.meaning
  }

  private static let signs = [
    (
      "CERTIFICATE_VERIFY_FAILED",
      "the server's certificate is not signed by an authority that is trusted here, or not valid now: give the file of its authority"
    ),
    ("WRONG_VERSION_NUMBER", "the server does not speak TLS: write redis://"),
    ("CERTIFICATE_REQUIRED", "the server wants a certificate of this client"),
    ("HANDSHAKE_FAILURE", "the server and this client have no way to speak TLS in common, or it wants a certificate"),
    ("ALERT_UNKNOWN_CA", "the server does not trust the authority of this client's certificate"),
    ("BAD_CERTIFICATE", "the server refused this client's certificate"),
    ("EOF during handshake", "the server ended the connection before TLS was begun"),
  ].map { (sign: $0.0, meaning: $0.1) }
  #else
  init?(_ settings: RedisSettings) throws {
    if settings.tls == nil { return nil }
    try RedisSettings.needTLS()
  }

  func add(to pipeline: ChannelPipeline.SynchronousOperations) throws {}

  static func explain(_ error: any Error) -> String? { nil }
  #endif
}

extension RedisSettings {
  /// The name of the host, if it has one and not only a number.
  fileprivate var hostName: String? {
    guard case .host(let host, _) = place, !Self.isNumber(host) else { return nil }
    return host
  }

  /// Whether a host is given by its number.
  fileprivate static func isNumber(_ host: String) -> Bool {
    do { _ = try SocketAddress(ipAddress: host, port: 0) } catch { return false }
    return true
  }
}
#endif

#if Redis
import CacheEngine

/// The address of a Redis or Valkey server, and how to use it.
public struct RedisSettings: Sendable {
  /// Where a server listens.
  public enum Place: Sendable, Equatable, CustomStringConvertible {
    /// A port of a machine.
    case host(String, port: Int)
    /// A socket of this machine; its path has at most 107 bytes.
    case socket(String)

    /// The place, as in a URL.
    public var description: String {
      switch self {
      case .host(let host, let port): "redis://\(host.contains(":") ? "[\(host)]" : host):\(port)"
      case .socket(let path): "redis+unix://\(path)"
      }
    }
  }

  /// Settings of TLS, beside what the system trusts by itself.
  ///
  /// The server's certificate is always verified, including that it is for the host's name. The files are in PEM format and read
  /// again for every connection, so that they may be renewed.
  public struct TLS: Sendable, Equatable {
    /// The file with the authorities that sign servers' certificates; `nil` for those that the system trusts.
    public var authorities: String?
    /// The file with this client's certificate and any intermediate ones; `nil` for none.
    public var certificate: String?
    /// The file with the private key of that.
    public var privateKey: String?
    /// The name that the server's certificate is for, of 1 to 255 bytes and not an IP address; `nil` for the host in the address, a
    /// name or an IP address.
    public var serverName: String?

    /// Describes TLS; without arguments, what the system trusts.
    ///
    /// - Parameters:
    ///   - authorities: The file with the authorities that sign servers' certificates.
    ///   - certificate: The file with this client's certificate.
    ///   - privateKey: The file with the private key of that.
    ///   - serverName: The name that the server's certificate is for.
    public init(
      authorities: String? = nil, certificate: String? = nil, privateKey: String? = nil, serverName: String? = nil
    ) {
      self.authorities = authorities
      self.certificate = certificate
      self.privateKey = privateKey
      self.serverName = serverName
    }
  }

  /// Who connects.
  public struct Credentials: Sendable, Equatable {
    /// The user of the access control list; `nil` for the default one.
    public var user: String?
    /// The user's password.
    public var password: String

    /// Names a user.
    ///
    /// - Parameters:
    ///   - user: The user of the access control list; `nil` for the default one.
    ///   - password: The user's password.
    public init(user: String? = nil, password: String) {
      self.user = user
      self.password = password
    }
  }

  /// How a process hears of changes by others.
  public enum Invalidations: Sendable, Equatable, CaseIterable {
    /// By ``tracking`` or, if the server refuses that or is too old for it, by ``channel``. Every change is also published on
    /// the channel, if that is allowed, since others may listen there. A process that hears by tracking and may not `PUBLISH` writes
    /// all the same, and says so (``RedisStore/tellingError``); those that listen to the channel do not hear of that. So allow it to
    /// all (`+publish`), or to none.
    case automatic
    /// The server itself reports changes (`CLIENT TRACKING`, since Redis 6), whoever makes them, and also what it evicts and that
    /// it was emptied. Nothing is published on the channel, so nobody may rely on it.
    case tracking
    /// Processes report their changes to each other, by publish/subscribe on a channel of the namespace and a second connection.
    /// Changes made without this library, evictions and `FLUSHALL` are not heard of. A change that may not be published fails.
    case channel
  }

  /// Where the server listens.
  public var place: Place
  /// Where other servers of the same cluster listen, which are asked if the first one does not answer.
  ///
  /// These name all others of the cluster.
  public var others: [Place] = []
  /// The settings of TLS; `nil` for no TLS.
  ///
  /// TLS needs the package's trait `RedisTLS`.
  public var tls: TLS?
  /// The name of the store in errors.
  public var name = "redis"
  /// The user of the access control list; `nil` for the default one.
  public var user: String?
  /// The password, if one is needed.
  public var password: String?
  /// Returns user and password for one connection, in place of ``user`` and ``password``; `nil` for those.
  ///
  /// It is asked before every connection is made, so a password may be rotated or be a token that expires. It has as long as connecting
  /// has, ``connectLimit``; if it fails, so does the connection.
  public var credentials: (@Sendable () async throws -> Credentials)?
  /// The number of the database.
  public var database = 0
  /// How changes by others are heard of.
  ///
  /// All processes on a namespace need the same setting.
  public var invalidations = Invalidations.automatic
  /// How long connecting may take.
  public var connectLimit = Duration.seconds(1)
  /// How long a reply may take; after that, the connection is replaced.
  public var commandLimit = Duration.seconds(1)
  /// After how long a silence the server is pinged.
  public var pingInterval = Duration.seconds(1)
  /// The maximum size of a reply, in bytes.
  public var largestReply = 512 << 20
  /// How many commands may wait for their replies.
  public var mostWaiting = 100_000
  /// The pause between attempts to connect: it grows from the lower to the upper bound, with some randomness, until a call is
  /// answered or a connection has lasted as long as the upper bound.
  public var pauses = Duration.milliseconds(20)...Duration.seconds(5)

  /// Creates settings.
  ///
  /// - Parameter place: Where the server listens.
  public init(_ place: Place) { self.place = place }

  /// Reads settings from a URL: `redis://user:password@host:6379/0`, the same with `rediss://` for TLS, or
  /// `redis+unix:///path/to/socket`.
  ///
  /// User, password, port and database may be left out; several servers of a cluster are `redis://one:7000,two:7000`. In
  /// user and password, characters with a meaning in URLs, such as `/` and `%`, must be percent-encoded.
  ///
  /// - Parameter url: The URL.
  /// - Throws: `CacheError` with code `CacheError.Code.invalidSetting`, which names the part that is wrong, but not the password;
  ///   also for `rediss://` in a program that was built without the trait `RedisTLS`.
  public init(url: String) throws {
    func wrong(_ what: String) -> CacheError {
      CacheError(.invalidSetting, "the address of a Redis server \(what); write redis://user:password@host:6379/0")
    }
    if url.hasPrefix("redis+unix://") {
      let path = String(url.dropFirst("redis+unix://".count))
      guard path.hasPrefix("/"), path.utf8.count <= 107 else {
        throw wrong("has no path of 1 to 107 bytes after redis+unix://")
      }
      self.init(.socket(path))
      return
    }
    let isSecret = url.hasPrefix("rediss://")
    guard isSecret || url.hasPrefix("redis://") else {
      throw wrong("does not begin with redis://, rediss:// or redis+unix://")
    }
    if isSecret { try Self.needTLS() }
    let rest = url.dropFirst(isSecret ? "rediss://".count : "redis://".count)
    let parts = rest.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
    let (authority, path) = (parts[0], parts.count > 1 ? parts[1] : "")
    // By bytes: a password may begin with what makes one character with the sign before it.
    let at = authority.utf8.lastIndex(of: UInt8(ascii: "@"))
    let hosts = at.map { Substring(authority.utf8[authority.utf8.index(after: $0)...]) } ?? authority
    let places = try hosts.split(separator: ",", omittingEmptySubsequences: false).map { text in
      var (host, port) = (text, 6_379)
      if let colon = host.lastIndex(of: ":"), host.last != "]" {
        guard let number = Int(host[host.index(after: colon)...]), (1...65_535).contains(number) else {
          throw wrong("has a port that is no number from 1 to 65535")
        }
        port = number
        host = host[..<colon]
      }
      if host.hasPrefix("["), host.hasSuffix("]") { host = host.dropFirst().dropLast() }
      guard !host.isEmpty else { throw wrong("has no host") }
      return Place.host(String(host), port: port)
    }
    self.init(places[0])
    others = Array(places.dropFirst())
    if isSecret { tls = TLS() }
    if let at {
      let credentials = authority.utf8[..<at].split(
        separator: UInt8(ascii: ":"), maxSplits: 1, omittingEmptySubsequences: false)
      let texts = credentials.map { Self.decoded(Substring($0)) }
      guard texts.allSatisfy({ $0 != nil }) else { throw wrong("has a user or password that is not percent-encoded") }
      user = texts[0].flatMap { $0.isEmpty ? nil : $0 }
      password = texts.count > 1 ? texts[1] : nil
    }
    if !path.isEmpty {
      guard let number = Int(path), number >= 0 else { throw wrong("has a database that is no number") }
      database = number
    }
  }

  /// The address as a URL, without user and password.
  public var address: String {
    let place = tls == nil ? place.description : place.description.replacing("redis://", with: "rediss://")
    return database == 0 ? place : "\(place)/\(database)"
  }

  /// - Throws: `CacheError` with code `CacheError.Code.invalidSetting` where TLS is not built in.
  static func needTLS() throws {
    #if !RedisTLS
    throw CacheError(
      .invalidSetting,
      "this program was built without TLS, which rediss:// needs; build it with the package trait RedisTLS")
    #endif
  }

  /// Text without percent-encoding; `nil` if it is wrong.
  private static func decoded(_ text: Substring) -> String? {
    var bytes: [UInt8] = []
    var rest = text.utf8[...]
    while let byte = rest.popFirst() {
      guard byte == UInt8(ascii: "%") else {
        bytes.append(byte)
        continue
      }
      let digits = Substring(rest.prefix(2))
      // A number may begin with a sign.
      guard digits.utf8.count == 2, digits.allSatisfy(\.isHexDigit), let decoded = UInt8(digits, radix: 16) else {
        return nil
      }
      bytes.append(decoded)
      rest = rest.dropFirst(2)
    }
    return String(validating: bytes, as: UTF8.self)
  }
}

extension RedisSettings: CustomReflectable {
  /// What is printed and what `dump` shows: the address and the user, and never the password.
  public var customMirror: Mirror {
    Mirror(self, children: ["address": address, "user": user as Any], displayStyle: .struct)
  }
}

extension RedisSettings.Credentials: CustomReflectable {
  /// What is printed and what `dump` shows: the user, and never the password.
  public var customMirror: Mirror { Mirror(self, children: ["user": user as Any], displayStyle: .struct) }
}
#endif

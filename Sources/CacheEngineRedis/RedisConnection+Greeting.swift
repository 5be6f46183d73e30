#if Redis
import CacheEngine

extension RedisConnection {
  /// Says who is here, and to which database it wants.
  ///
  /// `isKnown`: The server has greeted before, so how it speaks is known.
  ///
  /// - Returns: Whether the server is of before version 6, and speaks the protocol of that.
  func greet(isKnown: Bool) async throws -> Bool {
    func say(_ parts: [String]) async throws -> RESPValue {
      let reply = try await ask([parts.map { Array($0.utf8) }])[0]
      if case .error(let text) = reply { throw RedisRefusal.error(text, settings) }
      return reply
    }
    let credentials = settings.password.map { ["AUTH", settings.user ?? "default", $0] } ?? []
    var isOld = false
    do {
      let hello = try await say(["HELLO", "3"] + credentials)
      guard hello["server"] != nil, hello["version"] != nil else {
        throw CacheError(
          .invalidResponse, "what answers at \(settings.address) is no Redis server", level: settings.name)
      }
      isCluster = hello["mode"]?.string == "cluster"
      guard isCluster || settings.others.isEmpty else {
        throw CacheError(
          .invalidSetting, "several addresses are for a cluster, and the server at \(settings.address) is of none",
          level: settings.name)
      }
    } catch var error as CacheError {
      if !isKnown, !hasHeard, end != nil, error.underlying.flatMap(RedisSecrecy.explain) == nil {
        // It has said nothing: perhaps it speaks the other way.
        let (words, scheme) = settings.tls == nil ? ("speaks", "rediss") : ("does not speak", "redis")
        error.message += "; if it \(words) TLS, write \(scheme)://"
        throw error
      }
      guard error.message.contains("unknown command") || error.message.contains("NOPROTO") else { throw error }
      guard settings.invalidations != .tracking else {
        throw CacheError(
          .refusedByServer,
          "the server at \(settings.address) is too old: tracking needs Redis 6 or newer, or Valkey; take invalidations by channel",
          level: settings.name, underlying: error)
      }
      isOld = true
    }
    if isOld {
      if let password = settings.password {
        _ = try await say(["AUTH"] + (settings.user.map { [$0] } ?? []) + [password])
      }
      do {
        guard try await say(["PING"]) == .text("PONG") else {
          throw CacheError(
            .invalidResponse, "what answers at \(settings.address) is no Redis server", level: settings.name)
        }
      } catch let error as CacheError where error.isLastingRefusal || error.message.contains("NOPROTO") {
        throw CacheError(
          .refusedByServer,
          "what answers at \(settings.address) is too old, or no Redis server: it refused HELLO and PING",
          level: settings.name, underlying: error)
      }
    }
    if settings.database != 0 { _ = try await say(["SELECT", String(settings.database)]) }
    return isOld
  }
}

extension RedisSettings {
  /// The same with the user and the password of this moment.
  ///
  /// - Throws: `CacheError` with code `CacheError.Code.unreachable`.
  func identified() async throws -> RedisSettings {
    guard let credentials else { return self }
    let (clock, deadline) = (SystemClock(), SystemClock().now.advanced(by: connectLimit))
    let found: Credentials?
    do {
      found = try await Race<Credentials>().first {
        try await credentials()
      } limit: {
        try await clock.sleep(until: deadline, tolerance: nil)
      }
    } catch {
      throw CacheError(
        .unreachable, "there are no credentials for \(address)", level: name, underlying: error)
    }
    guard let found else {
      throw CacheError(
        .unreachable, "no credentials for \(address) were returned within \(connectLimit.text)", level: name)
    }
    var settings = self
    (settings.user, settings.password) = (found.user, found.password)
    return settings
  }
}
#endif

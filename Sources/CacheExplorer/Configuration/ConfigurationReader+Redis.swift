#if Explorer
import CacheEngine
import CacheEngineRedis
import CacheEngineShared
import ExplorerCommands
import ExplorerText

/// The level that processes share.
extension ConfigurationReader {
  func redis(_ fields: inout FieldReader) -> RedisSpecification? {
    let address = fields.require(
      "url", "write url: \"redis://localhost:6379\"",
      fields.quantity("url") { (text) throws(QuantityError) in
        do { return (text, try RedisSettings(url: text).address) } catch {
          // Its message names the part that is wrong, and not the password.
          let message = (error as? CacheError)?.message ?? "that is no address of a Redis server"
          throw QuantityError(
            message.split(separator: ";").first.map(String.init) ?? message,
            message.contains("RedisTLS")
              ? "build it with TLS: make run EXPLORER_TRAITS=Explorer,RedisTLS"
              : "write redis://user:password@host:6379/0, or redis+unix:///path/to/socket")
        }
      })
    let authorities = fields.quantity("authorities", path)
    if let (url, _) = address, authorities != nil, !url.hasPrefix("rediss://") {
      fields.report("“authorities” of redis is for TLS", "write url: \"rediss://localhost:6379\"", at: nil)
    }
    let namespace = fields.require(
      "namespace", "write namespace: photos, the same for all that share the entries",
      fields.quantity("namespace") { (text) throws(QuantityError) in
        guard SharedNamespace.isUsable(text) else {
          throw QuantityError("\(text.debugDescription) is no namespace", "give \(SharedNamespace.rule)")
        }
        return text
      })
    let (lifetime, jitter) = fields.lifetime()
    let keepsExpired = fields.quantity("keepExpired", Quantity.duration)
    let timeout = fields.quantity("timeout", Quantity.timeLimit)
    let connect = fields.quantity("connectTimeout", Quantity.timeLimit)
    let isCoherent = fields.quantity("coherence") { (text) throws(QuantityError) in
      guard let flag = Bool(text) else { throw QuantityError("“\(text)” is neither yes nor no", "write true or false") }
      return flag
    }
    let whileDeaf = fields.quantity("whileDeaf", Quantity.duration)
    guard let (url, shown) = address, let namespace else { return nil }
    var redis = RedisSpecification(url: url, address: shown, namespace: namespace)
    redis.authorities = authorities.map(absolute)
    (redis.lifetime, redis.jitter) = (lifetime, jitter)
    if let keepsExpired { redis.keepsExpired = keepsExpired }
    if let timeout { redis.timeout = timeout }
    if let connect { redis.connectTimeout = connect }
    if let isCoherent { redis.isCoherent = isCoherent }
    if let whileDeaf { redis.whileDeaf = whileDeaf }
    return redis
  }
}
#endif

import CacheEngine
import CacheEngineNetwork

/// A transport that shares nothing with other tests.
enum LoneTransport {
  static func make(_ transfersPerOrigin: Int = 64) -> any HTTPTransport {
    #if canImport(Darwin)
    URLSessionTransport(transfersPerOrigin: transfersPerOrigin)
    #else
    CurlTransport(transfersPerOrigin: transfersPerOrigin)
    #endif
  }
}

import CacheEngine

/// A transport that shares nothing with other tests.
enum LoneTransport {
  static func make(_ simultaneousTransfers: Int = 8) -> any HTTPTransport {
    #if canImport(Darwin)
      URLSessionTransport(simultaneousTransfers: simultaneousTransfers)
    #else
      CurlTransport(simultaneousTransfers: simultaneousTransfers)
    #endif
  }
}

package import CacheCore

/// Which statuses are values, and what to tell a person about the others.
package enum NetworkStatus {
  /// The error that a status means, or `nil` if the body is a value.
  ///
  /// - Parameters:
  ///   - status: The status.
  ///   - address: What was asked for, without credentials or query.
  /// - Returns: The error.
  package static func failure(_ status: Int, at address: String) -> CacheError? {
    switch status {
    case 206, 226:
      // Parts and deltas that nobody asked for.
      return CacheError(
        .invalidResponse,
        "\(address) sent only a part (status \(status)) without being asked to; mend the server")
    case 200..<300:
      return nil
    default:
      var error = CacheError(.status, "\(address) answered with status \(status): \(advice(status))")
      error.status = status
      return error
    }
  }

  private static func advice(_ status: Int) -> String {
    switch status {
    case 304: "not modified, though nobody asked; mend the server or a proxy before it"
    case 300..<400: "the value is elsewhere; ask for its address"
    case 401, 403, 407: "access is refused; check the credentials"
    case 404, 410: "there is nothing; check the key and the address of this level"
    case 408, 429, 503: "the server is busy; try again later"
    case 400..<500: "the server does not accept the request; check the address of this level"
    case 500..<600: "the server failed; try again later or look at its log"
    default: "no status that HTTP knows; check that it is an HTTP server"
    }
  }
}

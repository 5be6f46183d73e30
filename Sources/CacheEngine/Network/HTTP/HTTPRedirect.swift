import CacheCore
#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The rules by which redirects are followed.
///
/// At most ``HTTPLimits/redirects`` of them, to http and https only, never from https to http, never to an address
/// with credentials in it. To another origin (scheme, host or port) only header fields that describe what is wanted
/// go along: credentials, cookies and fields of the caller's own stay behind.
struct HTTPRedirect: Sendable {
  private var followed = 0

  /// The request that follows an answer, or `nil` if the answer is the last one.
  ///
  /// - Throws: `CacheError` with code `CacheError.Code.invalidResponse` if the redirect must not be followed.
  mutating func next(after response: TransportResponse, to request: TransportRequest) throws -> TransportRequest? {
    guard [301, 302, 303, 307, 308].contains(response.status) else { return nil }
    let from = try HTTPAddress(request.url)
    let locations = response.values(of: "Location")
    guard locations.count == 1 else {
      throw Self.refused(from, "redirects without saying where, or to several places; mend the server")
    }
    guard followed < request.limits.redirects else {
      throw Self.refused(from, "redirects more than \(request.limits.redirects) times; ask for the final address")
    }
    // Resolved against the address without its credentials, which a relative redirect would inherit.
    guard let base = URL(string: from.text), let target = URL(string: locations[0], relativeTo: base)?.absoluteURL,
      let address = try? HTTPAddress(target), address.authorization == nil
    else {
      throw Self.refused(from, "redirects to something that is not a plain http or https address; mend the server")
    }
    guard from.scheme == "http" || address.scheme == "https" else {
      throw Self.refused(from, "redirects from https to http, which is not safe; ask for the final address")
    }
    followed += 1
    var next = request
    next.url = target
    if address.origin != from.origin {
      next.headers.removeAll { !Self.travels($0) }
    } else if let authorization = from.authorization, next.headers.values(of: "Authorization").isEmpty {
      next.headers.append(HTTPHeader("Authorization", authorization))
    }
    return next
  }

  private static let travellingFields: Set = ["accept", "accept-encoding", "accept-language", "user-agent"]

  private static func travels(_ header: HTTPHeader) -> Bool {
    travellingFields.contains(header.name.lowercased())
  }

  private static func refused(_ address: HTTPAddress, _ what: String) -> CacheError {
    CacheError(.invalidResponse, "\(address.description) \(what)")
  }
}

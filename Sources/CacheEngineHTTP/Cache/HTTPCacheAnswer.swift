#if HTTP
public import HTTPTypes

/// An answer, and how the cache obtained it.
public struct HTTPCacheAnswer: Sendable {
  /// Status and fields, including `Age` and `Cache-Status`.
  public var head: HTTPTypes.HTTPResponse
  /// The content.
  public var body: HTTPBody
  /// How the cache obtained it.
  public var status: CacheStatus
}

/// That the origin gave no answer to a request, with how the cache dealt with it.
package struct ForwardFailure: Error {
  package let status: CacheStatus
  package let error: any Error
}

/// A failure that did not fail a request.
public struct HTTPCacheFailure: Sendable {
  /// A step of the cache that can fail without failing the request.
  public enum Step: String, Sendable {
    /// Reading what is stored.
    case read
    /// Storing a response.
    case write
    /// Removing what is stored, which may still be there.
    case remove
    /// Asking the origin in the background.
    case revalidate
  }

  /// What failed.
  public var step: Step
  /// The URI that it concerned.
  public var uri: String
  /// What went wrong.
  public var error: any Error
}
#endif

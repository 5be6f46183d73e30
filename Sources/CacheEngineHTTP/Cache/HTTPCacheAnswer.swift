#if HTTP
public import HTTPTypes

#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

/// An answer, and how the cache obtained it.
public struct HTTPCacheAnswer: Sendable {
  /// Status and fields, including `Age` and `Cache-Status`.
  public var head: HTTPTypes.HTTPResponse
  /// The content.
  public var body: HTTPBody
  /// How the cache obtained it.
  public var status: CacheStatus
}

/// An answer that was there at once.
package enum ImmediateAnswer: Sendable {
  /// The same as before, with its content, which is all that is stored.
  case again(Data)
  /// With what to know it by, if it has all of the content that is stored.
  case new(HTTPCacheAnswer, AnswerMark?)
}

/// What an answer from memory was made of: for as long as that stays the same, so does the answer to the same request.
package struct AnswerMark: Sendable, Equatable {
  private let reading: ResponseReading
  private let age: Int64
  private let timeToLive: Int?
  private let size: Int
  private let hasTrailers: Bool

  init(_ response: StoredResponse, timeToLive: Int?, at now: Duration) {
    reading = response.reading
    age = response.age(at: now)?.components.seconds ?? 0
    self.timeToLive = timeToLive
    size = response.body.count
    hasTrailers = !response.trailers.isEmpty
  }

  package static func == (left: Self, right: Self) -> Bool {
    left.reading.isOfSame(as: right.reading) && left.age == right.age && left.timeToLive == right.timeToLive
      && left.size == right.size && left.hasTrailers == right.hasTrailers
  }
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

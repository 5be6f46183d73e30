#if HTTP
public import HTTPTypes
import Synchronization

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// The content of a message, as bytes that are there or as parts that arrive one by one.
///
/// Content in parts can be read once, by one reader, which asks for the next part when it has room for it. Releasing the body
/// before its end closes the connection that it comes from.
public struct HTTPBody: Sendable, AsyncSequence {
  /// A piece of the content, as it arrives.
  public enum Part: Sendable, Equatable {
    /// Bytes; never none.
    case bytes(Data)
    /// The fields behind the content; the last part.
    case trailers(HTTPFields)
  }

  /// How many bytes there are, if that is known beforehand.
  public let length: Int?

  /// Whether its end can be told from a connection that broke off.
  ///
  /// What cannot is never stored.
  public let isDelimited: Bool

  private let whole: Data?
  private let next: @Sendable () async throws -> Part?

  /// Creates a body of bytes that are there.
  ///
  /// - Parameters:
  ///   - bytes: The content.
  ///   - trailers: The fields behind it.
  public init(_ bytes: Data = Data(), trailers: HTTPFields = [:]) {
    length = bytes.count
    isDelimited = true
    whole = trailers.isEmpty ? bytes : nil
    let parts = [
      bytes.isEmpty ? nil : Part.bytes(bytes), trailers.isEmpty ? nil : Part.trailers(trailers),
    ].compactMap(\.self)
    let given = Given()
    next = { given.next(of: parts) }
  }

  /// Creates a body whose parts come when they are asked for.
  ///
  /// - Parameters:
  ///   - length: How many bytes there will be, if that is known.
  ///   - isDelimited: Whether its end can be told from a connection that broke off.
  ///   - next: Gives the next part; `nil` at the end. It throws if the body breaks off.
  public init(length: Int? = nil, isDelimited: Bool = true, next: @escaping @Sendable () async throws -> Part?) {
    self.length = length
    self.isDelimited = isDelimited
    whole = nil
    self.next = next
  }

  /// Creates a body of some of the bytes of another one, of which nobody else reads.
  ///
  /// - Parameters:
  ///   - range: Which bytes. At least one.
  ///   - whole: The other one, which has them.
  init(_ range: Range<Int>, of whole: HTTPBody) {
    let place = Mutex(0)
    self.init(length: range.count) {
      while place.withLock({ $0 }) < range.upperBound {
        guard case .bytes(let bytes)? = try await whole.next() else { throw CacheFailure.cutShort }
        let start = place.withLock { place in
          defer { place += bytes.count }
          return place
        }
        let wanted = range.clamped(to: start..<start + bytes.count)
        if !wanted.isEmpty { return .bytes(Data(bytes.dropFirst(wanted.lowerBound - start).prefix(wanted.count))) }
      }
      return nil
    }
  }

  /// All of the content, if it is there.
  package var bytes: Data? { whole }

  /// Reads to the end.
  ///
  /// - Parameter limit: The most bytes that are accepted.
  /// - Returns: The content and the fields behind it; `nil` if there are more bytes than that.
  /// - Throws: The error that the body breaks off with.
  public func collect(upTo limit: Int) async throws -> (content: Data, trailers: HTTPFields)? {
    if let whole { return whole.count <= limit ? (whole, [:]) : nil }
    var content = Data()
    var trailers = HTTPFields()
    while let part = try await next() {
      switch part {
      case .bytes(let bytes):
        guard bytes.count <= limit - content.count else { return nil }
        content.append(bytes)
      case .trailers(let fields): trailers = fields
      }
    }
    return (content, trailers)
  }

  /// Reads the parts.
  public func makeAsyncIterator() -> Iterator { Iterator(nextPart: next) }

  /// Reads the parts of a body.
  public struct Iterator: AsyncIteratorProtocol {
    fileprivate let nextPart: @Sendable () async throws -> Part?

    /// The next part, or `nil` at the end.
    ///
    /// - Throws: An error where the body breaks off; `CancellationError` if the task was cancelled.
    public mutating func next() async throws -> Part? { try await nextPart() }
  }

  private final class Given: Sendable {
    private let count = Mutex(0)

    func next(of parts: [Part]) -> Part? {
      count.withLock { count in
        guard count < parts.count else { return nil }
        defer { count += 1 }
        return parts[count]
      }
    }
  }
}
#endif

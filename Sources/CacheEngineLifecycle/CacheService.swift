#if Lifecycle
public import CacheEngine
public import ServiceLifecycle

/// Something that a service closes when the program ends: a disk level, or anything of yours that has a name and can be closed.
///
/// ```swift
/// extension RedisStore: @retroactive ClosableLevel {}
/// ```
public protocol ClosableLevel: Sendable {
  /// What it is called.
  var name: String { get }

  /// Writes what has not been written and releases its files; closing twice is harmless.
  ///
  /// - Throws: An error if something could not be written.
  func close() async throws
}

extension DiskCacheLevel: ClosableLevel {}

/// Closes disk levels when a service group shuts down, so that their indexes are written and the next start is quick.
///
/// ```swift
/// let group = ServiceGroup(
///   services: [CacheService(closing: [photos, thumbnails]), server], gracefulShutdownSignals: [.sigterm], logger: logger)
/// try await group.run()
/// ```
///
/// A group shuts its services down in the opposite order: name this one before those that use the levels, and it comes after
/// them. It runs until the group shuts down gracefully or its task is cancelled, and closes the levels in either case.
public struct CacheService: Service {
  private let levels: [any ClosableLevel]

  /// Creates a service.
  ///
  /// - Parameter levels: What is closed at the end, one after the other.
  public init(closing levels: [any ClosableLevel]) { self.levels = levels }

  /// Waits until the program is to end, and closes the levels; a level that fails does not keep the others open.
  ///
  /// - Throws: The error of the first level that failed; `CancellationError` if the task was cancelled and none failed.
  public func run() async throws {
    let end: Result<Void, any Error>
    do { end = .success(try await gracefulShutdown()) } catch { end = .failure(error) }
    // A task of its own: that this one is cancelled must not keep anything from being written.
    let levels = levels
    let failure = await Task {
      var first: (any Error)?
      for level in levels {
        do { try await level.close() } catch { first = first ?? error }
      }
      return first
    }.value
    if let failure { throw failure }
    try end.get()
  }
}
#endif

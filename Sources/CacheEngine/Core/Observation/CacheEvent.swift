import Synchronization

/// Something that happened in a cache.
///
/// Events are values. Those that belong to one call carry one ``request`` number, through every level and also
/// through a pool, so that the path of the call can be drawn.
public struct CacheEvent: Sendable {
  /// When it happened.
  public var time: CacheInstant
  /// The call that it belongs to; `nil` for what happens by itself, such as an eviction.
  public var request: RequestID?
  /// The level that it happened at; `nil` for the whole cache.
  public var level: String?
  /// The key, as text; `nil` for events that concern several keys or all.
  public var key: String?
  /// What happened.
  public var kind: Kind
  /// The key whose value needed the room, as text, for an entry that was evicted, if the level knows it.
  public var madeRoomFor: String?

  /// What happened.
  public enum Kind: Sendable {
    /// A call began.
    case requestBegan(Operation)
    /// A call ended.
    case requestEnded(Operation, Outcome, Duration)
    /// A level was asked for a key and has not answered yet.
    case lookupBegan
    /// A level answered with a value.
    case hit(cost: Int?, deadline: CacheInstant?, Duration)
    /// A level answered that it has no value.
    case miss(MissReason, Duration)
    /// A level stored a value.
    case stored(StoreTerms.Purpose, cost: Int?, deadline: CacheInstant?, Duration)
    /// An entry left a level.
    case removed(RemovalCause, cost: Int)
    /// A level carried out a remove or a clear, or a set on a condition that did not hold.
    case done(Operation, Duration)
    /// A level failed.
    case failed(Operation, String, Duration)
    /// The task was cancelled while a level worked.
    case cancelled(Operation, Duration)
    /// A level freed memory: how many entries, and their cost.
    case memoryWarning(dropped: Int, cost: Int, Duration)
    /// A pool began a load.
    case flightBegan
    /// A caller joined a load under way; `callers` wait now.
    case flightJoined(callers: Int)
    /// A caller left a load under way; `callers` still wait.
    case flightLeft(callers: Int)
    /// A load ended: finished, failed, or abandoned by its last caller.
    case flightEnded(callers: Int, Duration)
    /// An operator acted.
    case operated(OperatorEvent)
  }

  /// What was asked for.
  public enum Operation: String, Sendable, CaseIterable {
    /// A read.
    case get
    /// A write.
    case set
    /// A copy upwards of what a lower level held.
    case backFill = "fill"
    /// A removal of one key.
    case remove
    /// A removal of all keys.
    case clear
    /// A memory warning.
    case warn
  }

  /// How a call ended.
  public enum Outcome: Sendable, Equatable {
    /// A value was found at this level.
    case hit(level: String?)
    /// No level has the value; the reason is the last level's.
    case miss(MissReason)
    /// A write, removal or warning was carried out.
    case done
    /// The call failed.
    case failed(String)
    /// The call was cancelled.
    case cancelled
  }

  /// Creates an event.
  ///
  /// - Parameters:
  ///   - time: When it happened.
  ///   - request: The call that it belongs to.
  ///   - level: The level that it happened at.
  ///   - key: The key, as text.
  ///   - kind: What happened.
  ///   - madeRoomFor: The key whose value needed the room, for an entry that was evicted.
  public init(
    time: CacheInstant, request: RequestID? = nil, level: String? = nil, key: String? = nil, kind: Kind,
    madeRoomFor: String? = nil
  ) {
    self.time = time
    self.request = request
    self.level = level
    self.key = key
    self.kind = kind
    self.madeRoomFor = madeRoomFor
  }
}

/// Why an entry left a level.
///
/// *Expiry* is about age, *eviction* about room, and *removal* is explicit: three different things.
public enum RemovalCause: String, Sendable, CaseIterable {
  /// The key was removed on request.
  case removed
  /// The level was cleared on request.
  case cleared
  /// A newer value replaced it.
  case replaced
  /// Its deadline passed.
  case expired
  /// Room was needed.
  case evicted
  /// A memory warning.
  case memoryWarning = "warning"
  /// It could not be read back.
  case damaged
}

/// The number of a call, unique within the process.
public struct RequestID: Hashable, Sendable, Comparable, CustomStringConvertible {
  /// The number; the first call has 1.
  public let number: UInt64

  /// Creates an identifier with a number of your own, for tests.
  ///
  /// - Parameter number: The number.
  public init(_ number: UInt64) { self.number = number }

  /// The call that the current task works for, if it is observed.
  public static var current: RequestID? { RequestContext.current }

  /// Whether a call began before another.
  public static func < (left: RequestID, right: RequestID) -> Bool { left.number < right.number }

  /// The number with a `#` before it.
  public var description: String { "#\(number)" }
}

extension RequestID: Codable {
  /// Reads the number.
  public init(from decoder: any Decoder) throws { self.init(try UInt64(from: decoder)) }

  /// Writes the number.
  public func encode(to encoder: any Encoder) throws { try number.encode(to: encoder) }
}

@usableFromInline
enum RequestContext {
  // Without its macro, which makes nothing that could be inlined.
  @usableFromInline static let number = TaskLocal<RequestID?>(wrappedValue: nil)

  static var current: RequestID? { number.get() }

  private static let count = Atomic<UInt64>(0)

  @usableFromInline static func next() -> RequestID { RequestID(count.add(1, ordering: .relaxed).newValue) }

  /// Gives what a body does a number.
  ///
  /// The body stays where the caller is: what a task local is set for would leave its actor otherwise, and a read from the
  /// main actor would cost two switches of threads.
  @inlinable
  static func numbered<Answer>(
    _ request: RequestID = next(), isolation: isolated (any Actor)? = #isolation,
    _ body: nonisolated(nonsending) () async throws -> Answer
  ) async rethrows -> Answer {
    try await number.withValue(request) {
      _ = isolation
      return try await body()
    }
  }

  /// Gives what a body does at once a number.
  @inlinable
  static func numbered(_ request: RequestID, _ body: () -> Void) { number.withValue(request) { body() } }
}

/// Something that is notified of what happens in a cache.
///
/// ``record(_:)`` is called where the event happens, on whatever thread that is, and holds up the cache until it
/// returns: record the event and return. It is never called under one of the cache's locks, so it may use the cache.
public protocol CacheObserver: Sendable {
  /// Records an event.
  ///
  /// - Parameter event: What happened.
  func record(_ event: CacheEvent)

  /// Says whether this observer listens at the moment; `nil` for one that always does.
  ///
  /// It is read when a level is built, and must not change after that.
  var attention: ObservationSwitch? { get }
}

extension CacheObserver {
  /// This observer always listens.
  public var attention: ObservationSwitch? { nil }
}

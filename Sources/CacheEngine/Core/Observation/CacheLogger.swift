public import Logging
import Synchronization

/// Writes what happens in a cache to the log.
///
/// Messages go to [swift-log](https://github.com/apple/swift-log), or where ``output`` says. Nothing is formatted that
/// nobody reads, and nothing waits for a queue of its own: a program that never runs its main loop logs as well.
///
/// ```swift
/// CacheLogger.output = { message, level in print(level, message) }
/// let level = memory.observed(as: "memory", by: CacheLogger())
/// ```
public struct CacheLogger: CacheObserver {
  private static let outputBox = Mutex<(@Sendable (String, Logger.Level) -> Void)?>(nil)
  private static let standard = Logger(label: "CacheEngine")

  /// Where the messages of all cache loggers go; `nil` for swift-log.
  public static var output: (@Sendable (String, Logger.Level) -> Void)? {
    get { outputBox.withLock { $0 } }
    set { outputBox.withLock { $0 = newValue } }
  }

  /// The observer of operators that are given no other: it logs only warnings and errors.
  ///
  /// In a program that has not set up its logging, a cache writes nothing to standard error while all goes well: swift-log writes
  /// there from `info` on. To log nothing at all, give operators `nil` as their observer or, for all of them, set
  /// `CacheLogger.output = { _, _ in }`; to log more, give them ``init()`` or a logger.
  public static let failures = CacheLogger(standard, atLeast: .warning)

  private let logger: Logger
  private let least: Logger.Level

  /// Creates an observer that logs to the logger "CacheEngine".
  public init() { self.init(Self.standard) }

  /// Creates an observer that logs.
  ///
  /// - Parameter logger: Where the messages go while ``output`` is `nil`. Its log level decides what is formatted.
  public init(_ logger: Logger) { self.init(logger, atLeast: .trace) }

  private init(_ logger: Logger, atLeast least: Logger.Level) {
    self.logger = logger
    self.least = least
  }

  /// Logs an event, if it is worth a line.
  public func record(_ event: CacheEvent) {
    guard let severity = event.severity, severity >= least else { return }
    if let output = Self.output {
      output(event.description, severity)
    } else {
      logger.log(level: severity, "\(event.description)")
    }
  }
}

extension CacheEvent {
  /// How much an event matters in a log; `nil` if it is not worth a line.
  public var severity: Logger.Level? {
    switch kind {
    case .lookupBegan, .requestBegan, .flightEnded: nil
    case .requestEnded(_, .failed, _): .error
    case .requestEnded: .trace
    case .failed: .warning
    case .memoryWarning: .warning
    case .removed(.damaged, _): .warning
    case .removed(.evicted, _), .removed(.expired, _): .info
    case .removed: .debug
    case .flightBegan, .flightJoined, .flightLeft: .debug
    case .hit: .info
    case .miss, .stored, .done, .cancelled: .debug
    case .operated(let event): event.severity
    }
  }
}

extension String {
  /// The text without line breaks and control characters, which are escaped.
  package var onOneLine: String {
    unicodeScalars.reduce(into: "") { text, scalar in
      switch scalar.properties.generalCategory {
      case .control, .lineSeparator, .paragraphSeparator: text += scalar.escaped(asASCII: true)
      default: text.unicodeScalars.append(scalar)
      }
    }
  }
}

extension CacheEvent: CustomStringConvertible {
  /// The event as a line of a log, without its time.
  ///
  /// It stays one line, without control characters, whatever a key or an error holds: these are escaped.
  public var description: String {
    ([level ?? "cache", kind.description] + particulars + (request.map { [$0.description] } ?? [])).joined(
      separator: " "
    ).onOneLine
  }

  /// What a line of a log says behind the word for what happened: the key, how it went, and for which key room was made.
  package var particulars: [String] {
    (key.map { [$0.isEmpty ? "\"\"" : $0] } ?? []) + kind.details + (madeRoomFor.map { ["for \($0)"] } ?? [])
  }
}

extension CacheEvent.Kind: CustomStringConvertible {
  /// The event as one word.
  public var description: String {
    switch self {
    case .requestBegan(let operation): "\(operation.rawValue)"
    case .requestEnded(let operation, _, _): "\(operation.rawValue)"
    case .lookupBegan: "ask"
    case .hit: "hit"
    case .miss: "miss"
    case .stored(.set, _, _, _): "set"
    case .stored(.backFill, _, _, _): "fill"
    case .removed(let cause, _): cause.rawValue
    case .done(let operation, _): operation.rawValue
    case .failed(let operation, _, _): "\(operation.rawValue) failed"
    case .cancelled(let operation, _): "\(operation.rawValue) cancelled"
    case .memoryWarning: "memory warning"
    case .flightBegan: "load"
    case .flightJoined: "join"
    case .flightLeft: "leave"
    case .flightEnded: "loaded"
    case .operated(let event): event.word
    }
  }

  /// What more there is to say: reason, size, outcome, duration.
  public var details: [String] {
    switch self {
    case .requestBegan, .lookupBegan, .flightBegan: []
    case .requestEnded(_, let outcome, let duration): [outcome.description, duration.inMilliseconds]
    case .hit(let cost, _, let duration): (cost.map { ["cost=\($0)"] } ?? []) + [duration.inMilliseconds]
    case .miss(let reason, let duration): ["(\(reason))", duration.inMilliseconds]
    case .stored(_, let cost, _, let duration): (cost.map { ["cost=\($0)"] } ?? []) + [duration.inMilliseconds]
    case .removed(_, let cost): ["cost=\(cost)"]
    case .done(_, let duration), .cancelled(_, let duration): [duration.inMilliseconds]
    case .failed(_, let message, let duration): ["(\(message))", duration.inMilliseconds]
    case .memoryWarning(let dropped, let cost, let duration):
      ["dropped=\(dropped)", "cost=\(cost)", duration.inMilliseconds]
    case .flightJoined(let callers), .flightLeft(let callers): ["callers=\(callers)"]
    case .flightEnded(let callers, let duration): ["callers=\(callers)", duration.inMilliseconds]
    case .operated(let event): event.details
    }
  }
}

extension CacheEvent.Outcome: CustomStringConvertible {
  /// The outcome in a few words.
  public var description: String {
    switch self {
    case .hit(let level): "served by \(level ?? "an unnamed level")"
    case .miss(let reason): "missed (\(reason))"
    case .done: "done"
    case .failed(let message): "failed: \(message)"
    case .cancelled: "cancelled"
    }
  }
}

extension Duration {
  /// Milliseconds with three decimals, as a log shows them.
  var inMilliseconds: String {
    let microseconds = clampedNanoseconds / 1000
    let (whole, fraction) = microseconds.magnitude.quotientAndRemainder(dividingBy: 1000)
    return "\(microseconds < 0 ? "-" : "")\(whole).\(String(fraction + 1000).dropFirst()) ms"
  }
}

/// What went wrong in a cache.
///
/// There is one error type; ``code`` says what kind of failure it was, ``level`` where, and ``message`` what to tell
/// people. Codes are static members, so that a new one breaks no `switch`.
public struct CacheError: Error, Sendable, Equatable, CustomStringConvertible {
  /// A kind of failure.
  public struct Code: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    /// The name of the kind, as shown in logs and in JSON.
    public var rawValue: String

    /// Creates a code.
    ///
    /// - Parameter rawValue: The name of the kind.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// ``CacheLevel/require(_:)`` found no value.
    public static let valueNotInCache = Code(rawValue: "valueNotInCache")
    /// A condition refused the key.
    public static let conditionNotSatisfied = Code(rawValue: "conditionNotSatisfied")
    /// Stored bytes could not be turned into a value.
    public static let invalidCachedData = Code(rawValue: "invalidCachedData")
    /// A value is of another type than the one asked for, and cannot be turned into it.
    public static let typeMismatch = Code(rawValue: "typeMismatch")
    /// A value could not be turned into bytes.
    public static let encodingFailed = Code(rawValue: "encodingFailed")
    /// The cost of a value is above the level's capacity; nothing was evicted for it.
    public static let tooLarge = Code(rawValue: "tooLarge")
    /// The disk could not be read.
    public static let diskReadFailed = Code(rawValue: "diskReadFailed")
    /// The disk could not be written; what was stored before is still there.
    public static let diskWriteFailed = Code(rawValue: "diskWriteFailed")
    /// Another process writes to this directory.
    public static let inUse = Code(rawValue: "inUse")
    /// The level was opened for reading only.
    public static let readOnly = Code(rawValue: "readOnly")
    /// The level was closed.
    public static let closed = Code(rawValue: "closed")
    /// The cache was released before the request reached it.
    public static let deallocated = Code(rawValue: "deallocated")
    /// The directory or its format cannot be used by this version; it was left untouched.
    public static let unusableStore = Code(rawValue: "unusableStore")
    /// The store is encrypted, and its key was not given or is not the right one; nothing was changed.
    public static let wrongKey = Code(rawValue: "wrongKey")
    /// A cipher was given for a store that is not encrypted; nothing was changed.
    public static let notEncrypted = Code(rawValue: "notEncrypted")
    /// A key cannot be used for encryption, or a cipher failed to seal; nothing was written.
    public static let encryptionFailed = Code(rawValue: "encryptionFailed")
    /// A level cannot be created with these settings.
    public static let invalidSetting = Code(rawValue: "invalidSetting")
    /// A settings domain has a name that cannot be a file name.
    public static let invalidDomain = Code(rawValue: "invalidDomain")
    /// The shared caches were configured after one of them had been used.
    public static let tooLate = Code(rawValue: "tooLate")
    /// Some levels of a composition failed to write, while others succeeded: see ``CacheError/failures``.
    public static let partialFailure = Code(rawValue: "partialFailure")
    /// Every level of a composition failed to write: see ``CacheError/failures``.
    public static let writeFailed = Code(rawValue: "writeFailed")
    /// The server answered with a status outside 200–299.
    public static let status = Code(rawValue: "status")
    /// The server's answer was not a complete, valid HTTP response.
    public static let invalidResponse = Code(rawValue: "invalidResponse")
    /// The server could not be reached.
    public static let unreachable = Code(rawValue: "unreachable")
    /// There was no answer within the time limit.
    public static let timedOut = Code(rawValue: "timedOut")
    /// The address cannot be fetched: not http or https, or malformed.
    public static let invalidAddress = Code(rawValue: "invalidAddress")
    /// A circuit breaker is open; the level inside was not asked.
    public static let circuitOpen = Code(rawValue: "circuitOpen")
    /// The level, whose type was hidden, cannot do what was asked for; nothing was changed.
    public static let unsupported = Code(rawValue: "unsupported")
    /// A batch has a different number of values and keys; nothing was written.
    public static let unequalCounts = Code(rawValue: "unequalCounts")
    /// A load asked for the value that it loads, or a key was written by something that its own write waits for.
    public static let circular = Code(rawValue: "circular")
    /// Too much work of a kind is under way; this piece was left out.
    public static let overloaded = Code(rawValue: "overloaded")
    /// A trace of requests cannot be read.
    public static let invalidTrace = Code(rawValue: "invalidTrace")
    /// A simulated origin or an injected fault failed on purpose.
    public static let simulated = Code(rawValue: "simulated")

    /// The name of the kind.
    public var description: String { rawValue }
  }

  /// What kind of failure it was.
  public var code: Code
  /// The name of the level that failed, if known.
  public var level: String?
  /// What happened, in words for people: one sentence without the level's name.
  public var message: String
  /// The error that caused this one.
  public var underlying: (any Error)?
  /// For ``Code/partialFailure`` and ``Code/writeFailed``: each level that failed, from the lowest up, with its error.
  public var failures: [(level: String, error: any Error)]
  /// For ``Code/status``: the HTTP status.
  public var status: Int?

  /// Creates an error.
  ///
  /// - Parameters:
  ///   - code: What kind of failure it was.
  ///   - message: What happened, in words for people.
  ///   - level: The name of the level that failed.
  ///   - underlying: The error that caused this one.
  public init(_ code: Code, _ message: String, level: String? = nil, underlying: (any Error)? = nil) {
    self.code = code
    self.level = level
    self.message = message
    self.underlying = underlying
    self.failures = []
  }

  /// Whether the only failure is that a level, or some levels of a composition, cannot do what was asked for.
  ///
  /// This is the case with the code ``Code/unsupported``, and if all ``failures`` are of that kind.
  public var isUnsupported: Bool {
    guard !failures.isEmpty else { return code == .unsupported }
    return failures.allSatisfy { ($0.error as? CacheError)?.isUnsupported ?? false }
  }

  /// Creates the error that ``CacheLevel/require(_:)`` throws.
  ///
  /// - Parameters:
  ///   - key: The key, as text. Of a long one the message shows the beginning.
  ///   - reason: Why it was missed.
  public init(missing key: String, reason: MissReason) {
    let key = Self.shown(key)
    if reason == .refused {
      self.init(.conditionNotSatisfied, "a condition refused the key \(key)")
    } else {
      self.init(.valueNotInCache, "there is no value for the key \(key) (\(reason))")
    }
  }

  /// A key as a message shows it: the beginning of a long one, which would fill a log.
  package static func shown(_ key: some Any) -> String {
    let text = String(describing: key)
    // Scalars, since a single character may be as long as the key.
    let start = text.unicodeScalars.prefix(200)
    return start.endIndex == text.endIndex ? text : "\(Substring(start))… (\(text.utf8.count) bytes)"
  }

  /// Whether two errors are the same.
  ///
  /// Underlying errors, of which not every kind can be compared, are compared by their descriptions.
  public static func == (left: CacheError, right: CacheError) -> Bool {
    func text(_ error: (any Error)?) -> String? { error.map { String(describing: $0) } }
    return left.code == right.code && left.level == right.level && left.message == right.message
      && left.status == right.status && text(left.underlying) == text(right.underlying)
      && left.failures.elementsEqual(right.failures) { $0.level == $1.level && text($0.error) == text($1.error) }
  }

  /// The level's name, the message, and what each level of a composition said; of many, the first ten.
  public var description: String {
    var text = level.map { "\($0): \(message)" } ?? message
    for (level, error) in failures.prefix(10) {
      // Most errors name their level themselves.
      text += (error as? CacheError)?.level == level ? "; \(error)" : "; \(Self.shown(level)): \(error)"
    }
    if failures.count > 10 { text += "; and \(failures.count - 10) more" }
    return text
  }
}

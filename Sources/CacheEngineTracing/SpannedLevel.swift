#if Tracing
public import CacheEngine
public import Tracing

/// Makes a span for each read that has to wait for the level inside.
///
/// Built by `CacheLevel.spanned(as:tracer:)`.
public struct SpannedLevel<Base: CacheLevel>: LevelDecorator {
  /// The type of the keys.
  public typealias Key = Base.Key
  /// The type of the values.
  public typealias Value = Base.Value

  /// The level whose reads have spans.
  public let base: Base
  /// The name of the spans.
  public let operationName: String

  private let tracer: (any Tracer)?

  init(base: Base, operationName: String, tracer: (any Tracer)?) {
    self.base = base
    self.operationName = operationName
    self.tracer = tracer
  }

  /// Returns the value held for a key; what the level inside can answer at once makes no span.
  public func get(_ key: Base.Key) async throws -> Base.Value? {
    if let value = base.peek(key) { return value }
    return try await spanned { try await base.lookup(key) }.entry?.value
  }

  /// Returns the value if the level inside can answer at once; that makes no span.
  public func peek(_ key: Base.Key) -> Base.Value? { base.peek(key) }

  /// Returns the entry if the level inside can answer at once; that makes no span.
  public func peekEntry(_ key: Base.Key) -> Entry<Base.Value>? { base.peekEntry(key) }

  /// Returns the entry for a key, or why there is none; what the level inside can answer at once makes no span.
  public func lookup(_ key: Base.Key) async throws -> Lookup<Base.Value> {
    if let entry = base.peekEntry(key) { return .hit(entry) }
    // Some levels have a value at hand, and no entry. A look-up that includes expired entries was counted before.
    if base.peek(key) != nil, case .hit(let entry) = try await base.lookupIncludingExpired(key), !entry.isStale {
      return .hit(entry)
    }
    return try await spanned { try await base.lookup(key) }
  }

  /// Returns the entry for a key even if it has expired, or why there is none.
  public func lookupIncludingExpired(_ key: Base.Key) async throws -> Lookup<Base.Value> {
    try await spanned { try await base.lookupIncludingExpired(key) }
  }

  /// As the level inside.
  public var storesAtOnce: Bool { base.storesAtOnce }

  private func spanned(
    _ read: () async throws -> Lookup<Base.Value>
  ) async throws -> Lookup<Base.Value> {
    let tracer = tracer ?? InstrumentationSystem.tracer
    // An answer and no error leaves the span, since that would mark a cancelled read as failed.
    let answer: Result<Lookup<Base.Value>, any Error> = await tracer.withAnySpan(operationName, ofKind: .internal) {
      span in
      do {
        let answer = try await read()
        span.updateAttributes { attributes in
          switch answer {
          case .hit(let entry):
            attributes["cache.level"] = entry.level ?? base.name
            attributes["cache.outcome"] = entry.isStale ? "stale" : "hit"
          case .miss(let reason):
            attributes["cache.level"] = base.name
            attributes["cache.outcome"] = "miss"
            attributes["cache.miss_reason"] = reason.rawValue
          }
        }
        return .success(answer)
      } catch let error as CancellationError {
        span.updateAttributes { attributes in
          attributes["cache.level"] = base.name
          attributes["cache.outcome"] = "cancelled"
        }
        return .failure(error)
      } catch {
        span.updateAttributes { attributes in
          attributes["cache.level"] = (error as? CacheError)?.level ?? base.name
          attributes["cache.outcome"] = "failed"
        }
        span.recordError(error)
        span.setStatus(SpanStatus(code: .error))
        return .failure(error)
      }
    }
    return try answer.get()
  }
}

extension SpannedLevel: SelectiveRemoval where Base: SelectiveRemoval {}
extension SpannedLevel: TaggedLevel where Base: TaggedLevel {}
extension SpannedLevel: ConditionalLevel where Base: ConditionalLevel {}

extension SpannedLevel: RenewingLevel where Base: RenewingLevel {
  /// Asks the level inside, with an expired entry to renew.
  public func lookup(_ key: Base.Key, renewing old: Entry<Base.Value>) async throws -> Lookup<Base.Value> {
    try await spanned { try await base.lookup(key, renewing: old) }
  }
}

extension SpannedLevel: ReloadableLevel where Base: ReloadableLevel {
  /// Lets the level inside reload a key.
  public func reload(_ key: Base.Key) async throws -> Lookup<Base.Value> {
    try await spanned { try await base.reload(key) }
  }
}

extension SpannedLevel: InvalidatableLevel where Base: InvalidatableLevel {
  /// Forgets the copies in the level inside.
  public func invalidate(_ key: Base.Key) async throws { try await base.invalidate(key) }

  /// Forgets all copies in the level inside.
  public func invalidateAll(_ cause: InvalidationCause) async throws { try await base.invalidateAll(cause) }
}

extension CacheLevel {
  /// Makes a span for each read that has to wait for this level.
  ///
  /// ```swift
  /// let photos = memory.compose(disk.spanned(as: "photos on disk")).compose(network.spanned(as: "fetch photo"))
  /// ```
  ///
  /// What this level can answer at once, as memory does, makes no span. So a whole composition can be spanned as well as a level
  /// in it. But if its memory has an observer that always listens, a composition answers nothing at once; then span the levels
  /// below the memory.
  ///
  /// The span's parent is the task's. Its attributes are `cache.level` (who answered), `cache.outcome` (`hit`, `stale`,
  /// `miss`, `failed`, `cancelled`) and `cache.miss_reason`, never the key. A failure is recorded with its error, whose text may
  /// say more, and sets the span's status; a cancelled read is not a failure. Inside a pool, the span belongs to the caller
  /// that began the load.
  ///
  /// - Parameters:
  ///   - operationName: The name of the spans.
  ///   - tracer: Makes the spans; `nil` for the program's own at the moment of each read.
  /// - Returns: The level with spans.
  public func spanned(as operationName: String, tracer: (any Tracer)? = nil) -> SpannedLevel<Self> {
    SpannedLevel(base: self, operationName: operationName, tracer: tracer)
  }
}

extension SpannedLevel: EndingLevel {}
#endif

/// A level that has an answer where the one inside has none.
///
/// Built by ``CacheLevel/fallback(name:observer:clock:_:)``.
///
/// | the level inside | a read gives |
/// |---|---|
/// | hit | the value |
/// | miss | the fallback value; a miss if there is none |
/// | failed | the fallback value; the error if there is none |
/// | cancelled | `CancellationError` |
///
/// A fallback value is not stored anywhere inside, nor copied to a level above (``Entry/isPlaceholder``), and it is not put
/// forward by ``CacheLevel/peek(_:)``.
public struct FallbackLevel<Base: CacheLevel>: ReadDecorator {
  /// The type of the keys.
  public typealias Key = Base.Key
  /// The type of the values.
  public typealias Value = Base.Value

  /// The level inside.
  public let base: Base

  let recorder: OperatorRecorder
  let loads = LoadScope()
  private let fallback: @Sendable (Key, (any Error)?) async throws -> Value?

  init(
    base: Base, recorder: OperatorRecorder, fallback: @escaping @Sendable (Key, (any Error)?) async throws -> Value?
  ) {
    self.base = base
    self.recorder = recorder
    self.fallback = fallback
  }

  /// Asks the level inside, then the fallback.
  ///
  /// - Parameters:
  ///   - key: The key that is read.
  ///   - ask: Asks the level inside.
  /// - Returns: The entry, or the reason for the miss.
  /// - Throws: The error of the level inside if there is no fallback value; the fallback's own error.
  public func read(
    _ key: Key, by ask: @escaping @Sendable () async throws -> Lookup<Value>
  ) async throws -> Lookup<Value> {
    let answer: Lookup<Value>
    do {
      answer = try await ask()
    } catch let error as CancellationError {
      throw error
    } catch {
      guard let value = try await fallback(key, error) else { throw error }
      recorder.record(.fellBack(error: String(describing: error)), key: key)
      return .hit(placeholder(value))
    }
    guard case .miss = answer, let value = try await fallback(key, nil) else { return answer }
    recorder.record(.fellBack(error: nil), key: key)
    return .hit(placeholder(value))
  }

  private func placeholder(_ value: Value) -> Entry<Value> {
    var entry = Entry(value, level: recorder.name)
    entry.isPlaceholder = true
    return entry
  }

  /// Returns the value of the level inside, if that can answer at once.
  @inlinable
  public func peek(_ key: Key) -> Value? { base.peek(key) }

  /// Returns the entry of the level inside, if that can answer at once.
  @inlinable
  public func peekEntry(_ key: Key) -> Entry<Value>? { base.peekEntry(key) }
}

extension FallbackLevel: SelectiveRemoval where Base: SelectiveRemoval {}
extension FallbackLevel: TaggedLevel where Base: TaggedLevel {}
extension FallbackLevel: ConditionalLevel where Base: ConditionalLevel {}
extension FallbackLevel: InvalidatableLevel where Base: InvalidatableLevel {}
extension FallbackLevel: RenewingLevel where Base: RenewingLevel {}
extension FallbackLevel: ReloadableLevel where Base: ReloadableLevel {}

extension CacheLevel {
  /// Answers when this level has no answer.
  ///
  /// ```swift
  /// let avatars = cache.fallback { _, error in error == nil ? nil : placeholder }   // for failures only
  /// ```
  ///
  /// - Parameters:
  ///   - name: The name of the fallback in events, and as the level that answered.
  ///   - observer: Notified when the fallback answers.
  ///   - clock: The clock by which events are timed.
  ///   - value: Returns the value for a key that missed (no error) or failed; `nil` to keep the miss or the error.
  /// - Returns: The level with the fallback.
  public func fallback(
    name: String = "fallback", observer: (any CacheObserver)? = nil, clock: any CacheClock = SystemClock(),
    _ value: @escaping @Sendable (Key, (any Error)?) async throws -> Value?
  ) -> FallbackLevel<Self> {
    FallbackLevel(
      base: self, recorder: OperatorRecorder(name: name, observer: observer, clock: clock), fallback: value)
  }
}

extension FallbackLevel: ShapedLevel {
  package var shape: LevelShape { .around(.init("fallback", name: recorder.name), base) }
}

extension FallbackLevel: EndingLevel {}

extension FallbackLevel: LoadingLevel { package var ownLoadScope: ObjectIdentifier? { ObjectIdentifier(loads) } }

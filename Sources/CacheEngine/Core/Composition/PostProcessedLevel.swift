/// A level whose values are processed each time they are read.
///
/// Built by `postProcess` and `conditionedPostProcess`. Values are stored unprocessed. A load or a source is never shown a processed
/// value: if it answered that such a value is still valid, that would be stored, and processed again. For the same reason a
/// processed value has no validator.
///
/// | the level inside | the processor | a read gives |
/// |---|---|---|
/// | hit | succeeds | the processed value |
/// | hit | fails, or refuses the key | the processor's error |
/// | miss, failed or cancelled | not asked | the same |
public struct PostProcessedLevel<Base: CacheLevel>: ReadDecorator {
  /// The type of the keys.
  public typealias Key = Base.Key
  /// The type of the values.
  public typealias Value = Base.Value

  /// The level inside.
  public let base: Base

  @usableFromInline let process: @Sendable (Key, Value) async throws -> Value
  let loads = LoadScope()

  init(base: Base, process: @escaping @Sendable (Key, Value) async throws -> Value) {
    self.base = base
    self.process = process
  }

  /// Processes what the level inside has.
  ///
  /// - Parameters:
  ///   - key: The key that is read.
  ///   - ask: Asks the level inside.
  /// - Returns: The entry with its value processed, or the reason for the miss.
  /// - Throws: The processor's error, or that of the level inside.
  @inlinable
  public func read(
    _ key: Key, by ask: @escaping @Sendable () async throws -> Lookup<Value>
  ) async throws -> Lookup<Value> {
    let answer = try await ask()
    guard case .hit(var entry) = answer else { return answer }
    entry.value = try await process(key, entry.value)
    entry.isProcessed = true
    // A copy of it further up is not marked.
    entry.validator = nil
    return .hit(entry)
  }
}

extension PostProcessedLevel: SelectiveRemoval where Base: SelectiveRemoval {}
extension PostProcessedLevel: TaggedLevel where Base: TaggedLevel {}
extension PostProcessedLevel: ConditionalLevel where Base: ConditionalLevel {}
extension PostProcessedLevel: InvalidatableLevel where Base: InvalidatableLevel {}

extension CacheLevel {
  /// Processes every value that is read from this level.
  ///
  /// - Parameter process: Gives the value to deliver in place of the one found.
  /// - Returns: The processed level.
  public func postProcess(_ process: @escaping @Sendable (Value) async throws -> Value) -> PostProcessedLevel<Self> {
    PostProcessedLevel(base: self) { _, value in try await process(value) }
  }

  /// Processes every value that is read from this level.
  ///
  /// - Parameter transformer: Gives the value to deliver in place of the one found.
  /// - Returns: The processed level.
  public func postProcess<Transformer: OneWayTransformer>(
    _ transformer: Transformer
  ) -> PostProcessedLevel<Self> where Transformer.Input == Value, Transformer.Output == Value {
    PostProcessedLevel(base: self) { _, value in try await transformer.transform(value) }
  }

  /// Processes every value that is read from this level, knowing its key.
  ///
  /// - Parameter process: Gives the value to deliver in place of the one found, or refuses the key by throwing.
  /// - Returns: The processed level.
  public func conditionedPostProcess(
    _ process: @escaping @Sendable (Key, Value) async throws -> Value
  ) -> PostProcessedLevel<Self> {
    PostProcessedLevel(base: self, process: process)
  }
}

extension PostProcessedLevel: ShapedLevel {
  package var shape: LevelShape { .around(.init("postProcess"), base) }
}

extension PostProcessedLevel: EndingLevel {}

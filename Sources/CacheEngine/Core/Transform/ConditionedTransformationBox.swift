/// A one-way transformer that knows the key, made of a closure or of a transformer that does not.
///
/// ```swift
/// let box = ConditionedOneWayTransformationBox<String, Data, Data> { key, data in
///   guard key.hasSuffix(".gz") else { throw CacheError(.conditionNotSatisfied, "\(key) is not compressed") }
///   return try await gunzip(data)
/// }
/// ```
public struct ConditionedOneWayTransformationBox<Key: Sendable, Input: Sendable, Output: Sendable>:
  ConditionedOneWayTransformer
{
  private let transformClosure: @Sendable (Key, Input) async throws -> Output

  /// Creates a transformer.
  ///
  /// - Parameter conditionalTransform: Converts the value of a key. To refuse it, throw ``CacheError`` with code
  ///   ``CacheError/Code/conditionNotSatisfied``.
  public init(conditionalTransform: @escaping @Sendable (Key, Input) async throws -> Output) {
    transformClosure = conditionalTransform
  }

  /// Creates a transformer that refuses no key.
  ///
  /// - Parameter transformer: Turns the values, whatever their keys.
  public init<Transformer: OneWayTransformer>(
    _ transformer: Transformer
  ) where Transformer.Input == Input, Transformer.Output == Output {
    transformClosure = { _, value in try await transformer.transform(value) }
  }

  /// Calls the closure.
  ///
  /// - Parameters:
  ///   - key: The key of the value.
  ///   - value: The value to convert.
  /// - Returns: The converted value.
  /// - Throws: Any error that the closure throws.
  public func conditionalTransform(key: Key, value: Input) async throws -> Output {
    try await transformClosure(key, value)
  }
}

/// A two-way transformer that knows the key, made of two closures or of a transformer that does not.
public struct ConditionedTwoWayTransformationBox<Key: Sendable, Input: Sendable, Output: Sendable>:
  ConditionedTwoWayTransformer
{
  private let transformClosure: @Sendable (Key, Input) async throws -> Output
  private let inverseClosure: @Sendable (Key, Output) async throws -> Input

  /// Creates a transformer.
  ///
  /// - Parameters:
  ///   - conditionalTransform: Converts the value of a key. To refuse it, throw ``CacheError`` with code
  ///     ``CacheError/Code/conditionNotSatisfied``.
  ///   - inverseConditionalTransform: Converts the value of a key back, or refuses it likewise.
  public init(
    conditionalTransform: @escaping @Sendable (Key, Input) async throws -> Output,
    inverseConditionalTransform: @escaping @Sendable (Key, Output) async throws -> Input
  ) {
    transformClosure = conditionalTransform
    inverseClosure = inverseConditionalTransform
  }

  /// Creates a transformer that refuses no key.
  ///
  /// - Parameter transformer: Turns the values, whatever their keys.
  public init<Transformer: TwoWayTransformer>(
    _ transformer: Transformer
  ) where Transformer.Input == Input, Transformer.Output == Output {
    transformClosure = { _, value in try await transformer.transform(value) }
    inverseClosure = { _, value in try await transformer.inverseTransform(value) }
  }

  /// Calls the first closure.
  ///
  /// - Parameters:
  ///   - key: The key of the value.
  ///   - value: The value to convert.
  /// - Returns: The converted value.
  /// - Throws: Any error that the closure throws.
  public func conditionalTransform(key: Key, value: Input) async throws -> Output {
    try await transformClosure(key, value)
  }

  /// Calls the second closure.
  ///
  /// - Parameters:
  ///   - key: The key of the value.
  ///   - value: The value to convert back.
  /// - Returns: The value before the conversion.
  /// - Throws: Any error that the closure throws.
  public func inverseConditionalTransform(key: Key, value: Output) async throws -> Input {
    try await inverseClosure(key, value)
  }
}

/// Converts one kind of value into another, with regard to the key that the value belongs to.
public protocol ConditionedOneWayTransformer<Key, Input, Output>: Sendable {
  /// The type of the keys.
  associatedtype Key: Sendable
  /// The type of the values that are converted.
  associatedtype Input: Sendable
  /// The type of the results.
  associatedtype Output: Sendable

  /// Converts the value of a key.
  ///
  /// - Parameters:
  ///   - key: The key of the value.
  ///   - value: The value to convert.
  /// - Returns: The converted value.
  /// - Throws: ``CacheError`` with code ``CacheError/Code/conditionNotSatisfied`` if the key or the value is refused; any
  ///   other error if the value cannot be converted.
  func conditionalTransform(key: Key, value: Input) async throws -> Output
}

/// Converts one kind of value into another, and back, with regard to the key that the value belongs to.
public protocol ConditionedTwoWayTransformer<Key, Input, Output>: ConditionedOneWayTransformer {
  /// Converts the value of a key back.
  ///
  /// - Parameters:
  ///   - key: The key of the value.
  ///   - value: What ``ConditionedOneWayTransformer/conditionalTransform(key:value:)`` gives.
  /// - Returns: The value before the conversion.
  /// - Throws: As ``ConditionedOneWayTransformer/conditionalTransform(key:value:)``.
  func inverseConditionalTransform(key: Key, value: Output) async throws -> Input
}

extension ConditionedOneWayTransformer {
  /// This transformer, then another; both are given the same key.
  ///
  /// - Parameter second: Converts the output of this one.
  /// - Returns: Both as one; a refusal or a failure in either ends it.
  public func compose<Second: ConditionedOneWayTransformer>(
    _ second: Second
  ) -> ConditionedOneWayTransformationBox<Key, Input, Second.Output> where Second.Key == Key, Second.Input == Output {
    ConditionedOneWayTransformationBox { key, value in
      let between = try await self.conditionalTransform(key: key, value: value)
      return try await second.conditionalTransform(key: key, value: between)
    }
  }
}

extension ConditionedTwoWayTransformer {
  /// This transformer, then another; backwards in reverse order.
  ///
  /// Both are given the same key.
  ///
  /// - Parameter second: Converts the output of this one.
  /// - Returns: Both as one; a refusal or a failure in either ends it.
  public func compose<Second: ConditionedTwoWayTransformer>(
    _ second: Second
  ) -> ConditionedTwoWayTransformationBox<Key, Input, Second.Output> where Second.Key == Key, Second.Input == Output {
    ConditionedTwoWayTransformationBox(
      conditionalTransform: { key, value in
        let between = try await self.conditionalTransform(key: key, value: value)
        return try await second.conditionalTransform(key: key, value: between)
      },
      inverseConditionalTransform: { key, value in
        let between = try await second.inverseConditionalTransform(key: key, value: value)
        return try await self.inverseConditionalTransform(key: key, value: between)
      })
  }

  /// The same transformer with its directions exchanged; each keeps its own conditions.
  ///
  /// - Returns: A transformer from the output to the input.
  public func invert() -> ConditionedTwoWayTransformationBox<Key, Output, Input> {
    ConditionedTwoWayTransformationBox(
      conditionalTransform: { try await self.inverseConditionalTransform(key: $0, value: $1) },
      inverseConditionalTransform: { try await self.conditionalTransform(key: $0, value: $1) })
  }
}

extension OneWayTransformer {
  /// Converts only values that meet a condition.
  ///
  /// The result throws ``CacheError`` with code ``CacheError/Code/conditionNotSatisfied`` where the condition says
  /// `false`, and the condition's own error where it throws; in neither case is this transformer asked.
  ///
  /// - Parameter condition: Whether a value may be converted. It is evaluated again each time and may take its time.
  /// - Returns: The conditioned transformer.
  public func conditioned(
    _ condition: @escaping @Sendable (Input) async throws -> Bool
  ) -> OneWayTransformationBox<Input, Output> {
    OneWayTransformationBox { input in
      guard try await condition(input) else { throw CacheError.refused(Input.self) }
      return try await self.transform(input)
    }
  }
}

extension TwoWayTransformer {
  /// Converts only values that meet a condition, and back only those that meet another.
  ///
  /// The rules are those of ``OneWayTransformer/conditioned(_:)``, for each direction.
  ///
  /// - Parameters:
  ///   - condition: Whether a value may be converted.
  ///   - inverse: Whether a value may be converted back.
  /// - Returns: The conditioned transformer.
  public func conditioned(
    _ condition: @escaping @Sendable (Input) async throws -> Bool,
    inverse: @escaping @Sendable (Output) async throws -> Bool
  ) -> TwoWayTransformationBox<Input, Output> {
    TwoWayTransformationBox(
      transform: { input in
        guard try await condition(input) else { throw CacheError.refused(Input.self) }
        return try await self.transform(input)
      },
      inverseTransform: { output in
        guard try await inverse(output) else { throw CacheError.refused(Output.self) }
        return try await self.inverseTransform(output)
      })
  }
}

extension CacheError {
  fileprivate static func refused<Value>(_ type: Value.Type) -> CacheError {
    CacheError(.conditionNotSatisfied, "the condition of a transformer refused a value of type \(type)")
  }
}

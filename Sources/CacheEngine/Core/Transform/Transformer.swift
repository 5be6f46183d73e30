/// Converts one kind of value into another.
public protocol OneWayTransformer<Input, Output>: Sendable {
  /// The type of what is converted.
  associatedtype Input: Sendable
  /// The type of the results.
  associatedtype Output: Sendable

  /// Converts a value.
  ///
  /// - Parameter input: The value to convert.
  /// - Returns: The converted value.
  /// - Throws: An error if the value cannot be converted.
  func transform(_ input: Input) async throws -> Output
}

/// Converts one kind of value into another, and back.
public protocol TwoWayTransformer<Input, Output>: OneWayTransformer {
  /// Converts a value back.
  ///
  /// - Parameter output: What ``OneWayTransformer/transform(_:)`` gives.
  /// - Returns: The value before the conversion.
  /// - Throws: An error if the value cannot be converted back.
  func inverseTransform(_ output: Output) async throws -> Input
}

extension OneWayTransformer {
  /// This transformer, then another.
  ///
  /// - Parameter second: Converts the output of this one.
  /// - Returns: Both as one; a failure in either ends it.
  public func compose<Second: OneWayTransformer>(
    _ second: Second
  ) -> OneWayTransformationBox<Input, Second.Output> where Second.Input == Output {
    OneWayTransformationBox { try await second.transform(try await self.transform($0)) }
  }
}

extension TwoWayTransformer {
  /// This transformer, then another; backwards in reverse order.
  ///
  /// - Parameter second: Converts the output of this one.
  /// - Returns: Both as one; a failure in either ends it.
  public func compose<Second: TwoWayTransformer>(
    _ second: Second
  ) -> TwoWayTransformationBox<Input, Second.Output> where Second.Input == Output {
    TwoWayTransformationBox(
      transform: { try await second.transform(try await self.transform($0)) },
      inverseTransform: { try await self.inverseTransform(try await second.inverseTransform($0)) })
  }

  /// The same transformer with its directions exchanged.
  ///
  /// - Returns: A transformer from the output to the input.
  public func invert() -> TwoWayTransformationBox<Output, Input> {
    TwoWayTransformationBox(
      transform: { try await self.inverseTransform($0) }, inverseTransform: { try await self.transform($0) })
  }
}

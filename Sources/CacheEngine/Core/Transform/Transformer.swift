/// Turns one kind of value into another.
public protocol OneWayTransformer<Input, Output>: Sendable {
  /// What is turned.
  associatedtype Input: Sendable
  /// What it becomes.
  associatedtype Output: Sendable

  /// Turns a value.
  ///
  /// - Parameter input: What is turned.
  /// - Returns: What it becomes.
  /// - Throws: An error if the value cannot be turned.
  func transform(_ input: Input) async throws -> Output
}

/// Turns one kind of value into another, and back.
public protocol TwoWayTransformer<Input, Output>: OneWayTransformer {
  /// Turns a value back.
  ///
  /// - Parameter output: What ``OneWayTransformer/transform(_:)`` gives.
  /// - Returns: What it was made from.
  /// - Throws: An error if the value cannot be turned back.
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

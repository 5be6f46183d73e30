/// A one-way transformer made of a closure.
public struct OneWayTransformationBox<Input: Sendable, Output: Sendable>: OneWayTransformer {
  @usableFromInline let transformClosure: @Sendable (Input) async throws -> Output

  /// Creates a transformer.
  ///
  /// - Parameter transform: Converts a value.
  public init(transform: @escaping @Sendable (Input) async throws -> Output) { transformClosure = transform }

  /// Calls the closure.
  ///
  /// - Parameter input: The value to convert.
  /// - Returns: The converted value.
  /// - Throws: Any error that the closure throws.
  @inlinable
  public func transform(_ input: Input) async throws -> Output { try await transformClosure(input) }
}

/// A two-way transformer made of two closures.
public struct TwoWayTransformationBox<Input: Sendable, Output: Sendable>: TwoWayTransformer {
  @usableFromInline let transformClosure: @Sendable (Input) async throws -> Output
  @usableFromInline let inverseClosure: @Sendable (Output) async throws -> Input

  /// Creates a transformer.
  ///
  /// - Parameters:
  ///   - transform: Converts a value.
  ///   - inverseTransform: Converts a value back.
  public init(
    transform: @escaping @Sendable (Input) async throws -> Output,
    inverseTransform: @escaping @Sendable (Output) async throws -> Input
  ) {
    transformClosure = transform
    inverseClosure = inverseTransform
  }

  /// Calls the first closure.
  ///
  /// - Parameter input: The value to convert.
  /// - Returns: The converted value.
  /// - Throws: Any error that the closure throws.
  @inlinable
  public func transform(_ input: Input) async throws -> Output { try await transformClosure(input) }

  /// Calls the second closure.
  ///
  /// - Parameter output: The value to convert back.
  /// - Returns: The value before the conversion.
  /// - Throws: Any error that the closure throws.
  @inlinable
  public func inverseTransform(_ output: Output) async throws -> Input { try await inverseClosure(output) }
}

/// A one-way transformer made of a closure.
public struct OneWayTransformationBox<Input: Sendable, Output: Sendable>: OneWayTransformer {
  @usableFromInline let transformClosure: @Sendable (Input) async throws -> Output

  /// Creates a transformer.
  ///
  /// - Parameter transform: Turns a value.
  public init(transform: @escaping @Sendable (Input) async throws -> Output) { transformClosure = transform }

  /// Calls the closure.
  ///
  /// - Parameter input: What is turned.
  /// - Returns: What it becomes.
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
  ///   - transform: Turns a value.
  ///   - inverseTransform: Turns a value back.
  public init(
    transform: @escaping @Sendable (Input) async throws -> Output,
    inverseTransform: @escaping @Sendable (Output) async throws -> Input
  ) {
    transformClosure = transform
    inverseClosure = inverseTransform
  }

  /// Calls the first closure.
  ///
  /// - Parameter input: What is turned.
  /// - Returns: What it becomes.
  /// - Throws: Any error that the closure throws.
  @inlinable
  public func transform(_ input: Input) async throws -> Output { try await transformClosure(input) }

  /// Calls the second closure.
  ///
  /// - Parameter output: What is turned back.
  /// - Returns: What it was made from.
  /// - Throws: Any error that the closure throws.
  @inlinable
  public func inverseTransform(_ output: Output) async throws -> Input { try await inverseClosure(output) }
}

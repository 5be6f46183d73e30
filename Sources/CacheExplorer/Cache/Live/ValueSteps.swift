import CacheEngine
import CacheEngineTransformers

#if canImport(FoundationEssentials)
import ExplorerConfiguration
package import FoundationEssentials
#else
package import Foundation
#endif

/// What `transformValues` does to the bytes of a value: the steps in order when it is written, back when it is read.
struct ValueSteps: TwoWayTransformer {
  let steps: [ValueStep]

  /// From what is stored to what is read.
  func transform(_ stored: Data) async throws -> Data {
    var value = stored
    for step in steps.reversed() { value = try await step.undone(on: value) }
    return value
  }

  /// From what is written to what is stored.
  func inverseTransform(_ written: Data) async throws -> Data {
    var value = written
    for step in steps { value = try await step.done(to: value) }
    return value
  }
}

/// The same for the values of some keys; the others stay as they are.
struct SomeValueSteps: ConditionedTwoWayTransformer {
  let steps: ValueSteps
  let condition: KeyCondition

  func conditionalTransform(key: String, value: Data) async throws -> Data {
    condition.holds(key) ? try await steps.transform(value) : value
  }

  func inverseConditionalTransform(key: String, value: Data) async throws -> Data {
    condition.holds(key) ? try await steps.inverseTransform(value) : value
  }
}

extension ValueStep {
  package func done(to value: Data) async throws -> Data {
    switch self {
    case .gzip: try await CompressionTransformer(.gzip).inverseTransform(value)
    case .zlib: try await CompressionTransformer(.zlib).inverseTransform(value)
    case .base64: Data(await Base64Transformer().inverseTransform(value).utf8)
    case .json: try await Self.canonical(value)
    case .uppercase: Self.text(value) { $0.uppercased() }
    case .lowercase: Self.text(value) { $0.lowercased() }
    case .prefix(let text): Data(text.utf8) + value
    case .suffix(let text): value + Data(text.utf8)
    }
  }

  /// Only steps that can be turned back come here.
  func undone(on value: Data) async throws -> Data {
    switch self {
    case .gzip: try await CompressionTransformer(.gzip).transform(value)
    case .zlib: try await CompressionTransformer(.zlib).transform(value)
    case .base64: try await Base64Transformer().transform(String(decoding: value, as: UTF8.self))
    case .json: try await Self.canonical(value)
    case .uppercase, .lowercase, .prefix, .suffix: value
    }
  }

  private static func canonical(_ value: Data) async throws -> Data {
    let json = JSONValueTransformer()
    return try await json.inverseTransform(try await json.transform(value))
  }

  /// Bytes that are no text stay as they are.
  private static func text(_ value: Data, _ change: (String) -> String) -> Data {
    String(validating: value, as: UTF8.self).map { Data(change($0).utf8) } ?? value
  }
}

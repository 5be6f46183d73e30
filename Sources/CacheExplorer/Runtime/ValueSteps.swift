import CacheEngine

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
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

extension ValueStep {
  func done(to value: Data) async throws -> Data {
    switch self {
    case .gzip, .zlib: throw CommandFailure(message: "this version cannot compress values yet")
    case .base64: value.base64EncodedData()
    case .json: value
    case .uppercase: String(validating: value, as: UTF8.self).map { Data($0.uppercased().utf8) } ?? value
    case .lowercase: String(validating: value, as: UTF8.self).map { Data($0.lowercased().utf8) } ?? value
    case .prefix(let text): Data(text.utf8) + value
    case .suffix(let text): value + Data(text.utf8)
    }
  }

  /// Only steps that can be turned back come here.
  func undone(on value: Data) async throws -> Data {
    switch self {
    case .gzip, .zlib: throw CommandFailure(message: "this version cannot compress values yet")
    case .base64:
      guard let decoded = Data(base64Encoded: value) else {
        throw CacheError(.invalidCachedData, "the stored value is not base64")
      }
      return decoded
    case .json, .uppercase, .lowercase, .prefix, .suffix: return value
    }
  }
}

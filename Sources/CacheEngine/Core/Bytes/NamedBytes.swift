#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// Bytes with the name of their type and form, as a store keeps them.
public struct NamedBytes: Sendable, Equatable {
  /// Names the type and form of the bytes; at most 65,535 bytes of UTF-8.
  public var form: String
  /// The bytes.
  public var bytes: Data

  /// Creates named bytes.
  ///
  /// - Parameters:
  ///   - form: Names the type and form of the bytes.
  ///   - bytes: The bytes.
  public init(form: String, bytes: Data) {
    self.form = form
    self.bytes = bytes
  }
}

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// A value that knows what it weighs in a memory level.
public protocol CostRepresentable {
  /// What the value weighs; not negative.
  var cost: Int { get }
}

extension Data: CostRepresentable {
  /// The number of bytes.
  public var cost: Int { count }
}

extension Array: CostRepresentable where Element == UInt8 {
  /// The number of bytes.
  public var cost: Int { count }
}

extension String: CostRepresentable {
  /// The number of characters.
  public var cost: Int { count }
}

extension URL: CostRepresentable {
  /// The number of characters.
  public var cost: Int { absoluteString.count }
}

extension Int: CostRepresentable {
  /// Always 1.
  public var cost: Int { 1 }
}

extension Double: CostRepresentable {
  /// Always 1.
  public var cost: Int { 1 }
}

extension Float: CostRepresentable {
  /// Always 1.
  public var cost: Int { 1 }
}

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A value that knows what it weighs in a memory level: data, bytes, text and addresses weigh their bytes.
///
/// Numbers are not among them: they count as entries, as all values without a cost do.
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
  /// The number of bytes of UTF-8.
  public var cost: Int { utf8.count }
}

extension URL: CostRepresentable {
  /// The number of bytes of UTF-8.
  public var cost: Int { absoluteString.utf8.count }
}

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A value that knows its cost in a memory level: data, bytes, text and URLs cost their bytes.
///
/// Numbers are not among them: they count as entries, like all values without a cost.
public protocol CostRepresentable {
  /// The cost of the value; not negative.
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

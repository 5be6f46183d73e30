import CacheEngine

#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

/// Bytes as a memory level of the explorer keeps them.
///
/// `Data` allocates 112 bytes for more than 14; a million small values would take 107 MiB, which is more than all that the level
/// itself takes for them.
package enum HeldBytes: Sendable {
  case few(FewBytes)
  case many(Data)

  package init(_ data: Data) { self = data.count <= FewBytes.most ? .few(FewBytes(data)) : .many(data) }

  package var data: Data {
    switch self {
    case .few(let bytes): bytes.data
    case .many(let data): data
    }
  }
}

extension HeldBytes: CostRepresentable {
  package var cost: Int {
    switch self {
    case .few(let bytes): bytes.count
    case .many(let data): data.count
    }
  }
}

/// Bytes that lie in place: as many as fit into three words beside their number and the case of ``HeldBytes``.
package struct FewBytes: Sendable {
  static let most = 22

  private var bytes: (UInt64, UInt64, UInt32, UInt16) = (0, 0, 0, 0)
  private let length: UInt8

  init(_ data: Data) {
    length = UInt8(data.count)
    unsafe withUnsafeMutableBytes(of: &bytes) { unsafe $0.copyBytes(from: data) }
  }

  var count: Int { Int(length) }
  var data: Data { unsafe withUnsafeBytes(of: bytes) { unsafe Data($0.prefix(count)) } }
}

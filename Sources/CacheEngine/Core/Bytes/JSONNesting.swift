#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

/// Refuses JSON that is nested so deep that decoding it may overflow the stack.
///
/// Foundation's parser stops at 512, where a type that nests in itself has long used up the half MiB that a thread of an
/// Apple platform has: 180 objects in each other do.
package enum JSONNesting {
  /// The most arrays and objects that may lie in each other.
  package static let maximumDepth = 128

  package struct Refused: Error, CustomStringConvertible {
    package let description = "it is nested more than \(maximumDepth) deep"
  }

  /// - Complexity: O(bytes), about a nanosecond each.
  package static func check(_ data: Data) throws {
    let isRefused = unsafe data.withUnsafeBytes { bytes in
      guard unsafe bytes.prefix(4).contains(where: { $0 == 0 || $0 >= 0xfe }) else {
        return isTooDeep(bytes.count) { unsafe bytes[$0] }
      }
      // The parser also takes UTF-16 and UTF-32, with a mark or without; we need not know which it takes this for.
      return [(2, 0), (2, 1), (4, 0), (4, 3)].contains { width, low in
        isTooDeep(bytes.count / width) { place in
          let unit = place * width
          let isASCII = (unit..<unit + width).allSatisfy { unsafe $0 == unit + low || bytes[$0] == 0 }
          return isASCII ? unsafe bytes[unit + low] : 0xff
        }
      }
    }
    if isRefused { throw Refused() }
  }

  // A unit is the character at a place, or anything beyond ASCII for one that is not in ASCII.
  @inline(__always)
  private static func isTooDeep(_ count: Int, _ unit: (Int) -> UInt8) -> Bool {
    var depth = 0
    var place = 0
    var isText = false
    while place < count {
      switch unit(place) {
      case UInt8(ascii: "\""): isText.toggle()
      case UInt8(ascii: "\\") where isText: place += 1
      case UInt8(ascii: "["), UInt8(ascii: "{"):
        if !isText { depth += 1 }
        if depth > maximumDepth { return true }
      case UInt8(ascii: "]"), UInt8(ascii: "}"):
        if !isText { depth -= 1 }
      default: break
      }
      place += 1
    }
    return false
  }
}

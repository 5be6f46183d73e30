@_spi(_Unicode) internal import Swift

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// The one form in which text is stored as a key: UTF-8 of normalisation form C.
///
/// Swift takes canonically equivalent strings for equal, so they must have equal bytes. The standard library's own
/// normalisation is used because its idea of equality is the one that counts.
package enum CanonicalText {
  package static func bytes(of text: String) -> [UInt8] {
    let raw = Array(text.utf8)
    // Below U+0300, whose bytes begin with this one, every character is normalised by itself.
    guard raw.contains(where: { $0 >= 0xcc }) else { return raw }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(raw.count)
    for scalar in text._nfc { bytes.append(contentsOf: scalar.utf8) }
    return bytes
  }
}

extension ByteCoding where Value == String {
  /// UTF-8 of the canonical form: strings that are equal make equal bytes.
  ///
  /// Made for keys.
  public static var canonicalText: ByteCoding {
    var coding = ByteCoding(
      name: "text", encode: { Data(CanonicalText.bytes(of: $0)) }, decode: ByteCoding<String>.utf8.decode)
    coding.bytes = { CanonicalText.bytes(of: $0) }
    return coding
  }
}

extension ByteCoding where Value == URL {
  /// The absolute URL as text; made for keys.
  ///
  /// ```swift
  /// let images = try DiskCacheLevel<URL, Data>(directory: directory, keyCoding: .url, valueCoding: .data)
  /// ```
  public static var url: ByteCoding {
    ByteCoding(
      name: "address", encode: { try ByteCoding<String>.canonicalText.encode($0.absoluteString) },
      decode: { bytes in
        guard let url = URL(string: try ByteCoding<String>.utf8.decode(bytes)) else {
          throw CacheError(.invalidCachedData, "the stored key is not an address")
        }
        return url
      })
  }
}

import CacheDisk
import CacheMemory
import CacheCore
#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

extension ByteCoding where Value: Codable {
  /// How a ``Cashier`` writes values of a type unless told otherwise: bytes as they are, text as UTF-8, all else as JSON.
  static var cashier: ByteCoding {
    if let data = ByteCoding<Data>.data as? ByteCoding { return data }
    if let text = ByteCoding<String>.utf8 as? ByteCoding { return text }
    return .jsonWithAllNumbers
  }

  /// JSON that knows the numbers that are none.
  private static var jsonWithAllNumbers: ByteCoding {
    let json = ByteCoding.json
    let (infinity, minusInfinity, nan) = ("inf", "-inf", "nan")
    return ByteCoding(
      name: json.name,
      encode: { value in
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys]
        encoder.nonConformingFloatEncodingStrategy = .convertToString(
          positiveInfinity: infinity, negativeInfinity: minusInfinity, nan: nan)
        do {
          let bytes = try encoder.encode(value)
          try JSONNesting.check(bytes)
          return bytes
        } catch {
          throw CacheError(.encodingFailed, "\(Value.self) cannot be written as JSON", underlying: error)
        }
      },
      decode: { bytes in
        let decoder = JSONDecoder()
        decoder.nonConformingFloatDecodingStrategy = .convertFromString(
          positiveInfinity: infinity, negativeInfinity: minusInfinity, nan: nan)
        do {
          try JSONNesting.check(bytes)
          return try decoder.decode(Value.self, from: bytes)
        } catch {
          throw CacheError(.invalidCachedData, "the stored bytes are not a \(Value.self) in JSON", underlying: error)
        }
      })
  }
}

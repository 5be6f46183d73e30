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

  /// JSON that has infinities and not-a-number.
  private static var jsonWithAllNumbers: ByteCoding {
    let (infinity, minusInfinity, nan) = ("inf", "-inf", "nan")
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys]
    encoder.nonConformingFloatEncodingStrategy = .convertToString(
      positiveInfinity: infinity, negativeInfinity: minusInfinity, nan: nan)
    let decoder = JSONDecoder()
    decoder.nonConformingFloatDecodingStrategy = .convertFromString(
      positiveInfinity: infinity, negativeInfinity: minusInfinity, nan: nan)
    return json(encoder: encoder, decoder: decoder)
  }
}

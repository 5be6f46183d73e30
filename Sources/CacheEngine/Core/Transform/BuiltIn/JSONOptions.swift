#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// How values are written as JSON.
///
/// One choice sets both directions, so that what is written can be read; but see ``Names/snakeCase``.
public struct JSONOptions: Hashable, Sendable {
  /// How dates are written.
  public enum Dates: Hashable, Sendable {
    /// A number of seconds since 2001, as `Date` keeps it; exact.
    case secondsSince2001
    /// A number of seconds since 1970.
    case secondsSince1970
    /// A number of milliseconds since 1970.
    case millisecondsSince1970
    /// Text such as `2026-11-21T09:30:00Z`; fractions of a second are dropped. Dates outside of the years 1 to 9999 fail.
    case iso8601
  }

  /// How the names of properties are written.
  public enum Names: Hashable, Sendable {
    /// As in Swift.
    case asDeclared
    /// `userName` as `user_name`.
    ///
    /// The text alone does not tell `imageURL` from `imageUrl`: a property with several capitals in a row, or with an
    /// underscore, is written and cannot be read, unless its coding key is called as the text is read.
    case snakeCase
  }

  /// How numbers that JSON cannot express (infinities, NaN) are written.
  public enum NonFiniteNumbers: Hashable, Sendable {
    /// They fail.
    case refused
    /// The texts `inf`, `-inf` and `nan`.
    case text
  }

  /// How dates are written.
  public var dates: Dates
  /// How the names of properties are written.
  public var names: Names
  /// How numbers that JSON cannot express (infinities, NaN) are written.
  public var nonFiniteNumbers: NonFiniteNumbers
  /// Whether the JSON is spread over lines, for people.
  public var isPretty: Bool

  /// Creates options.
  ///
  /// - Parameters:
  ///   - dates: How dates are written.
  ///   - names: How the names of properties are written.
  ///   - nonFiniteNumbers: How numbers that JSON cannot express (infinities, NaN) are written.
  ///   - isPretty: Whether the JSON is spread over lines.
  public init(
    dates: Dates = .secondsSince2001, names: Names = .asDeclared, nonFiniteNumbers: NonFiniteNumbers = .refused,
    isPretty: Bool = false
  ) {
    self.dates = dates
    self.names = names
    self.nonFiniteNumbers = nonFiniteNumbers
    self.isPretty = isPretty
  }

  func encoder() -> JSONEncoder {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    if isPretty { encoder.outputFormatting.insert(.prettyPrinted) }
    if names == .snakeCase { encoder.keyEncodingStrategy = .convertToSnakeCase }
    if nonFiniteNumbers == .text {
      encoder.nonConformingFloatEncodingStrategy = .convertToString(
        positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
    }
    switch dates {
    case .secondsSince2001: encoder.dateEncodingStrategy = .deferredToDate
    case .secondsSince1970: encoder.dateEncodingStrategy = .secondsSince1970
    case .millisecondsSince1970: encoder.dateEncodingStrategy = .millisecondsSince1970
    case .iso8601: encoder.dateEncodingStrategy = .custom(Self.writeISO8601)
    }
    return encoder
  }

  /// Foundation's own way makes another date of one that is infinite, and of one long ago a text that it does not read.
  @Sendable
  private static func writeISO8601(_ date: Date, to encoder: any Encoder) throws {
    let seconds = date.timeIntervalSince1970
    guard (-62_135_769_600..<253_402_300_800).contains(seconds) else {
      // Describing an invalid date would end the program.
      throw EncodingError.invalidValue(
        seconds, .init(codingPath: encoder.codingPath, debugDescription: "ISO 8601 has dates of the years 1 to 9999"))
    }
    var container = encoder.singleValueContainer()
    try container.encode(date.ISO8601Format())
  }

  func decoder() -> JSONDecoder {
    let decoder = JSONDecoder()
    if names == .snakeCase { decoder.keyDecodingStrategy = .convertFromSnakeCase }
    if nonFiniteNumbers == .text {
      decoder.nonConformingFloatDecodingStrategy = .convertFromString(
        positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
    }
    switch dates {
    case .secondsSince2001: decoder.dateDecodingStrategy = .deferredToDate
    case .secondsSince1970: decoder.dateDecodingStrategy = .secondsSince1970
    case .millisecondsSince1970: decoder.dateDecodingStrategy = .millisecondsSince1970
    case .iso8601: decoder.dateDecodingStrategy = .iso8601
    }
    return decoder
  }
}

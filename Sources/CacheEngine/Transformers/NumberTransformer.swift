public import CacheCore

public import Foundation

/// Turns numbers into text with a set number of fraction digits, and the text into numbers.
///
/// ```swift
/// let prices = NumberTransformer(minimumFractionDigits: 3, maximumFractionDigits: 5)
/// try await prices.transform(10.12)  // "10.120"
/// ```
///
/// Digits beyond the maximum are rounded to the nearest, halves to the even digit. Thousands are not grouped.
public struct NumberTransformer: TwoWayTransformer {
  // The longest text of a double with as many fraction digits as may be asked for is well below this.
  private static let longestText = 2_000

  private let style: FloatingPointFormatStyle<Double>
  private let fractionDigits: ClosedRange<Int>
  private let decimalSeparator: String

  /// Creates a transformer.
  ///
  /// - Parameters:
  ///   - minimumFractionDigits: How many fraction digits are written at least.
  ///   - maximumFractionDigits: How many fraction digits are written at most: no less than the minimum, at most 340.
  ///   - locale: Whose digits and signs are written and read. The default is the same on every machine.
  /// - Precondition: `0 ≤ minimumFractionDigits ≤ maximumFractionDigits ≤ 340`.
  public init(
    minimumFractionDigits: Int = 0, maximumFractionDigits: Int = 3, locale: Locale = Locale(identifier: "en_US_POSIX")
  ) {
    precondition(
      minimumFractionDigits >= 0 && minimumFractionDigits <= maximumFractionDigits && maximumFractionDigits <= 340,
      "fraction digits: 0 ≤ minimum ≤ maximum ≤ 340")
    fractionDigits = minimumFractionDigits...maximumFractionDigits
    decimalSeparator = locale.decimalSeparator ?? "."
    style = FloatingPointFormatStyle(locale: locale).grouping(.never)
  }

  /// Writes a number.
  ///
  /// - Parameter input: The number.
  /// - Returns: The text.
  /// - Throws: `CacheError` with code `CacheError.Code.encodingFailed` if the number is not finite.
  public func transform(_ input: Double) async throws -> String {
    guard input.isFinite else { throw CacheError(.encodingFailed, "\(input) has no digits to be written") }
    return style.precision(.fractionLength(fractionDigits)).format(input)
  }

  /// Reads a number.
  ///
  /// - Parameter output: The text, with any number of fraction digits.
  /// - Returns: The number.
  /// - Throws: `CacheError` with code `CacheError.Code.invalidCachedData` if the text is not a number written as here,
  ///   without grouping, exponent or spaces, or has more digits than a `Double` holds.
  public func inverseTransform(_ output: String) async throws -> Double {
    guard output.utf8.count <= Self.longestText, let number = try? style.parseStrategy.parse(output), number.isFinite,
      text(number, withFractionDigitsOf: output) == output
    else { throw CacheError(.invalidCachedData, "the text is not a number") }
    return number
  }

  /// The parser stops at what it does not know and calls the beginning a number; writing the number again tells.
  private func text(_ number: Double, withFractionDigitsOf output: String) -> String {
    let fraction = output.range(of: decimalSeparator).map { output.distance(from: $0.upperBound, to: output.endIndex) }
    return style.precision(.fractionLength(min(fraction ?? 0, 999))).format(number)
  }
}

public import CacheCore

public import Foundation

/// Turns dates into text by a format, and the text into dates.
///
/// ```swift
/// let days = DateTransformer(format: "yyyy-MM-dd")
/// ```
///
/// What the format leaves out is lost: a date that went through `yyyy-MM-dd` comes back as midnight of its day. Reading is
/// Foundation's: it forgives `2026-1-5` and `2026/01/05` for `2026-01-05`, but no day that does not exist and nothing
/// before or after the date.
public struct DateTransformer: TwoWayTransformer {
  // Safe to share: nothing changes it after it is made.
  private let formatter: DateFormatter

  /// Creates a transformer.
  ///
  /// - Parameters:
  ///   - format: The format, in the letters of Unicode Technical Standard 35.
  ///   - timeZone: Whose days and hours are written, and are meant where the text does not tell.
  ///   - locale: Whose names, digits and calendar are written. The default is the same on every machine.
  public init(
    format: String, timeZone: TimeZone = .gmt, locale: Locale = Locale(identifier: "en_US_POSIX")
  ) {
    let formatter = DateFormatter()
    formatter.locale = locale
    formatter.calendar = locale.calendar
    formatter.timeZone = timeZone
    formatter.isLenient = false
    formatter.dateFormat = format
    self.formatter = formatter
  }

  /// Writes a date.
  ///
  /// - Parameter input: The date.
  /// - Returns: The text.
  public func transform(_ input: Date) async -> String { formatter.string(from: input) }

  /// Reads a date.
  ///
  /// - Parameter output: The text, with nothing around it.
  /// - Returns: The date.
  /// - Throws: `CacheError` with code `CacheError.Code.invalidCachedData` if the text is not a date in this format, or
  ///   is one that no calendar has, such as 30 February.
  public func inverseTransform(_ output: String) async throws -> Date {
    // The formatter takes white space around the date where the format has none.
    let isBare = output.first?.isWhitespace == false && output.last?.isWhitespace == false
    guard isBare, let date = formatter.date(from: output) else {
      throw CacheError(
        .invalidCachedData, "the text is not a date in the format \(formatter.dateFormat ?? "")")
    }
    return date
  }
}

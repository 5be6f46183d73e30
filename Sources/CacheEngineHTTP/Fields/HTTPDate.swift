#if HTTP
/// A moment as header fields tell it: whole seconds since 1970-01-01 00:00 UTC.
///
/// After RFC 9110, section 5.6.7, in all three forms, without regard to case, as RFC 9111, section 4.2, asks of caches. Everything else
/// is no date: other zones, missing digits, days that a month does not have.
package struct HTTPDate: Hashable, Comparable, Sendable, CustomStringConvertible {
  package var seconds: Int

  package init(seconds: Int) { self.seconds = seconds }

  /// The second in which a moment lies.
  package init(_ time: Duration) { seconds = Int(time.components.seconds) }

  /// Reads a field value.
  ///
  /// - Parameters:
  ///   - text: The value.
  ///   - now: Now, which a year of two digits is seen from: one that would lie more than 50 years ahead is past.
  package init?(_ text: String, now: Duration) {
    let text = FieldList.trimmed(text[...]).lowercased()
    let words = text.split(separator: " ", omittingEmptySubsequences: false)
    guard text.utf8.count <= 40, let first = words.first else { return nil }
    let parsed: Int?
    switch (words.count, first.last) {
    case (6, ",") where Self.weekdays.contains(first.dropLast()):
      // Sun, 06 Nov 1994 08:49:37 GMT
      parsed =
        words[5] == "gmt"
        ? Self.seconds(day: Self.digits(words[1], 2), month: words[2], year: Self.digits(words[3], 4), time: words[4])
        : nil
    case (4, ",") where Self.longWeekdays.contains(first.dropLast()):
      // Sunday, 06-Nov-94 08:49:37 GMT
      let date = words[1].split(separator: "-", omittingEmptySubsequences: false)
      guard date.count == 3, words[3] == "gmt", let short = Self.digits(date[2], 2) else { return nil }
      let year = Self.fullYear(short, now: now)
      parsed = Self.seconds(day: Self.digits(date[0], 2), month: date[1], year: year, time: words[2])
    case (5, _) where Self.weekdays.contains(first):
      // Sun Nov 16 08:49:37 1994
      parsed = Self.seconds(
        day: Self.digits(words[2], 2), month: words[1], year: Self.digits(words[4], 4), time: words[3])
    case (6, _) where Self.weekdays.contains(first) && words[2].isEmpty:
      // Sun Nov  6 08:49:37 1994
      parsed = Self.seconds(
        day: Self.digits(words[3], 1), month: words[1], year: Self.digits(words[5], 4), time: words[4])
    default: return nil
    }
    guard let parsed else { return nil }
    seconds = parsed
  }

  package static func < (left: Self, right: Self) -> Bool { left.seconds < right.seconds }

  /// As `Sun, 06 Nov 1994 08:49:37 GMT`.
  package var description: String {
    let days = seconds >= 0 ? seconds / 86_400 : -((86_399 - seconds) / 86_400)
    let time = seconds - days * 86_400
    let (year, month, day) = Self.date(days: days)
    let weekday = Self.weekdays[((days + 4) % 7 + 7) % 7].capitalized
    return "\(weekday), \(Self.padded(day, 2)) \(Self.months[month - 1].capitalized) \(Self.padded(year, 4)) "
      + "\(Self.padded(time / 3600, 2)):\(Self.padded(time / 60 % 60, 2)):\(Self.padded(time % 60, 2)) GMT"
  }

  private static let weekdays: [Substring] = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"]
  private static let longWeekdays: [Substring] = [
    "sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday",
  ]
  private static let months: [Substring] = [
    "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
  ]

  private static func digits(_ text: Substring, _ count: Int) -> Int? {
    text.utf8.count == count ? FieldList.number(text) : nil
  }

  private static func padded(_ number: Int, _ width: Int) -> String {
    let text = String(number)
    return String(repeating: "0", count: max(0, width - text.utf8.count)) + text
  }

  private static func fullYear(_ short: Int, now: Duration) -> Int {
    let (thisYear, _, _) = date(days: Int(now.components.seconds / 86_400))
    let year = thisYear / 100 * 100 + short
    return year > thisYear + 50 ? year - 100 : year
  }

  private static func seconds(day: Int?, month: Substring, year: Int?, time: Substring) -> Int? {
    let times = time.split(separator: ":", omittingEmptySubsequences: false)
    guard let day, let year, let month = months.firstIndex(of: month), times.count == 3,
      let hour = digits(times[0], 2), let minute = digits(times[1], 2), let second = digits(times[2], 2),
      hour < 24, minute < 60, second < 61, day >= 1
    else { return nil }
    let days = days(year: year, month: month + 1, day: day)
    // A day that its month does not have would be one of the next month.
    guard date(days: days) == (year, month + 1, day) else { return nil }
    return days * 86_400 + hour * 3600 + minute * 60 + second
  }

  // Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms" (2013), https://howardhinnant.github.io/date_algorithms.html
  private static func days(year: Int, month: Int, day: Int) -> Int {
    let year = month <= 2 ? year - 1 : year
    let era = (year >= 0 ? year : year - 399) / 400
    let yearOfEra = year - era * 400
    let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
    return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
  }

  private static func date(days: Int) -> (year: Int, month: Int, day: Int) {
    let shifted = days + 719_468
    let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
    let dayOfEra = shifted - era * 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let shiftedMonth = (5 * dayOfYear + 2) / 153
    let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
    return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * shiftedMonth + 2) / 5 + 1)
  }
}

extension Substring {
  fileprivate var capitalized: String { prefix(1).uppercased() + dropFirst() }
}
#endif

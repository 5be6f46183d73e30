/// Reads quantities as people write them: `2 MiB`, `250ms`, `1%`, `40ms..200ms`.
///
/// Each function throws a ``QuantityError`` that says what was expected.
package enum Quantity {
  /// How much of a cache's time may pass in a second.
  package static let speeds = 0.001...1_000.0

  /// How fast time passes: `0.25`, `×4`, `4x`.
  package static func speed(_ text: String) throws(QuantityError) -> Double {
    let number = text.hasPrefix("×") || text.hasSuffix("x") ? text.filter { $0 != "×" && $0 != "x" } : text
    guard let speed = Double(number), speeds.contains(speed) else {
      throw QuantityError("“\(text)” is not a speed", "write a number from 0.001 to 1000, such as 0.25")
    }
    return speed
  }

  /// A number of bytes, at least 1: `4096`, `512 KiB`, `1.5GiB`, `10 MB`.
  package static func bytes(_ text: String) throws(QuantityError) -> Int {
    let (number, unit) = try split(text, expected: "a size such as 512 KiB, 2 MiB or 4096")
    guard let factor = byteUnits[unit.lowercased()] else {
      throw QuantityError("“\(unit)” is not a unit of size", "use B, KiB, MiB, GiB, TiB, KB, MB, GB or TB")
    }
    let bytes = number * factor
    guard bytes >= 1 else { throw QuantityError("a size is at least 1 byte", "give a positive size") }
    guard bytes < 9e18 else {
      throw QuantityError("\(text) is more than can be counted", "give less than 8,000,000 TiB")
    }
    return Int(bytes)
  }

  /// A duration, not negative: `250ms`, `30s`, `10m`, `1.5h`, `2d`.
  package static func duration(_ text: String) throws(QuantityError) -> Duration {
    let (number, unit) = try split(text, expected: "a duration such as 250ms, 30s, 10m or 2h")
    guard let seconds = timeUnits[unit.lowercased()] else {
      throw QuantityError(
        unit.isEmpty ? "“\(text)” has no unit" : "“\(unit)” is not a unit of time", "use us, ms, s, m, h or d")
    }
    let total = number * seconds
    guard total < 9e9 else { throw QuantityError("\(text) is more than can be counted", "give less than 104,166 d") }
    return .nanoseconds(Int64((total * 1e9).rounded()))
  }

  /// A duration of more than nothing.
  package static func timeLimit(_ text: String) throws(QuantityError) -> Duration {
    let limit = try duration(text)
    guard limit > .zero else { throw QuantityError("a time limit of nothing", "give more than 0") }
    return limit
  }

  /// A whole number within bounds: `1000`, `1_000`.
  package static func number(_ text: String, in bounds: ClosedRange<Int>) throws(QuantityError) -> Int {
    let number = whole(text)
    if let number, bounds.contains(number) { return number }
    // Digits are a number, however many there are.
    let digits = text.filter { $0 != "_" }
    guard number != nil || !digits.isEmpty && digits.allSatisfy({ $0.isASCII && $0.isNumber }) else {
      throw QuantityError("“\(text)” is not a whole number", "write a number such as 1000")
    }
    throw QuantityError("\(text) is out of range", "give a number from \(bounds.lowerBound) to \(bounds.upperBound)")
  }

  /// A whole number, with or without underscores between its digits.
  package static func whole(_ text: String) -> Int? { Int(text.filter { $0 != "_" }) }

  /// A probability from 0 to 1: `1%`, `0.01`.
  package static func probability(_ text: String) throws(QuantityError) -> Double {
    let (number, unit) = try split(text, expected: "a share such as 1% or 0.01")
    guard unit == "%" || unit.isEmpty else { throw QuantityError("“\(unit)” is not a unit of a share", "use %") }
    let share = unit == "%" ? number / 100 : number
    guard share <= 1 else {
      let remedy = unit.isEmpty && number <= 100 ? "did you mean \(text)%?" : "give at most 100%"
      throw QuantityError("\(text) is more than everything", remedy)
    }
    return share
  }

  /// A share as ``probability(_:)`` reads it: `1%`, `0.5%`.
  package static func percent(_ share: Double) -> String {
    let hundredths = Int((share * 10_000).rounded())
    return hundredths % 100 == 0 ? "\(hundredths / 100)%" : "\(Double(hundredths) / 100)%"
  }

  /// A duration as ``duration(_:)`` reads it, in the largest unit that is exact.
  package static func text(_ duration: Duration) -> String {
    let (seconds, attoseconds) = duration.components
    let microseconds = attoseconds / 1_000_000_000_000
    if microseconds % 1_000 != 0 { return "\(seconds * 1_000_000 + microseconds)us" }
    if microseconds != 0 { return "\(seconds * 1_000 + microseconds / 1_000)ms" }
    for (length, unit) in [(86_400, "d"), (3_600, "h"), (60, "m")] as [(Int64, String)]
    where seconds >= length && seconds % length == 0 {
      return "\(seconds / length)\(unit)"
    }
    return "\(seconds)s"
  }

  /// Two quantities with `..` between them, or one that stands for both.
  package static func range<Bound: Comparable>(
    _ text: String, of read: (String) throws(QuantityError) -> Bound
  ) throws(QuantityError) -> ClosedRange<Bound> {
    guard let dots = text.firstRange(of: "..") else {
      let bound = try read(text)
      return bound...bound
    }
    let lower = try read(String(text[..<dots.lowerBound]))
    guard text[dots.upperBound...].first != "." else {
      throw QuantityError("\(text) has too many dots", "write two dots between the ends")
    }
    let upper = try read(String(text[dots.upperBound...]))
    guard lower <= upper else { throw QuantityError("\(text) ends before it begins", "put the smaller value first") }
    return lower...upper
  }

  private static let byteUnits: [String: Double] = [
    "": 1, "b": 1, "kib": 1024, "mib": 1_048_576, "gib": 1_073_741_824, "tib": 1_099_511_627_776, "kb": 1e3, "mb": 1e6,
    "gb": 1e9, "tb": 1e12,
  ]

  private static let timeUnits: [String: Double] = [
    "us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1, "m": 60, "min": 60, "h": 3_600, "d": 86_400,
  ]

  private static func split(_ text: String, expected: String) throws(QuantityError) -> (Double, String) {
    let trimmed = text.trimmingSpaces
    let digits = trimmed.prefix { $0.isASCII && ($0.isNumber || $0 == "." || $0 == "_") }
    if trimmed.hasPrefix("-") { throw QuantityError("\(trimmed) is negative", "write \(expected)") }
    guard let number = Double(digits.filter { $0 != "_" }), number.isFinite else {
      throw QuantityError("“\(trimmed)” is not a quantity", "write \(expected)")
    }
    return (number, String(trimmed[digits.endIndex...]).trimmingSpaces)
  }
}

/// What is wrong with a quantity, and what to write instead.
package struct QuantityError: Error, Equatable {
  package var message: String
  package var remedy: String

  package init(_ message: String, _ remedy: String) {
    self.message = message
    self.remedy = remedy
  }
}

extension String {
  /// The text without spaces and tabs at its ends.
  package var trimmingSpaces: String {
    let isSpace: (Character) -> Bool = { $0 == " " || $0 == "\t" }
    guard let first = firstIndex(where: { !isSpace($0) }), let last = lastIndex(where: { !isSpace($0) }) else {
      return ""
    }
    return String(self[first...last])
  }
}

/// How a quantity is read from what somebody wrote.
package typealias QuantityReader<Value> = (String) throws(QuantityError) -> Value

/// Numbers as a person reads them, written without Foundation: faster, and the same in every locale.
package enum Format {
  /// What stands where nothing was measured.
  package static let none = "—"

  /// A measured time: `18µs`, `1.1ms`, `82ms`, `2.9s`, `48s`, `4m`, `2h`, `3d`.
  package static func latency(nanoseconds: Int64) -> String {
    let value = max(0, nanoseconds)
    if value < 1_000 { return "\(value)ns" }
    if value < 1_000_000 - 500 { return scaled(value, unit: 1_000, "µs") }
    if value < 1_000_000_000 - 500_000 { return scaled(value, unit: 1_000_000, "ms") }
    if value < 60_000_000_000 { return scaled(value, unit: 1_000_000_000, "s") }
    return span(seconds: value / 1_000_000_000)
  }

  /// One decimal below ten, none from there.
  private static func scaled(_ value: Int64, unit: Int64, _ name: String) -> String {
    let tenths = (value * 10 + unit / 2) / unit
    return tenths < 100 && tenths % 10 != 0
      ? "\(tenths / 10).\(tenths % 10)\(name)" : "\((value + unit / 2) / unit)\(name)"
  }

  /// An age or a time left, in whole units: `0s`, `48s`, `4m`, `2h`, `3d`.
  package static func span(seconds: Int64) -> String {
    let value = max(0, seconds)
    if value < 100 { return "\(value)s" }
    if value < 100 * 60 { return "\(value / 60)m" }
    if value < 48 * 3_600 { return "\(value / 3_600)h" }
    return value / 86_400 < 1_000 ? "\(value / 86_400)d" : "\(value / 31_557_600)y"
  }

  /// How long ago something was, in steps that grow with it, so that a screen at rest hardly changes: `<5s`, `5s`, `10s`,
  /// `20s`, and minutes from the first one on.
  package static func age(seconds: Int64) -> String {
    let value = max(0, seconds)
    guard value < 60 else { return span(seconds: max(100, value)) }
    return value < 5 ? "<5s" : value < 10 ? "5s" : "\(value / 10 * 10)s"
  }

  /// How long something lives yet, rounded up by a tenth of it at most: `17s`, `570s`, `11m`, `1.7h`, `12h`, `5d`.
  package static func timeLeft(seconds: Int64) -> String {
    let value = steppedTimeLeft(seconds: seconds)
    if value < 600 { return "\(value)s" }
    if value < 5_400 { return "\(value / 60)m" }
    if value < 36_000 { return value % 3_600 == 0 ? "\(value / 3_600)h" : "\(value / 3_600).\(value % 3_600 / 360)h" }
    return value < 864_000 && value % 86_400 != 0 ? "\(value / 3_600)h" : span(seconds: value)
  }

  /// What ``timeLeft(seconds:)`` rounds up to, from which lifetimes on; in words for those who ask what the column shows.
  static let timeLeftSteps: [(from: Int64, step: Int64)] = [
    (0, 1), (20, 2), (50, 5), (100, 10), (300, 30), (600, 60), (5_400, 360), (36_000, 3_600), (864_000, 86_400),
  ]

  /// The seconds that ``timeLeft(seconds:)`` shows.
  package static func steppedTimeLeft(seconds: Int64) -> Int64 {
    let value = max(0, seconds)
    let step = timeLeftSteps.last { $0.from <= value }?.step ?? 1
    let (whole, rest) = value.quotientAndRemainder(dividingBy: step)
    return rest == 0 || value > .max - step ? value : (whole + 1) * step
  }

  /// Time with one decimal: `12.3 s`, `4 min 05 s`.
  package static func behind(nanoseconds: Int64) -> String {
    let tenths = max(0, nanoseconds) / 100_000_000
    if tenths < 600 { return "\(tenths / 10).\(tenths % 10) s" }
    let seconds = tenths / 10
    return "\(seconds / 60) min \(twoDigits(seconds % 60)) s"
  }

  /// `212 B`, `4.1 KiB`, `88 KiB`, `61.2 MiB`.
  package static func bytes(_ count: Int) -> String {
    let value = max(0, count)
    if value < 1_024 { return "\(value) B" }
    var scaled = Double(value) / 1_024
    var unit = 0
    while scaled >= 1_023.95, unit < units.count - 1 {
      scaled /= 1_024
      unit += 1
    }
    let tenths = Int((scaled * 10).rounded())
    return tenths < 1_000 && tenths % 10 != 0
      ? "\(tenths / 10).\(tenths % 10) \(units[unit])" : "\((tenths + 5) / 10) \(units[unit])"
  }

  /// `4.1 KiB = 4199 B`; `4 B` where the unit is the byte.
  package static func exactBytes(_ count: Int) -> String {
    count < 1_024 ? bytes(count) : "\(bytes(count)) = \(count) B"
  }

  private static let units = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"]

  /// `1 hit`, `18 231 hits`; ungrouped, `18231 hits`, in answers that programs read too.
  package static func counted(_ value: Int, _ one: String, _ many: String? = nil, isGrouped: Bool = true) -> String {
    "\(isGrouped ? count(value) : "\(value)") \(value == 1 ? one : many ?? one + "s")"
  }

  /// `931`, `18 231`.
  package static func count(_ value: Int) -> String {
    let digits = Array(String(value.magnitude))
    var text = value < 0 ? "-" : ""
    for (index, digit) in digits.enumerated() {
      if index > 0, (digits.count - index) % 3 == 0 { text.append(" ") }
      text.append(digit)
    }
    return text
  }

  /// A count in at most four cells: `931`, `18k`, `4M`.
  package static func short(_ value: Int) -> String {
    switch value {
    case ..<1_000: "\(value)"
    case ..<1_000_000: "\(value / 1_000)k"
    case ..<1_000_000_000: "\(value / 1_000_000)M"
    default: "\(min(value / 1_000_000_000, 999))G"
    }
  }

  /// How many in a second: `275`, `2.4`, `0`; `—` for not measured.
  package static func rate(_ value: Double?) -> String {
    guard let value, value.isFinite else { return none }
    if value >= 9.95 || value <= 0 { return count(Int(min(max(0, value), 1e15).rounded())) }
    let tenths = max(1, Int((value * 10).rounded()))
    return tenths % 10 == 0 ? "\(tenths / 10)" : "\(tenths / 10).\(tenths % 10)"
  }

  /// `275/s`; `—` for not measured.
  package static func perSecond(_ value: Double?) -> String { value == nil ? none : rate(value) + "/s" }

  /// A part of a whole in percent: `88.1`, and `100` only for all of it; `—` for a part of nothing.
  package static func percent(_ part: Int, of whole: Int) -> String {
    guard whole > 0 else { return none }
    let permille = Int((Double(part) / Double(whole) * 1_000).rounded())
    if part >= whole { return "100" }
    if part <= 0 { return "0.0" }
    let shown = min(999, max(1, permille))
    return "\(shown / 10).\(shown % 10)"
  }

  /// The time of day: `12:04:31`.
  package static func clock(seconds: Int64) -> String {
    let day = ((seconds % 86_400) + 86_400) % 86_400
    return "\(twoDigits(day / 3_600)):\(twoDigits(day / 60 % 60)):\(twoDigits(day % 60))"
  }

  /// The time of day to the millisecond: `12:04:31.204`.
  package static func clock(milliseconds: Int64) -> String {
    let rest = ((milliseconds % 1_000) + 1_000) % 1_000
    let digits = String(rest + 1_000).dropFirst()
    return "\(clock(seconds: (milliseconds - rest) / 1_000)).\(digits)"
  }

  private static func twoDigits(_ value: Int64) -> String { value < 10 ? "0\(value)" : "\(value)" }

  /// With four decimals at most, and no trailing zeros.
  package static func decimal(_ value: Double) -> String {
    let scaled = Int((min(max(value, -1e12), 1e12) * 10_000).rounded())
    var digits = String(abs(scaled) % 10_000 + 10_000).dropFirst()
    while digits.last == "0" { digits.removeLast() }
    return "\(scaled < 0 ? "-" : "")\(abs(scaled) / 10_000)" + (digits.isEmpty ? "" : ".\(digits)")
  }

  /// A factor or a share as it is typed: without a fraction where there is none.
  package static func number(_ value: Double) -> String {
    value == value.rounded() && abs(value) < 1e15 ? "\(Int(value))" : "\(value)"
  }
}

/// JSON on one line, with its fields in the order in which they were given.
package enum JSONText: Sendable {
  case text(String)
  case number(Int)
  /// With four decimals at most.
  case fraction(Double)
  case flag(Bool)
  /// Anything that is no number becomes `null`.
  case decimal(Double)
  case null
  case object([(String, JSONText?)])
  case array([JSONText])

  /// The version of what the program prints for programs; Documentation/JSON.md tells what that is.
  ///
  /// Another one comes when a field changes its meaning or goes, not when one is added.
  package static let version = JSONText.number(1)

  /// A time, whose field says that these are microseconds.
  package static func microseconds(nanoseconds: Int64) -> JSONText { .fraction(Double(nanoseconds) / 1_000) }

  package var line: String {
    var line = ""
    write(to: &line)
    return line
  }

  private func write(to line: inout String) {
    switch self {
    case .text(let text): Self.quote(text, to: &line)
    case .number(let number): line += String(number)
    case .fraction(let number): line += Self.decimal(number)
    case .flag(let flag): line += flag ? "true" : "false"
    case .decimal(let number): line += number.isFinite ? String(number) : "null"
    case .null: line += "null"
    case .array(let items):
      line += "["
      for (index, item) in items.enumerated() {
        if index > 0 { line += "," }
        item.write(to: &line)
      }
      line += "]"
    case .object(let fields):
      line += "{"
      var isFirst = true
      for case (let name, let value?) in fields {
        if !isFirst { line += "," }
        isFirst = false
        Self.quote(name, to: &line)
        line += ":"
        value.write(to: &line)
      }
      line += "}"
    }
  }

  private static func decimal(_ number: Double) -> String { number.isFinite ? Format.decimal(number) : "null" }

  private static func quote(_ text: String, to line: inout String) {
    line += "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": line += "\\\""
      case "\\": line += "\\\\"
      case "\n": line += "\\n"
      case "\r": line += "\\r"
      case "\t": line += "\\t"
      // A reader that looks at the lines on a terminal, or takes U+2028 for the end of one, is safe as well.
      case _ where scalar.value < 0x20 || (0x7f...0x9f).contains(scalar.value) || scalar.isInvisibleControl:
        for unit in String(scalar).utf16 {
          let digits = String(unit, radix: 16)
          line += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
        }
      default: line.unicodeScalars.append(scalar)
      }
    }
    line += "\""
  }
}

extension Unicode.Scalar {
  /// Ends a line, turns the direction of writing, or takes no place: harmful where a person or a terminal reads.
  package var isInvisibleControl: Bool {
    switch value {
    case 0x061c, 0x200b...0x200f, 0x2028...0x202e, 0x2060...0x206f, 0xfeff, 0xfff9...0xfffb, 0xe0000...0xe007f: true
    default: false
    }
  }
}

/// Outside text with everything in it visible: control and formatting characters become `\u{…}`.
package func harmless(_ text: String) -> String {
  var result = ""
  for scalar in text.unicodeScalars {
    if scalar.value < 0x20 || (0x7f...0x9f).contains(scalar.value) || scalar.isInvisibleControl {
      result += "\\u{\(String(scalar.value, radix: 16))}"
    } else {
      result.unicodeScalars.append(scalar)
    }
  }
  return result
}

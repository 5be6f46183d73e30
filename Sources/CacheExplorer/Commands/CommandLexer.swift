/// A word of a command line.
package struct CommandWord: Equatable {
  package var text: String
  /// Where it begins, in characters from 0.
  package var column: Int
  /// It was quoted or escaped: it is never an option.
  package var isQuoted: Bool

  var isOption: Bool { !isQuoted && text.hasPrefix("--") && text.count > 2 }
}

/// Splits a line into words, as a shell does.
///
/// Words are separated by spaces. Single quotes hold anything; double quotes and bare words know `\n \t \r \0 \e \\ \"
/// \' \xNN \u{…}` and a backslash before a space. `#` begins a comment where a word would begin.
package enum CommandLexer {
  package static func words(of line: String) throws(CommandError) -> [CommandWord] {
    let characters = Array(line)
    var words: [CommandWord] = []
    var position = 0
    while position < characters.count {
      // Some editors begin UTF-8 with a mark.
      if characters[position].isWhitespace || (position == 0 && characters[0] == "\u{feff}") {
        position += 1
        continue
      }
      if characters[position] == "#" { break }
      var word = CommandWord(text: "", column: position, isQuoted: false)
      while position < characters.count, !characters[position].isWhitespace {
        switch characters[position] {
        case "'", "\"":
          word.isQuoted = true
          try quoted(characters, &position, &word.text)
        case "\\":
          word.isQuoted = true
          word.text += try escape(characters, &position)
        default:
          word.text.append(characters[position])
          position += 1
        }
      }
      words.append(word)
    }
    return words
  }

  private static func quoted(
    _ characters: [Character], _ position: inout Int, _ text: inout String
  ) throws(CommandError) {
    let (quote, start) = (characters[position], position)
    position += 1
    while position < characters.count, characters[position] != quote {
      if characters[position] == "\\", quote == "\"" {
        text += try escape(characters, &position)
      } else {
        text.append(characters[position])
        position += 1
      }
    }
    guard position < characters.count else {
      throw CommandError(column: start, message: "a quote is not closed", remedy: "end it with \(quote)")
    }
    position += 1
  }

  private static func escape(_ characters: [Character], _ position: inout Int) throws(CommandError) -> String {
    let start = position
    func fail(_ message: String, _ remedy: String) -> CommandError {
      CommandError(column: start, message: message, remedy: remedy)
    }
    position += 1
    guard position < characters.count else { throw fail("a backslash ends the line", "write \\\\ for a backslash") }
    let letter = characters[position]
    position += 1
    switch letter {
    case "n": return "\n"
    case "t": return "\t"
    case "r": return "\r"
    case "0": return "\0"
    case "e": return "\u{1B}"
    case "x":
      let digits = String(characters[position...].prefix(2))
      guard digits.count == 2, digits.allSatisfy(\.isHexDigit), let value = UInt8(digits, radix: 16) else {
        throw fail("\\x needs two hexadecimal digits", "write \\x1b")
      }
      position += 2
      return String(UnicodeScalar(value))
    case "u":
      let digits = String(characters[position...].dropFirst().prefix { $0 != "}" })
      let end = position + digits.count + 1
      guard position < characters.count, characters[position] == "{", end < characters.count,
        digits.allSatisfy(\.isHexDigit), let value = UInt32(digits, radix: 16), let scalar = UnicodeScalar(value)
      else { throw fail("\\u needs a code point in braces", "write \\u{e9}") }
      position = end + 1
      return String(scalar)
    default:
      guard !letter.isLetter, !letter.isNumber else {
        throw fail("there is no escape \\\(letter)", "write \\\\\(letter) for a backslash and a letter")
      }
      return String(letter)
    }
  }
}

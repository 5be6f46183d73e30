import ExplorerState

/// What single control bytes and complete escape sequences mean.
enum KeySequences {
  /// The names under which a terminal's description has its keys.
  static let capabilities: [(name: String, key: InputEvent.Key)] =
    [
      ("kcuu1", .up), ("kcud1", .down), ("kcub1", .left), ("kcuf1", .right), ("khome", .home), ("kend", .end),
      ("kpp", .pageUp), ("knp", .pageDown), ("kdch1", .delete), ("kcbt", .backTab), ("kent", .enter),
    ] + (1...12).map { ("kf\($0)", .function($0)) }

  static func control(_ byte: UInt8) -> InputEvent.Key {
    switch byte {
    case 0x08, 0x7f: .backspace
    case 0x09: .tab
    case 0x0a, 0x0d: .enter
    case 0x1b: .escape
    case 0x01...0x1a: .control(Character(Unicode.Scalar(byte + 0x60)))
    default: .control(Character(Unicode.Scalar(byte + 0x40)))
    }
  }

  /// The key of a complete sequence, `ESC [ … final` or `ESC O … final`; `nil` for one that is no key of ours.
  ///
  /// Modifiers are left out: an arrow with Control is an arrow.
  static func key(_ sequence: [UInt8]) -> InputEvent.Key? {
    guard sequence.count >= 3, sequence[0] == 0x1b, let last = sequence.last else { return nil }
    let final = Character(Unicode.Scalar(last))
    let isSS3 = sequence[1] == UInt8(ascii: "O")
    let middle = sequence[2..<(sequence.count - 1)]
    // The Linux console's F1 to F5.
    if !isSS3, middle == [UInt8(ascii: "[")] { return linuxFunction(final) }
    // A private marker or an intermediate byte: a report, not a key.
    guard middle.allSatisfy({ (0x30...0x3b).contains($0) }) else { return nil }
    if final == "~" { return tilde(number(middle)) }
    if isSS3, let key = keypad(final) { return key }
    return switch final {
    case "A", "a": .up
    case "B", "b": .down
    case "C", "c": .right
    case "D", "d": .left
    case "H": .home
    case "F": .end
    case "P": .function(1)
    case "Q": .function(2)
    case "R" where isSS3 || !middle.isEmpty: .function(3)
    case "S": .function(4)
    case "Z": .backTab
    default: nil
    }
  }

  private static func linuxFunction(_ final: Character) -> InputEvent.Key? {
    switch final {
    case "A": .function(1)
    case "B": .function(2)
    case "C": .function(3)
    case "D": .function(4)
    case "E": .function(5)
    default: nil
    }
  }

  /// The number pad where the terminal is told that an application reads it.
  private static func keypad(_ final: Character) -> InputEvent.Key? {
    switch final {
    case "M": .enter
    case "I": .tab
    case "j": .character("*")
    case "k": .character("+")
    case "l": .character(",")
    case "m": .character("-")
    case "n": .character(".")
    case "o": .character("/")
    case "p": .character("0")
    case "q": .character("1")
    case "r": .character("2")
    case "s": .character("3")
    case "t": .character("4")
    case "u": .character("5")
    case "v": .character("6")
    case "w": .character("7")
    case "x": .character("8")
    case "y": .character("9")
    case "X": .character("=")
    default: nil
    }
  }

  private static func tilde(_ number: Int) -> InputEvent.Key? {
    switch number {
    case 1, 7: .home
    case 3: .delete
    case 4, 8: .end
    case 5: .pageUp
    case 6: .pageDown
    case 11...15: .function(number - 10)
    case 17...21: .function(number - 11)
    case 23, 24: .function(number - 12)
    default: nil
    }
  }

  /// The first parameter; 0 where there is none.
  private static func number(_ digits: ArraySlice<UInt8>) -> Int {
    var value = 0
    for digit in digits.prefix(4) {
      guard (0x30...0x39).contains(digit) else { break }
      value = value * 10 + Int(digit - 0x30)
    }
    return value
  }
}

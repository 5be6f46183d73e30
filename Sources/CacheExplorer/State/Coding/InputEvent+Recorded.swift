extension InputEvent.Key: Codable {
  private static let named: [String: InputEvent.Key] = [
    "enter": .enter, "escape": .escape, "tab": .tab, "backTab": .backTab, "backspace": .backspace, "delete": .delete,
    "up": .up, "down": .down, "left": .left, "right": .right, "home": .home, "end": .end, "pageUp": .pageUp,
    "pageDown": .pageDown,
  ]

  /// The name of the key, or `=x` for a character, `^x` for one with Control and `F5` for a function key.
  package init(from decoder: any Decoder) throws {
    let name = try String(from: decoder)
    // By scalars, since a mark that combines makes one character with the sign before it.
    let rest = String(name.unicodeScalars.dropFirst())
    switch name.unicodeScalars.first {
    case "=" where rest.count == 1: self = .character(rest[rest.startIndex])
    case "^" where rest.count == 1: self = .control(rest[rest.startIndex])
    case "F": if let number = Int(rest) { self = .function(number) } else { fallthrough }
    default:
      guard let key = Self.named[name] else { throw RecordedFault("there is no key “\(name)”") }
      self = key
    }
  }

  package func encode(to encoder: any Encoder) throws {
    let name =
      switch self {
      case .character(let character): "=" + String(character)
      case .control(let character): "^" + String(character)
      case .function(let number): "F\(number)"
      default: Self.named.first { $0.value == self }?.key ?? "escape"
      }
    try name.encode(to: encoder)
  }
}

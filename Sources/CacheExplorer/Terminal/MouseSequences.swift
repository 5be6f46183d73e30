import ExplorerState
import ExplorerText

/// What a terminal is told about the mouse and says of it.
///
/// Buttons and wheel with the numbers of cells in decimal (modes 1000 and 1006), and the focus of the window (mode 1004),
/// without which a click that only brings the window to the front could not be told from one that is meant.
enum MouseSequences {
  static let on = Array("\u{1b}[?1000h\u{1b}[?1006h\u{1b}[?1004h".utf8)
  static let off = Array("\u{1b}[?1004l\u{1b}[?1006l\u{1b}[?1000l".utf8)

  private static let focusIn = Array("\u{1b}[I".utf8)
  private static let focusOut = Array("\u{1b}[O".utf8)

  /// What a complete sequence reports; `nil` for one that is no report, or of something that nobody here asks for.
  static func event(_ sequence: [UInt8]) -> InputEvent? {
    if sequence == focusIn { return .focus(true) }
    if sequence == focusOut { return .focus(false) }
    guard sequence.starts(with: [0x1b, UInt8(ascii: "["), UInt8(ascii: "<")]), sequence.last == UInt8(ascii: "M") else {
      return nil
    }
    let fields = sequence[3..<(sequence.count - 1)].split(
      separator: UInt8(ascii: ";"), omittingEmptySubsequences: false)
    let numbers = fields.compactMap { Int(String(decoding: $0, as: UTF8.self)) }
    guard fields.count == 3, numbers.count == 3, numbers.allSatisfy({ (0...9_999).contains($0) }), numbers[1] > 0,
      numbers[2] > 0
    else { return nil }
    // 4, 8 and 16 are Shift, Alt and Control.
    let kind: InputEvent.Mouse.Kind
    switch numbers[0] & ~0b1_1100 {
    case 0: kind = .press
    case 64: kind = .wheelUp
    case 65: kind = .wheelDown
    default: return nil
    }
    return .mouse(InputEvent.Mouse(kind: kind, at: Point(x: numbers[1] - 1, y: numbers[2] - 1)))
  }
}

/// Tells a double click from two clicks.
struct ClickCounter {
  /// As most desktops have it.
  static let patience = Duration.milliseconds(400)

  private var last: (at: Point, time: ContinuousClock.Instant, clicks: Int)?

  /// How many presses on this cell there were in quick succession, with this one.
  mutating func count(at place: Point, _ time: ContinuousClock.Instant) -> Int {
    var clicks = 1
    if let last, last.at == place, last.time.duration(to: time) <= Self.patience { clicks = last.clicks + 1 }
    // A third one starts over.
    if clicks > 2 { clicks = 1 }
    last = (place, time, clicks)
    return clicks
  }
}

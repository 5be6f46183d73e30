private import CPseudoTerminal

/// As much of an xterm as a full-screen program under TERM=xterm-256color needs: bytes in, a screen out.
package struct TerminalEmulator: Sendable {
  /// What is shown now.
  package private(set) var screen: EmulatedScreen
  /// Sequences that it did not know; a test may want none.
  package private(set) var unknown: [String] = []
  /// Synchronized frames that have ended.
  package private(set) var frames = 0
  /// How often the program asked whether the terminal is well (DSR 5); whoever holds the emulator answers `ESC [ 0 n`.
  package private(set) var questions = 0

  private enum State { case ground, escape, charset, sequence, string, stringEscape }

  private var main: EmulatedScreen
  private var state = State.ground
  private var parameters: [UInt8] = []
  private var partial: [UInt8] = []
  private var look = EmulatedScreen.Look()
  private var region: Range<Int>
  private var wraps = true
  private var isInserting = false
  /// The last column was written: the next character goes to the next row.
  private var isWrapPending = false
  private var last = " "
  private var saved: (cursor: (x: Int, y: Int), look: EmulatedScreen.Look) = ((0, 0), .init())

  /// An empty terminal.
  package init(width: Int, height: Int) {
    screen = EmulatedScreen(width: width, height: height)
    main = screen
    region = 0..<height
  }

  /// The window has another size.
  package mutating func resize(width: Int, height: Int) {
    screen.resize(width: width, height: height)
    main.resize(width: width, height: height)
    region = 0..<height
    isWrapPending = false
  }

  /// Takes what a program wrote.
  package mutating func feed(_ bytes: some Sequence<UInt8>) {
    for byte in bytes { step(byte) }
  }

  private mutating func step(_ byte: UInt8) {
    switch state {
    case .ground: byte < 0x20 || byte == 0x7f ? control(byte) : character(byte)
    case .escape: escape(byte)
    case .charset: state = .ground
    case .sequence:
      if byte < 0x20 { return byte == 0x1b ? begin(.escape) : control(byte) }
      guard byte >= 0x40 else { return parameters.append(byte) }
      state = .ground
      sequence(Character(Unicode.Scalar(byte)))
    case .string:
      if byte == 0x07 { state = .ground } else if byte == 0x1b { state = .stringEscape }
    case .stringEscape: state = byte == UInt8(ascii: "\\") ? .ground : .string
    }
  }

  private mutating func begin(_ next: State) {
    state = next
    parameters = []
    partial = []
  }

  private mutating func control(_ byte: UInt8) {
    switch byte {
    case 0x08: move(x: screen.cursor.x - 1, y: screen.cursor.y)
    case 0x09: move(x: (screen.cursor.x / 8 + 1) * 8, y: screen.cursor.y)
    case 0x0a, 0x0b, 0x0c: lineFeed()
    case 0x0d: move(x: 0, y: screen.cursor.y)
    case 0x1b: begin(.escape)
    default: break
    }
  }

  private mutating func character(_ byte: UInt8) {
    partial.append(byte)
    let length = partial[0] < 0x80 ? 1 : partial[0] < 0xe0 ? 2 : partial[0] < 0xf0 ? 3 : 4
    guard partial.count == length else { return }
    defer { partial = [] }
    for scalar in String(decoding: partial, as: UTF8.self).unicodeScalars {
      put(String(scalar), width: Int(cpt_width(scalar.value)))
    }
  }

  private mutating func put(_ text: String, width: Int) {
    if width == 0 {
      // A mark joins the character before the cursor.
      let x = isWrapPending ? screen.cursor.x : screen.cursor.x - 1
      guard x >= 0 else { return }
      let index = screen.cursor.y * screen.width + x
      screen.cells[screen.cells[index].text.isEmpty && x > 0 ? index - 1 : index].text += text
      return
    }
    let width = max(1, width)
    if isWrapPending || screen.cursor.x + width > screen.width {
      isWrapPending = false
      if wraps {
        screen.cursor.x = 0
        lineFeed()
      } else {
        screen.cursor.x = max(0, screen.width - width)
      }
    }
    if isInserting { screen.insertCells(width, x: screen.cursor.x, y: screen.cursor.y, look) }
    screen.put(text, width: width, look, x: screen.cursor.x, y: screen.cursor.y)
    last = text
    if screen.cursor.x + width < screen.width {
      screen.cursor.x += width
    } else {
      screen.cursor.x = screen.width - 1
      isWrapPending = wraps
    }
  }

  private mutating func lineFeed() {
    isWrapPending = false
    if screen.cursor.y == region.upperBound - 1 {
      screen.scroll(region, by: 1, look)
    } else {
      screen.cursor.y = min(screen.cursor.y + 1, screen.height - 1)
    }
  }

  private mutating func move(x: Int, y: Int) {
    isWrapPending = false
    screen.cursor = (max(0, min(x, screen.width - 1)), max(0, min(y, screen.height - 1)))
  }

  private mutating func escape(_ byte: UInt8) {
    state = .ground
    switch Character(Unicode.Scalar(byte)) {
    case "[": begin(.sequence)
    case "]", "P", "_", "^", "X": begin(.string)
    case "(", ")", "*", "+", "#", "%": state = .charset
    case "7": saved = (screen.cursor, look)
    case "8":
      move(x: saved.cursor.x, y: saved.cursor.y)
      look = saved.look
    case "D": lineFeed()
    case "E":
      move(x: 0, y: screen.cursor.y)
      lineFeed()
    case "M":
      if screen.cursor.y == region.lowerBound {
        screen.scroll(region, by: -1, look)
      } else {
        move(x: screen.cursor.x, y: screen.cursor.y - 1)
      }
    case "c": self = TerminalEmulator(width: screen.width, height: screen.height)
    case "=", ">", "\\": break
    default: unknown.append("ESC \(Character(Unicode.Scalar(byte)))")
    }
  }

  private mutating func sequence(_ final: Character) {
    let (cursor, size) = (screen.cursor, (width: screen.width, height: screen.height))
    let isPrivate = parameters.first.map { (0x3c...0x3f).contains($0) } ?? false
    let numbers = parameters.drop { !(0x30...0x3b).contains($0) }
      .split(separator: 0x3b, omittingEmptySubsequences: false)
      .map { Int(String(decoding: $0, as: UTF8.self)) }
    func number(_ index: Int, _ usual: Int = 1) -> Int {
      guard index < numbers.count, let number = numbers[index] else { return usual }
      return usual == 1 ? max(1, number) : number
    }
    let n = number(0)
    switch final {
    case "h", "l":
      for mode in numbers.compactMap({ $0 }) { set(mode, final == "h", isPrivate: isPrivate) }
    case _ where isPrivate: unknown.append("CSI \(String(decoding: parameters, as: UTF8.self))\(final)")
    case "A": move(x: cursor.x, y: cursor.y - n)
    case "B", "e": move(x: cursor.x, y: cursor.y + n)
    case "C", "a": move(x: cursor.x + n, y: cursor.y)
    case "D": move(x: cursor.x - n, y: cursor.y)
    case "E": move(x: 0, y: cursor.y + n)
    case "F": move(x: 0, y: cursor.y - n)
    case "G", "`": move(x: n - 1, y: cursor.y)
    case "d": move(x: cursor.x, y: n - 1)
    case "H", "f": move(x: number(1) - 1, y: n - 1)
    case "I": move(x: (cursor.x / 8 + n) * 8, y: cursor.y)
    case "Z": move(x: ((cursor.x + 7) / 8 - n) * 8, y: cursor.y)
    case "J": eraseDisplay(number(0, 0))
    case "K":
      let columns = [cursor.x..<size.width, 0..<(cursor.x + 1), 0..<size.width]
      screen.erase(row: cursor.y, columns[min(2, number(0, 0))], look)
    case "X": screen.erase(row: cursor.y, cursor.x..<min(size.width, cursor.x + n), look)
    case "@": screen.insertCells(n, x: cursor.x, y: cursor.y, look)
    case "P": screen.deleteCells(n, x: cursor.x, y: cursor.y, look)
    case "L" where region.contains(cursor.y): screen.scroll(cursor.y..<region.upperBound, by: -n, look)
    case "M" where region.contains(cursor.y): screen.scroll(cursor.y..<region.upperBound, by: n, look)
    case "S": screen.scroll(region, by: n, look)
    case "T": screen.scroll(region, by: -n, look)
    case "b": for _ in 0..<min(n, size.width * size.height) { put(last, width: width(of: last)) }
    case "r":
      let (top, bottom) = (n - 1, min(size.height, number(1, size.height)))
      region = top < bottom ? top..<bottom : 0..<size.height
      move(x: 0, y: 0)
    case "m": render(numbers.map { $0 ?? 0 })
    case "s": saved = (cursor, look)
    case "u": move(x: saved.cursor.x, y: saved.cursor.y)
    case "n" where n == 5: questions += 1
    // Outside the region; window operations; other questions, which stay unanswered.
    case "L", "M", "t", "c", "n": break
    default: unknown.append("CSI \(String(decoding: parameters, as: UTF8.self))\(final)")
    }
  }

  private func width(of text: String) -> Int { text.unicodeScalars.first.map { Int(cpt_width($0.value)) } ?? 1 }

  private mutating func eraseDisplay(_ part: Int) {
    let (cursor, width) = (screen.cursor, screen.width)
    if part == 0 { screen.erase(row: cursor.y, cursor.x..<width, look) }
    if part == 1 { screen.erase(row: cursor.y, 0..<(cursor.x + 1), look) }
    let rows = part == 0 ? (cursor.y + 1)..<screen.height : part == 1 ? 0..<cursor.y : 0..<screen.height
    for y in rows { screen.erase(row: y, 0..<width, look) }
  }

  private mutating func set(_ mode: Int, _ isOn: Bool, isPrivate: Bool) {
    guard isPrivate else {
      // 34 is the shape of the cursor under screen and tmux.
      if mode == 4 { isInserting = isOn } else if mode != 34 { unknown.append("mode \(mode)") }
      return
    }
    switch mode {
    case 7: wraps = isOn
    case 25: screen.isCursorVisible = isOn
    case 2004: screen.isPasteBracketed = isOn
    case 2026:
      if screen.isSynchronizing, !isOn { frames += 1 }
      screen.isSynchronizing = isOn
    case 47, 1047, 1049: alternate(isOn)
    case 1000, 1004, 1006:
      if isOn { screen.mouseModes.insert(mode) } else { screen.mouseModes.remove(mode) }
    case 1, 12, 1002, 1003: break  // keys and mouse: what the program reads, not what it shows
    default: unknown.append("mode ?\(mode)")
    }
  }

  private mutating func alternate(_ isOn: Bool) {
    guard isOn != screen.isAlternate else { return }
    var next = isOn ? EmulatedScreen(width: screen.width, height: screen.height) : main
    if isOn {
      main = screen
      next.cursor = screen.cursor
    }
    next.isAlternate = isOn
    next.isCursorVisible = screen.isCursorVisible
    next.isPasteBracketed = screen.isPasteBracketed
    next.mouseModes = screen.mouseModes
    next.isSynchronizing = screen.isSynchronizing
    screen = next
    isWrapPending = false
  }

  private mutating func render(_ codes: [Int]) {
    var rest = (codes.isEmpty ? [0] : codes)[...]
    while let code = rest.popFirst() {
      switch code {
      case 0: look = .init()
      case 1: look.isBold = true
      case 2: look.isDim = true
      case 4: look.isUnderlined = true
      case 7: look.isReversed = true
      case 22: (look.isBold, look.isDim) = (false, false)
      case 24: look.isUnderlined = false
      case 27: look.isReversed = false
      case 30...37: look.foreground = code - 30
      case 39: look.foreground = nil
      case 40...47: look.background = code - 40
      case 49: look.background = nil
      case 90...97: look.foreground = code - 82
      case 100...107: look.background = code - 92
      case 38 where rest.first == 2:
        // Above the numbers, so that a colour by its parts is told from one by its number.
        let parts = rest.dropFirst().prefix(3)
        look.foreground = parts.reduce(1) { $0 << 8 | ($1 & 0xff) }
        rest = rest.dropFirst(4)
      case 38 where rest.first == 5, 48 where rest.first == 5:
        let color = rest.dropFirst().first
        if code == 38 { look.foreground = color } else { look.background = color }
        rest = rest.dropFirst(2)
      case 3, 5, 8, 9, 23, 25, 28, 29: break
      default: unknown.append("SGR \(code)")
      }
    }
  }
}

import ExplorerState

/// Turns the bytes that a terminal sends into keys, pastes and what the mouse does.
///
/// A value without clock or file: a caller reads, waits for
/// ``patience`` where something is incomplete, and then calls ``giveUp()``.
///
/// The sequences are those that xterm, the Linux console, VT100 and their descendants send, in both cursor key modes, with
/// what the terminal's own description adds.
struct KeyDecoder: Sendable {
  /// A paste longer than this loses its rest.
  static let longestPaste = 1 << 20
  private static let longestSequence = 64
  private static let pasteBegin = Array("\u{1b}[200~".utf8)
  /// To ``LinkPace/question``.
  private static let answer = Array("\u{1b}[0n".utf8)
  private static let pasteEnd = Array("\u{1b}[201~".utf8)
  /// With Escape before it, the beginning of a text that goes on to BEL or `ESC \`: OSC, DCS, PM and APC.
  private static let textBegins = Set("]P^_".utf8)

  private enum State: Equatable {
    case ground
    /// An escape sequence of which these bytes have come.
    case escape([UInt8])
    /// A character of which these bytes have come, of so many.
    case character([UInt8], length: Int)
    case paste([UInt8], matched: Int)
  }

  private var state = State.ground
  /// How often the terminal has said that it is well.
  private(set) var answers = 0
  private let described: [[UInt8]: InputEvent.Key]
  private let prefixes: Set<[UInt8]>

  /// - Parameter described: Sequences of the terminal's description; they come before the built-in ones.
  init(described: [[UInt8]: InputEvent.Key] = [:]) {
    self.described = described.filter { $0.key.count > 1 && $0.key[0] == 0x1b }
    prefixes = Set(self.described.keys.flatMap { key in (1..<key.count).map { Array(key[..<$0]) } })
  }

  /// How long to wait for the rest of what has begun; `nil` when nothing has.
  ///
  /// The Escape key sends the byte that every sequence begins with: only silence after it tells them apart.
  var patience: Duration? {
    switch state {
    case .ground: nil
    case .escape, .character: .milliseconds(25)
    case .paste: .milliseconds(500)
    }
  }

  mutating func feed(_ bytes: some Sequence<UInt8>) -> [InputEvent] {
    var events: [InputEvent] = []
    for byte in bytes { step(byte, &events) }
    return events
  }

  /// Nothing more came in time: what has begun stands for itself.
  mutating func giveUp() -> [InputEvent] {
    defer { state = .ground }
    switch state {
    case .ground, .character: return []
    case .paste(let text, let matched): return [.paste(Self.text(text + Self.pasteEnd[..<matched]))]
    case .escape(let bytes):
      // A sequence cut short is noise, except where it can have been typed: Escape, or Alt and a bracket or O.
      guard bytes.count <= 2 else { return [] }
      return [.key(.escape)] + bytes.dropFirst().map { .key(.character(Character(Unicode.Scalar($0)))) }
    }
  }

  private mutating func step(_ byte: UInt8, _ events: inout [InputEvent]) {
    switch state {
    case .ground: begin(byte, &events)
    case .escape(let bytes): extend(bytes, byte, &events)
    case .character(let bytes, let length): extend(bytes, length, byte, &events)
    case .paste: paste(byte, &events)
    }
  }

  private mutating func begin(_ byte: UInt8, _ events: inout [InputEvent]) {
    state = .ground
    switch byte {
    case 0x1b: state = .escape([byte])
    case 0x00...0x1f, 0x7f: events.append(.key(KeySequences.control(byte)))
    case 0x20...0x7e: events.append(.key(.character(Character(Unicode.Scalar(byte)))))
    case 0xc2...0xdf: state = .character([byte], length: 2)
    case 0xe0...0xef: state = .character([byte], length: 3)
    case 0xf0...0xf4: state = .character([byte], length: 4)
    default: break  // not UTF-8
    }
  }

  private mutating func extend(_ bytes: [UInt8], _ length: Int, _ byte: UInt8, _ events: inout [InputEvent]) {
    guard byte & 0xc0 == 0x80 else { return begin(byte, &events) }
    let whole = bytes + [byte]
    guard whole.count == length else { return state = .character(whole, length: length) }
    state = .ground
    guard let text = String(validating: whole, as: UTF8.self), let scalar = text.unicodeScalars.first,
      scalar.properties.generalCategory != .control
    else { return }
    events.append(.key(.character(Character(scalar))))
  }

  private mutating func extend(_ bytes: [UInt8], _ byte: UInt8, _ events: inout [InputEvent]) {
    let whole = bytes + [byte]
    if let key = described[whole] {
      state = .ground
      return events.append(.key(key))
    }
    if bytes.count == 1 {
      if byte == UInt8(ascii: "[") || byte == UInt8(ascii: "O") || Self.textBegins.contains(byte)
        || prefixes.contains(whole)
      {
        return state = .escape(whole)
      }
      // Not a sequence: Escape was pressed, and then something else.
      events.append(.key(.escape))
      return begin(byte, &events)
    }
    if Self.textBegins.contains(bytes[1]) {
      // The answer to what a program before this one asked; nobody typed it. Its last byte tells where it ends, or that it was cut
      // short, or was Alt and a character, before another sequence.
      let isEscaped = bytes.last == 0x1b
      if isEscaped, byte != UInt8(ascii: "\\") { return extend([0x1b], byte, &events) }
      return state = isEscaped || byte == 0x07 ? .ground : .escape(Array(bytes.prefix(2)) + [byte])
    }
    switch byte {
    case 0x20...0x3f:
      guard whole.count < Self.longestSequence else { return state = .ground }
      state = .escape(whole)
    case UInt8(ascii: "[") where bytes.count == 2 && bytes[1] == byte:
      state = .escape(whole)  // the Linux console's F1 to F5
    case 0x40...0x7e:
      state = .ground
      finish(whole, &events)
    default:
      begin(byte, &events)
    }
  }

  private mutating func finish(_ sequence: [UInt8], _ events: inout [InputEvent]) {
    if sequence == Self.pasteBegin {
      state = .paste([], matched: 0)
    } else if sequence == Self.answer {
      answers += 1
    } else if let report = MouseSequences.event(sequence) {
      events.append(report)
    } else if let key = KeySequences.key(sequence) {
      events.append(.key(key))
    }
  }

  private mutating func paste(_ byte: UInt8, _ events: inout [InputEvent]) {
    guard case .paste(var text, var matched) = state else { return }
    // Taken out while it grows, so that it is not copied for every byte.
    state = .ground
    if byte == Self.pasteEnd[matched] {
      matched += 1
      if matched == Self.pasteEnd.count { return events.append(.paste(Self.text(text))) }
    } else {
      text += Self.pasteEnd[..<matched]
      matched = byte == Self.pasteEnd[0] ? 1 : 0
      if matched == 0 { text.append(byte) }
    }
    if text.count > Self.longestPaste { text.removeLast(text.count - Self.longestPaste) }
    state = .paste(text, matched: matched)
  }

  /// Terminals send a carriage return for each line end of a paste.
  private static func text(_ bytes: [UInt8]) -> String {
    var lines: [UInt8] = []
    lines.reserveCapacity(bytes.count)
    for (index, byte) in bytes.enumerated() {
      if byte == 0x0a, index > 0, bytes[index - 1] == 0x0d { continue }
      lines.append(byte == 0x0d ? 0x0a : byte)
    }
    return String(decoding: lines, as: UTF8.self)
  }
}

import CNcurses
import CTerminalGuard
import ExplorerState
import ExplorerText

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// ncurses, drawing into memory: what it would write to a terminal comes back as bytes.
///
/// Written straight to a terminal, a frame of ncurses is a write for nearly every row, and shows torn over a slow line.
@MainActor
@safe
final class Curses {
  /// The terminal's description that was found; not always the one asked for.
  let name: String
  let isUnicode: Bool
  /// Sequences of keys by the terminal's description.
  let keys: [[UInt8]: InputEvent.Key]
  /// Turns the terminal's key mode on.
  let enter: [UInt8]
  /// Turns it off.
  let leave: [UInt8]
  /// Everything a terminal needs to be usable again when curses cannot be asked.
  let reset: [UInt8]
  /// Goes below the picture where the terminal has no other screen to go back to: a shell would write its prompt into it.
  private let below: [UInt8]
  let colors: Int
  /// The description says that the terminal takes any colour.
  let isDirect: Bool

  private let screen: OpaquePointer
  private let file: UnsafeMutablePointer<FILE>
  private let descriptor: Int32
  private var palette = Palette(depth: .mono)
  /// How the style of the last cell looks: the one beside it mostly has the same.
  private var look: (style: Style, flags: Int32, pair: Int32)?
  /// What curses writes for a colour by its number, and what the terminal gets in its place.
  private var substitutes: [(asked: [UInt8], given: [UInt8])] = []
  /// Its palette is the owner's: curses would set it back to the terminal's defaults on leaving, though nobody changed it.
  private let unchanged: [(asked: [UInt8], given: [UInt8])]
  private var size = Size(width: 0, height: 0)
  private var drawn: Canvas?
  /// Hidden, the cursor stays where drawing has ended: to send it elsewhere would be most of a small frame.
  private var rest = Point(x: 0, y: 0)
  /// Where the next part of a picture begins.
  private var next = 0

  /// - Throws: ``TerminalError`` when no usable description of the terminal is there.
  init(term: String, isASCII: Bool) throws(TerminalError) {
    let isUnicodeLocale = cn_choose_unicode_locale()
    isUnicode = isUnicodeLocale && !isASCII
    descriptor = ctg_memory_file()
    guard descriptor >= 0, let file = unsafe fdopen(descriptor, "r+") else {
      throw .failed(operation: "making a file in memory", reason: SystemFailure.text(errno))
    }
    let names = TerminalName.candidates(for: term)
    guard let (name, screen) = unsafe Self.open(names, file) else {
      unsafe fclose(file)
      throw .unknown(term: term, tried: Array(names.dropFirst()))
    }
    unsafe self.file = unsafe file
    unsafe self.screen = unsafe screen
    self.name = name

    cn_prepare()
    if has_colors() {
      start_color()
      use_default_colors()
      colors = Int(cn_colors())
    } else {
      colors = 0
    }
    isDirect = cn_is_direct()
    unchanged = Self.capability("oc").map { [(asked: $0, given: [])] } ?? []
    substitutes = unchanged
    keys = Dictionary(
      KeySequences.capabilities.compactMap { capability in
        Self.capability(capability.name).map { ($0, capability.key) }
      }, uniquingKeysWith: { first, _ in first })
    let paste = (on: Array("\u{1b}[?2004h".utf8), off: Array("\u{1b}[?2004l".utf8))
    enter = (Self.capability("smkx") ?? []) + paste.on
    leave = paste.off + (Self.capability("rmkx") ?? [])
    let back = Self.capability("rmcup")
    below = back == nil ? Array("\r\n".utf8) + (Self.capability("ed") ?? []) : []
    reset =
      Array("\u{1b}[?2026l".utf8) + MouseSequences.off + leave + (Self.capability("sgr0") ?? [])
      + (Self.capability("op") ?? [])
      + (Self.capability("cnorm") ?? []) + (back ?? below)
    // curses has begun for a screen of the size that the description names, with a scrolling region to match. It begins
    // again, for the real size, with the first canvas.
    endwin()
    _ = takeBytes()
  }

  private static func open(
    _ names: [String], _ file: UnsafeMutablePointer<FILE>
  ) -> (String, OpaquePointer)? {
    for name in names {
      guard let screen = unsafe newterm(name, file, file) else { continue }
      // A description without cursor addressing draws nothing.
      if capability("cup") != nil { return unsafe (name, screen) }
      unsafe delscreen(screen)
    }
    return nil
  }

  /// A string of the terminal's description, without its padding.
  private static func capability(_ name: String) -> [UInt8]? {
    guard let text = unsafe cn_capability(name) else { return nil }
    let string = unsafe String(cString: text)
    guard !string.isEmpty else { return nil }
    return withoutPadding(Array(string.utf8))
  }

  /// Without what asks for a pause, as in `$<5>` and `$<2.5*/>`.
  ///
  /// By hand: a regular expression is made again at each use, which was a twentieth of the program's start.
  static func withoutPadding(_ sequence: [UInt8]) -> [UInt8] {
    var result: [UInt8] = []
    var rest = sequence[...]
    while let first = rest.popFirst() {
      if first == UInt8(ascii: "$"), rest.first == UInt8(ascii: "<") {
        let digits = rest.dropFirst().prefix { (0x30...0x39).contains($0) || $0 == UInt8(ascii: ".") }
        let after = rest[digits.endIndex...].drop { $0 == UInt8(ascii: "*") || $0 == UInt8(ascii: "/") }
        if !digits.isEmpty, after.first == UInt8(ascii: ">") {
          rest = after.dropFirst()
          continue
        }
      }
      result.append(first)
    }
    return result
  }

  /// Takes other colours; every cell is drawn with them.
  func use(_ palette: Palette) {
    self.palette = palette
    (drawn, look) = (nil, nil)
    substitutes =
      unchanged
      + palette.colorsByNumber.compactMap { number, color in
        guard let asked = unsafe cn_foreground(Int32(number)) else { return nil }
        let bytes = Array(unsafe String(cString: asked).utf8)
        return (bytes, Array("\u{1b}[38;2;\(color.red);\(color.green);\(color.blue)m".utf8))
      }
  }

  /// Puts true colours in place of the numbers that stand for them.
  ///
  /// curses can have them only by changing the terminal's palette, which would have to be put back after every way out.
  private func colored(_ frame: [UInt8]) -> [UInt8] {
    guard !substitutes.isEmpty else { return frame }
    var result: [UInt8] = []
    result.reserveCapacity(frame.count * 3 / 2)
    var rest = frame[...]
    while let escape = rest.firstIndex(of: 0x1b) {
      result += rest[..<escape]
      rest = rest[escape...]
      if let (asked, given) = substitutes.first(where: { rest.starts(with: $0.asked) }) {
        result += given
        rest = rest.dropFirst(asked.count)
      } else {
        result.append(0x1b)
        rest = rest.dropFirst()
      }
    }
    return result + rest
  }

  /// Draws what differs from the last canvas, and returns what to write to the terminal for it, and whether the canvas is shown
  /// as a whole then.
  ///
  /// `room`: How many bytes that may be, roughly; `nil` for a whole picture. The row with the cursor comes first, whatever it
  /// takes; then rows follow as far as there is room, the next time from there on.
  func draw(_ canvas: Canvas, terminal: Size, room: Int?) -> (bytes: [UInt8], isWhole: Bool) {
    if terminal != size {
      // Not resizeterm, which would put a key into an input queue that nobody reads.
      resize_term(Int32(terminal.height), Int32(terminal.width))
      size = terminal
      drawn = nil
      rest = Point(x: 0, y: 0)
    }
    if drawn?.size != canvas.size { drawn = nil }
    guard let room else {
      for y in 0..<size.height { draw(y, of: canvas, isPart: false) }
      drawn = canvas
      update(canvas)
      return (colored(takeBytes()), true)
    }
    if drawn == nil {
      // Cleared first, so that it can come in parts.
      for y in 0..<size.height { drawRow(y, of: canvas, width: 0) }
      drawn = Canvas(canvas.size)
    }
    if let cursor = canvas.cursor, canvas.contains(cursor.x, cursor.y), cursor.y < size.height,
      draw(cursor.y, of: canvas)
    {
      update(canvas)
    }
    let isWhole = drawRows(of: canvas, room: room)
    update(canvas)
    return (colored(takeBytes()), isWhole)
  }

  /// Draws rows that differ until their bytes are too many; whether none is left.
  private func drawRows(of canvas: Canvas, room: Int) -> Bool {
    let height = min(size.height, canvas.size.height)
    var used = 0
    for y in (0..<height).map({ (next + $0) % height }) {
      let cost = cost(of: y, canvas)
      guard cost > 0 else { continue }
      guard used + cost <= room || (used == 0 && room > 0) else {
        next = y
        return false
      }
      draw(y, of: canvas)
      used += cost
    }
    return true
  }

  /// Roughly what a row takes: its glyphs, the way to them, and their colours.
  private func cost(of y: Int, _ canvas: Canvas) -> Int {
    guard let drawn else { return 0 }
    var (cost, last) = (0, (x: -9, style: Style.plain))
    for x in 0..<min(size.width, canvas.size.width) where canvas[x, y] != drawn[x, y] {
      let cell = canvas[x, y]
      cost += cell.glyph.text.utf8.count + (x > last.x + 1 ? 5 : 0) + (cell.style != last.style ? 10 : 0)
      last = (x, cell.style)
    }
    return cost
  }

  /// Draws a row if it differs; whether it did.
  ///
  /// `isPart`: Not all of the canvas is drawn, so the row is noted.
  @discardableResult
  private func draw(_ y: Int, of canvas: Canvas, isPart: Bool = true) -> Bool {
    let isShown = y < canvas.size.height
    var last = 0
    if let drawn, isShown {
      guard let columns = canvas.columns(of: y, unlike: drawn) else { return false }
      last = columns.upperBound
    }
    // A row at a time: half of a wide glyph is never drawn over. curses itself sends only the cells that differ.
    drawRow(y, of: canvas, width: isShown ? min(canvas.size.width, size.width) : 0)
    rest = Point(x: min(size.width - 1, last + 1), y: y)
    if isPart, isShown { drawn?.copyRow(y, from: canvas) }
    return true
  }

  /// Has curses say what to write for what was drawn.
  private func update(_ canvas: Canvas) {
    if let cursor = canvas.cursor, cursor.x >= 0, cursor.y >= 0, cursor.x < size.width, cursor.y < size.height {
      cn_cursor(Int32(cursor.y), Int32(cursor.x), true)
    } else {
      cn_cursor(Int32(rest.y), Int32(rest.x), false)
    }
    cn_update()
  }

  private func drawRow(_ y: Int, of canvas: Canvas, width: Int) {
    var x = 0
    if !isUnicode, width > 0 {
      let row = ASCIIGlyphs.row(canvas.cells[(y * canvas.size.width)...].prefix(width))
      for (place, base) in row.enumerated() { put(DrawnGlyph(base: base), canvas[place, y].style, x: place, y: y) }
      x = row.count
    }
    while x < width {
      let cell = canvas[x, y]
      let room = x + 1 < width && canvas[x + 1, y].glyph.isEmpty ? 2 : 1
      let glyph = DrawnGlyph.resolve(cell.glyph, room: room) { Int(cn_width($0.value)) }
      put(glyph, cell.style, x: x, y: y)
      x += glyph.width
    }
    for x in width..<max(width, size.width) { put(DrawnGlyph(base: " "), .plain, x: x, y: y) }
  }

  private func put(_ glyph: DrawnGlyph, _ style: Style, x: Int, y: Int) {
    let (flags, pair) = look(of: style)
    func mark(_ index: Int) -> UInt32 { index < glyph.marks.count ? glyph.marks[index].value : 0 }
    cn_put(
      Int32(y), Int32(x), glyph.base.value, mark(0), mark(1), mark(2), mark(3), flags, pair)
  }

  private func look(of style: Style) -> (flags: Int32, pair: Int32) {
    if let look, look.style == style { return (look.flags, look.pair) }
    let appearance = palette.appearance(of: style)
    var flags = 0
    if appearance.isBold { flags |= cn_bold }
    if appearance.isDim { flags |= cn_dim }
    if appearance.isUnderlined { flags |= cn_underline }
    if appearance.isReversed { flags |= cn_reverse }
    let pair = pair(appearance.foreground)
    look = (style, Int32(flags), pair)
    return (Int32(flags), pair)
  }

  private func pair(_ foreground: Int?) -> Int32 {
    guard let foreground, foreground < colors else { return 0 }
    // curses keeps the pairs it was asked for and finds them again.
    return max(0, alloc_pair(Int32(foreground), -1))
  }

  /// Has the next drawing send every cell.
  func redrawAll() {
    drawn = nil
    cn_redraw_all()
  }

  /// Ends the drawing for now; the next drawing starts afresh.
  ///
  /// Returns what to write to the terminal.
  func end() -> [UInt8] {
    endwin()
    drawn = nil
    return colored(takeBytes()) + below
  }

  /// Frees everything.
  ///
  /// Nothing may be called afterwards.
  func destroy() {
    unsafe delscreen(screen)
    unsafe fclose(file)
  }

  private func takeBytes() -> [UInt8] {
    unsafe fflush(file)
    // The file keeps its length, and is written over from its beginning.
    let count = Int(lseek(descriptor, 0, SEEK_CUR))
    guard count > 0 else { return [] }
    let bytes = unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
      initialized = unsafe max(0, pread(descriptor, buffer.baseAddress, count, 0))
    }
    lseek(descriptor, 0, SEEK_SET)
    return bytes
  }
}

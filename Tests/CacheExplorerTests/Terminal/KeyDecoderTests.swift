import Testing

@testable import CacheExplorer
@testable import ExplorerModel
@testable import ExplorerState
@testable import ExplorerTerminal

@Suite("Key decoder")
struct KeyDecoderTests {
  private func decode(_ text: String) -> [InputEvent] {
    var decoder = KeyDecoder()
    return decoder.feed(Array(text.utf8))
  }

  @Test(
    "a sequence of any usual terminal is its key",
    arguments: [
      ("\u{1b}[A", .up), ("\u{1b}OA", .up), ("\u{1b}[B", .down), ("\u{1b}OB", .down), ("\u{1b}[C", .right),
      ("\u{1b}[D", .left), ("\u{1b}[1;5C", .right), ("\u{1b}[H", .home), ("\u{1b}OH", .home), ("\u{1b}[1~", .home),
      ("\u{1b}[7~", .home), ("\u{1b}[F", .end), ("\u{1b}OF", .end), ("\u{1b}[4~", .end), ("\u{1b}[8~", .end),
      ("\u{1b}[3~", .delete), ("\u{1b}[5~", .pageUp), ("\u{1b}[6~", .pageDown), ("\u{1b}[Z", .backTab),
      ("\u{1b}OP", .function(1)), ("\u{1b}OQ", .function(2)), ("\u{1b}OR", .function(3)), ("\u{1b}OS", .function(4)),
      ("\u{1b}[11~", .function(1)), ("\u{1b}[[A", .function(1)), ("\u{1b}[[E", .function(5)),
      ("\u{1b}[15~", .function(5)), ("\u{1b}[17~", .function(6)), ("\u{1b}[18~", .function(7)),
      ("\u{1b}[19~", .function(8)), ("\u{1b}[20~", .function(9)), ("\u{1b}[21~", .function(10)),
      ("\u{1b}[23~", .function(11)), ("\u{1b}[24~", .function(12)), ("\u{1b}[24;2~", .function(12)),
      ("\u{1b}Oq", .character("1")), ("\u{1b}OM", .enter),
    ] as [(String, InputEvent.Key)])
  func sequences(text: String, key: InputEvent.Key) {
    #expect(decode(text) == [.key(key)])
  }

  @Test(
    "a control byte is its key",
    arguments: [
      ("\r", .enter), ("\n", .enter), ("\t", .tab), ("\u{8}", .backspace), ("\u{7f}", .backspace),
      ("\u{1}", .control("a")), ("\u{3}", .control("c")), ("\u{c}", .control("l")), ("\u{1a}", .control("z")),
      ("\u{0}", .control("@")),
    ] as [(String, InputEvent.Key)])
  func controls(text: String, key: InputEvent.Key) {
    #expect(decode(text) == [.key(key)])
  }

  @Test("characters of one to four bytes come whole", arguments: ["q", "é", "日", "🚀"])
  func characters(text: String) {
    #expect(decode(text) == [.key(.character(Character(text)))])
  }

  @Test("a character split between two reads comes whole")
  func splitCharacter() {
    var decoder = KeyDecoder()
    let bytes = Array("日".utf8)
    #expect(decoder.feed(bytes[..<2]).isEmpty)
    #expect(decoder.patience != nil)
    #expect(decoder.feed(bytes[2...]) == [.key(.character("日"))])
    #expect(decoder.patience == nil)
  }

  @Test("bytes that are not UTF-8 are left out, and the next key is not lost")
  func invalidBytes() {
    var decoder = KeyDecoder()
    #expect(decoder.feed([0xff, 0xc3, 0x71]) == [.key(.character("q"))])
    #expect(decoder.feed([0xc0, 0x80, 0xed, 0xa0, 0x80, 0x71]) == [.key(.character("q"))])
  }

  @Test("a control character in its two-byte form is no key")
  func c1() {
    #expect(decode("\u{9b}q") == [.key(.character("q"))])
  }

  @Test("Escape alone is known only when nothing follows")
  func loneEscape() {
    var decoder = KeyDecoder()
    #expect(decoder.feed([0x1b]).isEmpty)
    #expect(decoder.patience == .milliseconds(25))
    #expect(decoder.giveUp() == [.key(.escape)])
    #expect(decoder.patience == nil)
  }

  @Test("Escape and a letter in one go are two keys")
  func escapeAndLetter() {
    #expect(decode("\u{1b}q") == [.key(.escape), .key(.character("q"))])
  }

  @Test("Escape twice and an arrow are an Escape and an arrow")
  func escapeEscapeArrow() {
    #expect(decode("\u{1b}\u{1b}[A") == [.key(.escape), .key(.up)])
  }

  @Test("a sequence split at every place is one key")
  func splitSequence() {
    let bytes = Array("\u{1b}[24~".utf8)
    for place in 1..<bytes.count {
      var decoder = KeyDecoder()
      #expect(decoder.feed(bytes[..<place]) + decoder.feed(bytes[place...]) == [.key(.function(12))])
    }
  }

  @Test("a report or an unknown sequence is swallowed whole", arguments: ["\u{1b}[?1;2c", "\u{1b}[2~"])
  func unknown(text: String) {
    #expect(decode(text + "q") == [.key(.character("q"))])
  }

  @Test(
    "an answer that another program asked for is no typing, however it is split",
    arguments: ["\u{1b}]11;rgb:1e1e/dddd/cccc\u{1b}\\", "\u{1b}]52;c;cXE=\u{7}", "\u{1b}P>|term(1)q\u{1b}\\"])
  func texts(text: String) {
    let bytes = Array(text.utf8)
    for place in 1..<bytes.count {
      var decoder = KeyDecoder()
      #expect(decoder.feed(bytes[..<place]) + decoder.feed(bytes[place...]) == [])
      #expect(decoder.feed(Array("j".utf8)) == [.key(.character("j"))])
    }
  }

  @Test("Alt and what begins such an answer are two keys, and an answer without an end keeps none back")
  func endlessTexts() {
    var decoder = KeyDecoder()
    #expect(decoder.feed(Array("\u{1b}P".utf8)) == [])
    #expect(decoder.patience != nil)
    #expect(decoder.giveUp() == [.key(.escape), .key(.character("P"))])
    #expect(decoder.feed(Array(("\u{1b}]" + String(repeating: "x", count: 1_000)).utf8)) == [])
    #expect(decoder.giveUp() == [])
    #expect(decoder.feed(Array("j".utf8)) == [.key(.character("j"))])
  }

  @Test("what begins like such an answer takes no sequence behind it", arguments: ["P", "]11;rgb:1e"])
  func textsCutShort(text: String) {
    var decoder = KeyDecoder()
    #expect(decoder.feed(Array("\u{1b}\(text)\u{1b}[0n\u{1b}\(text)\u{1b}[A".utf8)) == [.key(.up)])
    #expect(decoder.answers == 1)
  }

  @Test("a sequence cut short leaves no characters behind")
  func cutShort() {
    var decoder = KeyDecoder()
    #expect(decoder.feed(Array("\u{1b}[1;5".utf8)).isEmpty)
    #expect(decoder.giveUp().isEmpty)
    #expect(decoder.feed([0x71]) == [.key(.character("q"))])
  }

  @Test("a paste is one event, whatever is in it")
  func paste() {
    #expect(
      decode("\u{1b}[200~a\r\nb\u{1b}[A\u{3}\u{1b}[201~q") == [
        .paste("a\nb\u{1b}[A\u{3}"), .key(.character("q")),
      ])
  }

  @Test("a paste whose end never comes does not swallow the keyboard")
  func endlessPaste() {
    var decoder = KeyDecoder()
    #expect(decoder.feed(Array("\u{1b}[200~abc\u{1b}[20".utf8)).isEmpty)
    #expect(decoder.patience != nil)
    #expect(decoder.giveUp() == [.paste("abc\u{1b}[20")])
    #expect(decoder.feed([0x71]) == [.key(.character("q"))])
  }

  @Test("a paste beyond the limit loses its rest")
  func longPaste() {
    var decoder = KeyDecoder()
    let events = decoder.feed(
      Array("\u{1b}[200~".utf8) + Array(repeating: UInt8(ascii: "a"), count: KeyDecoder.longestPaste + 5)
        + Array("\u{1b}[201~".utf8))
    #expect(events == [.paste(String(repeating: "a", count: KeyDecoder.longestPaste))])
  }

  @Test("the terminal's own description comes before the usual sequences")
  func described() {
    var decoder = KeyDecoder(described: [Array("\u{1b}[P".utf8): .delete, Array("\u{1b}x1".utf8): .pageUp])
    #expect(decoder.feed(Array("\u{1b}[P\u{1b}x1".utf8)) == [.key(.delete), .key(.pageUp)])
  }

  @Test("any bytes at all leave the decoder usable")
  func arbitraryBytes() {
    var generator = Lcg(state: 7)
    for _ in 0..<200 {
      var decoder = KeyDecoder()
      _ = decoder.feed((0..<64).map { _ in generator.next() })
      _ = decoder.giveUp()
      #expect(decoder.feed([0x71]) == [.key(.character("q"))])
    }
  }

  private struct Lcg {
    var state: UInt64
    mutating func next() -> UInt8 {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      // Escape and bracket often, so that sequences begin.
      return switch state >> 60 {
      case 0, 1: 0x1b
      case 2: 0x5b
      default: UInt8(truncatingIfNeeded: state >> 40)
      }
    }
  }
}

#if Redis
import CacheEngineRedis
import Testing

@Suite struct RESPParserTests {
  static let samples: [(String, RESPValue)] = [
    ("+OK\r\n", .text("OK")), ("-ERR no\r\n", .error("ERR no")), (":-12\r\n", .number(-12)),
    ("$5\r\nhe\r\no\r\n", .bytes(Array("he\r\no".utf8))), ("$0\r\n\r\n", .bytes([])), ("$-1\r\n", .null),
    ("_\r\n", .null),
    ("*-1\r\n", .null), ("*0\r\n", .array([])),
    ("*2\r\n*1\r\n:1\r\n*0\r\n", .array([.array([.number(1)]), .array([])])),
    ("%1\r\n+a\r\n*2\r\n:1\r\n:2\r\n", .map([(.text("a"), .array([.number(1), .number(2)]))])), ("%0\r\n", .map([])),
    (">2\r\n$10\r\ninvalidate\r\n_\r\n", .push([.bytes(Array("invalidate".utf8)), .null])),
    ("#t\r\n", .boolean(true)),
    (",1.5\r\n", .double(1.5)), (",inf\r\n", .double(.infinity)), ("=6\r\ntxt:ab\r\n", .bytes(Array("ab".utf8))),
    ("!5\r\nERR x\r\n", .error("ERR x")), ("(123456789012345678901\r\n", .text("123456789012345678901")),
    ("~1\r\n#f\r\n", .array([.boolean(false)])),
  ]

  @Test("every kind of value is read, however its bytes are cut, and the next one begins where it ends")
  func kinds() throws {
    let all = Self.samples.map(\.0).joined()
    for size in [1, 2, 3, 7, all.utf8.count] {
      var parser = RESPParser()
      var values: [RESPValue] = []
      var rest = Array(all.utf8)[...]
      while !rest.isEmpty {
        parser.append(rest.prefix(size))
        rest = rest.dropFirst(size)
        while let value = try parser.next() { values.append(value) }
      }
      #expect(values == Self.samples.map(\.1), "pieces of \(size)")
    }
  }

  @Test(
    "what is no reply, or beyond the limits, is refused and never crashes",
    arguments: [
      "HTTP/1.1 400 Bad Request\r\n", "$5\r\nhelloXX", "$x\r\n", "$-2\r\n", "*-2\r\n", "*9999999\r\n", "$9999\r\n",
      "+no\rend", "\r\n", "*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n", "$99999999999999999999\r\n", "%99999999999999\r\n",
      ":x\r\n", "#y\r\n", ",z\r\n", "\u{0}\u{0}\u{0}",
    ])
  func malformed(text: String) {
    #expect(throws: RESPParser.Malformed.self) {
      var parser = RESPParser(limits: .init(bytes: 1_000, depth: 4))
      parser.append(text.utf8)
      while try parser.next() != nil {}
    }
  }

  @Test("where no reply is too long, one that claims to be longer than any can be is refused all the same")
  func longest() {
    for head in ["$\(Int.max - 1)", "$\(Int.max)", "*\(Int.max)"] {
      #expect(throws: RESPParser.Malformed.self) {
        var parser = RESPParser(limits: .init(bytes: .max))
        parser.append("\(head)\r\n".utf8)
        _ = try parser.next()
      }
    }
  }

  @Test("bytes made up by lot end in values, in a refusal, or in waiting for more")
  func random() {
    var generator = SystemRandomNumberGenerator()
    for _ in 0..<20_000 {
      var parser = RESPParser(limits: .init(bytes: 4_096, depth: 4))
      let length = Int.random(in: 0..<40, using: &generator)
      let alphabet = Array("+-:$*%~>_#,=!(\r\n0123456789abt".utf8)
      parser.append((0..<length).map { _ in alphabet.randomElement(using: &generator) ?? 0 })
      do { while try parser.next() != nil {} } catch {}
    }
  }

  @Test("a long line that comes byte by byte is looked through once", .timeLimit(.minutes(1)))
  func slowLines() throws {
    var parser = RESPParser()
    let line = [UInt8](repeating: 0x78, count: 60_000)
    for _ in 0..<3 {
      for byte in [UInt8(ascii: "+")] + line + [13] {
        parser.append(CollectionOfOne(byte))
        #expect(try parser.next() == nil)
      }
      parser.append(CollectionOfOne(10))
      #expect(try parser.next() == .text(String(decoding: line, as: UTF8.self)))
    }
  }

  @Test("a reply that is there in part stays where it is when a long one before it goes")
  func partBehindLong() throws {
    var parser = RESPParser()
    let long = [UInt8](repeating: 0x78, count: 70_000)
    parser.append(Array("$70000\r\n".utf8) + long + Array("\r\n*2\r\n:1\r\n".utf8))
    #expect(try parser.next() == .bytes(long))
    #expect(try parser.next() == nil)
    parser.append(Array(":2\r\n".utf8))
    #expect(try parser.next() == .array([.number(1), .number(2)]))
  }

  @Test("a reply that grows without an end is refused before it fills the memory")
  func endless() {
    #expect(throws: RESPParser.Malformed.self) {
      var parser = RESPParser(limits: .init(bytes: 100_000, depth: 4))
      parser.append("*30000\r\n".utf8)
      for _ in 0..<30_000 {
        parser.append("$10\r\n0123456789\r\n".utf8)
        _ = try parser.next()
      }
    }
  }
}
#endif

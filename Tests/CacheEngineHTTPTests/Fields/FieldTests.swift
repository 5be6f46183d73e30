#if HTTP
import CacheEngineHTTP
import HTTPTypes
import Testing

@Suite("Field values")
struct FieldTests {
  @Test(
    "N11: lists fall apart at commas outside quotes",
    arguments: [
      ("a, b ,c", ["a", "b", "c"]), (",, a,\t,", ["a"]), ("a=\"b, c\", d", ["a=\"b, c\"", "d"]),
      ("a=\"b\\\", c\", d", ["a=\"b\\\", c\"", "d"]), ("a=\"b, no-store", ["a=\"b", "no-store"]), ("", []),
    ])
  func lists(_ text: String, _ members: [String]) {
    #expect(FieldList.members(of: text).map(String.init) == members)
  }

  @Test("N11: directives are found in any case, on several lines, with empty elements and quoted arguments")
  func directives() {
    let control = CacheControl(["MAX-age=\"7\", , foo", " Private=\"x-a, X-B\" ,no-store=1"])
    #expect(control.seconds("max-age") == 7)
    #expect(control.has("no-store"))
    #expect(control.fields("private") == [HTTPField.Name("X-A")!, HTTPField.Name("x-b")!])
    #expect(!control.isUnqualified("private"))
    #expect(!control.has("single"))
    #expect(CacheControl(["max-age='7'"]).seconds("max-age") == 0)
    #expect(CacheControl(["x=\"no-store\""]).has("no-store") == false)
    #expect(CacheControl(["x=\"y, no-store"]).has("no-store"))
  }

  @Test(
    "N12: what is no number of seconds is none, and the first of duplicates counts",
    arguments: [
      ("max-age=-1", 0), ("max-age=1.5", 0), ("max-age=x", 0), ("max-age=", 0), ("max-age", 0), ("max-age=1 0", 0),
      ("max-age =10", 0), ("max-age= 10", 0), ("max-age=010", 10), ("max-age=99999999999999999999999", 1 << 31),
      ("max-age=5, max-age=9", 5), ("max-age=\"5", 0),
    ])
  func seconds(_ text: String, _ seconds: Int) {
    #expect(CacheControl([text]).seconds("max-age") == seconds)
  }

  @Test("N11: lists of names that cannot be read count for the whole response")
  func unreadableNames() {
    #expect(CacheControl(["private=\"a b\""]).isUnqualified("private"))
    #expect(CacheControl(["no-cache=\"\""]).isUnqualified("no-cache"))
    #expect(CacheControl(["private=\"x"]).isUnqualified("private"))
    #expect(CacheControl(["private=\u{301}\"x\""]).isUnqualified("private"))
    #expect(CacheControl(["no-cache=x-a", "no-cache=\"x-b, x-c\""]).fields("no-cache")?.count == 3)
    for lines in [["no-cache=x-a", "no-cache"], ["no-cache", "no-cache=x-a"], ["no-cache=\"\"", "no-cache=x-a"]] {
      #expect(CacheControl(lines).isUnqualified("no-cache"))
    }
  }

  @Test(
    "N4, N7: what says how to read a response and how long to keep it is not hidden from the rest",
    arguments: [
      "Cache-Control", "CDN-Cache-Control", "expires", "date", "Age", "Vary", "Content-Length", "Content-Encoding",
    ])
  func neverHidden(_ name: String) {
    for directive in ["no-cache", "private"] {
      #expect(CacheControl(["\(directive)=\"x-a, \(name)\", max-age=1"]).isUnqualified(directive))
    }
    var fields = HTTPFields(lines: ["\(name): 1", "Connection: \(name)"])
    ConnectionFields.remove(from: &fields)
    #expect(fields == HTTPFields(lines: ["\(name): 1"]))
  }

  @Test(
    "N13: dates have three forms and no others",
    arguments: [
      ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777), ("sun, 06 nov 1994 08:49:37 gmt", 784_111_777),
      ("Sunday, 06-Nov-94 08:49:37 GMT", 784_111_777), ("Sun Nov  6 08:49:37 1994", 784_111_777),
      ("Wed Nov 16 08:49:37 1994", 784_975_777), ("Thu, 01 Jan 1970 00:00:00 GMT", 0),
      ("Thu, 29 Feb 2024 00:00:00 GMT", 1_709_164_800), ("Sat, 31 Dec 2016 23:59:60 GMT", 1_483_228_800),
      ("Saturday, 01-Jan-75 00:00:00 GMT", 3_313_526_400), ("Friday, 01-Jan-77 00:00:00 GMT", 220_924_800),
      ("0", nil), ("-1", nil), ("", nil), ("Sun, 06 Nov 1994 08:49:37 UTC", nil), ("Sun, 06 Nov 1994 08:49:37", nil),
      ("Sun, 6 Nov 1994 08:49:37 GMT", nil), ("Sun, 06 Nov 94 08:49:37 GMT", nil), ("06 Nov 1994 08:49:37 GMT", nil),
      ("Sun, 06 Nov 1994 8:49:37 GMT", nil), ("Sun, 06  Nov 1994 08:49:37 GMT", nil),
      ("Sun, 06 Nov 1994 08.49.37 GMT", nil),
      ("Thu, 29 Feb 2023 00:00:00 GMT", nil), ("Sun, 06 Nov 1994 24:00:00 GMT", nil),
      ("Sun 06 Nov 1994 08:49:37 GMT", nil),
      ("Sun, 06 Nov 1994 08:49:37 GMT, x", nil), ("Sun, 00 Nov 1994 08:49:37 GMT", nil),
    ] as [(String, Int?)])
  func dates(_ text: String, _ seconds: Int?) {
    #expect(HTTPDate(text, now: newYear)?.seconds == seconds)
  }

  @Test("N13: a date that is written is read as itself")
  func writtenDates() {
    var chance = Chance(seed: 13)
    for _ in 0..<20_000 {
      let seconds = Int.random(in: -62_135_596_800...253_402_300_799, using: &chance)
      #expect(HTTPDate(HTTPDate(seconds: seconds).description, now: newYear)?.seconds == seconds)
    }
    #expect(HTTPDate(seconds: 784_111_777).description == "Sun, 06 Nov 1994 08:49:37 GMT")
  }

  @Test("N28: entity tags are compared weakly and strongly, and a backslash is one")
  func entityTags() {
    #expect(
      EntityTag.list("\"a,b\", W/\"c\\\",\"d\", e") == ["\"a,b\"", "W/\"c\\\"", "\"d\"", "e"].map { EntityTag($0) })
    #expect(EntityTag.list("\"\u{301}\", \"b\"") == ["\"\u{301}\"", "\"b\""].map { EntityTag($0) })
    #expect(EntityTag("W/\"a\"").matchesWeakly(EntityTag("\"a\"")))
    #expect(!EntityTag("W/\"a\"").matchesStrongly(EntityTag("W/\"a\"")))
    #expect(EntityTag("\"a\"").matchesStrongly(EntityTag("\"a\"")))
    #expect(!EntityTag("w/\"a\"").matchesWeakly(EntityTag("\"a\"")))
    // To a string, the accent belongs to the character before it.
    #expect(!EntityTag("W/\u{301}").matchesStrongly(EntityTag("W/\u{301}")))
    #expect(EntityTag("W/\u{301}").matchesWeakly(EntityTag("\u{301}")))
    // What looks the same and has other bytes is another tag.
    for (left, right) in [("\"K\"", "\"\u{212A}\""), ("\"\u{E9}\"", "\"e\u{301}\"")] {
      #expect(!EntityTag(left).matchesWeakly(EntityTag(right)) && !EntityTag(left).matchesStrongly(EntityTag(right)))
    }
  }

  @Test("N7: fields of the connection go no further, nor do those that it names")
  func connectionFields() {
    var fields = HTTPFields(lines: [
      "Connection: close, X-A", "connection: x-b, Cache-Control", "X-A: 1", "X-B: 1", "X-C: 1", "Keep-Alive: 1",
      "TE: x",
      "Transfer-Encoding: chunked", "Upgrade: h2c", "Proxy-Authenticate: x", "Proxy-Authentication-Info: x",
      "Proxy-Authorization: x", "Proxy-Connection: x", "Cache-Control: no-store", "Trailer: x",
    ])
    ConnectionFields.remove(from: &fields)
    #expect(fields == HTTPFields(lines: ["X-C: 1", "Cache-Control: no-store", "Trailer: x"]))
  }

  @Test(
    "N22: a target is keyed and forwarded in one form",
    arguments: [
      ("HTTP", "Example.ORG:80", "", "http://example.org/"), ("https", "a:443", "/x?y", "https://a/x?y"),
      ("http", "a:8080", "?q", "http://a:8080/?q"), ("http", "a:", "/%7Ea/%2f%e4", "http://a/~a/%2F%E4"),
      ("http", "a", "/x/../y/./z?%7E/../", "http://a/y/z?%7E/../"), ("http", "a", "/x/%2e%2E/y", "http://a/y"),
      ("http", "a", "/../..", "http://a/"), ("http", "a", "/x/.", "http://a/x/"),
      ("http", "a", "//x//", "http://a//x//"),
      ("http", "[::1]:80", "/", "http://[::1]/"), ("http", "a", "/%zz%", "http://a/%zz%"),
      ("http", "a", "/x/..y", "http://a/x/..y"),
      ("ftp", "a", "/", nil), ("http", "", "/", nil), ("http", "u@a", "/", nil), ("http", "a b", "/", nil),
      ("http", "a:0", "/", nil), ("http", "a:99999", "/", nil), ("http", "a:x", "/", nil), ("http", "a", "x", nil),
      ("http", "a", "/ x", nil), ("http", "a", "/#x", nil), ("http", "[::1", "/", nil), ("http", "a[", "/", nil),
      ("http", "a:1:2", "/", nil), ("http", "[]", "/", nil), ("http", "[::1]x", "/", nil), ("http", ":80", "/", nil),
      (nil, "a", "/", nil), ("http", nil, "/", nil),
    ] as [(String?, String?, String, String?)])
  func targets(_ scheme: String?, _ authority: String?, _ path: String, _ text: String?) throws {
    let target = TargetURI(scheme: scheme, authority: authority, path: path)
    #expect(target?.text == text)
    if let target {
      #expect(TargetURI(scheme: target.scheme, authority: target.authority, path: target.path) == target)
    }
  }

  @Test(
    "N31: references are read from where they stand, and those to other origins are none",
    arguments: [
      ("/b", "/b"), ("b", "/x/b"), ("../b", "/b"), ("?q", "/x/y?q"), ("", "/x/y?z"), ("http://A:80/c", "/c"),
      ("//a/d", "/d"),
      ("#f", "/x/y?z"), ("/b#\u{301}f", "/b"), ("https://a/b", nil), ("http://b/", nil), ("http://a:8080/", nil),
      ("mailto:x", nil),
    ] as [(String, String?)])
  func references(_ reference: String, _ path: String?) throws {
    let base = try #require(TargetURI(scheme: "http", authority: "a", path: "/x/y?z"))
    #expect(TargetURI(reference: reference, from: base)?.path == path)
  }

  @Test("Parsers of foreign text end, whatever it is, and never give more than they were given")
  func hostileText() {
    var chance = Chance(seed: 7)
    let pieces = [
      "\"", "\\", ",", "=", " ", "\t", ";", "-", "max-age", "private", "no-cache", "no-store", "9",
      "99999999999999999999", "W/",
      "GMT", "Sun", ":", "ü", "\u{0}", "%", "%2", "/..", "//", "[", "]", "@", "?", "bytes=", "(", ")", "?1", "@1",
      "*", "x",
    ]
    for _ in 0..<30_000 {
      let text = (0..<Int.random(in: 0...12, using: &chance)).map { _ in chance.one(of: pieces) }.joined()
      let members = FieldList.members(of: text)
      #expect(members.reduce(0) { $0 + $1.utf8.count } <= text.utf8.count)
      for control in [CacheControl([text]), CacheControl(targeted: [text])].compactMap(\.self) {
        for name in ["max-age", "private", "no-cache"] {
          if let seconds = control.seconds(name) { #expect((0...(1 << 31)).contains(seconds)) }
          // A restriction is never read as narrower than it may be meant.
          if control.has(name) { #expect(control.isUnqualified(name) || control.fields(name)?.isEmpty == false) }
        }
      }
      if let date = HTTPDate(text, now: newYear) { #expect(HTTPDate(date.description, now: newYear) == date) }
      for tag in EntityTag.list(text) { #expect(!tag.text.isEmpty) }
      if let target = TargetURI(scheme: "http", authority: "a", path: text) {
        #expect(TargetURI(scheme: "http", authority: "a", path: target.path) == target)
      }
      if let authority = TargetURI.authority(text, scheme: "http") {
        #expect(TargetURI.authority(authority, scheme: "http") == authority)
      }
      if case .part(let part)? = ByteRange([text], of: 10) { #expect(!part.isEmpty && part.upperBound <= 10) }
    }
  }
}
#endif

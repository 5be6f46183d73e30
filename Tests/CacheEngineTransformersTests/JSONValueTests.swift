import CacheEngineTesting
import CacheEngine
import Foundation
import Testing

@Suite struct JSONValueTests {
  let transformer = JSONValueTransformer()

  private func parse(_ text: String) async throws -> JSONValue { try await transformer.transform(Data(text.utf8)) }

  private func write(_ value: JSONValue) async throws -> String {
    String(decoding: try await transformer.inverseTransform(value), as: UTF8.self)
  }

  @Test("C115 arrays and objects parse to their elements")
  func parses() async throws {
    let value = try await parse(#" {"name": "Ada", "tags": [1, -2.5, true, null, {}], "n": {"o": ""}} "#)
    #expect(value == ["name": "Ada", "tags": [1, -2.5, true, nil, [:]], "n": ["o": ""]])
    #expect(value["tags"]?[1] == -2.5)
    #expect(value["n"]?["o"] == "")
    #expect(value["tags"]?[5] == nil)
    #expect(value["absent"] == nil)
    #expect(value[0] == nil)
  }

  @Test(
    "C115 fragments parse too",
    arguments: [("1", 1), ("-0.5", -0.5), ("true", true), ("null", nil), (#""a\u00e9""#, "a\u{e9}"), ("[]", [])]
      as [(String, JSONValue)])
  func fragments(_ text: String, _ value: JSONValue) async throws {
    #expect(try await parse(text) == value)
    #expect(try await parse(try await write(value)) == value)
  }

  @Test("C116 what is written parses back equal, and equal objects make equal bytes")
  func writes() async throws {
    let value: JSONValue = ["b": [1, 2.5, "x\u{0}\n\"", false, nil], "a": ["c": [[]], "camelCase_x": [:]]]
    let text = try await write(value)
    #expect(text == #"{"a":{"c":[[]],"camelCase_x":{}},"b":[1,2.5,"x\u0000\n\"",false,null]}"#)
    #expect(try await parse(text) == value)
  }

  @Test("C116 whole numbers are kept exactly, and a whole number equals the same number with a point")
  func numbers() async throws {
    for number in [Int64.min, -1, 0, 9_007_199_254_740_993, Int64.max] {
      #expect(try await parse(try await write(.integer(number))) == .integer(number))
    }
    #expect(try await parse("1.0") == .integer(1))
    #expect(JSONValue.number(3) == .integer(3))
    #expect(JSONValue.number(3).hashValue == JSONValue.integer(3).hashValue)
    #expect(JSONValue.number(0.1) != .integer(0))
    #expect(try await parse("18446744073709551615") == .number(18_446_744_073_709_551_616))
  }

  @Test(
    "C115 invalid bytes fail",
    arguments: ["", " ", "[1,,2]", "{\"a\"}", "nul", "[1] 2", "'a'", "1e999", "[\"\\ud800\"]", "\u{1}", "{1:2}"])
  func invalid(_ text: String) async {
    let error = await #expect(throws: CacheError.self) { try await parse(text) }
    #expect(error?.code == .invalidCachedData)
  }

  @Test("C117 nesting is followed to its limit and fails beyond, read and written")
  func depth() async throws {
    func nested(_ depth: Int) -> JSONValue { (1..<depth).reduce([]) { inner, _ in [inner] } }
    func text(_ depth: Int) -> String {
      String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
    }
    let limit = JSONValue.maximumDepth
    #expect(try await parse(text(limit)) == nested(limit))
    #expect(try await write(nested(limit)) == text(limit))
    for depth in [limit + 1, 600, 100_000] {
      let reading = await #expect(throws: CacheError.self) { try await parse(text(depth)) }
      #expect(reading?.code == .invalidCachedData)
    }
    let writing = await #expect(throws: CacheError.self) { try await write(nested(limit + 1)) }
    #expect(writing?.code == .encodingFailed)
    let objects = String(repeating: "{\"a\":", count: 300) + "1" + String(repeating: "}", count: 300)
    await #expect(throws: CacheError.self) { try await parse(objects) }
  }

  @Test("C115 C117 damaged JSON gives a value or an error")
  func fuzz() async throws {
    var random = SeededGenerator(seed: 7)
    let valid = Array(#"{"name":"Ad\u00e9a","tags":[1,-2.5e3,true,null,{"x":[[]]}],"n":{"o":"é💾"}}"#.utf8)
    let alphabet = Array("[]{}\",:\\u0e+-.1tfn \u{0}é".utf8)
    for _ in 0..<2_000 {
      var bytes = valid
      for _ in 0..<Int.random(in: 1...4, using: &random) {
        bytes[Int.random(in: bytes.indices, using: &random)] = try #require(alphabet.randomElement(using: &random))
      }
      if Bool.random(using: &random) { bytes.removeLast(Int.random(in: 0..<bytes.count, using: &random)) }
      do {
        let value = try await transformer.transform(Data(bytes))
        #expect(try await transformer.transform(try await transformer.inverseTransform(value)) == value)
      } catch let error as CacheError {
        #expect(error.code == .invalidCachedData)
      }
    }
  }
}

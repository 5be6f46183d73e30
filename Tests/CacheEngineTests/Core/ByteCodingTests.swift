import CacheEngine
import Foundation
import Testing

@Suite struct ByteCodingTests {
  private struct Hidden: Codable {}

  @Test("a URL is stored by its absolute text, and read back from it")
  func urls() throws {
    let base = try #require(URL(string: "https://example.org/a/"))
    let url = try #require(URL(string: "b?c#d", relativeTo: base))
    let bytes = try ByteCoding<URL>.url.encode(url)
    #expect(String(decoding: bytes, as: UTF8.self) == "https://example.org/a/b?c#d")
    #expect(try ByteCoding<URL>.url.decode(bytes) == url.absoluteURL)
    let error = #expect(throws: CacheError.self) { try ByteCoding<URL>.url.decode(Data([0xff])) }
    #expect(error?.code == .invalidCachedData)
  }

  @Test("the name that a type is stored under has no address in it, also if the type is private or local")
  func stableNames() {
    struct Local: Codable {}
    #expect(ByteCoding<Hidden>.json.name == "json/CacheEngineTests.ByteCodingTests.Hidden")
    #expect(ByteCoding<[Local?]>.json.name.hasSuffix("Local>>"))
    #expect(!ByteCoding<[Local?]>.json.name.contains("$"))
    #expect(ByteCoding<[String: Int]>.json.name == "json/Swift.Dictionary<Swift.String, Swift.Int>")
  }
}

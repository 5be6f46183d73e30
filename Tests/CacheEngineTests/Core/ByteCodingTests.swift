import CacheEngine
import Foundation
import Testing

@Suite struct ByteCodingTests {
  private struct Hidden: Codable {}

  @Test("the name that a type is stored under has no address in it, also if the type is private or local")
  func stableNames() {
    struct Local: Codable {}
    #expect(ByteCoding<Hidden>.json.name == "json/CacheEngineTests.ByteCodingTests.Hidden")
    #expect(ByteCoding<[Local?]>.json.name.hasSuffix("Local>>"))
    #expect(!ByteCoding<[Local?]>.json.name.contains("$"))
    #expect(ByteCoding<[String: Int]>.json.name == "json/Swift.Dictionary<Swift.String, Swift.Int>")
  }
}

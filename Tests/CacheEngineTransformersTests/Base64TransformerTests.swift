import CacheEngine
import Foundation
import Testing

@Suite struct Base64TransformerTests {
  let transformer = Base64Transformer()

  @Test(
    "C106 text becomes bytes and the same text again",
    arguments: [("", Data()), ("Zg==", Data("f".utf8)), ("Zm9vYg==", Data("foob".utf8)), ("+/8=", Data([0xfb, 0xff]))])
  func roundTrips(_ text: String, _ data: Data) async throws {
    #expect(try await transformer.transform(text) == data)
    #expect(await transformer.inverseTransform(data) == text)
  }

  @Test(
    "C106 text that is not Base64 fails",
    arguments: ["Zg", "Zg=", "Z", "Zm9v\nYg==", "Zm9 v", "-_8=", "=", "Zg==Zg==", "é"])
  func refuses(_ text: String) async {
    let error = await #expect(throws: CacheError.self) { try await transformer.transform(text) }
    #expect(error?.code == .invalidCachedData)
  }
}

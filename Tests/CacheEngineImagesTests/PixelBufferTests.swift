import CacheEngine
import CacheEngineImages
import Testing

@Suite struct PixelBufferTests {
  @Test("C122 C128 an image costs its bytes")
  func cost() {
    #expect(PixelBuffer(width: 3, height: 2, bytes: [UInt8](repeating: 7, count: 24)).cost == 24)
  }

  @Test("C122 C128 a memory level weighs images by their bytes")
  func weighs() async throws {
    let level = MemoryCacheLevel<String, PixelBuffer>(capacity: 100)
    let image = PixelBuffer(width: 4, height: 4, bytes: [UInt8](repeating: 1, count: 64))
    try await level.set(image, forKey: "a")
    try await level.set(image, forKey: "b")
    #expect(try await level.get("a") == nil)
    #expect(try await level.get("b") == image)
  }
}

import CacheEngine
import CacheEngineProviders
import CacheEngineImages
import Foundation
import LoopbackServer
import Testing

@Suite(.timeLimit(.minutes(10))) struct ImageCacheTests {
  @Test("C153 C154 an image is fetched once for all who ask, decoded, held as pixels and kept as it came")
  func imageCache() async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    let folder = FileManager.default.temporaryDirectory.appending(path: "images-\(UUID())").path
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let image = PixelBuffer(width: 2, height: 1, bytes: [255, 0, 0, 255, 0, 0, 255, 255])
    server.setValue(try await ImageTransformer().inverseTransform(image), forPath: "/a.png")
    server.setValue(Data("no image".utf8), forPath: "/b.png")
    let configuration = CacheProvider.Configuration(directory: folder, diskCapacity: 4 << 20)
    let cache = try CacheProvider.imageCache(ImageTransformer(), configuration)
    let found = try await withThrowingTaskGroup(of: PixelBuffer?.self) { group in
      for _ in 0..<10 { group.addTask { try await cache.get(server.url("/a.png")) } }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    #expect(found == Array(repeating: image, count: 10))
    #expect(server.requestCount() == 1)
    #expect(cache.peek(server.url("/a.png")) == image)
    let again = try CacheProvider.imageCache(configuration)
    #expect(again !== cache)
    #expect(try await again.get(server.url("/a.png")) == image)
    #expect(server.requestCount() == 1)
    let error = await #expect(throws: CacheError.self) { try await cache.get(server.url("/b.png")) }
    #expect(error?.code == .invalidCachedData)
  }
}

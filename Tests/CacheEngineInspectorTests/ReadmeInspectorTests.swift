import CacheEngine
import CacheEngineInspector
import Foundation
import Testing

/// The example of the inspector's first page, word for word.
@Suite(.timeLimit(.minutes(10))) struct ReadmeInspectorTests {
  @Test("the example of the documentation serves a cache that can be attached to")
  func serving() async throws {
    let folder = try SocketFolder()
    let socket = folder.socket
    let memory = MemoryCacheLevel<String, Data>(capacity: 1 << 20)
    let disk = try DiskCacheLevel<String, Data>(directory: folder.path + "/disk", capacity: 4 << 20)

    // README
    let inspector = CacheInspector()
    let cache = memory.observed(as: "memory", by: inspector)
      .compose(disk.observed(as: "disk", by: inspector))
      .pooled(observer: inspector).traced(by: inspector)
    let serving = try CacheInspector.serve(cache, at: socket)
    // end

    let visitor = try await Visitor(socket)
    #expect(visitor.client.welcome.levels.map(\.name) == ["memory", "disk"])
    #expect(!visitor.client.welcome.allowsWrites)
    visitor.client.close()
    serving.close()
    try await disk.close()
  }
}

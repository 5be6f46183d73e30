import CacheEngine
import Foundation
import Testing

@Suite struct StandardDirectoryTests {
  @Test("a disk level that is told no directory has one among the user's caches, beside those of the providers")
  func disk() throws {
    // Not opened: the user's own caches are no place for a test.
    _ = { () throws in try DiskCacheLevel<String, Data>() }
    let path = DiskCacheLevel<String, Data>.standardDirectory
    let caches = try #require(FileManager.default.urls(for: .cachesDirectory, in: .userDomainMask).first)
    #expect(path.hasPrefix(caches.path))
    #expect(path.hasSuffix("/disk"))
  }
}

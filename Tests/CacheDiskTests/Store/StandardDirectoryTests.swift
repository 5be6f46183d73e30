import CacheEngine
import Foundation
import TestSupport
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

  @Test(
    "a path that is empty or ends early for the system is refused, however the directory is opened",
    arguments: ["", DiskFolder().path + "\0/b"])
  func noPath(path: String) async throws {
    let refused = CacheError.Code.invalidSetting
    await #expect { try await DiskCacheInspection.open(path) } throws: { ($0 as? CacheError)?.code == refused }
    for access in [StoreAccess.readWrite, .readOnly] {
      #expect { try DiskCacheLevel<String, Data>(directory: path, access: access) } throws: {
        ($0 as? CacheError)?.code == refused
      }
    }
    #expect { try DiskCacheLevel<String, Data>(directory: path, sharing: .acrossProcesses) } throws: {
      ($0 as? CacheError)?.code == refused
    }
    #expect { try UserDefaultsCacheLevel<String, Int>(domain: "a", directory: path) } throws: {
      ($0 as? CacheError)?.code == refused
    }
  }
}

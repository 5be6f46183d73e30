import CacheEngine
import CacheEngineStorage
import CacheEngineTesting
import Foundation
import TestSupport
import Testing

@Suite struct StorageOldNamesTests {
  let bench = StorageBench()

  @available(*, deprecated)
  @Test("a program that was written for hyperoslo/Cache compiles under the names that it knows")
  func oldNames() throws {
    let config = DiskConfig(name: "old", maxSize: UInt(1 << 20), directory: URL(filePath: bench.folder.path))
    #expect(config.path == bench.folder.path + "/old")
    let storage = try bench.open(Data.self, disk: config)
    let numbers = storage.transformCodable(ofType: Int.self)
    let (all, keys) = (Witness<StorageChange<String>>(), Witness<KeyChange<Int>>())
    numbers.addStorageObserver(all) { observer, storage, change in
      if (try? storage.existsObject(forKey: "a")) == true { observer.see(change) }
    }
    numbers.addObserver(keys, forKey: "a") { observer, _, change in observer.see(change) }
    try numbers.setObject(1, forKey: "a")
    numbers.removeObserver(forKey: "a")
    try numbers.setObject(2, forKey: "a")
    #expect(all.seen == [.add("a"), .add("a")])
    #expect(keys.seen == [.edit(before: nil, after: 1)])
    #expect(try numbers.entry(forKey: "a")?.isExpired == false)
    try storage.close()
  }
}

import CacheEngine
import CacheEngineStorage
import CacheEngineTesting
import Foundation
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10))) struct StorageDiskTests {
  typealias User = StorageBench.User
  let bench = StorageBench()

  private var names: [String] { (try? FileManager.default.contentsOfDirectory(atPath: bench.path)) ?? [] }

  @Test("H15 opening makes the folder, in the given directory or in the caches")
  func folders() throws {
    let storage = try bench.open()
    #expect(storage.path == bench.path)
    #expect(FileManager.default.fileExists(atPath: bench.path))
    let name = "cacheengine-test-\(UUID().uuidString)"
    let cached = try bench.open(User.self, disk: DiskConfig(name: name))
    let path = try #require(cached.path)
    defer { try? FileManager.default.removeItem(atPath: path) }
    let caches = try #require(FileManager.default.urls(for: .cachesDirectory, in: .userDomainMask).first)
    #expect(path == caches.appending(path: name).path)
    #expect(FileManager.default.fileExists(atPath: path))
    try cached.close()
    try storage.close()
  }

  @Test("a folder's name is one component of a path", arguments: ["", ".", "..", "a/b", "../a", "a\0b", "../\u{301}"])
  func hostileNames(name: String) throws {
    let error = #expect(throws: CacheError.self) {
      try bench.open(User.self, disk: DiskConfig(name: name, directory: bench.folder.path))
    }
    #expect(error?.code == .unusableStore)
  }

  @Test("a directory without a path is refused", arguments: ["", "\0"])
  func noPath(directory: String) throws {
    let error = #expect(throws: CacheError.self) {
      try bench.open(User.self, disk: DiskConfig(name: "a", directory: directory))
    }
    #expect(error?.code == .invalidSetting)
  }

  @Test("H16 H17 H25 what is stored is in the folder, and reads back with its expiry after reopening")
  func persists() throws {
    let first = try bench.open(memory: nil)
    try first.setObject(bench.ada, forKey: "ada", expiry: .seconds(60))
    let entry = try #require(try first.entry(forKey: "ada"))
    #expect(entry.level == "disk")
    #expect(entry.deadline == bench.clock.now.advanced(by: .seconds(60)))
    let all = try names.map { try Data(contentsOf: URL(filePath: bench.path + "/" + $0)) }
    #expect(all.contains { $0.range(of: Data("\"Ada\"".utf8)) != nil })
    try first.close()
    bench.clock.advance(by: .seconds(20))
    let second = try bench.open()
    #expect(try second.entry(forKey: "ada")?.deadline == bench.clock.now.advanced(by: .seconds(40)))
    #expect(try second.object(forKey: "ada") == bench.ada)
    bench.clock.advance(by: .seconds(40))
    #expect(try second.object(forKey: "ada") == nil)
    try second.close()
  }

  @Test("H18 H20 a removed value is gone for good; remove-all leaves a folder that holds nothing, also the second time")
  func removes() throws {
    let storage = try bench.open()
    for key in ["a", "b"] { try storage.setObject(bench.ada, forKey: key) }
    try storage.removeObject(forKey: "a")
    #expect(try storage.allKeys == ["b"])
    try storage.removeAll()
    try storage.removeAll()
    #expect(storage.diskUsage?.count == 0)
    #expect(FileManager.default.fileExists(atPath: bench.path))
    try storage.close()
    let again = try bench.open()
    #expect(try again.allKeys == [])
    let bytes = try names.filter { $0.hasPrefix("log-") }.map {
      try Data(contentsOf: URL(filePath: bench.path + "/" + $0))
    }
    #expect(!bytes.contains { $0.range(of: Data("\"Ada\"".utf8)) != nil })
    try again.close()
  }

  @Test("H19 H21 clearing expired objects removes what is past its date, and nothing else")
  func clearsExpired() throws {
    let storage = try bench.open(memory: nil)
    try storage.setObject(bench.ada, forKey: "a", expiry: .seconds(1))
    try storage.setObject(bench.ada, forKey: "b", expiry: .seconds(3))
    #expect(try storage.isExpiredObject(forKey: "a") == false)
    bench.clock.advance(by: .seconds(2))
    #expect(try storage.isExpiredObject(forKey: "a"))
    #expect(try storage.removeExpiredObjects() == 1)
    #expect(storage.diskUsage?.count == 1)
    #expect(try storage.object(forKey: "b") == bench.ada)
    try storage.close()
  }

  @Test("H22 H32 no file is named after a key, so any key works: with an extension, as a path, very long")
  func keys() throws {
    let storage = try bench.open(Int.self, memory: nil)
    let keys = ["photo.png", "../escape", "https://example.org/" + String(repeating: "a/", count: 20_000) + "?q=é", ""]
    for (number, key) in keys.enumerated() { try storage.setObject(number, forKey: key) }
    for (number, key) in keys.enumerated() { #expect(try storage.object(forKey: key) == number) }
    #expect(names.allSatisfy { name in ["lock", "index"].contains(name) || name.hasPrefix("log-") })
    try storage.close()
  }

  @Test("H23 H24 the folder has the permissions asked for, also after remove-all, and none that let others write")
  func attributes() throws {
    var config = bench.diskConfig
    config.permissions = 0o750
    let storage = try bench.open(User.self, disk: config)
    func permissions() throws -> Int? {
      try FileManager.default.attributesOfItem(atPath: bench.path)[.posixPermissions] as? Int
    }
    #expect(try permissions() == 0o750)
    try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: bench.path)
    try storage.removeAll()
    #expect(try permissions() == 0o750)
    // Who removes it has cleared the cache, and the next write makes it anew.
    try FileManager.default.removeItem(atPath: bench.path)
    try storage.setObject(bench.ada, forKey: "a")
    #expect(try permissions() == 0o750)
    try storage.close()
    for refused in [0o770, 0o707, 0o500, 0o7_750] {
      config.permissions = refused
      #expect(throws: CacheError.self) { try bench.open(User.self, disk: config) }
    }
  }

  @Test("H23 a folder that somebody has put in the place of the storage's keeps its permissions")
  func foreignFolder() throws {
    var config = bench.diskConfig
    config.permissions = 0o750
    let storage = try bench.open(User.self, disk: config, memory: nil)
    try storage.setObject(bench.ada, forKey: "a")
    let elsewhere = StorageBench()
    let other = try elsewhere.open(memory: nil)
    try other.setObject(bench.grace, forKey: "a")
    try other.close()
    try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: elsewhere.path)
    try FileManager.default.removeItem(atPath: bench.path)
    try FileManager.default.moveItem(atPath: elsewhere.path, toPath: bench.path)
    let error = #expect(throws: CacheError.self) { try storage.setObject(bench.ada, forKey: "b") }
    #expect(error?.code == .unusableStore)
    #expect(try FileManager.default.attributesOfItem(atPath: bench.path)[.posixPermissions] as? Int == 0o700)
    try storage.close()
  }

  @Test("H26 H27 H29 the folder stays within its size without a cleanup; the newest stay, and the size is reported")
  func staysWithinSize() throws {
    let config = DiskConfig(name: "with a space", maxSize: 2 << 20, directory: bench.folder.path)
    let storage = try bench.open(String.self, disk: config, memory: nil)
    for number in 0..<400 {
      try storage.setObject(String(repeating: "x", count: 20_000), forKey: "\(number)")
      #expect(try #require(storage.totalDiskStorageSize) <= 2 << 20)
    }
    #expect(try storage.objectExists(forKey: "399"))
    #expect(try storage.objectExists(forKey: "0") == false)
    let kept = try storage.allKeys.compactMap(Int.init)
    #expect(kept.count > 20)
    #expect(kept.min() == 400 - kept.count, "what left is older than all that stayed")
    try storage.close()
  }

  @Test("H28 a missing key is a miss, undecodable bytes are an error, and neither is the other")
  func missesAndErrors() throws {
    let storage = try bench.open(memory: nil)
    #expect(try storage.object(forKey: "absent") == nil)
    try storage.transformData().setObject(Data("not JSON".utf8), forKey: "text")
    let error = #expect(throws: CacheError.self) { try storage.object(forKey: "text") }
    #expect(error?.code == .invalidCachedData)
    #expect(try storage.transformData().object(forKey: "text") == Data("not JSON".utf8))
    try storage.close()
  }

  @Test("H30 if the folder vanishes while it is open, the next store succeeds")
  func vanishes() throws {
    let storage = try bench.open()
    try storage.setObject(bench.ada, forKey: "a")
    try FileManager.default.removeItem(atPath: bench.path)
    try storage.setObject(bench.grace, forKey: "b")
    #expect(try storage.object(forKey: "b") == bench.grace)
    try storage.close()
    let again = try bench.open()
    #expect(try again.allKeys == ["b"])
    try again.close()
  }

  private struct Place: Hashable, Codable, Sendable {
    var city: String
    var number: Int
  }

  @Test("H31 H33 keys of any type are found and listed after a restart, and none answers for another")
  func anyKeys() throws {
    func open() throws -> Storage<Place, Int> {
      try Storage(
        diskConfig: bench.diskConfig, transformer: TransformerFactory.forCodable(), sweepInterval: nil,
        clock: bench.clock)
    }
    let first = try open()
    for number in 0..<200 { try first.setObject(number, forKey: Place(city: "Z\u{fc}rich", number: number)) }
    try first.close()
    let second = try open()
    for number in 0..<200 {
      #expect(try second.object(forKey: Place(city: "Zu\u{308}rich", number: number)) == number)
    }
    #expect(try second.object(forKey: Place(city: "Bern", number: 1)) == nil)
    #expect(try Set(second.allKeys.map(\.number)) == Set(0..<200))
    #expect(try Set(second.allObjects) == Set(0..<200))
    try second.close()
  }

  @Test("H34 a damaged record is a miss that says so, and no value")
  func damage() throws {
    let storage = try bench.open(memory: nil)
    try storage.setObject(bench.ada, forKey: "a")
    let log = try #require(names.first { $0.hasPrefix("log-") })
    let url = URL(filePath: bench.path + "/" + log)
    var bytes = try Data(contentsOf: url)
    let place = try #require(bytes.range(of: Data("Ada".utf8)))
    bytes[place.lowerBound] = UInt8(ascii: "I")
    let handle = try FileHandle(forWritingTo: url)
    try handle.write(contentsOf: bytes)
    try handle.close()
    #expect(try storage.objectExists(forKey: "a"), "existence is not known from the bytes")
    #expect(try storage.lookup(forKey: "a").missReason == .damaged)
    #expect(try storage.objectExists(forKey: "a") == false)
    try storage.close()
  }

  @Test(
    "H67 the hash under the store's checksums matches digests of the reference implementation",
    arguments: [
      ("", 0x2d06_8005_38d3_94c2), ("hello", 0x9555_e855_5c62_dcfd),
      ("https://example.org/photos/42.jpg", 0x28fd_f9ca_6591_de8e), ("日本語", 0x11fe_c42c_8060_50b7),
    ] as [(String, UInt64)])
  func digests(text: String, digest: UInt64) {
    #expect(Checksum.of(Array(text.utf8), seed: 0) == digest)
  }

  @Test("a closed storage says so, whichever face and view asks")
  func closes() async throws {
    let storage = try bench.open()
    try storage.setObject(bench.ada, forKey: "a")
    try storage.close()
    try storage.close()
    #expect(throws: CacheError.self) { try storage.object(forKey: "a") }
    #expect(throws: CacheError.self) { try storage.transformData().objectExists(forKey: "a") }
    let error = await #expect(throws: CacheError.self) { try await storage.async.setObject(bench.ada, forKey: "a") }
    #expect(error?.code == .closed)
  }

  @Test("files that another library has left in the folder stay until everything is removed; folders stay for good")
  func foreignFiles() throws {
    let old = ["0cc175b9c0f1b6a831c399e269772661", "92EB5FFEE6AE2FEC3AD71C777531578F.json"]
    let kept = ["notes", "4a8a08f09d37b73795649038408b5f33"]
    try FileManager.default.createDirectory(
      atPath: "\(bench.path)/\(kept[1])", withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    for name in old + [kept[0]] {
      #expect(FileManager.default.createFile(atPath: "\(bench.path)/\(name)", contents: Data()))
    }
    // A name that is no text, which not every file system takes, is somebody else's.
    let odd = Array("\(bench.path)/92eb5ffee6ae2fec3ad71c777531578f.".utf8CString.dropLast()) + [-1, 0]
    let file = unsafe open(odd, O_CREAT | O_WRONLY | O_CLOEXEC, 0o600)
    if file >= 0 { close(file) }
    let storage = try bench.open(Int.self)
    try storage.setObject(1, forKey: "a")
    #expect(try Set(FileManager.default.contentsOfDirectory(atPath: bench.path)).isSuperset(of: old + kept))
    try storage.removeAll()
    let left = try FileManager.default.contentsOfDirectory(atPath: bench.path)
    #expect(Set(left).isSuperset(of: kept))
    #expect(Set(left).isDisjoint(with: old))
    try storage.close()
  }
}

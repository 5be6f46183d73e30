#if Encryption
import CacheEngine
import CacheEngineCashier
import CacheEngineProviders
import CacheEngineStorage
import CacheEngineTesting
import Crypto
import Foundation
import Testing

@testable import CacheEngineEncryption

/// The faces that stand on a disk level, with a cipher.
@Suite(.timeLimit(.minutes(10))) struct EncryptedFacesTests {
  private let folder = EncryptedFolder()
  private let clock = ManualClock()
  private let secret = "SECRETVALUE"

  private func cipher(_ key: SymmetricKey = Keys.first, older: [SymmetricKey] = []) throws -> StoreEncryption {
    try StoreEncryption(key: key, alsoOpening: older)
  }

  /// The files below the folder, at any depth, in which a text stands, in their content or in their name.
  private func files(containing text: String) throws -> [String] {
    try FileManager.default.subpathsOfDirectory(atPath: folder.path).filter { name in
      let bytes = FileManager.default.contents(atPath: folder.path + "/" + name) ?? Data()
      return name.contains(text) || bytes.range(of: Data(text.utf8)) != nil
    }
  }

  private func code(_ body: () async throws -> Void) async -> CacheError.Code? {
    do {
      try await body()
      return nil
    } catch { return (error as? CacheError)?.code }
  }

  // MARK: Storage

  private func storage(_ cipher: StoreEncryption?) throws -> Storage<String, String> {
    try Storage(
      diskConfig: DiskConfig(name: "storage", maxSize: 8 << 20, directory: folder.path, cipher: cipher),
      memoryConfig: nil, transformer: TransformerFactory.forCodable(ofType: String.self), sweepInterval: nil,
      clock: clock)
  }

  @Test("P13 a storage with a cipher writes nothing in the clear, and reads it again after a restart")
  func storageIsSealed() async throws {
    do {
      let storage = try storage(cipher())
      try storage.setObject(secret, forKey: "SECRETKEY")
      #expect(try storage.objectExists(forKey: "SECRETKEY"))
      #expect(try !storage.objectExists(forKey: "other"))
      try storage.close()
    }
    #expect(try files(containing: "SECRET") == [])
    let again = try storage(cipher())
    #expect(try again.object(forKey: "SECRETKEY") == secret)
    try again.close()
  }

  @Test("P13 a storage with another key, or with none, is refused and stays as it is")
  func storageRefusesOtherKeys() async throws {
    let first = try storage(cipher())
    try first.setObject(secret, forKey: "key")
    try first.close()
    #expect(await code { _ = try storage(cipher(Keys.second)) } == .wrongKey)
    #expect(await code { _ = try storage(nil) } == .wrongKey)
    let again = try storage(cipher())
    #expect(try again.object(forKey: "key") == secret)
    try again.close()
  }

  @Test(
    "P13 each face of a storage seals everything with the newest key", arguments: ["blocking", "awaited", "callback"])
  func storageRotates(face: String) async throws {
    let first = try storage(cipher())
    for number in 0..<20 { try first.setObject(secret, forKey: "\(number)") }
    try first.close()
    let rotating = try storage(cipher(Keys.second, older: [Keys.first]))
    let count =
      switch face {
      case "blocking": try rotating.rotate()
      case "awaited": try await rotating.async.rotate()
      default:
        try await withCheckedThrowingContinuation { done in rotating.async.rotate { done.resume(with: $0) } }
      }
    #expect(count == 20)
    try rotating.close()
    let again = try storage(cipher(Keys.second))
    for number in 0..<20 { #expect(try again.object(forKey: "\(number)") == secret) }
    try again.close()
  }

  @Test("a storage in memory says that it has nothing to seal")
  func storageInMemory() async throws {
    let storage = Storage<String, String>(memoryConfig: MemoryConfig(), sweepInterval: nil, clock: clock)
    #expect(await code { try storage.rotate() } == .notEncrypted)
  }

  // MARK: Cashier

  private func cashier(_ cipher: StoreEncryption?, version: String? = "1.0") async throws -> Cashier {
    try await Cashier.open(
      "news", in: .purgeable(in: folder.path), appVersion: version, capacity: 8 << 20, cipher: cipher, clock: clock,
      observer: RecordingObserver())
  }

  @Test("P13 a cashier with a cipher writes no key and no value in the clear, and seals all with a new key")
  func cashierIsSealed() async throws {
    let first = try await cashier(cipher())
    try await first.set(secret, forKey: "SECRETKEY")
    try await first.close()
    #expect(try files(containing: "SECRET") == [])
    #expect(await code { _ = try await cashier(cipher(Keys.second)) } == .wrongKey)
    let rotating = try await cashier(cipher(Keys.second, older: [Keys.first]))
    #expect(try await rotating.value(String.self, forKey: "SECRETKEY") == secret)
    #expect(try await rotating.rotate() == 1)
    try await rotating.close()
    let again = try await cashier(cipher(Keys.second))
    #expect(try await again.value(String.self, forKey: "SECRETKEY") == secret)
    try await again.close()
  }

  @Test("P13 a new version of the app wipes an encrypted cashier, which stays encrypted")
  func cashierIsWiped() async throws {
    let first = try await cashier(cipher())
    try await first.set(secret, forKey: "key")
    try await first.close()
    let second = try await cashier(cipher(), version: "2.0")
    #expect(try await second.value(String.self, forKey: "key") == nil)
    try await second.set(secret, forKey: "key")
    try await second.close()
    #expect(try files(containing: secret) == [])
  }

  // MARK: Ready-made caches

  @Test("P13 a ready-made cache seals addresses and answers, and its folder can be sealed anew while it is used")
  func provider() async throws {
    func configuration(_ cipher: StoreEncryption) -> CacheProvider.Configuration {
      CacheProvider.Configuration(directory: folder.path, diskCapacity: 8 << 20, cipher: cipher, clock: clock)
    }
    let address = try #require(URL(string: "http://example.invalid/SECRETKEY"))
    do {
      let cache = try CacheProvider.dataCache(configuration(cipher()))
      try await cache.set(Data(secret.utf8), forKey: address)
      #expect(try files(containing: "SECRET") == [])
    }
    let both = configuration(try cipher(Keys.second, older: [Keys.first]))
    let cache = try CacheProvider.dataCache(both)
    #expect(try await CacheProvider.rotate("data", both) == 1)
    await cache.onMemoryWarning()
    #expect(try await cache.get(address) == Data(secret.utf8))
  }
}
#endif

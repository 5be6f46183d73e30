import CacheEngineTesting
import Crypto
import Foundation
import Testing

@testable import CacheEngine
@testable import CacheEngineEncryption

/// Opening with what does not fit: a clear error, and not one byte changed.
@Suite(.timeLimit(.minutes(10))) struct WrongKeyTests {
  let folder = EncryptedFolder()

  /// An encrypted store with a checkpoint, and with a torn tail and a leftover that an opening would remove.
  private func filled(_ key: SymmetricKey? = Keys.first) async throws -> [String: [UInt8]] {
    let level = try folder.open(key)
    for number in 0..<5 { try await level.set(marked("\(number)"), forKey: "\(number)") }
    try await level.close()
    let log = try #require(folder.segments.last)
    try folder.write(try folder.bytes(of: log) + [1, 2, 3], to: log)
    try folder.write([1], to: "tmp-0000000000000001")
    return try folder.files()
  }

  private func expect(
    _ code: CacheError.Code, _ word: String, _ key: SymmetricKey?, older: [SymmetricKey] = [],
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let before = try folder.files()
    for access in StoreAccess.allCases {
      let error = #expect(throws: CacheError.self, sourceLocation: sourceLocation) {
        try folder.open(key, older: older, access: access)
      }
      #expect(error?.code == code, sourceLocation: sourceLocation)
      #expect(error?.message.contains(word) == true, "\(error as Any)", sourceLocation: sourceLocation)
      #expect(error?.message.contains(folder.path) == true, sourceLocation: sourceLocation)
    }
    #expect(try folder.files() == before, sourceLocation: sourceLocation)
  }

  @Test("P13 P7 a wrong key, no key, and a key that is wrong by one bit are errors, and the store stays as it is")
  func wrongKey() async throws {
    _ = try await filled()
    try expect(.wrongKey, "not given", Keys.second)
    try expect(.wrongKey, "is encrypted", nil)
    var bits = [UInt8](0..<32)
    bits[31] ^= 1
    try expect(.wrongKey, "not given", SymmetricKey(data: bits), older: [Keys.third])
    let level = try folder.open()
    #expect(try await level.get("3") == marked("3"))
    #expect(level.usage.count == 5)
    try await level.close()
  }

  @Test("P13 a store that is not encrypted does not open with a cipher, and stays as it is")
  func notEncrypted() async throws {
    _ = try await filled(nil)
    try expect(.notEncrypted, "not encrypted", Keys.first)
    let level = try folder.open(nil)
    #expect(try await level.get("3") == marked("3"))
    try await level.close()
  }

  @Test("P13 a store whose file of secrets was removed opens neither with its key nor without one")
  func withoutSecrets() async throws {
    _ = try await filled()
    try FileManager.default.removeItem(atPath: folder.path + "/keys")
    try expect(.notEncrypted, "was removed", Keys.first)
    let records = try folder.files().filter { $0.key.hasPrefix("log-") }.mapValues { $0.count - 3 }
    let error = #expect(throws: CacheError.self) { try folder.open(nil) }
    #expect(error?.code == .wrongKey)
    #expect(try folder.files().filter { $0.key.hasPrefix("log-") }.mapValues(\.count) == records)
  }

  @Test("P13 a file of secrets that was changed at any byte, cut, or taken from another store opens nothing")
  func changedSecrets() async throws {
    let intact = try await filled()
    let secrets = try #require(intact["keys"])
    for place in secrets.indices {
      var changed = secrets
      changed[place] ^= 0x10
      try folder.write(changed, to: "keys")
      let error = #expect(throws: CacheError.self) { try folder.open() }
      #expect(error?.code == ((8..<16).contains(place) ? .unusableStore : .wrongKey))
    }
    for count in [0, 7, 16, 60, secrets.count - 1] {
      try folder.write(Array(secrets.prefix(count)), to: "keys")
      let error = #expect(throws: CacheError.self) { try folder.open() }
      #expect(error?.code == .wrongKey)
    }
    try folder.write(secrets, to: "keys")
    #expect(try folder.files() == intact)
    // Another store's secrets open, with the same key; not one record does.
    let other = EncryptedFolder()
    try await other.open().close()
    try folder.write(try other.bytes(of: "keys"), to: "keys")
    let level = try folder.open()
    for number in 0..<5 { #expect(try await level.get("\(number)") == nil) }
    #expect(try await level.contents().isEmpty)
    try await level.close()
  }

  @Test("P6 P13 a cipher that cannot seal fails the write with a clear error, and the old value stays")
  func failingCipher() async throws {
    struct Failing: StoreCipher {
      struct Failure: Error {}
      let real: StoreEncryption
      var sealingKey: String { real.sealingKey }
      var openingKeys: Set<String> { real.openingKeys }
      func seal(_ bytes: [UInt8], binding: [UInt8]) throws -> [UInt8] {
        if bytes.starts(with: Array("bad".utf8)) { throw Failure() }
        return try real.seal(bytes, binding: binding)
      }
      func open(_ sealed: [UInt8], binding: [UInt8]) throws -> [UInt8] { try real.open(sealed, binding: binding) }
      func key(of sealed: [UInt8]) -> String? { real.key(of: sealed) }
      func name(_ bytes: [UInt8], secret: [UInt8]) -> [UInt8] { real.name(bytes, secret: secret) }
    }
    let level = try Level(directory: folder.path, cipher: Failing(real: try StoreEncryption(key: Keys.first)))
    try await level.set(Data("good".utf8), forKey: "key")
    let before = try folder.files()
    let error = await #expect(throws: CacheError.self) { try await level.set(Data("bad".utf8), forKey: "key") }
    #expect(error?.code == .encryptionFailed)
    #expect(error?.level == "disk")
    #expect(try await level.get("key") == Data("good".utf8))
    #expect(try folder.files() == before)
    try await level.close()
  }
}

#if Encryption
import CacheEngine
import CacheEngineTesting
import Crypto
import Foundation
import Testing

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
    for name in ["keys", "keys-copy"] { try FileManager.default.removeItem(atPath: folder.path + "/" + name) }
    try expect(.notEncrypted, "was removed", Keys.first)
    let records = try folder.files().filter { $0.key.hasPrefix("log-") }.mapValues { $0.count - 3 }
    let error = #expect(throws: CacheError.self) { try folder.open(nil) }
    #expect(error?.code == .wrongKey)
    #expect(try folder.files().filter { $0.key.hasPrefix("log-") }.mapValues(\.count) == records)
  }

  @Test(
    "P13 where one of both files of secrets was changed, cut or removed, the other one opens the store and mends it")
  func changedSecrets() async throws {
    let intact = try await filled()
    let secrets = try #require(intact["keys"])
    #expect(intact["keys-copy"] == secrets)
    for name in ["keys", "keys-copy"] {
      for place in stride(from: 0, to: secrets.count, by: 7) {
        var changed = secrets
        changed[place] ^= 0x10
        try folder.write(changed, to: name)
        // Who only looks mends nothing.
        let look = try folder.open(access: .readOnly)
        #expect(try await look.get("3") == marked("3"))
        #expect(try folder.bytes(of: name) == changed)
        let level = try folder.open()
        #expect(try await level.get("3") == marked("3"))
        try await level.close()
        #expect(try folder.bytes(of: "keys") == folder.bytes(of: "keys-copy"))
      }
      try FileManager.default.removeItem(atPath: folder.path + "/" + name)
      try await folder.open().close()
      #expect(folder.names.contains(name))
    }
  }

  @Test(
    "P13 where both files of secrets are damaged that is told, and not that the key is wrong; and the other way round")
  func damagedSecrets() async throws {
    let intact = try await filled()
    let secrets = try #require(intact["keys"])
    func write(_ bytes: [UInt8]) throws { for name in ["keys", "keys-copy"] { try folder.write(bytes, to: name) } }
    for place in secrets.indices {
      var changed = secrets
      changed[place] ^= 0x10
      try write(changed)
      try expect(.unusableStore, "damaged, whatever the key is", Keys.first)
    }
    for count in [0, 7, 16, 60, secrets.count - 1] {
      try write(Array(secrets.prefix(count)))
      try expect(.unusableStore, "damaged, whatever the key is", Keys.first)
    }
    try write(secrets)
    #expect(try folder.files() == intact)
    try expect(.wrongKey, "was not given", Keys.second)
    // Another store's secrets open, with the same key; not one record does.
    let other = EncryptedFolder()
    try await other.open().close()
    try write(try other.bytes(of: "keys"))
    let level = try folder.open()
    for number in 0..<5 { #expect(try await level.get("\(number)") == nil) }
    #expect(try await level.contents().isEmpty)
    try await level.close()
  }

  @Test("P2 a file of secrets of a terabyte ends no program, and its copy opens the store")
  func hugeSecrets() async throws {
    _ = try await filled()
    let handle = try FileHandle(forUpdating: URL(filePath: folder.path + "/keys"))
    try handle.truncate(atOffset: 1 << 40)
    try handle.close()
    let level = try folder.open()
    #expect(try await level.get("3") == marked("3"))
    try await level.close()
  }

  @Test("P14 where the secrets are written anew, a file that has a name elsewhere too stays as it is")
  func hardLink() async throws {
    _ = try await filled()
    let victim = folder.path + "-victim"
    defer { try? FileManager.default.removeItem(atPath: victim) }
    try Data("precious".utf8).write(to: URL(filePath: victim))
    try FileManager.default.linkItem(atPath: victim, toPath: folder.path + "/tmp-2000000000000000")
    try FileManager.default.removeItem(atPath: folder.path + "/keys-copy")
    try await folder.open().close()
    #expect(try Data(contentsOf: URL(filePath: victim)) == Data("precious".utf8))
    #expect(try folder.bytes(of: "keys-copy") == folder.bytes(of: "keys"))
  }

  @Test("P4 P13 an encrypted store of the first format is opened, gets a copy of its secrets, and is written on")
  func firstFormat() async throws {
    let secrets = """
      Q0FFX0tFWVMBAAAAAAAAAAE74wP8dvrtUvMeVM1mVVqfRp3V/OXx0E8SB/iDEBklLuYUN5OmEy77z4xP/DX7rxRbFJIJTZvveAv27V/lM9plKC
      GwymrLawzp9/d0GOHiT40iMUkeqh4Nwe2+Sm3wDygsEnp9OZ3sm3ovnmU=
      """
    let log = """
      Q0FDRV9MT0cBAAAAAAAAAE/icYrh8AeqAQAAAAAAAAAzZHhuJF7HgENFQzEBAQIAAQAAAAAAAAAgAAAAAAAAAEQAAAAAAAAAjwAAAAAAAADkvS
      MG5WvqGCZyxwfDAgAABaxYJ8np3Iv/////////fwMAAAAAAAAATiss4lCBmi4RMpYZKjjHEa4B7oe4F1i30rqSjBVz8c/mjIsWUohu6TmHCULp
      7ZQzxl+87TZQ9jVAAAAANmRlOTQ5YWVhNGQwMmZlZWRhOWY0MzU4NWI2YjNiOTNhZjQ2MTliMWRjZWQ2Yzg2YjllMGNmZmI2OWQzOTczNk8AAA
      ABO+MD/Hb67VKZlBmfof3bkvvSk/TyjJARjicR6Jw7T1py/huIz2kU9iu7dkdjUINAGtauAhKW+DfzBGSwt7NjG3A3Az0cgb4vqu0bk7xoATvj
      A/x2+u1SIQlccr944aDMBWV64mGXHHsSV5kVM2mZgpP6UGgP8ZMLzVBBYnVO/Q3r+2P4wuiyV4cxAAAAAABDRUMxAQECAAIAAAAAAAAAIAAAAA
      AAAAAAAAAAAAAAAIkAAAAAAAAAesEzBuVr6hi8ddcHwwIAAAWsWCfJ6dyL/////////38FAAAAAAAAAAr7x8SX11N+k68M9IKfPyr6B+I/XIjY
      JtgIGI1rqr39Rx/SPuscilMqZoy9YcexGSOrPmUgcpHhRwAAAAE74wP8dvrtUiyAfEByAAojEzf6McHf1u3s5lHcIeANDIRALADpSyeUHFeBVf
      mwp8fcr2M9fTa0Qf/1g7KV+uAjL7eIo5wTATvjA/x2+u1SOGbus9j886MJH30xPp9URQopV2Y+HMylwlD/ij7ztxnp25HCzczYPd7/nX95snGw
      HqbrFZMAAAAAAAAA
      """
    try FileManager.default.createDirectory(
      atPath: folder.path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    for (name, text) in [("keys", secrets), ("log-0000000000000001", log)] {
      let bytes = try #require(Data(base64Encoded: text, options: .ignoreUnknownCharacters))
      try folder.write(Array(bytes), to: name)
    }
    try expect(.wrongKey, "was not given", Keys.second)
    // That format has no checksum: what does not open may be the key's fault or the file's.
    let intact = try folder.bytes(of: "keys")
    try folder.write(intact.dropLast() + [intact.last.map { $0 ^ 1 } ?? 0], to: "keys")
    try expect(.wrongKey, "or the file was changed", Keys.first)
    try folder.write(intact, to: "keys")
    #expect(!folder.names.contains("keys-copy"))
    for round in 0..<2 {
      let level = try folder.open()
      #expect(try await level.get("short") == Data("one".utf8))
      #expect(try await level.get("over") == Data("three".utf8))
      #expect(try await level.lookup("short").entry?.tags == ["red"])
      #expect(try await level.get("new") == (round == 0 ? nil : marked("new")))
      try await level.set(marked("new"), forKey: "new")
      try await level.close()
      #expect(try folder.bytes(of: "keys") == folder.bytes(of: "keys-copy"))
    }
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
#endif

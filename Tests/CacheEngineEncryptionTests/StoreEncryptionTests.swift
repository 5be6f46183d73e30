#if Encryption
import CacheEngine
import Crypto
import Foundation
import Testing

@testable import CacheEngineEncryption

/// The cipher by itself.
@Suite struct StoreEncryptionTests {
  private func cipher(_ key: SymmetricKey = Keys.first, older: [SymmetricKey] = []) throws -> StoreEncryption {
    try StoreEncryption(key: key, alsoOpening: older, namespace: "tests")
  }

  private func bytes(_ hex: String) -> [UInt8] {
    stride(from: 0, to: hex.count, by: 2).compactMap { place in
      let start = hex.index(hex.startIndex, offsetBy: place)
      return UInt8(hex[start..<hex.index(start, offsetBy: 2)], radix: 16)
    }
  }

  // Made by another implementation: HKDF written by hand over Python's hmac and hashlib, checked with RFC 5869, test
  // case 1; AES-256-GCM from pyca/cryptography over OpenSSL.
  private let vectors: [(plain: String, binding: String, sealed: String)] = [
    (
      "The quick brown fox", "bound to this",
      """
      01c922774b7e9c555d606162636465666768696a6b6c6d6e6f707172737475767778797a7b7c7d7e7f\
      75315b6f0b2718d7ab094c7e3ecb730366105b6cfec474868f00b48b455917aa9a26aa
      """
    ),
    (
      "", "",
      """
      01c922774b7e9c555d606162636465666768696a6b6c6d6e6f707172737475767778797a7b7c7d7e7f\
      227c96dee722b036c0a762d2aa8de453
      """
    ),
  ]

  @Test("P13 what is sealed is what another implementation seals, and opens what that one sealed")
  func knownAnswers() throws {
    let cipher = try cipher()
    for vector in vectors {
      let (plain, binding) = (Array(vector.plain.utf8), Array(vector.binding.utf8))
      #expect(try cipher.seal(plain, binding: binding, salt: Array(0x60..<0x80)) == bytes(vector.sealed))
      #expect(try cipher.open(bytes(vector.sealed), binding: binding) == plain)
    }
    #expect(cipher.sealingKey == "c922774b7e9c555d")
  }

  @Test("P13 names are HMAC-SHA256, as in RFC 4231, test cases 1 and 2")
  func names() throws {
    let cipher = try cipher()
    #expect(
      cipher.name(Array("Hi There".utf8), secret: [UInt8](repeating: 0x0b, count: 20))
        == bytes("b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"))
    #expect(
      cipher.name(Array("what do ya want for nothing?".utf8), secret: Array("Jefe".utf8))
        == bytes("5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"))
  }

  @Test("P13 what was changed in any bit, cut or lengthened does not open")
  func changed() throws {
    let cipher = try cipher()
    let sealed = try cipher.seal(Array("value".utf8), binding: [1, 2, 3])
    #expect(sealed.count == 5 + StoreEncryption.overhead)
    for place in sealed.indices {
      for bit in 0..<8 {
        var changed = sealed
        changed[place] ^= 1 << bit
        #expect(throws: (any Error).self) { try cipher.open(changed, binding: [1, 2, 3]) }
      }
    }
    for count in 0..<sealed.count {
      #expect(throws: (any Error).self) { try cipher.open(Array(sealed.prefix(count)), binding: [1, 2, 3]) }
    }
    #expect(throws: (any Error).self) { try cipher.open(sealed + [0], binding: [1, 2, 3]) }
    for binding in [[], [1, 2], [1, 2, 3, 4], [1, 2, 4]] as [[UInt8]] {
      #expect(throws: (any Error).self) { try cipher.open(sealed, binding: binding) }
    }
    #expect(try cipher.open(sealed, binding: [1, 2, 3]) == Array("value".utf8))
  }

  @Test("P13 every sealing has randomness of its own, so that no key and nonce meet twice")
  func freshness() throws {
    let cipher = try cipher()
    let salts = Set(try (0..<10_000).map { _ in Array(try cipher.seal([], binding: [])[9..<41]) })
    #expect(salts.count == 10_000)
  }

  @Test("P13 an older key opens and does not seal; an unknown key, or one of another namespace, does neither")
  func keys() throws {
    let old = try cipher().seal([7], binding: [])
    let rotated = try cipher(Keys.second, older: [Keys.first])
    #expect(try rotated.open(old, binding: []) == [7])
    #expect(rotated.key(of: old) == (try cipher().sealingKey))
    #expect(rotated.key(of: try rotated.seal([7], binding: [])) == rotated.sealingKey)
    #expect(throws: (any Error).self) { try cipher(Keys.third).open(old, binding: []) }
    let elsewhere = try StoreEncryption(key: Keys.first, namespace: "elsewhere")
    #expect(elsewhere.sealingKey != (try cipher().sealingKey))
    #expect(throws: (any Error).self) { try elsewhere.open(old, binding: []) }
  }

  @Test("P13 a key of another size is refused with a clear error", arguments: [0, 16, 24, 31, 33, 64])
  func sizes(count: Int) {
    let key = SymmetricKey(data: [UInt8](repeating: 1, count: count))
    let error = #expect(throws: CacheError.self) { try StoreEncryption(key: key) }
    #expect(error?.code == .encryptionFailed)
    #expect(error?.message.contains("256 bits") == true)
  }

  @Test("P13 P7 descriptions, dumps and mirrors show identifiers, and no key")
  func redaction() throws {
    let cipher = try StoreEncryption(key: SymmetricKey(data: [UInt8](repeating: 0xa7, count: 32)))
    var dumped = ""
    dump(cipher, to: &dumped)
    for text in [cipher.description, String(reflecting: cipher), dumped, "\(cipher)"] {
      #expect(text.contains(cipher.sealingKey))
      for secret in ["a7a7", "167", "root", "rings", "SymmetricKey"] { #expect(!text.contains(secret)) }
    }
    #expect(Mirror(reflecting: cipher).children.compactMap(\.label) == ["sealingKey", "openingKeys"])
  }
}
#endif

#if Encryption
import CacheEngine
import CacheEngineEncryption
import Crypto
import Foundation
import Testing

/// The examples of the article, word for word.
@Suite struct DocumentationTests {
  @Test("P13 the examples of the documentation do what it says")
  func examples() async throws {
    let folder = EncryptedFolder()
    let path = folder.path
    let photo = marked("photo")

    // Article
    let key = SymmetricKey(size: .bits256)  // from your key store: see below
    let encryption = try StoreEncryption(key: key, namespace: "photos")
    let disk = try DiskCacheLevel<String, Data>(directory: path, cipher: encryption)
    try await disk.set(photo, forKey: "42.jpg")
    // end
    try await disk.close()

    let newKey = SymmetricKey(size: .bits256)
    do {
      // Article
      let rotated = try StoreEncryption(key: newKey, alsoOpening: [key], namespace: "photos")
      let disk = try DiskCacheLevel<String, Data>(directory: path, cipher: rotated)
      try await disk.rotate()
      // end
      #expect(try await disk.get("42.jpg") == photo)
      try await disk.close()
    }

    let alone = try StoreEncryption(key: newKey, namespace: "photos")
    let again = try DiskCacheLevel<String, Data>(directory: path, cipher: alone)
    #expect(try await again.get("42.jpg") == photo)
    try await again.close()
  }
}
#endif

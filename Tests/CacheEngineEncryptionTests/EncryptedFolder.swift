#if Encryption
import CacheEngine
import CacheEngineTesting
import Crypto
import Foundation

@testable import CacheEngineEncryption

typealias Level = DiskCacheLevel<String, Data>

/// The keys of the tests.
enum Keys {
  static let first = SymmetricKey(data: [UInt8](0..<32))
  static let second = SymmetricKey(data: [UInt8](32..<64))
  static let third = SymmetricKey(data: [UInt8](64..<96))
}

/// A directory for one test, which goes with it.
final class EncryptedFolder: Sendable {
  let path = FileManager.default.temporaryDirectory.appending(path: "encrypted-level-\(UUID().uuidString)").path()

  deinit { removeFolder(path) }

  var names: [String] { ((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []).sorted() }
  var segments: [String] { names.filter { $0.hasPrefix("log-") } }

  func bytes(of name: String) throws -> [UInt8] {
    Array(try Data(contentsOf: URL(filePath: path).appending(path: name)))
  }

  func write(_ bytes: [UInt8], to name: String) throws {
    try Data(bytes).write(to: URL(filePath: path).appending(path: name))
  }

  /// Every file with its bytes, but for the lock, which is empty, and the socket, which has none.
  func files() throws -> [String: [UInt8]] {
    var files: [String: [UInt8]] = [:]
    for name in names where name != "lock" && name != "socket" { files[name] = try bytes(of: name) }
    return files
  }

  /// The names of the files that contain these bytes, in their content or in their name.
  func files(containing needle: [UInt8]) throws -> [String] {
    let needle = Data(needle)
    return try files().filter { Data($0.value).range(of: needle) != nil || Data($0.key.utf8).range(of: needle) != nil }
      .keys.sorted()
  }

  /// A copy of the directory as a crash at this moment would leave it.
  func copy() throws -> EncryptedFolder {
    let copy = EncryptedFolder()
    try copyFolder(path, to: copy.path)
    return copy
  }

  func open(
    _ key: SymmetricKey? = Keys.first, older: [SymmetricKey] = [], capacity: Int = 8 << 20,
    durability: Durability = .buffered, access: StoreAccess = .readWrite, sharing: StoreSharing = .exclusive,
    keepsExpired: Duration = .zero, clock: any CacheClock = ManualClock(), calls: FileCalls = FileCalls(),
    removalListener: (@Sendable (Removal<String>) -> Void)? = nil
  ) throws -> Level {
    try Level(
      directory: path, capacity: capacity, name: "disk", expiry: .never, keepsExpired: keepsExpired,
      durability: durability, access: access, keyCoding: .canonicalText, valueCoding: .data, clock: clock,
      removalListener: removalListener, calls: calls,
      cipher: try key.map { try StoreEncryption(key: $0, alsoOpening: older) }, sharing: sharing)
  }
}

/// Bytes that are not found by chance.
func marked(_ text: String, _ count: Int = 300) -> Data {
  Data((text + "/").utf8) + Data(repeating: 0x5a, count: max(0, count - text.utf8.count - 1))
}
#endif

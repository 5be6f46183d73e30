import CLevelDB
import Foundation

/// A log-structured merge tree with the defaults of its library, without compression: the values cannot be compressed.
final class LevelDB: Subject {
  // The library guards them itself.
  private nonisolated(unsafe) let database: OpaquePointer?
  private nonisolated(unsafe) let writing: OpaquePointer?
  private nonisolated(unsafe) let reading: OpaquePointer?

  init(_ directory: String, isSynced: Bool) throws {
    let options = leveldb_options_create()
    leveldb_options_set_create_if_missing(options, 1)
    leveldb_options_set_compression(options, Int32(leveldb_no_compression))
    var error: UnsafeMutablePointer<CChar>?
    database = leveldb_open(options, directory, &error)
    leveldb_options_destroy(options)
    if let error { throw Failure(String(cString: error)) }
    writing = leveldb_writeoptions_create()
    leveldb_writeoptions_set_sync(writing, isSynced ? 1 : 0)
    reading = leveldb_readoptions_create()
  }

  func set(_ value: Data, _ key: String) throws {
    var error: UnsafeMutablePointer<CChar>?
    value.withUnsafeBytes { bytes in
      leveldb_put(
        database, writing, key, key.utf8.count, bytes.baseAddress?.assumingMemoryBound(to: CChar.self), bytes.count,
        &error)
    }
    if let error { throw Failure(String(cString: error)) }
  }

  func get(_ key: String) throws -> Data? {
    var error: UnsafeMutablePointer<CChar>?
    var count = 0
    guard let bytes = leveldb_get(database, reading, key, key.utf8.count, &count, &error) else { return nil }
    // Made by malloc, for the caller.
    return Data(bytesNoCopy: bytes, count: count, deallocator: .free)
  }

  func close() { leveldb_close(database) }
}

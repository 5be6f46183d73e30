import CRocksDB
import Foundation

/// A log-structured merge tree with the defaults of its library, without compression: the values cannot be compressed.
final class RocksDB: Subject {
  // The library guards them itself.
  private nonisolated(unsafe) let database: OpaquePointer?
  private nonisolated(unsafe) let writing: OpaquePointer?
  private nonisolated(unsafe) let reading: OpaquePointer?

  init(_ directory: String, isSynced: Bool) throws {
    let options = rocksdb_options_create()
    rocksdb_options_set_create_if_missing(options, 1)
    rocksdb_options_set_compression(options, Int32(rocksdb_no_compression))
    var error: UnsafeMutablePointer<CChar>?
    database = rocksdb_open(options, directory, &error)
    rocksdb_options_destroy(options)
    if let error { throw Failure(String(cString: error)) }
    writing = rocksdb_writeoptions_create()
    rocksdb_writeoptions_set_sync(writing, isSynced ? 1 : 0)
    reading = rocksdb_readoptions_create()
  }

  func set(_ value: Data, _ key: String) throws {
    var error: UnsafeMutablePointer<CChar>?
    value.withUnsafeBytes { bytes in
      rocksdb_put(
        database, writing, key, key.utf8.count, bytes.baseAddress?.assumingMemoryBound(to: CChar.self), bytes.count,
        &error)
    }
    if let error { throw Failure(String(cString: error)) }
  }

  func get(_ key: String) throws -> Data? {
    var error: UnsafeMutablePointer<CChar>?
    var count = 0
    guard let bytes = rocksdb_get(database, reading, key, key.utf8.count, &count, &error) else { return nil }
    // Made by malloc, for the caller.
    return Data(bytesNoCopy: bytes, count: count, deallocator: .free)
  }

  func close() { rocksdb_close(database) }
}

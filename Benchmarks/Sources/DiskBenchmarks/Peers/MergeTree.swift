import CLevelDB
import CRocksDB
import Foundation

/// A log-structured merge tree with the defaults of its library, without compression: the values cannot be compressed.
///
/// RocksDB began as LevelDB, and both still have the same C interface under two names.
final class MergeTree: Subject {
  /// What the functions of a library are called there.
  struct Library: Sendable {
    typealias Failure = UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?

    let name: String
    let makeOptions: @Sendable () -> OpaquePointer?
    let createIfMissing: @Sendable (OpaquePointer?, UInt8) -> Void
    let setCompression: @Sendable (OpaquePointer?, Int32) -> Void
    let open: @Sendable (OpaquePointer?, UnsafePointer<CChar>?, Failure) -> OpaquePointer?
    let destroyOptions: @Sendable (OpaquePointer?) -> Void
    let makeWriting: @Sendable () -> OpaquePointer?
    let setSync: @Sendable (OpaquePointer?, UInt8) -> Void
    let makeReading: @Sendable () -> OpaquePointer?
    let put:
      @Sendable (
        OpaquePointer?, OpaquePointer?, UnsafePointer<CChar>?, Int, UnsafePointer<CChar>?, Int, Failure
      ) -> Void
    let get:
      @Sendable (
        OpaquePointer?, OpaquePointer?, UnsafePointer<CChar>?, Int, UnsafeMutablePointer<Int>?, Failure
      ) -> UnsafeMutablePointer<CChar>?
    let close: @Sendable (OpaquePointer?) -> Void

    static let levelDB = Library(
      name: "LevelDB", makeOptions: { leveldb_options_create() },
      createIfMissing: { leveldb_options_set_create_if_missing($0, $1) },
      setCompression: { leveldb_options_set_compression($0, $1) }, open: { leveldb_open($0, $1, $2) },
      destroyOptions: { leveldb_options_destroy($0) }, makeWriting: { leveldb_writeoptions_create() },
      setSync: { leveldb_writeoptions_set_sync($0, $1) }, makeReading: { leveldb_readoptions_create() },
      put: { leveldb_put($0, $1, $2, $3, $4, $5, $6) }, get: { leveldb_get($0, $1, $2, $3, $4, $5) },
      close: { leveldb_close($0) })

    static let rocksDB = Library(
      name: "RocksDB", makeOptions: { rocksdb_options_create() },
      createIfMissing: { rocksdb_options_set_create_if_missing($0, $1) },
      setCompression: { rocksdb_options_set_compression($0, $1) }, open: { rocksdb_open($0, $1, $2) },
      destroyOptions: { rocksdb_options_destroy($0) }, makeWriting: { rocksdb_writeoptions_create() },
      setSync: { rocksdb_writeoptions_set_sync($0, $1) }, makeReading: { rocksdb_readoptions_create() },
      put: { rocksdb_put($0, $1, $2, $3, $4, $5, $6) }, get: { rocksdb_get($0, $1, $2, $3, $4, $5) },
      close: { rocksdb_close($0) })
  }

  private let library: Library
  // The library guards them itself.
  private nonisolated(unsafe) let database: OpaquePointer?
  private nonisolated(unsafe) let writing: OpaquePointer?
  private nonisolated(unsafe) let reading: OpaquePointer?

  init(_ library: Library, _ directory: String, isSynced: Bool) throws {
    self.library = library
    let options = library.makeOptions()
    library.createIfMissing(options, 1)
    // None is 0 in both.
    library.setCompression(options, 0)
    var error: UnsafeMutablePointer<CChar>?
    database = library.open(options, directory, &error)
    library.destroyOptions(options)
    if let error { throw Failure("\(library.name): \(String(cString: error))") }
    writing = library.makeWriting()
    library.setSync(writing, isSynced ? 1 : 0)
    reading = library.makeReading()
  }

  func set(_ value: Data, _ key: String) throws {
    var error: UnsafeMutablePointer<CChar>?
    value.withUnsafeBytes { bytes in
      let start = bytes.baseAddress?.assumingMemoryBound(to: CChar.self)
      library.put(database, writing, key, key.utf8.count, start, bytes.count, &error)
    }
    if let error { throw Failure("\(library.name): \(String(cString: error))") }
  }

  func get(_ key: String) throws -> Data? {
    var error: UnsafeMutablePointer<CChar>?
    var count = 0
    guard let bytes = library.get(database, reading, key, key.utf8.count, &count, &error) else { return nil }
    // Made by malloc, for the caller.
    return Data(bytesNoCopy: bytes, count: count, deallocator: .free)
  }

  func close() { library.close(database) }
}

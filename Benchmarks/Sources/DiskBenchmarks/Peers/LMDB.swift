import CLMDB
import Foundation

/// A memory map; each set is a transaction.
final class LMDB: Subject {
  private nonisolated(unsafe) let environment: OpaquePointer?  // LMDB guards it itself
  private let table: MDB_dbi

  init(_ directory: String, isSynced: Bool) throws {
    mkdir(directory, 0o700)
    var made: OpaquePointer?
    mdb_env_create(&made)
    mdb_env_set_mapsize(made, 4 << 30)
    let flags = UInt32(MDB_NOTLS) | (isSynced ? 0 : UInt32(MDB_NOSYNC))
    guard mdb_env_open(made, directory, flags, 0o600) == 0 else { throw Failure("mdb_env_open") }
    var transaction: OpaquePointer?
    var opened: MDB_dbi = 0
    mdb_txn_begin(made, nil, 0, &transaction)
    mdb_dbi_open(transaction, nil, 0, &opened)
    mdb_txn_commit(transaction)
    environment = made
    table = opened
  }

  func set(_ value: Data, _ key: String) throws {
    var transaction: OpaquePointer?
    guard mdb_txn_begin(environment, nil, 0, &transaction) == 0 else { throw Failure("mdb_txn_begin") }
    let code = Self.with(key, value) { key, value in mdb_put(transaction, table, &key, &value, 0) }
    guard code == 0, mdb_txn_commit(transaction) == 0 else { throw Failure("mdb_put") }
  }

  func get(_ key: String) throws -> Data? {
    var transaction: OpaquePointer?
    guard mdb_txn_begin(environment, nil, UInt32(MDB_RDONLY), &transaction) == 0 else { throw Failure("mdb_txn_begin") }
    defer { mdb_txn_abort(transaction) }
    return Self.with(key, Data()) { key, value in
      guard mdb_get(transaction, table, &key, &value) == 0, let bytes = value.mv_data else { return nil }
      return Data(bytes: bytes, count: value.mv_size)
    }
  }

  func close() { mdb_env_close(environment) }

  private static func with<Answer>(
    _ key: String, _ value: Data, _ body: (inout MDB_val, inout MDB_val) -> Answer
  ) -> Answer {
    var key = key
    return key.withUTF8 { text in
      value.withUnsafeBytes { bytes in
        var key = MDB_val(mv_size: text.count, mv_data: UnsafeMutableRawPointer(mutating: text.baseAddress))
        var value = MDB_val(mv_size: bytes.count, mv_data: UnsafeMutableRawPointer(mutating: bytes.baseAddress))
        return body(&key, &value)
      }
    }
  }
}

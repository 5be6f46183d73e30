import CSQLite
import Foundation
import Synchronization

/// One table, one connection, prepared statements, the write-ahead log.
final class SQLite: Subject {
  private struct Connection: ~Copyable {
    var database: OpaquePointer?
    var put: OpaquePointer?
    var find: OpaquePointer?
  }

  private let connection: Mutex<Connection>

  init(_ directory: String, isSynced: Bool) throws {
    mkdir(directory, 0o700)
    var database: OpaquePointer?
    guard sqlite3_open(directory + "/store.sqlite", &database) == SQLITE_OK else { throw Failure("sqlite3_open") }
    for statement in [
      "PRAGMA journal_mode=WAL", "PRAGMA synchronous=\(isSynced ? "FULL" : "NORMAL")", "PRAGMA mmap_size=1073741824",
      "CREATE TABLE IF NOT EXISTS entries (key TEXT PRIMARY KEY, value BLOB) WITHOUT ROWID",
    ] {
      guard sqlite3_exec(database, statement, nil, nil, nil) == SQLITE_OK else { throw Failure(statement) }
    }
    var put: OpaquePointer?
    var find: OpaquePointer?
    sqlite3_prepare_v2(database, "INSERT OR REPLACE INTO entries VALUES (?, ?)", -1, &put, nil)
    sqlite3_prepare_v2(database, "SELECT value FROM entries WHERE key = ?", -1, &find, nil)
    connection = Mutex(Connection(database: database, put: put, find: find))
  }

  func set(_ value: Data, _ key: String) throws {
    try connection.withLock { connection in
      try value.withUnsafeBytes { bytes in
        let statement = connection.put
        sqlite3_bind_text(statement, 1, key, -1, Self.copied)
        sqlite3_bind_blob(statement, 2, bytes.baseAddress, Int32(bytes.count), nil)
        defer { sqlite3_reset(statement) }
        guard sqlite3_step(statement) == SQLITE_DONE else { throw Failure("sqlite3_step") }
      }
    }
  }

  func get(_ key: String) throws -> Data? {
    connection.withLock { connection in
      let statement = connection.find
      sqlite3_bind_text(statement, 1, key, -1, Self.copied)
      defer { sqlite3_reset(statement) }
      guard sqlite3_step(statement) == SQLITE_ROW, let bytes = sqlite3_column_blob(statement, 0) else { return nil }
      return Data(bytes: bytes, count: Int(sqlite3_column_bytes(statement, 0)))
    }
  }

  func close() {
    connection.withLock { connection in
      sqlite3_finalize(connection.put)
      sqlite3_finalize(connection.find)
      sqlite3_close(connection.database)
    }
  }

  private static var copied: sqlite3_destructor_type { unsafeBitCast(-1, to: sqlite3_destructor_type.self) }
}

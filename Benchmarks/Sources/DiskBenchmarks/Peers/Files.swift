import Foundation
import Synchronization

/// Writes a file beside the old one and renames it; reads it whole.
struct FilePerEntry: Subject {
  let directory: String
  let descriptor: Int32
  let isSynced: Bool

  init(_ directory: String, isSynced: Bool = false) throws {
    self.directory = directory
    self.isSynced = isSynced
    mkdir(directory, 0o700)
    descriptor = Glibc.open(directory, O_RDONLY | O_DIRECTORY)
    guard descriptor >= 0 else { throw Failure("cannot open \(directory)") }
  }

  func set(_ value: Data, _ key: String) throws {
    let temporary = key + ".tmp"
    let file = openat(descriptor, temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    guard file >= 0 else { throw Failure("cannot write \(key)") }
    defer { Glibc.close(file) }
    try value.withUnsafeBytes { bytes in
      guard write(file, bytes.baseAddress, bytes.count) == bytes.count else { throw Failure("short write") }
    }
    if isSynced { fdatasync(file) }
    guard renameat(descriptor, temporary, descriptor, key) == 0 else { throw Failure("cannot rename") }
    if isSynced { fsync(descriptor) }
  }

  func get(_ key: String) throws -> Data? {
    let file = openat(descriptor, key, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { return nil }
    defer { Glibc.close(file) }
    var status = stat()
    fstat(file, &status)
    return try readWhole(file, Int(status.st_size), at: 0)
  }

  func close() { Glibc.close(descriptor) }
}

/// The least that could be done: append, remember where, read that.
final class LogFloor: Subject {
  private struct State {
    var end = 0
    var places: [String: (offset: Int, count: Int)] = [:]
  }

  private let file: Int32
  private let state: Mutex<State>
  private static let known = Mutex<[String: State]>([:])
  private let directory: String

  init(_ directory: String) throws {
    self.directory = directory
    mkdir(directory, 0o700)
    file = Glibc.open(directory + "/log", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    guard file >= 0 else { throw Failure("cannot open \(directory)/log") }
    state = Mutex(Self.known.withLock { $0[directory] } ?? State())
  }

  func set(_ value: Data, _ key: String) throws {
    let offset = state.withLock { state in
      defer { state.end += value.count }
      return state.end
    }
    try value.withUnsafeBytes { bytes in
      guard pwrite(file, bytes.baseAddress, bytes.count, offset) == bytes.count else { throw Failure("short write") }
    }
    state.withLock { $0.places[key] = (offset, value.count) }
  }

  func get(_ key: String) throws -> Data? {
    guard let place = state.withLock({ $0.places[key] }) else { return nil }
    return try readWhole(file, place.count, at: place.offset)
  }

  func close() {
    // Whoever opens it again finds what it knew; a real one would have to keep that.
    Self.known.withLock { $0[directory] = state.withLock { $0 } }
    Glibc.close(file)
  }
}

func readWhole(_ file: Int32, _ count: Int, at offset: Int) throws -> Data {
  guard let memory = malloc(max(count, 1)) else { throw Failure("no memory") }
  guard pread(file, memory, count, offset) == count else {
    free(memory)
    throw Failure("short read")
  }
  return Data(bytesNoCopy: memory, count: count, deallocator: .free)
}

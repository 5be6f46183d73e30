#if Explorer
#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif
#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Directories as a whole.
enum Disk {
  /// What the files in a directory take, in whole blocks.
  static func allocatedBytes(in directory: String) -> Int {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
    return names.reduce(0) { sum, name in
      var status = stat()
      return unsafe lstat(directory + "/" + name, &status) == 0 ? sum + Int(status.st_blocks) * 512 : sum
    }
  }

  /// A new directory for one run; in memory, if that can be, where the disk has no part in what is tried.
  static func makeTemporary(inMemory: Bool = false) throws -> String {
    let memory = "/dev/shm"
    let isThere = inMemory && FileManager.default.isWritableFile(atPath: memory)
    let parent = isThere ? memory : FileManager.default.temporaryDirectory.path
    let path = parent + "/cache-torture-\(UUID().uuidString.prefix(8))"
    try FileManager.default.createDirectory(
      atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    return path
  }

  static func remove(_ path: String) { try? FileManager.default.removeItem(atPath: path) }

  static func text(of path: String) throws -> String {
    guard let data = FileManager.default.contents(atPath: path) else { throw Failure("cannot read \(path)") }
    return String(decoding: data, as: UTF8.self)
  }
}
#endif

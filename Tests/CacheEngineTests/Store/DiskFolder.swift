import CacheEngineTesting
import Foundation

/// A directory for one test, which goes with it.
final class DiskFolder: Sendable {
  let path: String

  init() {
    path = FileManager.default.temporaryDirectory.appending(path: "disk-level-\(UUID().uuidString)").path()
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  var names: [String] { (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? [] }

  /// The files of the log, oldest first.
  var segments: [String] { names.filter { $0.hasPrefix("log-") }.sorted() }

  func bytes(of name: String) throws -> Data { try Data(contentsOf: URL(filePath: path).appending(path: name)) }

  func write(_ bytes: Data, to name: String) throws {
    try bytes.write(to: URL(filePath: path).appending(path: name))
  }

  func remove(_ name: String) throws { try FileManager.default.removeItem(atPath: path + "/" + name) }

  /// What everything in the directory takes on the disk.
  var allocatedBytes: Int {
    names.reduce(0) { sum, name in
      var status = stat()
      return unsafe stat(path + "/" + name, &status) == 0 ? sum + Int(status.st_blocks) * 512 : sum
    }
  }

  /// A copy of the directory as a crash at this moment would leave it.
  func copy() throws -> DiskFolder {
    let copy = DiskFolder()
    try copyFolder(path, to: copy.path)
    return copy
  }
}

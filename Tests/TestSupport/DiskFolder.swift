import CacheEngineTesting
package import Foundation

/// A directory for one test, which goes with it.
package final class DiskFolder: Sendable {
  package let path: String

  package init() {
    path = FileManager.default.temporaryDirectory.appending(path: "disk-level-\(UUID().uuidString)").path()
  }

  deinit { removeFolder(path) }

  package var names: [String] { (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? [] }

  /// The files of the log, oldest first.
  package var segments: [String] { names.filter { $0.hasPrefix("log-") }.sorted() }

  package func bytes(of name: String) throws -> Data { try Data(contentsOf: URL(filePath: path).appending(path: name)) }

  package func write(_ bytes: Data, to name: String) throws {
    try bytes.write(to: URL(filePath: path).appending(path: name))
  }

  package func remove(_ name: String) throws { try FileManager.default.removeItem(atPath: path + "/" + name) }

  /// What everything in the directory takes on the disk.
  package var allocatedBytes: Int {
    names.reduce(0) { sum, name in
      var status = stat()
      return unsafe stat(path + "/" + name, &status) == 0 ? sum + Int(status.st_blocks) * 512 : sum
    }
  }

  /// A copy of the directory as a crash at this moment would leave it.
  package func copy() throws -> DiskFolder {
    let copy = DiskFolder()
    try copyFolder(path, to: copy.path)
    return copy
  }
}

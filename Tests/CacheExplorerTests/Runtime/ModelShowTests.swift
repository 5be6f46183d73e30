import CacheEngine
import CacheEngineModels
import Foundation
import TestSupport
import Testing

@testable import ExplorerCache
@testable import ExplorerState

/// The Models screen looks into the archive of an app, which goes on using it.
struct ModelShowTests {
  private struct Book: Codable, Sendable, Identifiable {
    var id: String
  }

  private let clock = SystemClock()

  @Test("An archive is listed while its app has it open, with whatever capacity, and stays as it is")
  func openArchive() async throws {
    let folder = DiskFolder()
    let level = try DiskCacheLevel<String, Data>(directory: folder.path, capacity: 1 << 30)
    let books = ModelCache()
    books.insert(Book(id: "dune"))
    try await ModelArchive(of: books, in: level, models: [.json(Book.self, as: "book")]).save()
    for isOpen in [true, false] {
      if !isOpen { try await level.close() }
      let before = try contents(of: folder)
      let seen = await ModelShow.archive(folder.path, prefix: "models/", clock: clock)
      #expect(seen.problem == nil)
      #expect(seen.rows.map(\.name) == [ModelSheet.Name(type: "book", id: "dune")])
      #expect(try contents(of: folder) == before)
    }
  }

  @Test("Nothing is made in a folder that is no archive")
  func otherFolder() async throws {
    let folder = DiskFolder()
    try FileManager.default.createDirectory(atPath: folder.path, withIntermediateDirectories: true)
    let seen = await ModelShow.archive(folder.path, prefix: "models/", clock: clock)
    #expect(seen.rows.isEmpty)
    #expect(folder.names.isEmpty)
  }

  private func contents(of folder: DiskFolder) throws -> [String: Data] {
    try folder.names.reduce(into: [:]) { contents, name in contents[name] = try folder.bytes(of: name) }
  }
}

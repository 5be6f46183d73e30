import CacheDisk
import CacheMemory

public import CacheCore
#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A model as a ``ModelArchive`` keeps it, for tools that do not have the model's type.
public struct ArchivedModel: Sendable, Equatable {
  /// The name of the type in the archive.
  public var type: String
  /// The identifier as text, as the type's ``ModelCoding`` writes it; JSON for those that ``ModelCoding/json(_:as:)`` makes.
  public var id: String
  /// The encoded model; `nil` if it is on the archive's list and the level has forgotten it, or has it damaged.
  public var body: Data?
  /// When it expires; `nil` for never.
  public var deadline: CacheInstant?
}

extension ModelArchive {
  /// Lists what an archive in a level holds, without any of the models' types.
  ///
  /// It only reads: nothing is restored, and what is damaged stays where it is.
  ///
  /// - Parameters:
  ///   - level: Where the archive keeps its models.
  ///   - prefix: What every key of the archive begins with.
  ///   - clock: The clock by which deadlines are measured.
  /// - Returns: One element for each model on the archive's list, in the order of types and identifiers.
  /// - Throws: The level's error; `CacheError` with code `CacheError.Code.invalidCachedData` if a page of the list is
  ///   damaged or gone, and `CacheError.Code.timedOut` if the level does not say what it has.
  public static func contents(
    of level: some CacheLevel<String, Data>, prefix: String = "models/", clock: any CacheClock = SystemClock()
  ) async throws -> [ArchivedModel] {
    var found: [ArchivedModel] = []
    let list = ArchiveList(level: level.normalize(), prefix: prefix, clock: clock) { _, _ in }
    let head = try await list.head()
    for page in 0..<ArchiveList.pageCount {
      let page = try await list.page(page, of: head)
      guard page.lost == 0 else {
        throw CacheError(
          .invalidCachedData, "a page of the list is gone, and with it the names of \(page.lost) models",
          level: level.name)
      }
      for name in page.isLeftOver ? [] : page.names {
        let slash = name.utf8.firstIndex(of: UInt8(ascii: "/")) ?? name.endIndex
        let id = Substring(name.utf8[slash...].dropFirst())
        var model = ArchivedModel(type: String(name[..<slash]), id: String(id))
        if let entry = try await list.entry(name),
          let record = try? ModelRecord(entry.value, name: name, clock: clock), record.era == head.era
        {
          model.body = record.body
          model.deadline = [record.deadline, entry.deadline].compactMap(\.self).min()
        }
        found.append(model)
      }
    }
    return found.sorted { ($0.type, $0.id) < ($1.type, $1.id) }
  }
}

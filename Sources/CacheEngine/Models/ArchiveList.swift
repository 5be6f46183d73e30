import CacheCore
import CStore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The names of the models that an archive has in its level, most of which list no keys.
///
/// The names stand in pages: a new one is on its page before its model is written, and a removed one leaves the page after
/// its model, so that a page lacks no model that is in the level. The head says how many names each page has, so that a
/// page that the level has forgotten is missed.
///
/// Everything that is written carries the era that it was written in. Removing everything begins a new one, and what is of
/// an older era counts as removed wherever it still lies.
struct ArchiveList: Sendable {
  struct Head: Codable, Sendable, Equatable {
    var era: UInt64
    /// How many names there are on each page.
    var counts = [Int](repeating: 0, count: ArchiveList.pageCount)

    /// Nothing that was written before is valid from here on.
    ///
    /// An era is later than the ones before, and another one than those of which the level has forgotten everything.
    mutating func beginEra(by clock: any CacheClock) {
      let seconds = UInt64(clamping: clock.timeSinceEpoch.components.seconds)
      era = max(era >> 32 + 1, seconds) << 32 | UInt64(UInt32.random(in: 0 ... .max))
      counts = [Int](repeating: 0, count: ArchiveList.pageCount)
    }
  }

  struct Page: Sendable {
    var names: Set<String>
    /// Names that the head tells of and nobody knows.
    var lost = 0
    /// The names are those of an older era, whose models were removed, or were about to be.
    var isLeftOver = false
  }

  static let pageCount = 256
  private static let headName = "/"

  let level: BasicCache<String, Data>
  let prefix: String
  let clock: any CacheClock
  /// Told of what is damaged, unreadable or gone, and its name.
  let report: @Sendable (CacheEvent.Kind, String?) -> Void

  /// The page that a name belongs to.
  static func page(of name: String) -> Int {
    let bytes = Array(name.utf8)
    let hash = unsafe bytes.withUnsafeBytes { unsafe cstore_xxh3($0.baseAddress, $0.count, 0) }
    return Int(hash % UInt64(pageCount))
  }

  /// Reads the head, or makes one of what the pages tell.
  func head() async throws -> Head {
    if let (_, body) = try await read(Self.headName) {
      do {
        let head = try ByteCoding<Head>.json.decode(body)
        guard head.counts.count == Self.pageCount, head.counts.allSatisfy((0...Int(Int32.max)).contains) else {
          throw CacheError(.invalidCachedData, "the head of the list has no form that is known here")
        }
        return head
      } catch { report(.failed(.get, String(describing: error), .zero), Self.headName) }
    }
    var head = Head(era: 0)
    var isFound = false
    for page in 0..<Self.pageCount {
      guard let (era, names) = try await read(page) else { continue }
      if !isFound || era > head.era { head = Head(era: era) }
      isFound = true
      if era == head.era { head.counts[page] = names.count }
    }
    if !isFound { head.beginEra(by: clock) }
    return head
  }

  func write(_ head: Head) async throws {
    try await write(try ByteCoding<Head>.json.encode(head), as: Self.headName, era: head.era)
  }

  /// Reads a page; what the level has forgotten of it is reported.
  func page(_ page: Int, of head: Head) async throws -> Page {
    if let (era, names) = try await read(page), era <= head.era {
      return Page(names: names, isLeftOver: era < head.era)
    }
    let lost = head.counts[page]
    if lost > 0 {
      report(.failed(.get, "a page of the list is gone, and with it the names of \(lost) models", .zero), "/\(page)")
    }
    return Page(names: [], lost: lost)
  }

  func write(_ names: Set<String>, on page: Int, era: UInt64) async throws {
    if names.isEmpty { return try await level.remove("\(prefix)/\(page)") }
    try await write(try ByteCoding<[String]>.json.encode(names.sorted()), as: "/\(page)", era: era)
  }

  private func write(_ body: Data, as name: String, era: UInt64) async throws {
    let record = ModelRecord(name: name, era: era, deadline: nil, body: body)
    try await level.store(record.encoded(by: clock), forKey: prefix + name, terms: StoreTerms(expiry: .never))
  }

  private func read(_ page: Int) async throws -> (era: UInt64, names: Set<String>)? {
    guard let (era, body) = try await read("/\(page)") else { return nil }
    do { return (era, Set(try ByteCoding<[String]>.json.decode(body))) } catch {
      report(.failed(.get, String(describing: error), .zero), "/\(page)")
      return nil
    }
  }

  /// What the level has under a name.
  ///
  /// - Throws: The level's error; ``CacheError`` where it gives one of these reasons: then it may have something.
  func entry(
    _ name: String, unless unknown: [MissReason] = [.unanswered, .unsettled, .newer]
  ) async throws -> Entry<Data>? {
    switch try await level.lookup(prefix + name) {
    case .hit(let entry): return entry
    case .miss(let reason) where unknown.contains(reason):
      throw CacheError(
        reason == .refused ? .conditionNotSatisfied : reason == .newer ? .unusableStore : .timedOut,
        "the level does not say what it has of the models below \(prefix) (\(reason)); try again once it does",
        level: level.name)
    case .miss: return nil
    }
  }

  private func read(_ name: String) async throws -> (era: UInt64, body: Data)? {
    // Whoever takes an archive for an empty one begins it anew, so that no list may be taken for absent that is refused.
    let unknown: [MissReason] = [.unanswered, .unsettled, .newer, .refused]
    guard let data = try await entry(name, unless: unknown)?.value else { return nil }
    do {
      let record = try ModelRecord(data, name: name, clock: clock)
      return (record.era, record.body)
    } catch let error as CacheError where error.code == .unusableStore {
      throw error
    } catch {
      report(.removed(.damaged, cost: data.count), name)
      return nil
    }
  }
}

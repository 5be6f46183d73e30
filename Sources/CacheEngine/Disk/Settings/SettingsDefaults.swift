import CacheCore
#if canImport(Darwin)
import Foundation

/// A settings domain in the system's own settings store.
struct SettingsDefaults: SettingsStorage {
  let domain: String

  var place: String { "the defaults domain \(domain)" }

  func read() throws -> SettingsContents {
    var entries: [String: SettingsEntry] = [:]
    for (key, value) in UserDefaults.standard.persistentDomain(forName: domain) ?? [:] {
      guard let bytes = value as? Data else { throw damaged(key, nil) }
      do {
        try PropertyListNesting.check(bytes, limit: .max)
        let entry = try PropertyListDecoder().decode(SettingsEntry.self, from: bytes)
        guard entry.isWhole(key: key) else { throw damaged(key, nil) }
        entries[key] = entry
      } catch let error as CacheError {
        throw error
      } catch {
        throw damaged(key, error)
      }
    }
    return SettingsContents(entries: entries, stamp: nil)
  }

  func change(
    from known: SettingsContents?, durability: Durability,
    _ change: (_ current: () throws -> [String: SettingsEntry]) throws -> [String: SettingsEntry]?
  ) throws -> SettingsContents? {
    guard let entries = try change({ try read().entries }) else { return nil }
    if entries.isEmpty {
      UserDefaults.standard.removePersistentDomain(forName: domain)
    } else {
      let encoder = PropertyListEncoder()
      encoder.outputFormat = .binary
      UserDefaults.standard.setPersistentDomain(try entries.mapValues { try encoder.encode($0) }, forName: domain)
    }
    return SettingsContents(entries: entries, stamp: nil)
  }

  private func damaged(_ key: String, _ underlying: (any Error)?) -> CacheError {
    CacheError(
      .unusableStore,
      "\(place) holds something under \(key) that this level did not write; it was left as it is: choose another "
        + "domain, or clear the level", underlying: underlying)
  }
}
#endif

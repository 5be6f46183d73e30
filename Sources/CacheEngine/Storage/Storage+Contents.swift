import CacheDisk
import CacheMemory

public import CacheCore

extension Storage {
  /// The keys whose entries have not expired, in no particular order, also after a restart.
  ///
  /// - Complexity: O(n); no value is read.
  public var allKeys: [Key] {
    get throws { try Array(core.waitForRead { [core] in try await core.keys() }) }
  }

  /// The values of all keys, in no particular order.
  ///
  /// Those that another view has stored and this one cannot read are left out.
  ///
  /// - Complexity: O(n); every value is read.
  public var allObjects: [Value] {
    get throws {
      try allKeys.compactMap { key in
        if let value = peek(key) { return value }
        let found = try core.waitForRead { [core] in try await core.lookup(key) }
        // A disk error is thrown; a value that this view cannot read is left out, whatever its transformer throws.
        return found.entry.flatMap { try? $0.value.value(by: transformer) }
      }
    }
  }

  /// How much is stored in memory, and the limits; `nil` without a memory tier.
  ///
  /// - Complexity: O(1).
  public var memoryUsage: LevelUsage? { core.memory?.usage }

  /// How much is stored on the disk, and the limits; `nil` without a disk tier.
  ///
  /// - Complexity: O(1).
  public var diskUsage: LevelUsage? { core.disk?.usage }

  /// The size of everything in the folder, in bytes; `nil` without a disk tier.
  ///
  /// - Complexity: O(1).
  public var totalDiskStorageSize: Int? { diskUsage?.cost }

  /// The path of the folder; `nil` without a disk tier.
  public var path: String? { core.diskConfig?.path }
}

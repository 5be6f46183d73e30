public import CacheEngineNetwork
import CacheDisk
import CacheMemory

public import CacheCore
#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension CacheProvider {
  /// Where a ready-made cache keeps its data, and how much of it.
  public struct Configuration: Sendable {
    /// The directory in which the disk levels have their folders.
    public var directory: String
    /// How many bytes of values are held in memory, where their size is known.
    public var memoryCapacity: Int
    /// How many values are held in memory, where their size is not known.
    public var memoryCount: Int
    /// How many bytes a folder on the disk may take.
    public var diskCapacity: Int
    /// How long what was fetched is used.
    public var expiry: Expiry
    /// Sends the requests.
    public var network: NetworkFetcher<URL>
    /// Seals addresses and values on the disk; `nil` for folders that are not encrypted.
    public var cipher: (any StoreCipher)?
    /// The clock by which lifetimes are measured.
    public var clock: any CacheClock

    /// Creates a configuration.
    ///
    /// - Parameters:
    ///   - directory: The directory in which the disk levels have their folders; by default ``standardDirectory``.
    ///   - memoryCapacity: How many bytes of values are held in memory, where their size is known.
    ///   - memoryCount: How many values are held in memory, where their size is not known.
    ///   - diskCapacity: How many bytes a folder on the disk may take. At least 1 MiB.
    ///   - expiry: How long what was fetched is used: by default for ever, since a server's caching headers are not
    ///     interpreted.
    ///   - network: Sends the requests, with time-outs, limits, header fields and a transport of its own.
    ///   - cipher: Seals addresses and values on the disk; `nil` for folders that are not encrypted.
    ///   - clock: The clock by which lifetimes are measured.
    public init(
      directory: String = standardDirectory, memoryCapacity: Int = 50 << 20, memoryCount: Int = 1_000,
      diskCapacity: Int = 256 << 20, expiry: Expiry = .never, network: NetworkFetcher<URL> = NetworkFetcher(),
      cipher: (any StoreCipher)? = nil, clock: any CacheClock = SystemClock()
    ) {
      self.directory = directory
      self.memoryCapacity = memoryCapacity
      self.memoryCount = memoryCount
      self.diskCapacity = diskCapacity
      self.expiry = expiry
      self.network = network
      self.cipher = cipher
      self.clock = clock
    }

    /// The program's folder among the user's caches.
    ///
    /// On Linux that is `$XDG_CACHE_HOME/<program>`, or `~/.cache/<program>`.
    public static var standardDirectory: String { StandardDirectory.path(.cachesDirectory) }

    func disk(_ folder: String) throws -> DiskCacheLevel<URL, Data> {
      // By bytes: what combines with a slash makes another character of it, and the system sees the slash.
      let bytes = folder.utf8
      precondition(
        !folder.isEmpty && folder != "." && folder != ".." && !bytes.contains(UInt8(ascii: "/")) && !bytes.contains(0),
        "the name of a cache is that of a folder, a single path component")
      try StandardDirectory.check(directory)
      return try DiskCacheLevel(
        directory: "\(directory)/\(folder)", capacity: diskCapacity, expiry: expiry, cipher: cipher,
        keyCoding: .url, valueCoding: .data, clock: clock)
    }

    func memory<Key, Value>(cost: (@Sendable (Value) -> Int)?) -> MemoryCacheLevel<Key, Value> {
      guard let cost else {
        return MemoryCacheLevel(capacity: memoryCount, expiry: expiry, clock: clock, cost: { _, _ in 1 })
      }
      return MemoryCacheLevel(capacity: memoryCapacity, expiry: expiry, clock: clock, cost: { cost($1) })
    }
  }
}

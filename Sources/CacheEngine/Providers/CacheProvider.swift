import CacheEngineNetwork
import CacheDisk
import CacheMemory

public import CacheCore
#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// Ready-made caches for what comes over HTTP: memory over a disk over the network.
///
/// ```swift
/// let photos = try CacheProvider.dataCache()
/// let bytes = try await photos.get(url)
/// let user = try await CacheProvider.sharedJSONCache(of: User.self).get(address)
/// ```
///
/// Simultaneous reads of one address share one request. Memory holds values as they are used, decoded once; the disk
/// holds the bytes as they arrived. What cannot be decoded is an error and is stored nowhere; where the disk has bytes
/// that cannot be decoded, or cannot be read, the network is asked. Errors, a status outside 200–299 among them, are not kept.
///
/// The functions give a new cache each time, the `shared` ones the same cache to everyone. Caches of one kind with one
/// directory share what is on the disk, and clearing one of them clears that. Another program that uses the directory
/// makes opening fail with `CacheError.Code.inUse`. Opening a cache blocks while its directory is read.
public enum CacheProvider {
  private static let shared = SharedCaches()

  /// Makes a cache of bytes by address.
  ///
  /// - Parameter configuration: Where it stores data, and how much.
  /// - Returns: A new cache.
  /// - Throws: `CacheError` with code `CacheError.Code.diskWriteFailed` if the directory cannot be made, or another
  ///   of those with which `DiskCacheLevel` fails to open.
  public static func dataCache(_ configuration: Configuration = Configuration()) throws -> BasicCache<URL, Data> {
    try dataCache(configuration, url: { $0 })
  }

  /// Makes a cache of bytes by keys that are a part of their addresses.
  ///
  /// - Parameters:
  ///   - template: As `"https://example.org/avatars/{key}.png"`; see `NetworkFetcher`.
  ///   - configuration: Where it stores data, and how much of it.
  /// - Returns: A new cache.
  /// - Throws: `CacheError` with code `CacheError.Code.invalidAddress` for a template without a place for the key;
  ///   as ``dataCache(_:)``.
  public static func dataCache(
    template: String, _ configuration: Configuration = Configuration()
  ) throws -> BasicCache<String, Data> {
    let template = try NetworkTemplate(template)
    return try dataCache(configuration, url: { try template.url(for: $0) })
  }

  /// Makes a cache of values that arrive as JSON, by address.
  ///
  /// - Parameters:
  ///   - type: The type of the values.
  ///   - configuration: Where it stores data, and how much of it.
  /// - Returns: A new cache.
  /// - Throws: As ``dataCache(_:)``.
  public static func JSONCache<Value: Codable & Sendable>(
    of type: Value.Type = Value.self, _ configuration: Configuration = Configuration()
  ) throws -> BasicCache<URL, Value> {
    try cache(named: "json", transforming: JSONTransformer<Value>(), configuration)
  }

  /// Makes a cache of values that arrive as JSON, by keys that are a part of their addresses.
  ///
  /// - Parameters:
  ///   - type: The type of the values.
  ///   - template: As `"https://example.org/users/{key}.json"`; see `NetworkFetcher`.
  ///   - configuration: Where it stores data, and how much of it.
  /// - Returns: A new cache.
  /// - Throws: As ``dataCache(template:_:)``.
  public static func JSONCache<Value: Codable & Sendable>(
    of type: Value.Type = Value.self, template: String, _ configuration: Configuration = Configuration()
  ) throws -> BasicCache<String, Value> {
    let template = try NetworkTemplate(template)
    return try cache(
      named: "json", transforming: JSONTransformer<Value>(), configuration, cost: nil,
      url: { try template.url(for: $0) })
  }

  /// Makes a cache of values that a transformer makes from bytes, by address.
  ///
  /// ```swift
  /// let images = try CacheProvider.cache(named: "images", transforming: ImageTransformer(), cost: { $0.cost })
  /// ```
  ///
  /// - Parameters:
  ///   - name: The kind of cache: its folder in the directory, a single path component.
  ///   - transformer: Turns bytes into a value; backwards only for values that are set.
  ///   - configuration: Where it stores data, and how much of it.
  ///   - cost: How many bytes a value takes in memory. `nil` if that cannot be told: then memory is limited by the
  ///     number of values.
  /// - Returns: A new cache.
  /// - Throws: As ``dataCache(_:)``.
  public static func cache<Transformer: TwoWayTransformer>(
    named name: String, transforming transformer: Transformer, _ configuration: Configuration = Configuration(),
    cost: (@Sendable (Transformer.Output) -> Int)? = nil
  ) throws -> BasicCache<URL, Transformer.Output> where Transformer.Input == Data {
    try cache(named: name, transforming: transformer, configuration, cost: cost, url: { $0 })
  }

  // MARK: Shared caches

  /// Sets where the shared caches keep their data, and how much of it.
  ///
  /// - Parameter configuration: What they are made with from now on.
  /// - Throws: `CacheError` with code `CacheError.Code.tooLate` if one of them was used before.
  public static func configureShared(_ configuration: Configuration) throws { try shared.configure(configuration) }

  /// The cache of bytes by address that everyone shares.
  ///
  /// - Throws: As ``dataCache(_:)``, when it is made. The next call tries again.
  public static var sharedDataCache: BasicCache<URL, Data> {
    get throws { try shared(named: "data") { try dataCache($0) } }
  }

  /// The cache of values that arrive as JSON that everyone shares, one for each type.
  ///
  /// - Parameter type: The type of the values.
  /// - Returns: The same cache each time.
  /// - Throws: As ``dataCache(_:)``, when it is made. The next call tries again.
  public static func sharedJSONCache<Value: Codable & Sendable>(
    of type: Value.Type = Value.self
  ) throws -> BasicCache<URL, Value> {
    try shared(named: "json") { try JSONCache($0) }
  }

  /// A cache of your own that everyone shares, one for each name and type.
  ///
  /// - Parameters:
  ///   - name: Tells caches of one type apart.
  ///   - make: Makes the cache if there is none, with the configuration of the shared caches.
  /// - Returns: The same cache each time.
  /// - Throws: What `make` throws. The next call tries again.
  public static func shared<Key, Value>(
    named name: String, make: (Configuration) throws -> BasicCache<Key, Value>
  ) throws -> BasicCache<Key, Value> {
    try shared.cache(named: name, make: make)
  }

  // MARK: Encryption

  /// Seals a folder with the newest key of the configuration's cipher, so that older keys are no longer needed.
  ///
  /// Caches that use the folder may go on in the meantime; they must have been opened with the same cipher.
  ///
  /// - Parameters:
  ///   - name: The kind of cache: `"data"`, `"json"`, or the name that ``cache(named:transforming:_:cost:)`` was given.
  ///   - configuration: Where the folder is, and its cipher.
  /// - Returns: How many entries were resealed.
  /// - Throws: As `DiskCacheLevel.rotate()`, and as opening the folder.
  @discardableResult
  public static func rotate(_ name: String, _ configuration: Configuration = Configuration()) async throws -> Int {
    let disk = try configuration.disk(name)
    let count: Int
    do { count = try await disk.rotate() } catch {
      do { try await disk.close() } catch { /* the first failure is the one to tell */  }
      throw error
    }
    try await disk.close()
    return count
  }

  // MARK: How they are made

  private static func dataCache<Key>(
    _ configuration: Configuration, url: @escaping @Sendable (Key) throws -> URL
  ) throws -> BasicCache<Key, Data> {
    let below = try configuration.disk("data").compose(configuration.network)
    return configuration.memory(cost: \.count).compose(below.transformKeys(url)).pooled().normalize()
  }

  private static func cache<Key, Transformer: TwoWayTransformer>(
    named name: String, transforming transformer: Transformer, _ configuration: Configuration,
    cost: (@Sendable (Transformer.Output) -> Int)?, url: @escaping @Sendable (Key) throws -> URL
  ) throws -> BasicCache<Key, Transformer.Output> where Transformer.Input == Data {
    typealias Pair = (bytes: Data, value: Transformer.Output)
    // Bytes travel together with what they mean: so each is decoded once, bad ones in one level make the composition
    // ask the next, and the disk gets them as they came.
    let decode = { @Sendable (bytes: Data) in (bytes: bytes, value: try await transformer.transform(bytes)) as Pair }
    let disk = try configuration.disk(name)
      .transformValues(TwoWayTransformationBox(transform: decode, inverseTransform: { $0.bytes }))
    let network = configuration.network.transformValues(OneWayTransformationBox(transform: decode))
    let below = disk.compose(network).transformValues(
      TwoWayTransformationBox<Pair, Transformer.Output>(
        transform: { $0.value }, inverseTransform: { (try await transformer.inverseTransform($0), $0) }))
    return configuration.memory(cost: cost).compose(below.transformKeys(url)).pooled().normalize()
  }
}

public import CacheCore
#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

// The names of hyperoslo/Cache, so that programs that come from there compile.

extension Storage {
  /// A view of this storage for values of another type.
  ///
  /// - Parameter type: The type of the view's values.
  /// - Returns: The view.
  @available(*, deprecated, renamed: "transform(to:)")
  public func transformCodable<Other: Codable & Sendable>(ofType type: Other.Type) -> Storage<Key, Other> {
    transform(to: type)
  }

  /// Whether there is a value that has not expired.
  ///
  /// - Parameter key: The key.
  /// - Returns: Whether there is one.
  /// - Throws: As ``objectExists(forKey:)``.
  @available(*, deprecated, renamed: "objectExists(forKey:)")
  public func existsObject(forKey key: Key) throws -> Bool { try objectExists(forKey: key) }

  /// Ends all observations of a key.
  ///
  /// - Parameter key: The key.
  @available(*, deprecated, renamed: "removeObservers(forKey:)")
  public func removeObserver(forKey key: Key) { removeObservers(forKey: key) }

  /// Calls a closure after every change of this storage.
  ///
  /// - Parameters:
  ///   - owner: When it is gone, the observation ends; it is not kept alive.
  ///   - body: Called with the owner, the storage and the change.
  /// - Returns: Ends this observation.
  @available(*, deprecated, message: "the closure takes the owner and the change")
  @discardableResult
  public func addStorageObserver<Owner: AnyObject & Sendable>(
    _ owner: Owner, closure body: @escaping @Sendable (Owner, Storage, StorageChange<Key>) -> Void
  ) -> ObservationToken {
    addStorageObserver(owner) { [weak core, transformer] owner, change in
      if let core { body(owner, Storage(core: core, transformer: transformer), change) }
    }
  }

  /// Calls a closure after every change of one key.
  ///
  /// - Parameters:
  ///   - owner: When it is gone, the observation ends; it is not kept alive.
  ///   - key: The key.
  ///   - body: Called with the owner, the storage and the change.
  /// - Returns: Ends this observation.
  @available(*, deprecated, message: "the closure takes the owner and the change")
  @discardableResult
  public func addObserver<Owner: AnyObject & Sendable>(
    _ owner: Owner, forKey key: Key, closure body: @escaping @Sendable (Owner, Storage, KeyChange<Value>) -> Void
  ) -> ObservationToken {
    addObserver(owner, forKey: key) { [weak core, transformer] owner, change in
      if let core { body(owner, Storage(core: core, transformer: transformer), change) }
    }
  }
}

extension DiskConfig {
  /// Creates a configuration with a directory that is given as an address.
  ///
  /// - Parameters:
  ///   - name: The name of the folder, one component of a path.
  ///   - expiry: The lifetime of values stored without one of their own.
  ///   - maxSize: How many bytes everything in the folder may take; 0 for no limit.
  ///   - directory: The directory that the folder is in.
  @available(*, deprecated, message: "give the path of the directory")
  public init(name: String, expiry: Expiry = .never, maxSize: UInt = 0, directory: URL) {
    self.init(name: name, expiry: expiry, maxSize: Int(clamping: maxSize), directory: directory.path)
  }

  #if canImport(Darwin)
  /// Creates a configuration whose files are protected, in the terms of `FileManager`.
  ///
  /// - Parameters:
  ///   - name: The name of the folder, one component of a path.
  ///   - expiry: The lifetime of values stored without one of their own.
  ///   - maxSize: How many bytes everything in the folder may take; 0 for no limit.
  ///   - directory: The directory that the folder is in; `nil` for the user's caches.
  ///   - protectionType: Under which circumstances the system lets the files be read; `nil` for its default.
  @available(*, deprecated, message: "use `protection:` and the path of the directory")
  public init(
    name: String, expiry: Expiry = .never, maxSize: UInt = 0, directory: URL? = nil,
    protectionType: FileProtectionType?
  ) {
    let known: [(type: FileProtectionType, protection: Protection)] = [
      (.none, .none), (.complete, .complete), (.completeUnlessOpen, .completeUnlessOpen),
      (.completeUntilFirstUserAuthentication, .completeUntilFirstUserAuthentication),
    ]
    let protection = protectionType.flatMap { type in known.first { $0.type == type }?.protection }
    self.init(
      name: name, expiry: expiry, maxSize: Int(clamping: maxSize), directory: directory?.path,
      protection: protection)
  }
  #endif
}

extension Entry {
  /// Whether the deadline has passed.
  @available(*, deprecated, renamed: "isStale")
  public var isExpired: Bool { isStale }
}

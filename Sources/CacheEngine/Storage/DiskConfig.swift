public import CacheDisk

public import CacheCore
#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// The location, size limit and lifetimes of the disk tier of a ``Storage``.
///
/// ```swift
/// let config = DiskConfig(name: "photos", expiry: .seconds(86_400), maxSize: 256 << 20)
/// ```
public struct DiskConfig: Sendable {
  /// When the system lets the files be read; this has an effect on Apple platforms only.
  public enum Protection: Sendable, CaseIterable {
    /// Always.
    case none
    /// While the device is unlocked.
    case complete
    /// While the device is unlocked, and as long as the file stays open.
    case completeUnlessOpen
    /// Since the device was first unlocked after its start.
    case completeUntilFirstUserAuthentication
  }

  /// The name of the folder, one component of a path.
  public var name: String
  /// The lifetime of values stored without one of their own, counted from each store.
  public var expiry: Expiry
  /// The maximum size of everything in the folder, in bytes; 0 for no limit, and anything else counts as at least 1 MiB.
  ///
  /// Room is made before a write; the least recently used values are evicted first.
  public var maxSize: Int
  /// The path of the directory that contains the folder; `nil` for the user's caches.
  ///
  /// The system may empty the caches when it needs room. Values that must last belong elsewhere.
  public var directory: String?
  /// The permission bits of the folder; `nil` for the owner's alone.
  ///
  /// They must not allow anybody else to write. Files are accessible to the owner alone, whatever this says.
  public var permissions: Int?
  /// When the system lets the files be read; `nil` for its default.
  public var protection: Protection?
  /// What an acknowledged write survives.
  public var durability: Durability
  /// How long an expired entry is kept for callers that ask for stale values.
  public var keepsExpired: Duration
  /// Seals keys and values in the folder; `nil` for one that is not encrypted.
  ///
  /// Values in memory are not sealed.
  public var cipher: (any StoreCipher)?

  /// Creates a configuration.
  ///
  /// - Parameters:
  ///   - name: The name of the folder, one component of a path.
  ///   - expiry: The lifetime of values stored without one of their own.
  ///   - maxSize: The maximum size of everything in the folder, in bytes; 0 for no limit. At least 0.
  ///   - directory: The path of the directory that contains the folder; `nil` for the user's caches.
  ///   - permissions: The permission bits of the folder; `nil` for the owner's alone.
  ///   - protection: When the system lets the files be read; `nil` for its default.
  ///   - durability: What an acknowledged write survives.
  ///   - keepsExpired: How long an expired entry is kept for callers that ask for stale values.
  ///   - cipher: Seals keys and values in the folder; `nil` for one that is not encrypted.
  public init(
    name: String, expiry: Expiry = .never, maxSize: Int = 0, directory: String? = nil, permissions: Int? = nil,
    protection: Protection? = nil, durability: Durability = .buffered, keepsExpired: Duration = .zero,
    cipher: (any StoreCipher)? = nil
  ) {
    precondition(maxSize >= 0, "a size cannot be negative")
    self.name = name
    self.expiry = expiry
    self.maxSize = maxSize
    self.directory = directory
    self.permissions = permissions
    self.protection = protection
    self.durability = durability
    self.keepsExpired = keepsExpired
    self.cipher = cipher
  }

  /// The path of the folder.
  public var path: String {
    let parent =
      directory.map { URL(filePath: $0, directoryHint: .isDirectory) } ?? StandardDirectory.base(.cachesDirectory)
    return parent.appending(path: name).path
  }

  /// The same, and it means the same wherever the program goes: that may change its working directory.
  var absolute: DiskConfig {
    var config = self
    config.directory = directory.map { URL(filePath: $0, directoryHint: .isDirectory).path }
    return config
  }

  // What the store calculates with has to leave room for sums.
  var capacity: Int { maxSize == 0 ? Int(min(1 << 50, Int64(Int.max) / 2)) : max(maxSize, 1 << 20) }

  /// - Throws: `CacheError` with code `CacheError.Code.unusableStore`.
  func check() throws {
    // By bytes: what combines with a slash makes another character of it, and the system sees the slash.
    let bytes = name.utf8
    guard !name.isEmpty, name != ".", name != "..", !bytes.contains(UInt8(ascii: "/")), !bytes.contains(0) else {
      throw CacheError(
        .unusableStore,
        "“\(name)” is not the name of a folder; use one component of a path, and `directory` for the rest")
    }
    guard permissions.map({ $0 & ~0o777 == 0 && $0 & 0o022 == 0 && $0 & 0o700 == 0o700 }) ?? true else {
      throw CacheError(
        .unusableStore, "the folder \(path) needs permissions with which its owner alone writes, such as 0o700 or 0o750"
      )
    }
  }

  /// What hyperoslo/Cache has left in the folder: files whose names are 32 hexadecimal digits, perhaps with an extension.
  ///
  /// The store gives no file such a name.
  var foreignFiles: [String] {
    get throws {
      guard FileManager.default.fileExists(atPath: path) else { return [] }
      do {
        return try FileManager.default.contentsOfDirectory(atPath: path).filter { file in
          let name = file.prefix { $0 != "." }
          guard name.utf8.count == 32, name.allSatisfy(\.isHexDigit) else { return false }
          do {
            let type = try FileManager.default.attributesOfItem(atPath: "\(path)/\(file)")[.type]
            return type as? FileAttributeType == .typeRegular
          } catch let error as CocoaError where error.code == .fileReadNoSuchFile {
            // It has gone since, or its name is not text, which is never so with a file of hyperoslo/Cache.
            return false
          }
        }
      } catch {
        throw CacheError(.diskReadFailed, "the files in \(path) could not be listed", underlying: error)
      }
    }
  }

  func removeForeignFiles() throws {
    for file in try foreignFiles {
      do {
        try FileManager.default.removeItem(atPath: "\(path)/\(file)")
      } catch let error as CocoaError where error.code == .fileNoSuchFile {
        continue
      } catch {
        throw CacheError(.diskWriteFailed, "\(path)/\(file) could not be removed", underlying: error)
      }
    }
  }

  /// Gives the folder its attributes, which a folder that was made again lacks.
  func applyAttributes() throws {
    var attributes: [FileAttributeKey: Any] = [:]
    if let permissions { attributes[.posixPermissions] = permissions }
    #if canImport(Darwin)
    let type: FileProtectionType? =
      switch protection {
      case nil: nil
      case .some(.none): FileProtectionType.none
      case .complete: .complete
      case .completeUnlessOpen: .completeUnlessOpen
      case .completeUntilFirstUserAuthentication: .completeUntilFirstUserAuthentication
      }
    if let type { attributes[.protectionKey] = type }
    #endif
    guard !attributes.isEmpty else { return }
    do { try FileManager.default.setAttributes(attributes, ofItemAtPath: path) } catch {
      throw CacheError(.diskWriteFailed, "the attributes of \(path) could not be set", underlying: error)
    }
  }
}

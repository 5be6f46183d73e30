import CacheDisk
import CacheCore
#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// Where a ``Cashier`` keeps its files, and whether the system may remove them.
public struct CashierLocation: Hashable, Sendable {
  /// The directory that contains the folder of the cache.
  public let directory: String
  /// Whether what is stored should outlive everything but its removal.
  ///
  /// A durable cache is never wiped by a new version of the app. On Apple platforms it is left out of backups.
  public let isDurable: Bool

  private init(_ directory: String, isDurable: Bool) {
    self.directory = directory
    self.isDurable = isDurable
  }

  /// Among the user's caches, which the system and its users may empty at any time.
  ///
  /// On Linux that is `$XDG_CACHE_HOME/<program>`, or `~/.cache/<program>`.
  public static var purgeable: CashierLocation { purgeable(in: StandardDirectory.path(.cachesDirectory)) }

  /// Among the user's application data, which nobody empties.
  ///
  /// On Linux that is `$XDG_DATA_HOME/<program>`, or `~/.local/share/<program>`.
  public static var durable: CashierLocation { durable(in: StandardDirectory.path(.applicationSupportDirectory)) }

  /// In a directory of your own whose files are caches.
  ///
  /// - Parameter directory: The path of the directory.
  /// - Returns: The location.
  public static func purgeable(in directory: String) -> CashierLocation {
    CashierLocation(directory, isDurable: false)
  }

  /// In a directory of your own whose files are kept.
  ///
  /// - Parameter directory: The path of the directory.
  /// - Returns: The location.
  public static func durable(in directory: String) -> CashierLocation { CashierLocation(directory, isDurable: true) }

  /// The folder of a cache: another one for every identifier, and for durable and purgeable caches.
  func folder(of id: String) -> String {
    "\(directory)/\(isDurable ? "Cashier-durable" : "Cashier")/\(FolderName.of(id))"
  }
}

/// The name of a folder for any text: different texts have different names, also where the file system takes upper and
/// lower case for the same.
enum FolderName {
  private static let longest = 120

  static func of(_ id: String) -> String {
    let bytes = CanonicalText.bytes(of: id)
    guard !bytes.isEmpty else { return "%" }
    var name = ""
    for byte in bytes {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"),
        UInt8(ascii: "_"):
        name.unicodeScalars.append(Unicode.Scalar(byte))
      default: name += "%" + hex(UInt64(byte), digits: 2)
      }
    }
    guard name.utf8.count > longest else { return name }
    // Two checksums tell long names apart that nobody made collide on purpose; the record inside tells the others.
    let checks = [0, 1].map { hex(Checksum.of(bytes, seed: $0), digits: 16) }
    return "%%" + name.prefix(60) + checks.joined()
  }

  private static func hex(_ number: UInt64, digits: Int) -> String {
    let text = String(number, radix: 16)
    return String(repeating: "0", count: digits - text.utf8.count) + text
  }
}

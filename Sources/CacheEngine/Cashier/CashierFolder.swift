import CacheDisk
import CacheCore
#if canImport(Darwin)
internal import Foundation
#endif

/// What Apple platforms can do for the files of a ``Cashier``; elsewhere there is nothing to do.
///
/// That files are for their owner only is seen to by who makes them.
enum CashierFolder {
  static func prepare(_ folder: String, isDurable: Bool, isProtected: Bool) throws {
    #if canImport(Darwin)
    if isDurable {
      var url = URL(filePath: folder, directoryHint: .isDirectory)
      var values = URLResourceValues()
      values.isExcludedFromBackup = true
      try failing(folder) { try url.setResourceValues(values) }
    }
    // New files get the protection of the folder they are made in.
    if isProtected { try setProtection(true, from: false, of: folder) }
    #endif
  }

  static func setProtection(_ isProtected: Bool, from before: Bool, of folder: String) throws {
    #if canImport(Darwin)
    guard isProtected != before else { return }
    let files = FileManager.default
    let protection: FileProtectionType = isProtected ? .complete : .completeUntilFirstUserAuthentication
    try failing(folder) {
      let names = try files.subpathsOfDirectory(atPath: folder)
      for path in [folder] + names.map({ "\(folder)/\($0)" }) {
        // A segment may be reclaimed meanwhile.
        do {
          try files.setAttributes([.protectionKey: protection], ofItemAtPath: path)
        } catch CocoaError.fileNoSuchFile {}
      }
    }
    #endif
  }

  #if canImport(Darwin)
  private static func failing(_ folder: String, _ body: () throws -> Void) throws {
    do { try body() } catch {
      throw CacheError(
        .diskWriteFailed, "the protection of the files in \(folder) cannot be set", underlying: error)
    }
  }
  #endif
}

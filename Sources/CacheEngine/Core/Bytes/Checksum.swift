private import CStore

#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

/// XXH3 of 64 bits, by which what was stored is known again.
package enum Checksum {
  #if CACHEENGINE_FUZZ
  /// Bytes that are made up have no right checksum, and would never come further.
  package static let isOff = ProcessInfo.processInfo.environment["FUZZ_UNSUMMED"] != nil
  #endif

  package static func of(_ bytes: UnsafeRawBufferPointer, seed: UInt64) -> UInt64 {
    #if CACHEENGINE_FUZZ
    if isOff { return 0 }
    #endif
    return unsafe cstore_xxh3(bytes.baseAddress, bytes.count, seed)
  }

  package static func of(_ bytes: [UInt8], seed: UInt64) -> UInt64 {
    unsafe bytes.withUnsafeBytes { unsafe of($0, seed: seed) }
  }

  package static func of(_ bytes: Data, seed: UInt64) -> UInt64 {
    unsafe bytes.withUnsafeBytes { unsafe of($0, seed: seed) }
  }
}

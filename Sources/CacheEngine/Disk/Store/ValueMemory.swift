import CacheCore
#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif
#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Darwin)
internal import Darwin
#endif

/// Memory that a read fills, and that becomes the value without being copied or filled with zeros before.
@safe  // it owns its memory until it gives it away
struct ValueMemory: ~Copyable {
  let start: UnsafeMutableRawPointer
  let count: Int

  /// `nil` if there is no memory.
  init?(count: Int) {
    guard let start = unsafe malloc(max(count, 1)) else { return nil }
    unsafe self.start = start
    self.count = count
  }

  deinit { unsafe free(start) }

  var bytes: UnsafeMutableRawBufferPointer { unsafe UnsafeMutableRawBufferPointer(start: start, count: count) }

  consuming func data() -> Data {
    let data = unsafe Data(bytesNoCopy: start, count: count, deallocator: .free)
    discard self
    return data
  }
}

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Darwin)
internal import Darwin
#endif

/// A system call that failed.
package struct SystemFailure: Error {
  let call: String
  package let number: Int32

  package init(_ call: String, _ number: Int32 = errno) {
    self.call = call
    self.number = number
  }

  /// As a person reads it: `pwrite: No space left on device`.
  package var text: String {
    var buffer = [CChar](repeating: 0, count: 256)
    unsafe strerror_r(number, &buffer, buffer.count)
    let message = String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    return "\(call): \(message)"
  }
}

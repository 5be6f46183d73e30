/// The constants of a ``FastHasher``: the same for the whole process, and known to nobody else.
@usableFromInline
@frozen
package struct HashSecrets: Sendable {
  @usableFromInline let start: UInt64
  @usableFromInline let factor: UInt64
  @usableFromInline let first: UInt64
  @usableFromInline let second: UInt64
  @usableFromInline let third: UInt64

  @usableFromInline package static let process = HashSecrets()

  private init() {
    start = Self.secret(0)
    factor = Self.secret(1) | 1
    first = Self.secret(2)
    second = Self.secret(3)
    third = Self.secret(4)
  }

  /// A number that follows from the process's seed, as Swift's hashes do.
  static func secret(_ number: UInt64) -> UInt64 {
    var hasher = Hasher()
    hasher.combine(number)
    return UInt64(bitPattern: Int64(hasher.finalize()))
  }

  /// Both halves of a product, in one word.
  @inlinable
  @inline(__always)
  package static func fold(_ left: UInt64, _ right: UInt64) -> UInt64 {
    let product = left.multipliedFullWidth(by: right)
    return product.high ^ product.low
  }

  /// A product of two words, whose halves are multiplied once more: what one multiplication leaves regular is so no longer.
  ///
  /// Their number comes in between, where no word that somebody chose could make up for it.
  @inlinable
  @inline(__always)
  package func mix(_ left: UInt64, _ right: UInt64, _ count: Int = 0) -> UInt64 {
    let product = left.multipliedFullWidth(by: right)
    return Self.fold(product.low ^ second, product.high ^ third ^ UInt64(truncatingIfNeeded: count))
  }

  /// The hash of bytes, and a word that has the highest bit of some byte set if one of them has.
  @inlinable
  @inline(__always)
  func hash(_ bytes: UnsafeRawBufferPointer, from start: UInt64) -> (hash: UInt64, bits: UInt64) {
    let count = bytes.count
    var state = start
    if count > 16 {
      var bits: UInt64 = 0
      var place = 0
      while place < count &- 16 {
        let (left, right) = unsafe (Self.word(bytes, place), Self.word(bytes, place &+ 8))
        bits |= left | right
        state = Self.fold(left ^ first, right ^ state)
        place = place &+ 16
      }
      let (left, right) = unsafe (Self.word(bytes, count &- 16), Self.word(bytes, count &- 8))
      return (mix(left ^ first, right ^ state, count), bits | left | right)
    }
    let left: UInt64
    let right: UInt64
    if count >= 8 {
      (left, right) = unsafe (Self.word(bytes, 0), Self.word(bytes, count &- 8))
    } else if count >= 4 {
      (left, right) = unsafe (Self.half(bytes, 0), Self.half(bytes, count &- 4))
    } else if count > 0 {
      left = unsafe UInt64(bytes[0]) | UInt64(bytes[count / 2]) << 8
      right = unsafe UInt64(bytes[count &- 1])
    } else {
      (left, right) = (0, 0)
    }
    return (mix(left ^ first, right ^ state, count), left | right)
  }

  /// The hash of bytes in this process.
  package static func hash(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
    unsafe process.hash(bytes, from: process.start).hash
  }

  @inlinable
  @inline(__always)
  func hash(_ number: UInt64) -> UInt64 { mix(number ^ start, factor) }

  @inlinable
  @inline(__always)
  static func word(_ bytes: UnsafeRawBufferPointer, _ place: Int) -> UInt64 {
    unsafe bytes.loadUnaligned(fromByteOffset: place, as: UInt64.self)
  }

  @inlinable
  @inline(__always)
  static func half(_ bytes: UnsafeRawBufferPointer, _ place: Int) -> UInt64 {
    unsafe UInt64(bytes.loadUnaligned(fromByteOffset: place, as: UInt32.self))
  }

  /// The hash of text, over its normalised bytes: ASCII is normalised as it is.
  @inlinable
  @inline(__always)
  func hash(_ text: String, from start: UInt64) -> UInt64 {
    let quick = unsafe text.utf8.withContiguousStorageIfAvailable { bytes in
      unsafe hash(UnsafeRawBufferPointer(bytes), from: start)
    }
    if let quick, quick.bits & 0x8080_8080_8080_8080 == 0 { return quick.hash }
    return normalizedHash(text, from: start)
  }

  @usableFromInline
  func normalizedHash(_ text: String, from start: UInt64) -> UInt64 {
    let bytes = CanonicalText.bytes(of: text)
    return unsafe bytes.withUnsafeBytes { unsafe hash($0, from: start).hash }
  }
}

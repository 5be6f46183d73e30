/// Builds little-endian bytes.
///
/// Inlinable, as the reader is: called from another room without, each number costs some hundred instructions.
@usableFromInline
package struct ByteWriter {
  @usableFromInline package var bytes: [UInt8]

  @inlinable
  package init(bytes: [UInt8] = []) { self.bytes = bytes }

  @inlinable
  package mutating func put<Number: FixedWidthInteger>(_ number: Number) {
    unsafe withUnsafeBytes(of: number.littleEndian) { unsafe bytes.append(contentsOf: $0) }
  }
}

/// Reads little-endian numbers one after the other.
///
/// Reading past the end gives zeros and sets ``isPastEnd``, so that a damaged file costs one check at the end.
@safe  // it never outlives the closure that lends it the bytes, and checks every bound
@usableFromInline
package struct ByteReader {
  @usableFromInline let bytes: UnsafeRawBufferPointer
  @usableFromInline package internal(set) var offset = 0
  @usableFromInline package internal(set) var isPastEnd = false

  @inlinable
  package init(_ bytes: UnsafeRawBufferPointer) { unsafe self.bytes = bytes }

  @inlinable package var remaining: Int { unsafe bytes.count - offset }

  @inlinable
  package mutating func take<Number: FixedWidthInteger>(_ type: Number.Type = Number.self) -> Number {
    guard remaining >= MemoryLayout<Number>.size else {
      isPastEnd = true
      return 0
    }
    defer { offset += MemoryLayout<Number>.size }
    return unsafe Number(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: Number.self))
  }

  /// Passes over bytes and says where they are; nowhere if there are not so many.
  @inlinable
  package mutating func takeRange(count: Int) -> Range<Int> {
    guard count >= 0, count <= remaining else {
      isPastEnd = true
      return offset..<offset
    }
    defer { offset += count }
    return offset..<offset + count
  }

  @inlinable
  package mutating func take(count: Int) -> [UInt8] {
    guard count >= 0, count <= remaining else {
      isPastEnd = true
      return []
    }
    defer { offset += count }
    return unsafe Array(bytes[offset..<offset + count])
  }
}

import CFloor

/// The C cache with keys that outlive it.
final class ClockCache: Sendable {
  nonisolated(unsafe) private let cache: OpaquePointer  // guards itself with a mutex

  init(capacity: Int) { cache = cfloor_clock_create(UInt32(capacity)) }
  deinit { cfloor_clock_destroy(cache) }

  @inline(__always)
  func get(_ key: StoredKeys.Key) -> Int? {
    let value = cfloor_clock_get(cache, key.bytes, key.length)
    return value < 0 ? nil : Int(value)
  }

  @inline(__always)
  func set(_ value: Int, forKey key: StoredKeys.Key) { cfloor_clock_set(cache, key.bytes, key.length, Int64(value)) }
}

/// The bytes of keys, each in a block of its own as a string's are, kept until the end of the program.
struct StoredKeys: Sendable {
  struct Key: @unchecked Sendable {  // the bytes never change
    let bytes: UnsafeRawPointer
    let length: UInt32
  }

  let keys: [Key]

  init<Value>(_ values: [Value]) {
    keys = values.map { value in
      let bytes: [UInt8]
      if let text = value as? String {
        bytes = Array(text.utf8)
      } else {
        bytes = withUnsafeBytes(of: value) { Array($0) }
      }
      let block = UnsafeMutableRawPointer.allocate(byteCount: bytes.count, alignment: 8)
      block.copyMemory(from: bytes, byteCount: bytes.count)
      return Key(bytes: UnsafeRawPointer(block), length: UInt32(bytes.count))
    }
  }
}

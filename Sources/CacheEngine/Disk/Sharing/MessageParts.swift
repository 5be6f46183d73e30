import CacheCore

/// What messages between processes that share a directory are made of.
extension ByteWriter {
  mutating func put(bytes more: [UInt8]) {
    put(UInt32(clamping: more.count))
    bytes += more
  }

  mutating func put(tags: Set<String>) {
    put(UInt32(clamping: tags.count))
    for tag in tags { put(bytes: Array(tag.utf8)) }
  }

  mutating func put(_ durability: Durability) { put(UInt8(durability == .synced ? 1 : 0)) }
}

extension ByteReader {
  mutating func takeBytes() -> [UInt8] { take(count: Int(clamping: take(UInt32.self))) }
  mutating func takeKey() -> StoreKey { StoreKey(takeBytes()) }
  mutating func takeText() -> String { String(decoding: takeBytes(), as: UTF8.self) }
  mutating func takeCount() -> Int { Int(clamping: take(Int64.self)) }
  mutating func takeDurability() -> Durability { take(UInt8.self) == 0 ? .buffered : .synced }

  mutating func takeTags() -> Set<String> {
    var tags: Set<String> = []
    for _ in 0..<take(UInt32.self) {
      if isPastEnd { break }
      tags.insert(takeText())
    }
    return tags
  }
}

import CacheCore

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// A value as every kind of store finds it.
struct FoundValue: Sendable {
  var type: [UInt8]
  var tags: Set<String>
  var cost: Int
  var created: Int64
  var deadline: Int64
  var isExpired: Bool
  var value: Data

  init(_ found: SegmentedStore.Found) {
    (type, tags, value, isExpired) = (found.type, found.tags, found.value, found.isExpired)
    (cost, created, deadline) = (Int(clamping: found.entry.cost), found.entry.created, found.entry.deadline)
  }

  init(
    type: [UInt8], tags: Set<String>, cost: Int, created: Int64, deadline: Int64, isExpired: Bool, value: Data
  ) {
    (self.type, self.tags, self.cost, self.created) = (type, tags, cost, created)
    (self.deadline, self.isExpired, self.value) = (deadline, isExpired, value)
  }
}

/// An entry as every kind of store lists it.
struct ListedEntry: Sendable {
  var key: [UInt8]
  var size: Int
  var cost: Int
  var created: Int64
  var deadline: Int64
  var tags: Set<String>
  var type: [UInt8]

  init(_ listed: SegmentedStore.Listed) {
    (key, size, tags, type) = (listed.key.bytes, listed.size, listed.tags, listed.type)
    (cost, created, deadline) = (Int(clamping: listed.entry.cost), listed.entry.created, listed.entry.deadline)
  }

  init(_ reader: inout ByteReader) {
    key = reader.takeBytes()
    (size, cost, created, deadline) = (reader.takeCount(), reader.takeCount(), reader.take(), reader.take())
    tags = reader.takeTags()
    type = reader.takeBytes()
  }

  func write(to writer: inout ByteWriter) {
    writer.put(bytes: key)
    writer.put(size)
    writer.put(cost)
    writer.put(created)
    writer.put(deadline)
    writer.put(tags: tags)
    writer.put(bytes: type)
  }
}

import CacheCore
#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// What a record of a value is made of.
struct RecordContent {
  /// As the store knows it.
  var key: StoreKey
  var type: [UInt8]
  var tags: [UInt8]
  var times: RecordTimes
  var cost: Int
  var value: Data
  /// In an encrypted store: the sealed label, with its length before it.
  var label: [UInt8] = []
  /// In an encrypted store: the key itself.
  var realKey: StoreKey?

  var binding: StoreSealing.Binding {
    StoreSealing.Binding(key: key, times: times, cost: Int64(cost), tags: tags)
  }

  /// The record, and the value if that is to have a file of its own.
  ///
  /// Where it has, the record begins with room for a pointer to it. The label always stands in the record.
  func prepared(_ limits: StoreLimits, salt: UInt64) -> (record: PreparedRecord, ownFile: Data?) {
    let hasOwnFile = value.count > limits.ownFileThreshold
    let body =
      hasOwnFile
      ? Data(count: SealedRecord.pointerLength) + label : label.isEmpty ? value : Data(label) + value
    var record = unsafe body.withUnsafeBytes {
      unsafe PreparedRecord(.value, key: key, type: type, tags: tags, times: times, cost: cost, value: $0, salt: salt)
    }
    record.realKey = realKey
    record.header.flags = realKey == nil ? 0 : RecordHeader.isSealed
    return (record, hasOwnFile ? value : nil)
  }
}

/// The parts of a record of an encrypted store, cut but not opened.
struct SealedRecord {
  /// Number, length and checksum of a value in a file of its own.
  static let pointerLength = 24
  /// What is read of a record at first, for its label.
  static let usualLength = 1_024

  let label: [UInt8]
  /// Nothing, if it stands in a file of its own.
  let value: [UInt8]
  let binding: StoreSealing.Binding

  /// Cuts a record, of which the value may be missing; `nil` if that cannot be done.
  ///
  /// The index knows where its parts are. Times and cost are the record's own: they are bound to it, and it does not open if
  /// somebody changes them.
  init?(_ record: [UInt8], _ entry: StoreIndex.Entry, _ key: StoreKey) {
    guard let end = Self.lengthWithLabel(record, entry), end <= record.count,
      let terms = RecordHeader.terms(in: record)
    else { return nil }
    label = Array(record[(Self.labelStart(entry) + 4)..<end])
    value = Array(record[end..<max(end, min(entry.valueRange.upperBound, record.count))])
    binding = StoreSealing.Binding(
      key: key, times: terms.times, cost: terms.cost, tags: Array(record[entry.tagsRange]))
  }

  /// How long a record is up to the end of its label; `nil` if not even the length of that is there.
  static func lengthWithLabel(_ record: [UInt8], _ entry: StoreIndex.Entry) -> Int? {
    let start = labelStart(entry)
    guard record.count >= start + 4 else { return nil }
    let length = record[start..<start + 4].reversed().reduce(0) { $0 << 8 | Int($1) }
    return start + 4 + length
  }

  private static func labelStart(_ entry: StoreIndex.Entry) -> Int {
    entry.valueRange.lowerBound + (entry.ownFile == nil ? 0 : pointerLength)
  }
}

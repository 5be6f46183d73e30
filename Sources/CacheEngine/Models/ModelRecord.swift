import CacheDisk
import CacheMemory
import CacheCore
#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A model, or a page of an archive's list, as bytes in a level.
///
/// With it go the name that it belongs to, its deadline, and a checksum over all of it, for levels that have none.
///
/// | bytes | |
/// |---|---|
/// | 8 | XXH3 of everything behind it |
/// | 4 | format |
/// | 8 | the era of the archive that it was written in; not in the first format, whose records are of era 0 |
/// | 8 | the boot that the steady deadline belongs to |
/// | 8, 8 | the deadline by the steady clock, and by the wall clock; both `Int64.max` for never |
/// | 8 | when it was written, by the wall clock |
/// | 4, n | the name |
/// | rest | the body |
struct ModelRecord: Sendable {
  static let firstFormat: UInt32 = 0x3131_4D43  // "CM11"
  private static let format: UInt32 = 0x3231_4D43  // "CM12"

  let name: String
  let era: UInt64
  let deadline: CacheInstant?
  let body: Data

  func encoded(by clock: any CacheClock) -> Data {
    let (now, wallTime) = (clock.now, clock.timeSinceEpoch)
    var writer = ByteWriter()
    writer.put(Self.format)
    writer.put(era)
    writer.put(clock.bootIdentifier)
    writer.put(deadline?.nanoseconds ?? .max)
    writer.put(deadline.map { (wallTime + now.duration(to: $0)).clampedNanoseconds } ?? .max)
    writer.put(wallTime.clampedNanoseconds)
    writer.put(UInt32(name.utf8.count))
    writer.bytes += name.utf8
    writer.bytes += body
    var head = ByteWriter()
    head.put(Self.checksum(writer.bytes[...]))
    return Data(head.bytes + writer.bytes)
  }

  /// Reads what ``encoded(by:)`` wrote under the same name; what a newer version wrote is unusable, and anything else is damage.
  init(_ data: Data, name: String, clock: any CacheClock) throws {
    let bytes = [UInt8](data)
    guard bytes.count >= 8 else { throw Self.damage }
    let fields = unsafe bytes.withUnsafeBytes { buffer in
      var reader = unsafe ByteReader(buffer)
      let (checksum, format) = (reader.take(UInt64.self), reader.take(UInt32.self))
      return (
        checksum: checksum, format: format, era: format == Self.firstFormat ? 0 : reader.take(UInt64.self),
        boot: reader.take(UInt64.self), steady: reader.take(Int64.self), wall: reader.take(Int64.self),
        written: reader.take(Int64.self),
        name: reader.take(count: Int(clamping: reader.take(UInt32.self))), body: reader.offset, isCut: reader.isPastEnd
      )
    }
    guard bytes.count >= 12, fields.checksum == Self.checksum(bytes[8...]) else { throw Self.damage }
    guard [Self.firstFormat, Self.format].contains(fields.format) else {
      throw CacheError(
        .unusableStore, "\(name) was written by a newer version and was left as it is; update this program")
    }
    guard !fields.isCut, fields.name == Array(name.utf8) else { throw Self.damage }
    self.name = name
    era = fields.era
    body = Data(bytes[fields.body...])
    let wallTime = clock.timeSinceEpoch.clampedNanoseconds
    if fields.steady == .max {
      deadline = nil
    } else if fields.boot == clock.bootIdentifier, fields.boot != 0 {
      deadline = CacheInstant(nanoseconds: fields.steady)
    } else if fields.written > wallTime {
      // The wall clock went back since: nobody knows how old it is.
      deadline = clock.now
    } else {
      deadline = clock.now.advanced(by: .nanoseconds(fields.wall) - .nanoseconds(wallTime))
    }
  }

  init(name: String, era: UInt64, deadline: CacheInstant?, body: Data) {
    self.name = name
    self.era = era
    self.deadline = deadline
    self.body = body
  }

  private static var damage: CacheError {
    CacheError(.invalidCachedData, "the stored bytes are not what was written under this name")
  }

  static func checksum(_ bytes: ArraySlice<UInt8>) -> UInt64 {
    unsafe bytes.withUnsafeBytes { unsafe Checksum.of($0, seed: 0) }
  }
}

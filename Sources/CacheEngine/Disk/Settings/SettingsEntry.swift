import CacheCore
internal import CStore

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// A value in a settings domain, as it stands in the property list.
struct SettingsEntry: Codable, Equatable, Sendable {
  private(set) var value: Data
  /// The name of the coding that made the value's bytes.
  private(set) var coding: String
  private var wall: Int64
  private var boot: Int64
  private var bootIdentifier: UInt64
  private var lifetime: Int64
  /// Over the key and everything above.
  private var check: UInt64

  init(_ value: Data, coding: String, key: String, deadline: CacheInstant?, clock: any CacheClock) {
    let reading = ClockReading(clock)
    self.value = value
    self.coding = coding
    wall = reading.wall
    boot = reading.now
    bootIdentifier = reading.boot
    lifetime =
      deadline.map { max(0, CacheInstant(nanoseconds: reading.now).duration(to: $0).clampedNanoseconds) }
      ?? RecordTimes.forever
    check = 0
    check = checksum(key: key)
  }

  private var times: RecordTimes {
    RecordTimes(createdWall: wall, createdBoot: boot, boot: bootIdentifier, lifetime: lifetime)
  }

  /// When the entry expires, by the clock of this moment; `nil` for never.
  func deadline(by clock: any CacheClock) -> CacheInstant? {
    guard lifetime != RecordTimes.forever else { return nil }
    return CacheInstant(nanoseconds: times.deadline(at: ClockReading(clock)))
  }

  func isExpired(by clock: any CacheClock) -> Bool { deadline(by: clock).map { $0 <= clock.now } ?? false }

  func created(by clock: any CacheClock) -> CacheInstant {
    CacheInstant(nanoseconds: times.created(at: ClockReading(clock)))
  }

  /// Ends the lifetime at the moment when it began.
  mutating func expire(key: String) {
    lifetime = 0
    check = checksum(key: key)
  }

  /// Whether the entry is what was written under this key.
  func isWhole(key: String) -> Bool { check == checksum(key: key) }

  private func checksum(key: String) -> UInt64 {
    var hash: UInt64 = 0
    func add(_ bytes: [UInt8]) {
      hash = unsafe bytes.withUnsafeBytes { unsafe cstore_xxh3($0.baseAddress, $0.count, hash) }
    }
    add(Array(key.utf8))
    add(Array(coding.utf8))
    for number in [wall, boot, Int64(bitPattern: bootIdentifier), lifetime] {
      add((0..<8).map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) })
    }
    add(Array(value))
    return hash
  }
}

/// A key of a settings domain: text that a person can read in the property list, one for each sequence of bytes.
enum SettingsKey {
  /// Bytes that are text stay text; others, and the percent sign, are written as `%` and two digits.
  static func text(_ bytes: [UInt8]) -> String {
    let text = String(validating: bytes, as: UTF8.self)
    // To Swift, text in another form equals its canonical form, but here they are different bytes.
    let staysText = text.map { CanonicalText.bytes(of: $0) == bytes } ?? false
    let escaped = bytes.flatMap { byte -> [UInt8] in
      let isPlain = byte != UInt8(ascii: "%") && byte >= 0x20 && byte != 0x7F && (byte < 0x80 || staysText)
      return isPlain ? [byte] : [UInt8(ascii: "%")] + hex(byte)
    }
    return String(decoding: escaped, as: UTF8.self)
  }

  /// The bytes of a key, `nil` if no bytes are written so.
  static func bytes(_ text: String) -> [UInt8]? {
    var bytes: [UInt8] = []
    var rest = Array(text.utf8)[...]
    while let byte = rest.popFirst() {
      guard byte == UInt8(ascii: "%") else {
        bytes.append(byte)
        continue
      }
      guard let value = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16) else { return nil }
      rest = rest.dropFirst(2)
      bytes.append(value)
    }
    return self.text(bytes) == text ? bytes : nil
  }

  private static func hex(_ byte: UInt8) -> [UInt8] {
    let text = String(byte, radix: 16, uppercase: true)
    return Array((byte < 16 ? "0\(text)" : text).utf8)
  }
}

#if Encryption
import CacheEngine
import CacheEngineTesting
import Foundation
import Testing
@testable import CacheDisk

/// Numbers that nobody writes but who wants to end the program.
@Suite(.timeLimit(.minutes(10))) struct HugeNumbersTests {
  @Test(
    "P2 huge lengths, file numbers, places in the order of writes and file names do not end the program",
    arguments: [true, false])
  func hugeNumbers(isEncrypted: Bool) async throws {
    let (folder, clock, key) = (EncryptedFolder(), ManualClock(), isEncrypted ? Keys.first : nil)
    let level = try folder.open(key, clock: clock)
    for number in 0..<3 { try await level.set(marked("\(number)", 300_000), forKey: "\(number)") }
    let copy = try folder.copy()
    try await level.close()
    var forger = try Forger(copy)
    for position in 0..<3 {
      forger.edit(position) { header, body in
        header.sequence = .max
        header.cost = .max
        let start = header.prefixLength + position * 8
        if position < 2 { body.replaceSubrange(start..<start + 8, with: [UInt8](repeating: 0xff, count: 8)) }
      }
    }
    try copy.write(forger.bytes, to: forger.name)
    for name in ["log", "val", "tmp"] { try copy.write([1], to: "\(name)-ffffffffffffffff") }
    let opened = try copy.open(key, clock: clock)
    for number in 0..<2 { #expect(try await opened.get("\(number)") == nil) }
    for number in 3..<40 { try await opened.set(marked("\(number)", 300_000), forKey: "\(number)") }
    #expect(try await opened.get("39") == marked("39", 300_000))
    _ = try await opened.contents()
    _ = try await opened.verify(repairing: true)
    try await opened.close()
    #expect(copy.names.contains("val-ffffffffffffffff"))
  }
}
#endif

import CacheEngine
import CacheEngineTesting
import Foundation
import Synchronization
import TestSupport
import Testing

/// What making room costs.
@Suite(.timeLimit(.minutes(10))) struct DiskTrafficTests {
  let folder = DiskFolder()

  @Test(
    "overwrites at random write at most 1.5 bytes for each byte set, also where all keys together would more than fill the store",
    arguments: [0.66, 1.0, 1.3])
  func overwrites(share: Double) async throws {
    let capacity = 4 << 20
    let level = try DiskCacheLevel<String, Data>(directory: folder.path, capacity: capacity, clock: ManualClock())
    let value = Data(repeating: 7, count: 2_000)
    let keys = Int(share * Double(capacity)) / (value.count + 120)
    var generator = SeededGenerator(seed: 11)
    func overwrite(_ times: Int) async throws {
      for _ in 0..<times {
        try await level.set(value, forKey: "\(Int.random(in: 0..<keys, using: &generator))")
      }
    }
    try await overwrite(4_000)
    let before = level.traffic
    try await overwrite(4_000)
    let written = Double(level.traffic.written - before.written)
    let amplification = (written + Double(level.traffic.copied - before.copied)) / written
    #expect(amplification <= 1.5, "\(amplification)")
    // What bounds the copying does not empty the store.
    #expect(level.usage.count * (value.count + 120) > capacity / 2)
    try await level.close()
  }

  @Test("entries that leave in the order they came in are never copied, and 75 % of the room is theirs")
  func churn() async throws {
    let capacity = 4 << 20
    let level = try DiskCacheLevel<String, Data>(directory: folder.path, capacity: capacity, clock: ManualClock())
    for number in 0..<4_000 { try await level.set(Data(repeating: 7, count: 2_000), forKey: "\(number)") }
    #expect(level.traffic.copied == 0)
    #expect(level.usage.count * 2_120 > capacity / 100 * 66)
    try await level.close()
  }

  @Test("no call reads or writes more bytes than some system takes in one")
  func pieces() async throws {
    let real = FileCalls()
    var calls = real
    #expect(real.mostAtOnce < 1 << 31)
    calls.mostAtOnce = 100
    let most = Mutex(0)
    unsafe calls.write = { descriptor, bytes, offset in
      let count = bytes.count
      most.withLock { $0 = max($0, count) }
      return unsafe real.write(descriptor, bytes, offset)
    }
    unsafe calls.read = { descriptor, bytes, offset in
      let count = bytes.count
      most.withLock { $0 = max($0, count) }
      return unsafe real.read(descriptor, bytes, offset)
    }
    unsafe calls.readNowInstead = { _, _, _, _ in 0 }
    let value = Data((0..<70_000).map { UInt8(truncatingIfNeeded: $0) })
    for _ in 0..<2 {
      let level = try DiskCacheLevel<String, Data>(
        directory: folder.path, capacity: 8 << 20, name: "disk", expiry: .never, keepsExpired: .zero,
        durability: .buffered, access: .readWrite, keyCoding: .canonicalText, valueCoding: .data, clock: ManualClock(),
        removalListener: nil, calls: calls)
      if try await level.get("key") == nil { try await level.set(value, forKey: "key") }
      #expect(try await level.get("key") == value)
      try await level.close()
    }
    #expect(most.withLock { $0 } == 100)
  }
}

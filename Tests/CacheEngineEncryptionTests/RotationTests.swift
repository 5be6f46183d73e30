#if Encryption
import CacheEngine
import CacheEngineTesting
import Crypto
import Foundation
import Synchronization
import Testing

@testable import CacheEngineEncryption

/// From one key to the next.
@Suite(.timeLimit(.minutes(10))) struct RotationTests {
  let folder = EncryptedFolder()
  let clock = ManualClock()

  private func fill(_ level: Level, count: Int = 8) async throws {
    for number in 0..<count {
      try await level.store(
        value(number), forKey: "\(number)",
        terms: StoreTerms(expiry: .after(.seconds(60 + number)), tags: ["t\(number % 2)"]))
    }
  }

  /// The third of each four has a file of its own.
  private func value(_ number: Int) -> Data { marked("\(number)", number % 4 == 2 ? 70_000 : 100) }

  private func expectAll(_ level: Level, _ comment: Comment? = nil) async throws {
    for number in 0..<8 {
      let entry = try await level.lookup("\(number)").entry
      #expect(entry?.value == value(number), comment)
      #expect(
        entry?.deadline == CacheInstant(nanoseconds: 1_000_000_000_000).advanced(by: .seconds(60 + number)), comment)
      #expect(entry?.tags == ["t\(number % 2)"], comment)
    }
    #expect(level.usage.count == 8, comment)
  }

  /// The identifier of a key as it stands in what the key sealed.
  private func identifier(_ key: SymmetricKey) throws -> [UInt8] {
    Array(try StoreEncryption(key: key).seal([], binding: [])[1...8])
  }

  @Test(
    "P13 after a rotation nothing is sealed with the old key, and everything is as it was; the old key opens nothing")
  func rotate() async throws {
    let told = Mutex(0)
    let level = try folder.open(clock: clock)
    try await fill(level)
    try await level.close()
    let alone = #expect(throws: CacheError.self) { try folder.open(Keys.second, clock: clock) }
    #expect(alone?.code == .wrongKey)
    let missing = try StoreEncryption(key: Keys.first).sealingKey
    #expect(alone?.message.contains(missing) == true)

    let both = try folder.open(Keys.second, older: [Keys.first], clock: clock) { _ in told.withLock { $0 += 1 } }
    try await expectAll(both)
    try await both.set(marked("new"), forKey: "new")
    #expect(try !folder.files(containing: identifier(Keys.first)).isEmpty)
    #expect(try await both.rotate() == 8)
    #expect(try folder.files(containing: identifier(Keys.first)) == [])
    #expect(try !folder.files(containing: identifier(Keys.second)).isEmpty)
    #expect(try await both.rotate() == 0)
    #expect(told.withLock { $0 } == 0)
    try await both.remove("new")
    try await expectAll(both)
    #expect(try await both.verify().isSound)
    let crashed = try folder.copy()
    try await both.close()

    for folder in [folder, crashed] {
      let error = #expect(throws: CacheError.self) { try folder.open(clock: clock) }
      #expect(error?.code == .wrongKey)
      let level = try folder.open(Keys.second, clock: clock)
      try await expectAll(level)
      #expect(try await level.removeAll(tagged: "t1") == 4)
      try await level.close()
    }
  }

  @Test("P13 whenever a cipher is asked for its key during a rotation, the store can be read")
  func asking() async throws {
    let cipher = AskedCipher(real: try StoreEncryption(key: Keys.second, alsoOpening: [Keys.first]))
    let level = try folder.open(clock: clock)
    try await level.set(marked("a"), forKey: "a")
    try await level.close()
    let both = try Level(directory: folder.path, cipher: cipher)
    cipher.onAsked.withLock { onAsked in
      onAsked = {
        let isRead = Mutex(false)
        let reading = DispatchSemaphore(value: 0)
        Task {
          if try await both.get("a") == marked("a") { isRead.withLock { $0 = true } }
          reading.signal()
        }
        _ = reading.wait(timeout: .now() + 10)
        return isRead.withLock { $0 }
      }
    }
    #expect(try await both.rotate() == 1)
    let answers = cipher.answers.withLock { $0 }
    #expect(answers.count > 1 && answers.allSatisfy(\.self))
    cipher.onAsked.withLock { $0 = nil }
    try await both.close()
  }

  @Test("P13 P15 who only looks, and has both keys, reads what is sealed with the new one as soon as it is there")
  func lookingOn() async throws {
    let first = try folder.open(clock: clock)
    try await fill(first)
    let looking = try folder.open(Keys.second, older: [Keys.first], access: .readOnly, clock: clock)
    try await expectAll(looking)
    try await first.close()
    let both = try folder.open(Keys.second, older: [Keys.first], clock: clock)
    try await both.set(marked("new"), forKey: "new")
    #expect(try await looking.get("new") == marked("new"))
    try await both.remove("new")
    #expect(try await both.rotate() == 8)
    try await expectAll(looking)
    try await both.close()
  }

  @Test("P13 until the rotation is done both keys are asked for, even if every entry of the old one is gone")
  func halfway() async throws {
    let level = try folder.open(clock: clock)
    try await fill(level)
    try await level.close()
    let both = try folder.open(Keys.second, older: [Keys.first], clock: clock)
    for number in 0..<8 { try await both.remove("\(number)") }
    try await both.close()
    for (key, other) in [(Keys.first, Keys.second), (Keys.second, Keys.first)] {
      let error = #expect(throws: CacheError.self) { try folder.open(key, clock: clock) }
      #expect(error?.code == .wrongKey)
      let missing = try StoreEncryption(key: other).sealingKey
      #expect(error?.message.contains(missing) == true)
    }
    // Back to the first key, and on to a third.
    let back = try folder.open(Keys.first, older: [Keys.second], clock: clock)
    try await fill(back)
    try await back.close()
    let third = try folder.open(Keys.third, older: [Keys.first, Keys.second], clock: clock)
    #expect(try await third.rotate() == 8)
    try await third.close()
    let alone = try folder.open(Keys.third, clock: clock)
    try await expectAll(alone)
    try await alone.close()
  }

  @Test(
    "P13 P4 a rotation that dies at any system call leaves everything readable, and another one ends it",
    arguments: Durability.allCases)
  func killed(durability: Durability) async throws {
    let level = try folder.open(clock: clock)
    try await fill(level)
    try await level.close()
    var calls = 0
    while true {
      let copy = try folder.copy()
      let faults = Faults()
      let dying = try copy.open(
        Keys.second, older: [Keys.first], durability: durability, clock: clock, calls: faults.calls)
      // From here on, as if the process were gone.
      faults.fail(from: calls, forGood: true)
      let count = try? await dying.rotate()
      let dead = try copy.copy()
      faults.heal()
      // Whoever only had bad luck reads on.
      try await expectAll(dying, "call \(calls)")
      try await dying.close()

      let found = try dead.open(Keys.second, older: [Keys.first], durability: durability, clock: clock)
      try await expectAll(found, "call \(calls)")
      try await found.rotate()
      try await expectAll(found, "call \(calls)")
      #expect(try dead.files(containing: identifier(Keys.first)) == [])
      try await found.close()
      let alone = try dead.open(Keys.second, clock: clock)
      try await expectAll(alone, "call \(calls)")
      try await alone.close()
      if count != nil { break }
      calls += 1
    }
    #expect(calls > 20)
  }

  @Test("P13 P8 a lifetime that was ended by hand does not begin again, and one that passed by itself does not either")
  func ended() async throws {
    let level = try folder.open(clock: clock)
    try await fill(level)
    try await level.close()
    let both = try folder.open(Keys.second, older: [Keys.first], clock: clock)
    try await both.expire("7")
    clock.advance(by: .seconds(62))
    #expect(try await both.rotate() == 4)
    try await both.close()
    let again = try folder.open(Keys.second, clock: clock)
    #expect(try await Set(again.contents().map(\.key)) == ["3", "4", "5", "6"])
    try await again.close()
  }

  @Test("P13 what others write during a rotation is kept, and no older value comes back")
  func concurrent() async throws {
    let level = try folder.open(clock: clock)
    try await fill(level, count: 200)
    try await level.close()
    let both = try folder.open(Keys.second, older: [Keys.first], clock: clock)
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await both.rotate() }
      group.addTask {
        for number in 0..<200 where number % 2 == 0 { try await both.set(marked("new"), forKey: "\(number)") }
      }
      group.addTask { for number in 0..<200 where number % 5 == 0 { try await both.remove("\(number)x") } }
      try await group.waitForAll()
    }
    #expect(try folder.files(containing: identifier(Keys.first)) == [])
    try await both.close()
    let again = try folder.open(Keys.second, clock: clock)
    for number in 0..<200 {
      #expect(try await again.get("\(number)") == (number % 2 == 0 ? marked("new") : value(number)))
    }
    try await again.close()
  }

  @Test("P13 where there is little room a rotation keeps within the capacity")
  func littleRoom() async throws {
    let level = try folder.open(capacity: 1 << 20, clock: clock)
    for number in 0..<100 { try await level.set(marked("\(number)", 9_000), forKey: "\(number)") }
    let held = level.usage.count
    try await level.close()
    let both = try folder.open(Keys.second, older: [Keys.first], capacity: 1 << 20, clock: clock)
    #expect(try await both.rotate() > held / 2)
    let report = try await both.verify()
    #expect(report.isSound && report.allocatedBytes <= 1 << 20)
    #expect(try folder.files(containing: identifier(Keys.first)) == [])
    // The newest are those that are kept.
    #expect(try await both.get("99") == marked("99", 9_000))
    try await both.close()
  }

  @Test("P13 a store that is not encrypted has no key to change, and says so")
  func plain() async throws {
    let level = try folder.open(nil, clock: clock)
    let error = await #expect(throws: CacheError.self) { try await level.rotate() }
    #expect(error?.code == .notEncrypted)
    try await level.close()
  }
}

/// Does something whenever it is asked for its key.
private final class AskedCipher: StoreCipher {
  let real: StoreEncryption
  let onAsked = Mutex<(@Sendable () -> Bool)?>(nil)
  let answers = Mutex<[Bool]>([])

  init(real: StoreEncryption) { self.real = real }

  var sealingKey: String {
    if let onAsked = onAsked.withLock({ $0 }) {
      let answer = onAsked()
      answers.withLock { $0.append(answer) }
    }
    return real.sealingKey
  }
  var openingKeys: Set<String> { real.openingKeys }
  func seal(_ bytes: [UInt8], binding: [UInt8]) throws -> [UInt8] { try real.seal(bytes, binding: binding) }
  func open(_ sealed: [UInt8], binding: [UInt8]) throws -> [UInt8] { try real.open(sealed, binding: binding) }
  func key(of sealed: [UInt8]) -> String? { real.key(of: sealed) }
  func name(_ bytes: [UInt8], secret: [UInt8]) -> [UInt8] { real.name(bytes, secret: secret) }
}
#endif

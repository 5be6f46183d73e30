#if Encryption
import CacheEngine
import CacheEngineTesting
import Foundation
import Testing

/// A full disk and failing calls under an encrypted level.
@Suite(.timeLimit(.minutes(10))) struct EncryptedFaultTests {
  let clock = ManualClock()

  @Test(
    "P6 P13 a set that fails at any system call changes nothing, and the next one works",
    arguments: [100, 300_000], [ENOSPC, EIO])
  func failedSet(length: Int, code: Int32) async throws {
    for durability in Durability.allCases {
      var number = 0
      while true {
        let (folder, faults) = (EncryptedFolder(), Faults())
        let level = try folder.open(durability: durability, clock: clock, calls: faults.calls)
        try await level.set(marked("old", length), forKey: "key")
        faults.fail(from: number, code: code, forGood: false)
        var isStored = true
        do { try await level.set(marked("new", length), forKey: "key") } catch let error as CacheError {
          isStored = false
          #expect(error.code == .diskWriteFailed)
          #expect(!error.description.contains("key\"") && !error.description.contains("new/"))
        }
        let isOver = faults.made <= number
        faults.heal()
        #expect(try await level.get("key") == marked(isStored ? "new" : "old", length))
        #expect(folder.names.allSatisfy { !$0.hasPrefix("tmp-") })
        let copy = try folder.copy()
        let crashed = try copy.open(durability: durability, clock: clock)
        #expect(
          try await crashed.get("key") == marked(isStored ? "new" : "old", length),
          "\(durability), call \(number), stored: \(isStored)")
        try await crashed.close()
        try await level.set(marked("next", length), forKey: "key")
        try await level.close()
        let again = try folder.open(durability: durability, clock: clock)
        #expect(try await again.get("key") == marked("next", length))
        try await again.close()
        if isOver { break }
        number += 1
      }
      #expect(number > 0)
    }
  }

  @Test("P4 P13 an opening that dies at any system call leaves a directory that opens, new or old")
  func failedOpening() async throws {
    for isNew in [true, false] {
      var number = 0
      while true {
        let (folder, faults) = (EncryptedFolder(), Faults())
        if !isNew {
          let level = try folder.open(Keys.second, clock: clock)
          try await level.set(marked("old"), forKey: "key")
          try await level.close()
        }
        faults.fail(from: number, forGood: true)
        let level = try? folder.open(Keys.first, older: [Keys.second], clock: clock, calls: faults.calls)
        let dead = isNew && folder.names.isEmpty ? EncryptedFolder() : try folder.copy()
        faults.heal()
        try await level?.close()
        let again = try dead.open(Keys.first, older: [Keys.second], clock: clock)
        #expect(try await again.get("key") == (isNew ? nil : marked("old")))
        #expect(dead.names.allSatisfy { !$0.hasPrefix("tmp-") })
        try await again.set(marked("new"), forKey: "key")
        #expect(try await again.get("key") == marked("new"))
        try await again.close()
        if level != nil { break }
        number += 1
      }
      #expect(number > 3)
    }
  }
}
#endif

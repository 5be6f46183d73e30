import CacheEngine
@testable import CacheEngineCashier
import CacheEngineTesting
import Foundation
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10))) struct CashierVersionTests {
  private let bench = CashierBench()

  /// Stores something under a version, and opens the cache under another one.
  private func upgrade(
    from old: String?, to new: String?, durable: Bool = false, flag: Bool = false, opening policy: Bool? = nil
  ) async throws -> Cashier {
    let cashier = try await bench.open(durable: durable, version: old)
    try await cashier.set("a", forKey: "key")
    if flag { try await cashier.changeSettings { $0.persistsCacheAcrossVersions = true } }
    try await cashier.close()
    return try await bench.open(durable: durable, persistsCacheAcrossVersions: policy, version: new)
  }

  @Test("S35 a higher version wipes a cache that does not persist across versions, and keeps its settings")
  func wipes() async throws {
    let first = try await bench.open(version: "1.0")
    try await first.changeSettings { $0.lifespan = .seconds(60) }
    try await first.close()
    let cashier = try await upgrade(from: "1.0", to: "1.1")
    #expect(try await cashier.string(forKey: "key") == nil)
    #expect(try await cashier.isValid(forKey: "key") == false)
    #expect(cashier.settings.lifespan == .seconds(60))
    // Once: what the new version stores stays.
    try await cashier.set("b", forKey: "key")
    try await cashier.close()
    #expect(try await bench.open(version: "1.1").string(forKey: "key") == "b")
  }

  @Test("S36 with the setting made beforehand the content survives, this upgrade and the next")
  func persists() async throws {
    let cashier = try await upgrade(from: "1.0", to: "2.0", flag: true)
    #expect(try await cashier.string(forKey: "key") == "a")
    #expect(cashier.settings.persistsCacheAcrossVersions)
    try await cashier.close()
    #expect(try await bench.open(version: "3.0").string(forKey: "key") == "a")
  }

  @Test(
    "S37 the same version and lower ones never wipe, nor one that is not told",
    arguments: [("1.5", "1.5"), ("1.5", "1.4.9"), ("2", "1.99"), ("1.5", nil), (nil, nil)] as [(String?, String?)])
  func doesNotWipe(old: String?, new: String?) async throws {
    #expect(try await upgrade(from: old, to: new).string(forKey: "key") == "a")
  }

  @Test("S37 a lower version between does not make the higher one wipe again")
  func downAndUp() async throws {
    let lower = try await upgrade(from: "2.0", to: "1.0")
    #expect(try await lower.string(forKey: "key") == "a")
    try await lower.close()
    #expect(try await bench.open(version: "2.0").string(forKey: "key") == "a")
  }

  @Test("S35 what nobody knows the version of counts as older")
  func unknownVersion() async throws {
    #expect(try await upgrade(from: nil, to: "1.0").string(forKey: "key") == nil)
  }

  @Test("S38 versions are compared number by number")
  func comparing() {
    let ascending = [
      "", "0.9", "1", "1.0.1", "1.2", "1.9", "1.10", "1.10.1", "2", "10", "99999999999999999999",
      "100000000000000000000",
    ]
    for (place, low) in ascending.enumerated() {
      for high in ascending[(place + 1)...] {
        #expect(AppVersion(low) < AppVersion(high), "\(low) < \(high)")
        #expect(!(AppVersion(high) < AppVersion(low)), "\(low) < \(high)")
      }
    }
    for (left, right) in [("1.2", "1.2.0"), ("1.2", "01.02"), ("1.2.0.0", "1.2"), ("1.2b3", "1.2"), ("", "0.0")] {
      #expect(AppVersion(left) == AppVersion(right))
      #expect(!(AppVersion(left) < AppVersion(right)) && !(AppVersion(right) < AppVersion(left)))
    }
  }

  @Test("S38 1.10 wipes what 1.9 stored, and 1.2.0 keeps what 1.2 stored")
  func numeric() async throws {
    let same = try await upgrade(from: "1.2", to: "1.2.0")
    #expect(try await same.string(forKey: "key") == "a")
    try await same.close()
    let nine = try await bench.open(version: "1.9")
    try await nine.set("b", forKey: "key")
    try await nine.close()
    #expect(try await bench.open(version: "1.10").string(forKey: "key") == nil)
  }

  @Test("S39 the setting given with the first opening by the new version prevents the wipe, and stays")
  func policyAtOpening() async throws {
    let cashier = try await upgrade(from: "1.0", to: "2.0", opening: true)
    #expect(try await cashier.string(forKey: "key") == "a")
    try await cashier.close()
    let next = try await bench.open(version: "3.0")
    #expect(try await next.string(forKey: "key") == "a")
    #expect(next.settings.persistsCacheAcrossVersions)
    try await next.close()
    // And the other way round.
    #expect(try await bench.open(persistsCacheAcrossVersions: false, version: "4.0").string(forKey: "key") == nil)
  }

  @Test("S39 given to a cache that is open already, it is a setting like any other")
  func policyWhileOpen() async throws {
    let cashier = try await bench.open(version: "1.0")
    #expect(try await bench.open(persistsCacheAcrossVersions: true, version: "1.0") === cashier)
    #expect(cashier.settings.persistsCacheAcrossVersions)
  }

  @Test("S40 a durable cache is never wiped by a version", arguments: [nil, false])
  func durable(policy: Bool?) async throws {
    let cashier = try await upgrade(from: "1.0", to: "2.0", durable: true, opening: policy)
    #expect(try await cashier.string(forKey: "key") == "a")
  }

  @Test("S35 a crash in the midst of wiping leaves nothing that counts as the new version's")
  func crashWhileWiping() async throws {
    let before = try await bench.open(version: "1.0")
    for number in 0..<20 { try await before.set("old \(number)", forKey: "key \(number)") }
    try await before.set(Data(repeating: 7, count: 1 << 20), forKey: "long")
    try await before.close()
    var crashes = 0
    for call in 0... {
      let folder = try bench.copy()
      var opening = CashierOpening(
        id: "news", location: .purgeable(in: folder.path), appVersion: AppVersion("2.0"), capacity: 8 << 20,
        clock: bench.clock, observer: bench.observer)
      let faults = FaultSwitch()
      opening.calls = faults.calls
      faults.failFrom(call)
      let opened = try? await Cashier.open(opening)
      let wasHit = faults.count > call
      if opened == nil { crashes += 1 }
      // What is on the disk now is what a kill at that call leaves, whoever was told what.
      let after = try await bench.open(version: "2.0", in: try bench.copy(of: folder))
      for number in 0..<20 {
        #expect(try await after.string(forKey: "key \(number)") == nil, "call \(call)")
      }
      #expect(try await after.data(forKey: "long") == nil, "call \(call)")
      try await after.set("new", forKey: "key 0")
      #expect(try await after.string(forKey: "key 0") == "new")
      faults.failFrom(nil)
      try await opened?.close()
      if !wasHit { break }
    }
    #expect(crashes >= 5)
  }
}

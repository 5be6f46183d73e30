import CacheEngine
@testable import CacheEngineCashier
import CacheEngineTesting
import Foundation
import Testing

@Suite(.timeLimit(.minutes(10))) struct CashierLifespanTests {
  private final class Session: Sendable {}

  private let bench = CashierBench()

  private func open(lifespan: Duration = .seconds(60), returnsExpiredData: Bool = true) async throws -> Cashier {
    let cashier = try await bench.open()
    try await cashier.changeSettings { settings in
      settings.lifespan = lifespan
      settings.returnsExpiredData = returnsExpiredData
    }
    return cashier
  }

  @Test("S22 before its lifespan ends an entry is valid and readable")
  func before() async throws {
    let cashier = try await open(returnsExpiredData: false)
    try await cashier.set("a", forKey: "key")
    bench.clock.advance(by: .seconds(60) - .nanoseconds(1))
    #expect(try await cashier.isValid(forKey: "key"))
    #expect(try await cashier.string(forKey: "key") == "a")
  }

  @Test("S23 after it, with expired data allowed, an entry is not valid and is returned, marked so")
  func expiredAllowed() async throws {
    let cashier = try await open()
    try await cashier.set("a", forKey: "key")
    let stored = Date(timeIntervalSince1970: bench.clock.timeSinceEpoch / .seconds(1))
    #expect(
      try await cashier.entry(forKey: "key") == CashierEntry(value: "a", isValid: true, lastUpdate: stored))
    bench.clock.advance(by: .seconds(60))
    #expect(try await cashier.isValid(forKey: "key") == false)
    #expect(try await cashier.string(forKey: "key") == "a")
    #expect(
      try await cashier.entry(forKey: "key") == CashierEntry(value: "a", isValid: false, lastUpdate: stored))
  }

  @Test("S24 S31 after it, with expired data refused, every getter gives nil", arguments: [true, false])
  func expiredRefused(fromMemory: Bool) async throws {
    let cashier = try await open(returnsExpiredData: false)
    try await cashier.set("a", forKey: "text")
    try await cashier.set(Data([1]), forKey: "bytes")
    try await cashier.set([1], forKey: "array")
    try await cashier.set(["a": 1], forKey: "dictionary")
    try await cashier.set(CashierMedia(Data(), type: "x"), forKey: "media")
    try await cashier.setInMemory(Session(), forKey: "session")
    bench.clock.advance(by: .seconds(60))
    if !fromMemory { await cashier.onMemoryWarning() }
    #expect(try await cashier.string(forKey: "text") == nil)
    #expect(try await cashier.value(String.self, forKey: "text") == nil)
    #expect(try await cashier.entry(String.self, forKey: "text") == nil)
    #expect(try await cashier.value(forKey: "text", as: .utf8) == nil)
    #expect(try await cashier.data(forKey: "bytes") == nil)
    #expect(try await cashier.array(of: Int.self, forKey: "array") == nil)
    #expect(try await cashier.dictionary(of: Int.self, forKey: "dictionary") == nil)
    #expect(try await cashier.media(forKey: "media") == nil)
    #expect(try await cashier.valueInMemory(Session.self, forKey: "session") == nil)
    #expect(try await cashier.isValid(forKey: "text") == false)
  }

  @Test("S25 expired data is not deleted: allowing it again gives it back, in a new process as well")
  func notDeleted() async throws {
    let cashier = try await open(returnsExpiredData: false)
    try await cashier.set("a", forKey: "key")
    bench.clock.advance(by: .seconds(1_000_000))
    #expect(try await cashier.string(forKey: "key") == nil)
    let next = try await bench.openAfterKill()
    #expect(try await next.string(forKey: "key") == nil)
    for cashier in [cashier, next] {
      try await cashier.changeSettings { $0.returnsExpiredData = true }
      #expect(try await cashier.string(forKey: "key") == "a")
      await cashier.onMemoryWarning()
      #expect(try await cashier.string(forKey: "key") == "a")
    }
  }

  @Test("S26 with lifespan 0 nothing expires", arguments: [Duration.zero, .seconds(-1)])
  func never(lifespan: Duration) async throws {
    let cashier = try await open(lifespan: lifespan, returnsExpiredData: false)
    try await cashier.set("a", forKey: "key")
    bench.clock.advance(by: .seconds(100 * 365 * 86_400))
    #expect(try await cashier.isValid(forKey: "key"))
    #expect(try await cashier.string(forKey: "key") == "a")
  }

  @Test("S27 an entry refreshed at 30 of 60 s is valid at 70 s and not at 90 s", arguments: [true, false])
  func refreshing(fromMemory: Bool) async throws {
    let cashier = try await open()
    try await cashier.set([1, 2], forKey: "key")
    bench.clock.advance(by: .seconds(30))
    if !fromMemory { await cashier.onMemoryWarning() }
    #expect(try await cashier.refreshValidation(forKey: "key"))
    bench.clock.advance(by: .seconds(40))
    #expect(try await cashier.isValid(forKey: "key"))
    await cashier.onMemoryWarning()
    #expect(try await cashier.isValid(forKey: "key"))
    let next = try await bench.openAfterKill()
    #expect(try await next.isValid(forKey: "key"))
    #expect(try await next.array(of: Int.self, forKey: "key") == [1, 2])
    bench.clock.advance(by: .seconds(20))
    #expect(try await cashier.isValid(forKey: "key") == false)
  }

  @Test("S27 an entry that has expired is valid again after a refresh")
  func refreshingExpired() async throws {
    let cashier = try await open(returnsExpiredData: false)
    try await cashier.set("a", forKey: "key")
    bench.clock.advance(by: .seconds(90))
    #expect(try await cashier.string(forKey: "key") == nil)
    #expect(try await cashier.refreshValidation(forKey: "key"))
    #expect(try await cashier.string(forKey: "key") == "a")
  }

  @Test("S28 overwriting begins the lifespan anew")
  func overwriting() async throws {
    let cashier = try await open()
    try await cashier.set("a", forKey: "key")
    bench.clock.advance(by: .seconds(50))
    try await cashier.set("b", forKey: "key")
    bench.clock.advance(by: .seconds(50))
    #expect(try await cashier.isValid(forKey: "key"))
    await cashier.onMemoryWarning()
    #expect(try await cashier.isValid(forKey: "key"))
  }

  @Test("S29 the last update is the moment of the last store or refresh, and nil for an unknown key")
  func lastUpdate() async throws {
    let cashier = try await open()
    let start = Date(timeIntervalSince1970: bench.clock.timeSinceEpoch / .seconds(1))
    #expect(try await cashier.lastUpdate(forKey: "key") == nil)
    try await cashier.set("a", forKey: "key")
    bench.clock.advance(by: .seconds(5))
    #expect(try await cashier.lastUpdate(forKey: "key") == start)
    await cashier.onMemoryWarning()
    #expect(try await cashier.string(forKey: "key") == "a")
    #expect(try await cashier.lastUpdate(forKey: "key") == start)
    try await cashier.refreshValidation(forKey: "key")
    bench.clock.advance(by: .seconds(5))
    #expect(try await cashier.lastUpdate(forKey: "key") == start + 5)
    try await cashier.set("b", forKey: "key")
    #expect(try await cashier.lastUpdate(forKey: "key") == start + 10)
  }

  @Test("S30 a new lifespan holds for what is stored already")
  func changing() async throws {
    let cashier = try await open(lifespan: .zero)
    try await cashier.set("a", forKey: "key")
    bench.clock.advance(by: .seconds(30))
    #expect(try await cashier.isValid(forKey: "key"))
    try await cashier.changeSettings { $0.lifespan = .seconds(20) }
    #expect(try await cashier.isValid(forKey: "key") == false)
    try await cashier.changeSettings { $0.lifespan = .seconds(40) }
    #expect(try await cashier.isValid(forKey: "key"))
    bench.clock.advance(by: .seconds(10))
    #expect(try await cashier.isValid(forKey: "key") == false)
  }

  @Test("S32 what stays in memory has a lifespan like any other entry")
  func inMemory() async throws {
    let cashier = try await open(returnsExpiredData: false)
    let session = Session()
    try await cashier.setInMemory(session, forKey: "session")
    try await cashier.changeSettings { $0.isPersistent = false }
    try await cashier.set(CashierMedia(Data([1]), type: "image/png"), forKey: "image")
    for key in ["session", "image"] {
      #expect(try await cashier.isValid(forKey: key))
      #expect(try await cashier.lastUpdate(forKey: key) != nil)
    }
    bench.clock.advance(by: .seconds(40))
    #expect(try await cashier.valueInMemory(Session.self, forKey: "session") === session)
    try await cashier.refreshValidation(forKey: "session")
    bench.clock.advance(by: .seconds(40))
    #expect(try await cashier.isValid(forKey: "session"))
    #expect(try await cashier.isValid(forKey: "image") == false)
    #expect(try await cashier.media(forKey: "image") == nil)
    await cashier.onMemoryWarning()
    #expect(try await cashier.valueInMemory(Session.self, forKey: "session") == nil)
  }

  @Test("S33 an absent key is never valid, and refreshing does not make it so", arguments: [0, 60])
  func absent(lifespan: Int) async throws {
    let cashier = try await open(lifespan: .seconds(lifespan))
    #expect(try await cashier.isValid(forKey: "key") == false)
    #expect(try await cashier.refreshValidation(forKey: "key") == false)
    #expect(try await cashier.isValid(forKey: "key") == false)
    #expect(try await cashier.lastUpdate(forKey: "key") == nil)
  }

  @Test("S34 an entry that was stored later than it is now is not valid, and its lifespan can begin anew")
  func fromTheFuture() async throws {
    let cashier = try await open()
    try await cashier.set("a", forKey: "key")
    try await cashier.close()
    bench.clock.stepWallClock(by: .seconds(-86_400))
    bench.clock.reboot()
    let next = try await bench.open()
    #expect(try await next.isValid(forKey: "key") == false)
    #expect(try await next.entry(String.self, forKey: "key")?.isValid == false)
    #expect(try await next.isValid(forKey: "key") == false)
    #expect(try await next.refreshValidation(forKey: "key"))
    #expect(try await next.isValid(forKey: "key"))
  }

  @Test("S34 lifespans go on counting over a restart of the program and of the machine", arguments: [true, false])
  func restarting(reboots: Bool) async throws {
    let cashier = try await open()
    try await cashier.set("a", forKey: "key")
    let stored = try await cashier.lastUpdate(forKey: "key")
    try await cashier.close()
    bench.clock.advance(by: .seconds(50))
    if reboots { bench.clock.reboot() }
    let next = try await bench.open()
    #expect(try await next.lastUpdate(forKey: "key") == stored)
    #expect(try await next.isValid(forKey: "key"))
    bench.clock.advance(by: .seconds(10))
    #expect(try await next.isValid(forKey: "key") == false)
    #expect(try await next.string(forKey: "key") == "a")
  }

  @Test("S45 what is refreshed while everything is cleared does not come back")
  func refreshedInAClear() async throws {
    let cashier = try await open()
    for _ in 0..<50 {
      try await cashier.set("a", forKey: "key")
      async let refresh = cashier.refreshValidation(forKey: "key")
      async let clear: Void = cashier.clear()
      _ = try await (refresh, clear)
      #expect(try await cashier.string(forKey: "key") == nil)
    }
  }
}

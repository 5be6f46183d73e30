import CacheEngine
import CacheEngineTesting
import Testing

/// In which order the clock and the gate for tests let those go on who wait.
///
/// On one actor, nothing else decides.
@Suite(.timeLimit(.minutes(5))) @MainActor struct WakingOrderTests {
  @Test("Sleepers with one deadline wake in the order in which they fell asleep")
  func clock() async throws {
    let clock = ManualClock()
    let deadline = clock.now.advanced(by: .seconds(1))
    var woken: [Int] = []
    var sleepers: [Task<Void, any Error>] = []
    for number in 0..<16 {
      sleepers.append(
        Task {
          try await clock.sleep(until: deadline, tolerance: nil)
          woken.append(number)
        })
      await clock.waitForSleepers(number + 1)
    }
    clock.advance(by: .seconds(1))
    for sleeper in sleepers { try await sleeper.value }
    #expect(woken == Array(0..<16))
  }

  @Test("A gate that is opened lets those who wait pass in the order in which they came")
  func gate() async throws {
    let gate = Gate()
    var passed: [Int] = []
    var waiters: [Task<Void, any Error>] = []
    for number in 0..<16 {
      waiters.append(
        Task {
          try await gate.pass()
          passed.append(number)
        })
      await gate.arrivals(number + 1)
    }
    gate.open()
    for waiter in waiters { try await waiter.value }
    #expect(passed == Array(0..<16))
  }
}
